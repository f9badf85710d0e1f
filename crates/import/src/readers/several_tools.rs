//! Files with logs of several tools in a row, such as the record of a terminal session.
//!
//! Readers of pages, tables and scripts consume the whole text. The formats listed below read only their own lines, so
//! another reader may find its log in the rest.

use crate::readers::formats::formats;
use crate::readers::{ImportError, LogText};
use cardscope_model::log::CardLog;
use cardscope_model::untrusted_text::shorten_text;

/// Formats whose logs may be in one file. Those in one row read each other's lines, so only the first match of a row is used.
const COMPATIBLE_FORMATS: [&[&str]; 12] = [
    &["cdm_fio", "fio-json", "fio-text"],
    &["kdiskmark", "crystaldiskmark"],
    &["as-ssd"],
    &["f3"],
    &["h2testw"],
    &["ioping"],
    &["microsd-benchmarks", "iozone", "hdparm", "dd"],
    &["nvme"],
    &["lspci"],
    &["mmc-ios"],
    &["mmc-utils"],
    &["sysfs"],
];

/// Reads the logs in a file: of one card or, for a page that compares cards or a file of several tools, of more.
///
/// # Errors
/// [`ImportError::Unknown`] if no format matches, [`ImportError::Empty`] if the matching ones have no results.
pub fn read_logs(bytes: &[u8]) -> Result<Vec<CardLog>, ImportError> {
    logs_in_text(&LogText::decode(bytes))
}

/// Logs of the first format that recognises the text and can read it, and of compatible formats. If none can read it, the
/// error is that of the first format.
pub(crate) fn logs_in_text(text: &LogText) -> Result<Vec<CardLog>, ImportError> {
    let mut logs: Vec<CardLog> = Vec::new();
    let mut rows: Vec<usize> = Vec::new();
    let mut refused = None;
    for format in formats() {
        let row = COMPATIBLE_FORMATS.iter().position(|row| row.contains(&format.name));
        let is_read = !logs.is_empty() && row.is_none_or(|row| rows.contains(&row));
        if is_read || !(format.recognise)(text) {
            continue;
        }
        match (format.read_plausible(text), row) {
            (Err(error), _) => refused = refused.or(Some(error)),
            (Ok(read), Some(row)) => {
                logs.extend(read);
                rows.push(row);
            }
            // Any other format reads the whole text, so no other log can be in it.
            (Ok(read), None) => {
                logs.extend(read);
                break;
            }
        }
    }
    if logs.is_empty() {
        return Err(refused.unwrap_or_else(|| ImportError::Unknown(text.describe_beginning())));
    }
    if rows.len() > 1 {
        share_single_card(&mut logs);
    }
    Ok(logs)
}

/// Gives all logs the card that only one of them names.
fn share_single_card(logs: &mut [CardLog]) {
    let mut named = logs.iter().filter(|log| !log.card.is_empty());
    let (Some(card), None) = (named.next().map(|log| log.card.clone()), named.next()) else { return };
    for log in logs.iter_mut().filter(|log| log.card.is_empty()) {
        log.card = card.clone();
        log.doubts.push(format!("card taken from the file name: {}", shorten_text(&card.title())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HDPARM: &str =
        "/dev/mmcblk0:\n Timing buffered disk reads: 134 MB in  3.02 seconds =  44.37 MB/sec\n";
    const FIO: &str =
        "j: (groupid=0, jobs=1): err= 0: pid=7: x\n  write: IOPS=250, BW=1000KiB/s (1024kB/s)(1MiB/1msec)\n";

    fn formats_of(text: &str) -> Vec<String> {
        logs_in_text(&LogText::from_decoded(text)).unwrap().into_iter().map(|log| log.format).collect()
    }

    #[test]
    fn logs_of_two_tools_are_both_read() {
        assert_eq!(formats_of(&format!("{HDPARM}{FIO}")), ["fio-text", "hdparm"]);
        assert_eq!(formats_of(&format!("{FIO}{HDPARM}")), ["fio-text", "hdparm"]);
        assert_eq!(formats_of(HDPARM), ["hdparm"]);
    }

    #[test]
    fn word_of_another_tool_does_not_hide_a_log() {
        // The text has a word of fio's, but no result of it.
        assert_eq!(formats_of(&format!("my script prints \"fio version\"\n{HDPARM}")), ["hdparm"]);
        let error = logs_in_text(&LogText::from_decoded("\"fio version\" alone")).unwrap_err().to_string();
        assert!(error.contains("fio-json"), "{error}");
    }

    #[test]
    fn single_card_of_a_file_belongs_to_all_its_logs() {
        let nvme = "NVME Identify Controller:\nvid       : 0x1234\nsn        : 0007\nmn        : EXAMPLE SWIFT\nfr        : 1.0\n";
        let logs = logs_in_text(&LogText::from_decoded(&format!("{nvme}{FIO}"))).unwrap();
        assert_eq!(logs.iter().map(|log| log.format.as_str()).collect::<Vec<_>>(), ["fio-text", "nvme"]);
        assert_eq!(logs[0].card, logs[1].card);
        assert!(
            logs[0].doubts.iter().any(|doubt| doubt.contains("taken from the file name")),
            "{:?}",
            logs[0].doubts
        );
    }
}
