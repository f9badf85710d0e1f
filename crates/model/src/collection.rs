//! Cards that come with the program, so that a first result has something to stand beside: those of five published
//! reports, a session a file in `collection/` as `archive export` writes them, with what the reports say and nothing else.

use crate::builtin_files;
use crate::condition::Condition;
use crate::log::Log;
use crate::named::BuiltinFiles;
use crate::run::Run;
use crate::session_file::{FileRun, SessionFile};
use serde_json::Value;

/// What stands in the log of a session for the report's title.
const TITLE: &str = "published";

/// The sessions. A new one is a file in a folder of `collection/` and its name here.
pub static COLLECTION: BuiltinFiles = BuiltinFiles {
    kind: "session of the collection",
    files: builtin_files!(
        "collection", ".json":
        "microsd-express-2025/01-lexar-play-pro-1tb",
        "microsd-express-2025/02-lexar-play-pro-1tb-2",
        "microsd-express-2025/03-adata-premier-extreme-256gb",
        "microsd-express-2025/04-adata-premier-extreme-256gb-2",
        "microsd-express-2025/05-sandisk-sdsqxfn-256gb",
        "whl-96-2024/01-samsung-microsd-2gb",
        "whl-96-2024/02-oem-microsdhc-likely-toshiba-or-kingston-8gb",
        "whl-96-2024/03-sandisk-ultra-microsdhc-16gb",
        "whl-96-2024/04-sandisk-extreme-microsdhc-16gb",
        "whl-96-2024/05-samsung-microsdhc-black-32gb",
        "whl-96-2024/06-samsung-evo-microsdhc-32gb",
        "whl-96-2024/07-samsung-evo-plus-microsdxc-64gb",
        "whl-96-2024/08-samsung-pro-microsdxc-64gb",
        "whl-96-2024/09-samsung-pro-microsdxc-64gb-2",
        "whl-96-2024/10-samsung-pro-microsdxc-64gb-3",
        "whl-96-2024/11-samsung-pro-plus-microsdxc-128gb",
        "whl-96-2024/12-samsung-pro-plus-microsdxc-128gb-2",
        "whl-96-2024/13-samsung-pro-plus-microsdxc-128gb-3",
        "whl-96-2024/14-samsung-evo-plus-microsdxc-256gb",
        "whl-96-2024/15-sandian-microsdxc-fake-1tb",
        "gough-round-up-2013/01-sandisk-ultra-microsdxc-64gb",
        "gough-round-up-2013/02-toshiba-exceria-type-2-sdxc-64gb",
        "gough-round-up-2013/03-kingston-ultimate-sdhc-32gb",
        "gough-round-up-2013/04-kingston-128gb-card",
        "gough-round-up-2013/05-samsung-sdhc-32gb",
        "gough-round-up-2013/06-patriot-lx-32gb",
        "gough-round-up-2013/07-team-sdhc-class-10-32gb",
        "gough-round-up-2013/08-element14-supplied-card",
        "gough-round-up-2013/09-sandisk-microsdhc-4gb",
        "gough-round-up-2013/10-sandisk-microsdsc-1gb",
        "raspberry-pi-2019/01-samsung-evo-2019",
        "raspberry-pi-2019/02-sandisk-extreme-2019",
        "raspberry-pi-2019/03-samsung-pro-2019",
        "raspberry-pi-2019/04-sony-95-mb-s-card-2019",
        "lexar-review/01-lexar-microsd-class-10-16gb",
        "lexar-review/02-lexar-microsd-class-10-16gb-2",
    ),
    also: "",
};

/// A file of the collection that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the collection cannot be read: {0}")]
pub struct CollectionError(String);

/// A report and its cards.
#[derive(Debug, Clone, PartialEq)]
pub struct Collected {
    /// Its short name: `microsd-express-2025`.
    pub name: String,
    /// The report's title and date.
    pub title: String,
    /// A log for each session.
    pub logs: Vec<Log>,
}

/// Reads the reports that are built into the program.
///
/// # Errors
/// If a file is wrong; a test holds that none is.
pub fn builtin() -> Result<Vec<Collected>, CollectionError> {
    let mut reports: Vec<Collected> = Vec::new();
    for (_, text) in COLLECTION.files {
        let file: SessionFile = serde_json::from_str(text).map_err(|e| CollectionError(e.to_string()))?;
        let name = file.target.clone();
        let mut log = log(file).ok_or_else(|| CollectionError(format!("a session of {name} has no log")))?;
        let title = log.other.remove(TITLE);
        match reports.last_mut().filter(|report| report.name == name) {
            Some(report) => report.logs.push(log),
            None => {
                let title = title.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
                reports.push(Collected { name, title, logs: vec![log] });
            }
        }
    }
    Ok(reports)
}

/// The log of a session with its runs, and with who says what of the condition.
fn log(file: SessionFile) -> Option<Log> {
    let mut condition = Condition::default();
    for (word, value) in file.condition.iter() {
        condition.set(word, value, *file.origins.get(word)?);
    }
    Some(Log { condition, runs: file.runs.into_iter().map(run).collect(), ..file.log? })
}

fn run(run: FileRun) -> Run {
    Run {
        run: run.run,
        size_bytes: run.size_bytes,
        loops: run.loops,
        results: run.figures.into_iter().flatten().collect(),
        ..Run::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::WORDS;
    use std::path::Path;

    #[test]
    fn every_file_is_in_the_result_format_and_says_its_card_and_report() {
        for (_, text) in COLLECTION.files {
            let file = SessionFile::from_json(text).unwrap();
            assert_eq!(file.to_json().unwrap(), *text);
            let log = log(file).unwrap();
            assert!(log.card.brand.is_some() && log.other.contains_key(TITLE), "{log:?}");
            assert!(log.condition.iter().all(|(word, _)| WORDS.iter().any(|(w, _)| *w == word)));
        }
        let mut names: Vec<String> = builtin().unwrap().into_iter().map(|report| report.name).collect();
        names.sort();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../collection");
        let mut folders: Vec<String> = Vec::new();
        let mut files = 0;
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            folders.push(entry.file_name().into_string().unwrap());
            files += std::fs::read_dir(entry.path()).unwrap().count();
        }
        folders.sort();
        assert_eq!((names, COLLECTION.files.len()), (folders, files), "a folder a report, each file is here");
    }

    #[test]
    fn speeds_are_true_megabytes_and_what_was_printed_stands_beside_them() {
        let all = builtin().unwrap();
        let sandisk = all[0].logs.iter().find(|log| log.card.brand.as_deref() == Some("SanDisk")).unwrap();
        let read =
            sandisk.runs[0].results.iter().find(|f| f.name().to_string() == "SEQ32M Q32T1 read").unwrap();
        assert_eq!(read.printed().value, 836.0);
        assert!((read.mb_s - 876.609_536).abs() < 1e-9);
    }
}
