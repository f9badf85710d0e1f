//! Cards in archives without measuring: logs of `cdm_fio.sh` with made-up numbers, and output of `archive`.

use super::binary::{Home, Outcome};
use super::{list, text};
use serde_json::Value;
use std::fmt::Write;

/// Simulated card with a CID whose serial number is 00C0FFEE; it takes seconds of virtual time.
pub(crate) const CONSTANT: &str = "sim:constant";

/// Tests of a run, each one MiB/s slower than the previous.
const ROWS: [&str; 6] = ["Sequential", "512KB", "Sequential Q32T1", "4KB", "4KB Q32T1", "4KB Q8T8"];

/// Log with a run of 1 GiB for each number, which is its first result in MiB/s; writes are 100 MiB/s slower.
pub(crate) fn log(runs: &[u32]) -> String {
    let mut out = String::new();
    for fast in runs {
        let _ = writeln!(
            out,
            "Configuration:\n  Size = 1024m\n  Loops = 5\n  Write Only Zeroes = 0\n\nResults:\n"
        );
        for (slower, row) in (0..).zip(ROWS) {
            let (read, write) = (fast - slower, fast - slower - 100);
            let _ = writeln!(out, "{row} Read: {read}MB/s IOPS=7\n{row} Write: {write}MB/s IOPS=7\n");
        }
    }
    out
}

/// Writes a file into a home and returns its path.
#[track_caller]
pub(crate) fn write(home: &Home, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = home.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Imports a log into the home's archive, or as `more` says.
#[track_caller]
pub(crate) fn taken_in(home: &Home, name: &str, runs: &[u32], more: &[&str]) -> Outcome {
    let file = write(home, name, log(runs));
    home.run(&[&["import", "--json", &file], more].concat()).expect(0)
}

#[track_caller]
pub(crate) fn archive(home: &Home, arguments: &[&str]) -> Outcome {
    home.run(&[&["archive"], arguments].concat())
}

/// Document of a successful `archive` command.
#[track_caller]
pub(crate) fn told(home: &Home, arguments: &[&str]) -> Value {
    archive(home, &[arguments, &["--json"]].concat()).expect(0).json()
}

/// Titles of the cards in an archive.
#[track_caller]
pub(crate) fn titles(home: &Home) -> Vec<String> {
    list(&told(home, &["cards"]), "/cards").iter().map(|card| text(card, "/title").to_owned()).collect()
}
