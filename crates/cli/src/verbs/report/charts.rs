//! Every chart of a report as a picture of its own, in one folder.

use cardscope_model::outside;
use cardscope_model::publication::Publication;
use cardscope_report::publication::{self, Picture};
use cardscope_session::Failure;
use cardscope_session::output_file::{Mark, OutputFile};
use std::path::Path;

/// Refuses what is no folder before anything is read.
pub(super) fn is_folder(folder: &Path) -> Result<(), Failure> {
    match folder.is_dir() {
        true => Ok(()),
        false => Err(Failure::refused(format!(
            "{}: --charts writes many files and wants a folder that is there; `mkdir` makes one",
            folder.display()
        ))),
    }
}

/// Writes them, each whole or not at all, and names them. Every name is claimed before the first is written: pictures that
/// somebody else made stay, unless they may be replaced.
pub(super) fn write(
    publication: &Publication,
    picture: Picture,
    folder: &Path,
    overwrite: bool,
) -> Result<Vec<String>, Failure> {
    let pictures = publication::pictures(publication, picture).map_err(Failure::refused)?;
    let mark = if overwrite { Mark::Any } else { Mark::Word("Cardscope") };
    let mut claimed = Vec::new();
    for (name, bytes) in pictures {
        let file = OutputFile::claim("--charts", &folder.join(name), None, mark)?;
        claimed.push((file, bytes));
    }
    let mut written = Vec::new();
    for (file, bytes) in claimed {
        file.write(&bytes)?;
        let name = file.name().display().to_string();
        written.push(format!("{}: {} bytes", outside::line(&name), bytes.len()));
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::comparison::Comparison;

    fn nothing() -> Publication {
        let comparison = Comparison {
            entries: Vec::new(),
            by: None,
            tests: Vec::new(),
            differs: Vec::new(),
            findings: Vec::new(),
        };
        Publication {
            title: "Cards".into(),
            made_on: "2026-11-22".into(),
            tool_version: "0.1.0".into(),
            comparison,
            rankings: Vec::new(),
            cards: Vec::new(),
        }
    }

    #[test]
    fn a_report_without_figures_has_no_picture_and_a_file_is_no_folder() {
        let folder = std::env::temp_dir();
        assert!(write(&nothing(), Picture::Svg, &folder, false).unwrap_err().to_string().contains("no card"));
        assert!(is_folder(Path::new("/nowhere/at all")).unwrap_err().to_string().contains("mkdir"));
    }
}
