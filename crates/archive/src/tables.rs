//! `archive export --parquet`: exports the archive as tables (docs/tables.md). The folder is written under a draft name
//! and moved into place whole. Only a folder that is an earlier export is replaced.

use cardscope_compare::card_lookup::CardLookup;
use cardscope_compare::verb::rank;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_files::{DraftFolder, FileError, ResolvedFolder, files_below};
use cardscope_session::archive_access::open_to_read;
use cardscope_session::error::{Failure, Result};
use cardscope_store::{TableFile, TablesError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Marks a folder as an export. Query engines skip file names that begin with `_`.
const LIST_FILE: &str = "_cardscope.json";

const LIST_FORMAT: &str = "cardscope-tables";

/// Longest list that is read. The list of an export of a century is shorter.
const MOST_LIST_BYTES: u64 = 64 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenTable {
    /// `sessions`, `figures`, `series`, `findings` or `cards`.
    pub table: String,
    pub rows: u64,
    pub bytes: u64,
    pub files: u64,
}

/// Content of [`LIST_FILE`]: every file of the export except the list.
#[derive(Debug, Serialize, Deserialize)]
struct TableList {
    format: String,
    version: u32,
    tool_version: String,
    files: Vec<TableFile>,
}

/// Writes the archive as tables into a folder and returns the tables; none if there is no archive.
///
/// # Errors
/// Refuses a folder that holds anything but an earlier export. After an error the earlier content is unchanged.
pub fn export_tables(
    path: Option<&Path>,
    folder: &Path,
    interrupt: &InterruptFlag,
) -> Result<Vec<WrittenTable>> {
    let Some(mut archive) = open_to_read(path)? else { return Ok(Vec::new()) };
    let place = ExportFolder::claim(folder)?;
    let excluded = unranked_reasons(path)?;
    let mut draft = DraftFolder::new(&place.parent, &place.folder_name).map_err(|e| place.refusal(&e))?;
    let make = |name: &str| Ok(draft.create(Path::new(name))?);
    let written = archive.write_tables(&excluded, make, || interrupt.is_raised());
    let files = written.map_err(|e| match e {
        TablesError::Archive(error) => error.into(),
        TablesError::File(error) => place.write_failure(error),
        TablesError::Stopped => Failure::InterruptedUndone("nothing was written"),
    })?;
    let tables = sum_by_table(&files);
    let listed = draft.create(Path::new(LIST_FILE)).map_err(Into::into).and_then(|f| write_list(files, f));
    listed.map_err(|e| place.write_failure(e))?;
    draft.place(place.earlier_files.as_ref()).map_err(|e| place.write_failure(e.into()))?;
    Ok(tables)
}

fn unranked_reasons(path: Option<&Path>) -> Result<HashMap<String, String>> {
    let mut source = CardLookup::open(path, false)?;
    let cards = source.cards()?;
    let reasons = rank::exclusion_reasons(&mut source, &cards, false)?;
    Ok(reasons.into_iter().map(|(card, (reason, _))| (card, reason)).collect())
}

fn write_list(files: Vec<TableFile>, mut to: std::fs::File) -> std::io::Result<()> {
    let (format, tool_version) = (LIST_FORMAT.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let list = TableList { format, version: 1, tool_version, files };
    to.write_all(serde_json::to_string_pretty(&list)?.as_bytes())?;
    to.sync_all()
}

fn sum_by_table(files: &[TableFile]) -> Vec<WrittenTable> {
    let mut tables: Vec<WrittenTable> = Vec::new();
    for file in files {
        match tables.last_mut().filter(|table| table.table == file.table) {
            Some(table) => {
                (table.rows, table.bytes, table.files) =
                    (table.rows + file.rows, table.bytes + file.bytes, table.files + 1);
            }
            None => {
                let (table, rows, bytes) = (file.table.to_owned(), file.rows, file.bytes);
                tables.push(WrittenTable { table, rows, bytes, files: 1 });
            }
        }
    }
    tables
}

struct ExportFolder<'a> {
    path: &'a Path,
    parent: ResolvedFolder,
    folder_name: std::ffi::OsString,
    earlier_files: Option<BTreeSet<PathBuf>>,
}

impl<'a> ExportFolder<'a> {
    fn claim(named: &'a Path) -> Result<Self> {
        let why = |e: FileError| Failure::refused_for(format!("--parquet {}: {e}", named.display()), e);
        let (Some(above), Some(last)) = (named.parent(), named.file_name()) else {
            let why = "that does not end in a name; name a new folder";
            return Err(Failure::refused(format!("--parquet {}: {why}", named.display())));
        };
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let parent = ResolvedFolder::open_or_create(above, 0o777).map_err(why)?;
        let old = earlier_export(&parent, last).map_err(|what| {
            Failure::refused(format!("--parquet {}: {what}; name a new folder", named.display()))
        })?;
        Ok(ExportFolder { path: named, parent, folder_name: last.to_owned(), earlier_files: old })
    }

    fn refusal(&self, error: &FileError) -> Failure {
        Failure::refused(format!("--parquet {}: {error}", self.path.display()))
    }

    fn write_failure(&self, error: std::io::Error) -> Failure {
        let words = format!("--parquet {}: it could not be written: {error}", self.path.display());
        Failure::io_for(words, error)
    }
}

/// Files of the earlier export; `None` if nothing or an empty folder has the name; an error if it must not be replaced.
fn earlier_export(parent: &ResolvedFolder, last: &OsStr) -> Result<Option<BTreeSet<PathBuf>>, String> {
    let there = match parent.open_folder(last) {
        Ok(there) => there,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let other = || "the folder holds files that are not of an earlier export".to_owned();
    let files = files_below(&there).map_err(|_| other())?;
    if files.is_empty() {
        return if there.names().is_ok_and(|names| names.is_empty()) { Ok(None) } else { Err(other()) };
    }
    if read_list(&there).as_ref() == Some(&files) { Ok(Some(files)) } else { Err(other()) }
}

fn read_list(folder: &ResolvedFolder) -> Option<BTreeSet<PathBuf>> {
    let mut text = String::new();
    let file = folder.open_existing(OsStr::new(LIST_FILE)).ok()??;
    file.take(MOST_LIST_BYTES).read_to_string(&mut text).ok()?;
    let list: TableList = serde_json::from_str(&text).ok().filter(|l: &TableList| l.format == LIST_FORMAT)?;
    let names = list.files.into_iter().map(|file| PathBuf::from(file.name));
    Some(names.chain([PathBuf::from(LIST_FILE)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::condition::Condition;
    use cardscope_session::recorder;
    use cardscope_store::Archive;
    use std::fs;

    fn archive_with_session() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (place, out) = (folder.path().join("archive.sqlite"), folder.path().join("out"));
        let start = recorder::session_start("verify", "sim:constant", 1, &Condition::default(), None);
        Archive::open(&place).unwrap().begin_session(&start).unwrap();
        (folder, place, out)
    }

    fn sessions(written: &[WrittenTable]) -> u64 {
        written.iter().find(|table| table.table == "sessions").unwrap().rows
    }

    #[test]
    fn interrupted_export_keeps_the_earlier_one() {
        let (folder, place, out) = archive_with_session();
        let export = |interrupt: &InterruptFlag| export_tables(Some(&place), &out, interrupt);
        let names =
            || fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect::<Vec<_>>();
        let before = names().len();
        let interrupted = InterruptFlag::default();
        interrupted.raise();
        assert_eq!(export(&interrupted), Err(Failure::InterruptedUndone("nothing was written")));
        assert_eq!(names().len(), before, "nothing half done lies beside the archive: {:?}", names());
        assert_eq!(sessions(&export(&InterruptFlag::default()).unwrap()), 1);
        let list = fs::read_to_string(out.join(LIST_FILE)).unwrap();
        export(&interrupted).unwrap_err();
        assert_eq!(fs::read_to_string(out.join(LIST_FILE)).unwrap(), list, "the earlier export stays");
        let start = recorder::session_start("verify", "sim:constant", 2, &Condition::default(), None);
        Archive::open(&place).unwrap().begin_session(&start).unwrap();
        assert_eq!(sessions(&export(&InterruptFlag::default()).unwrap()), 2);
        assert_eq!(names().len(), before + 1, "{:?}", names());
    }

    #[test]
    fn export_refuses_a_folder_with_other_files() {
        let (folder, place, out) = archive_with_session();
        let refused = |what: &str| {
            let failure = export_tables(Some(&place), &out, &InterruptFlag::default()).unwrap_err();
            assert_eq!(failure.exit_status(), 2, "{failure}");
            assert!(failure.to_string().contains(what), "{failure}");
        };
        fs::create_dir(&out).unwrap();
        fs::create_dir(out.join("empty")).unwrap();
        refused("not of an earlier export");
        fs::remove_dir(out.join("empty")).unwrap();
        export_tables(Some(&place), &out, &InterruptFlag::default()).unwrap();
        fs::write(out.join("notes.txt"), "mine").unwrap();
        refused("not of an earlier export");
        fs::remove_file(out.join("notes.txt")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", out.join("cards/link")).unwrap();
        refused("not of an earlier export");
        fs::remove_file(out.join("cards/link")).unwrap();
        export_tables(Some(&place), &out, &InterruptFlag::default()).unwrap();
        // An invalid list does not make a folder an export.
        fs::remove_dir_all(&out).unwrap();
        fs::create_dir(&out).unwrap();
        fs::write(out.join(LIST_FILE), "{}").unwrap();
        refused("not of an earlier export");
        fs::remove_dir_all(&out).unwrap();
        std::os::unix::fs::symlink(folder.path(), &out).unwrap();
        refused("name a new folder");
    }
}
