//! Files that hold the logs of several tools one after the other: a session in a terminal, notes of an afternoon.
//!
//! Pages, tables and scripts that call other tools read all of their text themselves. The formats below each read their own
//! lines and leave the others' alone, so what the first one left may be another's.

use crate::readers::error::ImportError;
use crate::readers::formats::{LogFormat, formats};
use crate::readers::text::LogText;
use cardscope_model::log::CardLog;
use cardscope_model::outside::shortened;

/// Formats whose logs may stand in one file. Those in one row read each other's lines, so only the first of them is asked.
const SIDE_BY_SIDE: [&[&str]; 12] = [
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

/// Reads a log. Most hold one card; a page that compares cards holds several, and a file may hold the logs of several tools.
///
/// # Errors
/// If no format knows it, or one does and nothing in it can be read.
pub fn read(bytes: &[u8]) -> Result<Vec<CardLog>, ImportError> {
    logs(&LogText::decode(bytes))
}

/// The logs in a text: those of the first format that recognises it and can read it, and those of others beside it. Where
/// several recognise it and none can read anything, the first of them says why.
pub(crate) fn logs(text: &LogText) -> Result<Vec<CardLog>, ImportError> {
    let mut logs: Vec<CardLog> = Vec::new();
    let mut rows: Vec<usize> = Vec::new();
    let mut refused = None;
    for format in formats() {
        let row = row(format);
        let is_read = !logs.is_empty() && row.is_none_or(|row| rows.contains(&row));
        if is_read || !(format.recognise)(text) {
            continue;
        }
        match format.logs(text) {
            Ok(read) => logs.extend(read),
            Err(error) => {
                refused.get_or_insert(error);
                continue;
            }
        }
        match row {
            Some(row) => rows.push(row),
            None => break,
        }
    }
    if logs.is_empty() {
        return Err(refused.unwrap_or_else(|| ImportError::Unknown(text.looks_like())));
    }
    if rows.len() > 1 {
        of_one_card(&mut logs);
    }
    Ok(logs)
}

fn row(format: &LogFormat) -> Option<usize> {
    SIDE_BY_SIDE.iter().position(|row| row.contains(&format.name))
}

/// What one tool says of the card holds for what the others measured, where but one of them names a card.
fn of_one_card(logs: &mut [CardLog]) {
    let mut named = logs.iter().filter(|log| !log.card.is_empty());
    let (Some(card), None) = (named.next().map(|log| log.card.clone()), named.next()) else { return };
    for log in logs.iter_mut().filter(|log| log.card.is_empty()) {
        log.card = card.clone();
        log.doubts.push(format!("card taken from the file name: {}", shortened(&card.title())));
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
        logs(&LogText::of(text)).unwrap().into_iter().map(|log| log.format).collect()
    }

    #[test]
    fn what_the_first_tool_leaves_the_next_one_reads() {
        assert_eq!(formats_of(&format!("{HDPARM}{FIO}")), ["fio-text", "hdparm"]);
        assert_eq!(formats_of(&format!("{FIO}{HDPARM}")), ["fio-text", "hdparm"]);
        assert_eq!(formats_of(HDPARM), ["hdparm"]);
    }

    #[test]
    fn a_word_of_another_tool_hides_no_log() {
        // fio's word is there, its results are not.
        assert_eq!(formats_of(&format!("my script prints \"fio version\"\n{HDPARM}")), ["hdparm"]);
        let error = logs(&LogText::of("\"fio version\" alone")).unwrap_err().to_string();
        assert!(error.contains("fio-json"), "{error}");
    }

    #[test]
    fn the_one_card_of_a_file_is_the_card_of_all_its_logs() {
        let nvme = "NVME Identify Controller:\nvid       : 0x1234\nsn        : 0007\nmn        : EXAMPLE SWIFT\nfr        : 1.0\n";
        let logs = logs(&LogText::of(&format!("{nvme}{FIO}"))).unwrap();
        assert_eq!(logs.iter().map(|log| log.format.as_str()).collect::<Vec<_>>(), ["fio-text", "nvme"]);
        assert_eq!(logs[0].card, logs[1].card);
        assert!(
            logs[0].doubts.iter().any(|doubt| doubt.contains("taken from the file name")),
            "{:?}",
            logs[0].doubts
        );
    }
}
