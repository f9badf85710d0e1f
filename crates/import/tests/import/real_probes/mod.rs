//! Real logs of probes, system tools and registers: every file is read, and the spot checks of their index are confirmed.

use crate::data::data;
use cardscope_import::readers::read_logs;
use cardscope_model::log::CardLog;
use cardscope_model::run::TestFigure;
use std::path::Path;

mod capacity;
mod flashbench;
mod identities;
mod speeds;

fn logs(folder: &Path, file: &str) -> Vec<CardLog> {
    let bytes = std::fs::read(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    read_logs(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Single log of a file.
fn log(folder: &Path, file: &str) -> CardLog {
    let mut logs = logs(folder, file);
    assert_eq!(logs.len(), 1, "{file}");
    logs.remove(0)
}

fn files(folder: &Path) -> Vec<String> {
    let entries =
        std::fs::read_dir(folder).expect("a folder of logs").map(|entry| entry.expect("a file").file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().expect("a name in UTF-8")).collect();
    names.sort();
    names
}

fn figures(log: &CardLog) -> impl Iterator<Item = &TestFigure> {
    log.runs.iter().flat_map(|run| &run.results)
}

/// Printed figure of a test, and of a step if given, in the first run that has it.
fn printed(log: &CardLog, test: &str, step: Option<&str>) -> f64 {
    let found =
        figures(log).find(|f| f.name().to_string() == test && (step.is_none() || f.step.as_deref() == step));
    found.unwrap_or_else(|| panic!("no {test} {step:?} in a log of {}", log.format)).printed_or_speed().value
}

#[test]
fn every_file_is_read_as_the_format_of_its_folder() {
    let Some(data) = data() else { return };
    for (folder, format) in [
        ("bonnie", "bonnie++"),
        ("dd", "dd"),
        ("f3", "f3"),
        ("flashbench", "flashbench"),
        ("h2testw", "h2testw"),
        ("hdparm", "hdparm"),
        ("iozone", "iozone"),
        ("lspci", "lspci"),
        ("microsd-benchmarks-sh", "microsd-benchmarks"),
        ("mmc-ios", "mmc-ios"),
        ("nvme", "nvme"),
        ("pibenchmarks", "pibenchmarks"),
    ] {
        for file in files(&data.join(folder)).iter().filter(|file| *file != "facts.json") {
            let logs = logs(&data.join(folder), file);
            assert!(logs.iter().all(|log| log.format == format), "{folder}/{file}: {}", logs[0].format);
        }
    }
}
