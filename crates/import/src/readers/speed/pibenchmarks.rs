//! PiBenchmarks' `Storage.sh`: its table, its score, and the data of board and card before these.
//!
//! HDParm's MB/s is hdparm's MiB/s; KB/s is KiB/s (fio, iozone). DD's number is copied from dd without its unit, so it is
//! only correct if dd printed MB/s; dd's own line counts if the log has it. Steps have the names in the recipe
//! `pibenchmarks` (docs/reference/tools.md#pibenchmarks).

use super::dd;
use crate::readers::dates::parse_month;
use crate::readers::error::ReaderOutcome;
use crate::readers::notes::new_log;
use crate::readers::numbers::{
    KIB_S, PrintedAmount, binary_mb_s, parse_amount, parse_number, random_test, sequential_test, step_figure,
};
use crate::readers::runs::RunBuilder;
use crate::readers::text::{LogText, trimmed_text};
use cardscope_model::condition::{Condition, ConditionOrigin};
use cardscope_model::log::CardLog;
use cardscope_model::run::TestFigure;
use cardscope_model::test_name::{TestName, TestOp};
use cardscope_model::units::{KIB, MIB, mb_per_s};
use serde_json::json;
use std::collections::HashMap;

/// Block of all tests except hdparm's.
const BLOCK: u64 = 4 * KIB;

/// Rows of the table: program, name of the test, and test.
const TESTS: [(&str, &str, TestName); 9] = [
    ("HDParm", "Cached Disk Read", sequential_test(2 * MIB, TestOp::Read)),
    ("HDParm", "Disk Read", sequential_test(2 * MIB, TestOp::Read)),
    ("DD", "Disk Write", sequential_test(BLOCK, TestOp::Write)),
    ("FIO", "4k random read", random_test(BLOCK, 64, TestOp::Read)),
    ("FIO", "4k random write", random_test(BLOCK, 64, TestOp::Write)),
    ("IOZone", "4k read", sequential_test(BLOCK, TestOp::Read)),
    ("IOZone", "4k write", sequential_test(BLOCK, TestOp::Write)),
    ("IOZone", "4k random read", random_test(BLOCK, 1, TestOp::Read)),
    ("IOZone", "4k random write", random_test(BLOCK, 1, TestOp::Write)),
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
    let scores: Vec<f64> =
        text.lines().filter_map(|line| parse_number(line.trim().strip_prefix("Score:")?)).collect();
    if !scores.is_empty() {
        log.other.insert("pibenchmarks".into(), json!({ "scores": scores }));
    }
    text.lines().for_each(|line| read_facts(line.trim(), &mut log));
    Ok(vec![log])
}

fn parse_row(line: &str) -> Option<TestFigure> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_program = |word: &&str| TESTS.iter().any(|(program, ..)| program == word);
    let name = words.first().filter(|word| is_program(word)).and(words.get(1..))?.join(" ");
    let (program, test_name, test) =
        TESTS.into_iter().find(|(program, test, _)| words[0] == *program && is_row(&name, test))?;
    let step_name = format!("{program} {test_name}");
    let printed = parse_amount(name.strip_prefix(test_name)?)?;
    if printed.unit != "IOPS" {
        return Some(step_figure(&step_name, test, printed, unit_mb_s(program, printed)?));
    }
    let speed =
        name.split_once('(').and_then(|(_, rest)| parse_amount(rest)).filter(|speed| speed.unit == "KB/s");
    let iops = printed.value;
    let mb_s = speed.map_or(iops * BLOCK as f64 / 1e6, |speed| speed.value * KIB_S);
    Some(TestFigure { mb_s, iops: Some(iops), ..step_figure(&step_name, test, printed, 0.0) })
}

fn is_row(name: &str, test: &str) -> bool {
    name.strip_prefix(test).is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
}

fn unit_mb_s(program: &str, printed: PrintedAmount<'_>) -> Option<f64> {
    if program == "DD" {
        crate::readers::numbers::decimal_mb_s(printed.unit)
    } else {
        binary_mb_s(printed.unit)
    }
}

/// Corrects the table's row of dd, which lacks the unit, by dd's own line.
fn correct_dd_speed(text: &LogText, log: &mut CardLog) {
    let copies = dd::find_results(text.lines());
    // The table copies dd's number digit by digit, so the first dd with that number is the right one.
    let mut by_number: HashMap<u64, &dd::FinishedDd> = HashMap::new();
    copies.iter().for_each(|copy| {
        by_number.entry(copy.copied.value.to_bits()).or_insert(copy);
    });
    let rows = log.runs.iter_mut().flat_map(|run| &mut run.results);
    for figure in rows.filter(|figure| figure.step.as_deref() == Some("DD Disk Write")) {
        let Some(own) = by_number.get(&figure.printed_or_speed().value.to_bits()) else { continue };
        let mb_s = mb_per_s(own.copied.bytes, own.copied.seconds);
        if (mb_s / figure.mb_s - 1.0).abs() > 0.2 {
            log.doubts.push(format!(
                "the table has {} MB/s for dd, dd itself {} {}; dd's value was used",
                figure.printed_or_speed().value,
                own.copied.value,
                own.copied.unit
            ));
        }
        figure.mb_s = mb_s;
    }
}

/// Reads facts from `MicroSD information: Clock Speed: 50.0 - Manufacturer: SanDisk - Model: SL16G - …`.
fn read_facts(line: &str, log: &mut CardLog) {
    let Some((title, rest)) = line.split_once(": ") else { return };
    let fields = || rest.split(" - ").filter_map(|field| field.split_once(':'));
    let field = |name: &str| {
        trimmed_text(fields().find(|(key, _)| key.trim() == name)?.1).filter(|value| value != "N/A")
    };
    match title {
        "Board information" => {
            let kernel = field("OS").map(|os| format!("{os}, {}", field("Architecture").unwrap_or_default()));
            set_condition(&mut log.condition, "board", field("Model"));
            set_condition(&mut log.condition, "kernel", kernel);
        }
        "MicroSD information" | "Drive information" => {
            let card = &mut log.card;
            (card.maker, card.model) = (field("Manufacturer"), field("Model"));
            (card.form, card.firmware) = (field("Product"), field("FW Version"));
            card.made = field("Date Manufactured").and_then(|date| parse_month("%m/%Y", &date));
            let clock = field("Clock Speed").map(|mhz| format!("SD bus at {mhz} MHz"));
            set_condition(&mut log.condition, "board_clock", clock);
        }
        "Class" => log.card.marks = parse_marks(rest),
        _ => {}
    }
}

fn set_condition(condition: &mut Condition, word: &str, value: Option<String>) {
    if let Some(value) = value {
        condition.set(word, value, ConditionOrigin::Read);
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
