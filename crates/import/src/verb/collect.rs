//! Files to import: named files, everything below named folders, and standard input.

use super::session_file;
use super::unpack::MOST_BYTES;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::input_file::{InputError, InputStream};
use cardscope_engine::interrupt::InterruptFlag;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Depth to which folders are searched. Links to folders are not followed.
const MAX_DEPTH: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CandidateFile {
    /// `-` is standard input.
    pub(super) path: PathBuf,
    /// True if the user named the file, and not a folder above it.
    pub(super) named_by_user: bool,
}

/// Returns the files below all names, sorted within each folder, and the folders that cannot be listed with the reason.
pub(super) fn find_candidates(names: &[PathBuf]) -> CandidateList {
    let mut list = CandidateList::default();
    for name in names {
        if name.is_dir() {
            collect_below(name, 0, &mut list);
        } else {
            list.0.push(CandidateFile { path: name.clone(), named_by_user: true });
        }
    }
    list
}

/// Files, and folders that cannot be listed, each with the reason.
type CandidateList = (Vec<CandidateFile>, Vec<(PathBuf, String)>);

fn collect_below(folder: &Path, depth: usize, list: &mut CandidateList) {
    let entries = std::fs::read_dir(folder);
    let paths = entries.and_then(|all| all.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>());
    let mut paths = match paths {
        Ok(paths) => paths,
        Err(error) => return list.1.push((folder.to_owned(), error.to_string())),
    };
    paths.sort();
    for path in paths {
        // Without following links, since links to folders can form a cycle.
        let Ok(kind) = std::fs::symlink_metadata(&path).map(|m| m.file_type()) else { continue };
        if kind.is_dir() && depth < MAX_DEPTH {
            collect_below(&path, depth + 1, list);
        } else if path.is_file() {
            list.0.push(CandidateFile { path, named_by_user: false });
        }
    }
}

/// Reads a file that can be a log. A pipe is read until it ends or the interrupt is raised.
pub(super) fn read_candidate(path: &Path, interrupt: &InterruptFlag) -> Result<Vec<u8>, ErrorCause> {
    let stream = match path == Path::new("-") {
        true => InputStream::stdin(interrupt),
        false => InputStream::open(path, interrupt),
    };
    // The reason is worded to follow the file's name.
    read_limited(stream.map_err(|error| match &error {
        InputError::System(system) if system.kind() == ErrorKind::NotFound => {
            ErrorCause::with_message("it does not exist", error)
        }
        _ => error.into(),
    })?)
}

fn read_limited(mut stream: InputStream) -> Result<Vec<u8>, ErrorCause> {
    let mut bytes = Vec::new();
    match stream.read_more(&mut bytes, MOST_BYTES) {
        Ok(()) => Ok(bytes),
        // Session files embed pictures and logs, so their limit is higher.
        Err(InputError::TooLong { .. }) if session_file::is_session_file(&bytes) => {
            match stream.read_more(&mut bytes, session_file::MOST_BYTES) {
                Err(InputError::TooLong { most }) => session_file::check_length(most + 1).map(|()| bytes),
                read => Ok(read.map(|()| bytes)?),
            }
        }
        Err(InputError::TooLong { .. }) => {
            Err(format!("it is longer than {} MiB; cut out the log", MOST_BYTES >> 20).into())
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_sorted_and_a_cycle_of_links_ends() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("b")).unwrap();
        for name in ["c.log", "b/a.log", "odd \u{1f4be}\nname.log"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        std::os::unix::fs::symlink("..", folder.path().join("b/up")).unwrap();
        let (found, failed) = find_candidates(&[folder.path().to_owned()]);
        let names: Vec<_> =
            found.iter().map(|c| c.path.strip_prefix(folder.path()).unwrap().to_owned()).collect();
        assert_eq!(names, ["b/a.log", "c.log", "odd \u{1f4be}\nname.log"].map(PathBuf::from));
        assert!(failed.is_empty() && found.iter().all(|c| !c.named_by_user));
    }

    #[test]
    fn missing_file_and_device_are_refused() {
        let refusal =
            |path| read_candidate(Path::new(path), &InterruptFlag::default()).unwrap_err().to_string();
        assert_eq!(refusal("/nowhere/x.log"), "it does not exist");
        assert_eq!(refusal("/dev/zero"), "it is a character device, not a plain file");
    }
}
