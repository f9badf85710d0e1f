//! Files with logs of two tools: both are read, and neither changes the other.

use super::corpus;
use cardscope_import::readers::read_logs;
use cardscope_model::log::CardLog;

/// Compatible formats, one of each row of those that read each other's lines.
const SIDE_BY_SIDE: [&str; 10] = [
    "cdm_fio",
    "crystaldiskmark",
    "as-ssd",
    "f3",
    "h2testw",
    "ioping",
    "hdparm",
    "nvme",
    "lspci",
    "mmc-utils",
];

/// First file of a format that is plain text.
fn plain(format: &str) -> Option<String> {
    let mut all =
        corpus().into_iter().filter(|example| example.format.name == format && !example.is_damaged());
    all.find_map(|example| String::from_utf8(example.bytes).ok().filter(|text| !text.starts_with(['{', '['])))
}

fn figures(logs: &[CardLog], format: &str) -> Vec<(String, f64)> {
    let of =
        logs.iter().filter(|log| log.format == format).flat_map(|log| &log.runs).flat_map(|run| &run.results);
    of.map(|figure| (figure.name().to_string(), figure.mb_s)).collect()
}

#[test]
fn logs_of_any_two_tools_in_one_file_are_read() {
    let mut lost = Vec::new();
    for first in SIDE_BY_SIDE {
        for second in SIDE_BY_SIDE.into_iter().filter(|second| *second != first) {
            let (one, other) = (plain(first).expect(first), plain(second).expect(second));
            let joined = read_logs(format!("{one}\n\n{other}").as_bytes()).expect("both are logs");
            for (format, alone) in [(first, &one), (second, &other)] {
                let alone = read_logs(alone.as_bytes()).expect("it is a log");
                let there = joined.iter().any(|log| log.format == format);
                if !there || figures(&joined, format) != figures(&alone, format) {
                    lost.push(format!("{format} of {first} and {second}"));
                }
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}
