//! What holds of everything that comes out of an importer, whatever goes in. Fuzzing and the tests of the corpus ask this.

use crate::formats::{Format, formats};
use crate::{ImportError, Text};
use cardscope_model::log::{Log, LogFigure};

/// Gives bytes to the importer of a format, whether it would have taken them or not, and panics where what comes out is
/// not sound. For fuzzing: `fuzz/` has one target a format.
///
/// # Panics
/// If there is no such format, or a figure is no number, negative, or nameless.
pub fn check(format: &str, bytes: &[u8]) {
    let format = formats().iter().find(|f| f.name == format).expect("the target is named as its format");
    check_text(format, &Text::decode(bytes));
}

/// The same for one that is text already.
///
/// # Panics
/// As [`check`].
pub fn check_text(format: &Format, text: &Text) {
    let _ = (format.recognise)(text);
    match (format.read)(text) {
        Ok(logs) => logs.iter().for_each(|log| sound(log, text)),
        Err(ImportError::Empty { why, .. } | ImportError::Unknown(why)) => {
            assert!(!why.is_empty(), "a refusal says why");
        }
    }
}

fn sound(log: &Log, text: &Text) {
    let figures: Vec<&LogFigure> = log.runs.iter().flat_map(|run| &run.results).collect();
    assert!(figures.len() <= text.body().len(), "no more figures than characters");
    for figure in figures {
        assert!(figure.mb_s.is_finite() && figure.mb_s >= 0.0, "{figure:?}");
        assert!(figure.as_printed.value.is_finite(), "{figure:?}");
        assert!(figure.iops.is_none_or(|iops| iops.is_finite() && iops >= 0.0), "{figure:?}");
        assert!(figure.latency_us.is_none_or(|us| us.is_finite() && us >= 0.0), "{figure:?}");
        assert!(figure.test.block > 0 && figure.test.queue > 0 && figure.test.threads > 0, "{figure:?}");
    }
    let json = serde_json::to_string(log).expect("a log is JSON");
    let back: Log = serde_json::from_str(&json).expect("a log comes back");
    assert_eq!(back.runs, log.runs, "nothing is lost on the way through JSON");
}
