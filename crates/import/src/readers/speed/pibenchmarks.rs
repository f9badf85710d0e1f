//! PiBenchmarks' `Storage.sh`: its table, its score, and the data of board and card before these.
//!
//! HDParm's MB/s is hdparm's MiB/s; KB/s is KiB/s (fio, iozone). DD's number is copied from dd without its unit, so it is
//! only correct if dd printed MB/s; dd's own line counts if the log has it. Steps have the names in the recipe
//! `pibenchmarks` (docs/reference/tools.md#pibenchmarks).

use super::dd;
use crate::readers::{
    KIB_S, LogText, ReaderOutcome, RunBuilder, binary_mb_s, decimal_mb_s, new_log, parse_amount, parse_month,
    parse_number, random_test, sequential_test, set_word, step_figure, trimmed_text,
};
use cardscope_model::log::CardLog;
use cardscope_model::run::TestFigure;
use cardscope_model::test_name::{TestName, TestOp};
use cardscope_model::units::{KIB, MIB, mb_per_s};
use serde_json::json;
use std::collections::HashMap;

/// Block of all tests except hdparm's.
const BLOCK: u64 = 4 * KIB;

/// Rows of the table, which name program and test.
const TESTS: [(&str, TestName); 9] = [
    ("HDParm Cached Disk Read", sequential_test(2 * MIB, TestOp::Read)),
    ("HDParm Disk Read", sequential_test(2 * MIB, TestOp::Read)),
    ("DD Disk Write", sequential_test(BLOCK, TestOp::Write)),
    ("FIO 4k random read", random_test(BLOCK, 64, TestOp::Read)),
    ("FIO 4k random write", random_test(BLOCK, 64, TestOp::Write)),
    ("IOZone 4k read", sequential_test(BLOCK, TestOp::Read)),
    ("IOZone 4k write", sequential_test(BLOCK, TestOp::Write)),
    ("IOZone 4k random read", random_test(BLOCK, 1, TestOp::Read)),
    ("IOZone 4k random write", random_test(BLOCK, 1, TestOp::Write)),
];

/// True if the text has two rows of the table.
pub(crate) fn recognise(text: &LogText) -> bool {
    // The table follows all output of the script's installation, so the head of the text is not enough.
    text.lines().filter_map(parse_row).take(2).count() == 2
}

/// Reads the text; each table is a run.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let mut log = new_log("PiBenchmarks", None);
    log.runs = RunBuilder::group_figures(text.lines().filter_map(parse_row));
    correct_dd_speed(text, &mut log);
    let scores = text.lines().filter_map(|line| parse_number(line.trim().strip_prefix("Score:")?));
    let scores: Vec<f64> = scores.collect();
    log.other.extend((!scores.is_empty()).then(|| ("pibenchmarks".to_owned(), json!({ "scores": scores }))));
    text.lines().for_each(|line| read_facts(line.trim(), &mut log));
    Ok(vec![log])
}

fn parse_row(line: &str) -> Option<TestFigure> {
    let row = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let value = |s: &str| {
        row.strip_prefix(s).map(str::trim_start).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let (step, test, rest) = TESTS.into_iter().find_map(|(step, test)| Some((step, test, value(step)?)))?;
    let printed = parse_amount(rest)?;
    if printed.unit != "IOPS" {
        let to_mb_s = if step.starts_with("DD") { decimal_mb_s } else { binary_mb_s };
        return Some(step_figure(step, test, printed, to_mb_s(printed.unit)?));
    }
    let speed = rest.split_once('(').and_then(|(_, speed)| parse_amount(speed));
    let kib_s = speed.filter(|speed| speed.unit == "KB/s");
    let mb_s = kib_s.map_or(printed.value * BLOCK as f64 / 1e6, |kib_s| kib_s.value * KIB_S);
    Some(TestFigure { mb_s, iops: Some(printed.value), ..step_figure(step, test, printed, 0.0) })
}

/// Corrects the table's row of dd, which lacks the unit, by dd's own line.
fn correct_dd_speed(text: &LogText, log: &mut CardLog) {
    let copies = dd::find_results(text.lines());
    // The table copies dd's number digit by digit, so the first dd with that number is the right one.
    let by_number = copies.iter().rev().map(|copy| (copy.copied.value.to_bits(), copy));
    let by_number: HashMap<u64, &dd::FinishedDd> = by_number.collect();
    let rows = log.runs.iter_mut().flat_map(|run| &mut run.results);
    for figure in rows.filter(|figure| figure.step.as_deref() == Some("DD Disk Write")) {
        let Some(own) = by_number.get(&figure.printed_or_speed().value.to_bits()) else { continue };
        let mb_s = mb_per_s(own.copied.bytes, own.copied.seconds);
        if (mb_s / figure.mb_s - 1.0).abs() > 0.2 {
            let (table, dd::DdResult { value, unit, .. }) = (figure.printed_or_speed().value, &own.copied);
            let doubt =
                format!("the table has {table} MB/s for dd, dd itself {value} {unit}; dd's value was used");
            log.doubts.push(doubt);
        }
        figure.mb_s = mb_s;
    }
}

/// Reads facts from `MicroSD information: Clock Speed: 50.0 - Manufacturer: SanDisk - Model: SL16G - …`.
fn read_facts(line: &str, log: &mut CardLog) {
    let Some((title, rest)) = line.split_once(": ") else { return };
    let fields = || rest.split(" - ").filter_map(|field| field.split_once(':'));
    let field = |n: &str| trimmed_text(fields().find(|(key, _)| key.trim() == n)?.1).filter(|v| v != "N/A");
    match title {
        "Board information" => {
            let kernel = field("OS").map(|os| format!("{os}, {}", field("Architecture").unwrap_or_default()));
            set_word(log, "board", field("Model"));
            set_word(log, "kernel", kernel);
        }
        "MicroSD information" | "Drive information" => {
            let card = &mut log.card;
            (card.maker, card.model) = (field("Manufacturer"), field("Model"));
            (card.form, card.firmware) = (field("Product"), field("FW Version"));
            card.made = field("Date Manufactured").and_then(|date| parse_month("%m/%Y", &date));
            let clock = field("Clock Speed").map(|mhz| format!("SD bus at {mhz} MHz"));
            set_word(log, "board_clock", clock);
        }
        "Class" => log.card.marks = parse_marks(rest),
        _ => {}
    }
}

/// Marks in `A1 Class 10 V10 U1`: `A1`, `C10`, `V10`, `U1`.
fn parse_marks(text: &str) -> Vec<String> {
    let joined = text.replace("Class ", "C");
    let is_mark = |word: &&str| {
        let number = word.strip_prefix(['A', 'C', 'E', 'U', 'V']);
        number.is_some_and(|n| n.parse::<u16>().is_ok_and(|n| n > 0))
    };
    joined.split_whitespace().filter(is_mark).map(str::to_owned).collect()
}
