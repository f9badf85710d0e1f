//! PiBenchmarks' `Storage.sh`: its table, its score, and what it tells of board and card before.
//!
//! HDParm's MB/s is hdparm's MiB/s; KB/s is KiB/s (fio, iozone); DD's number is copied from dd without its unit, so it is
//! only true where dd said MB/s: dd's own line, where the log holds it, decides. Steps carry the names of the recipe
//! `pibenchmarks` (reference page `peers` 2.7).

use super::dd;
use crate::amount::{Amount, amount, binary_mb_s, random, sequential, step};
use crate::dates::month;
use crate::error::ImportError;
use crate::numbers::{KIB_S, number};
use crate::runs::Runs;
use crate::text::Text;
use cardscope_model::condition::{Condition, Origin};
use cardscope_model::log::{Log, LogFigure, Tool};
use cardscope_model::test_name::{Op, TestName};
use cardscope_model::units::{KIB, MIB, mb_per_s};
use serde_json::json;
use std::collections::HashMap;

/// Blocks of 4 KiB for all tests but hdparm's.
const BLOCK: u64 = 4 * KIB;

/// The table's rows: program, test, what it is.
fn tests() -> [(&'static str, &'static str, TestName); 9] {
    [
        ("HDParm", "Cached Disk Read", sequential(2 * MIB, Op::Read)),
        ("HDParm", "Disk Read", sequential(2 * MIB, Op::Read)),
        ("DD", "Disk Write", sequential(BLOCK, Op::Write)),
        ("FIO", "4k random read", random(BLOCK, 64, Op::Read)),
        ("FIO", "4k random write", random(BLOCK, 64, Op::Write)),
        ("IOZone", "4k read", sequential(BLOCK, Op::Read)),
        ("IOZone", "4k write", sequential(BLOCK, Op::Write)),
        ("IOZone", "4k random read", random(BLOCK, 1, Op::Read)),
        ("IOZone", "4k random write", random(BLOCK, 1, Op::Write)),
    ]
}

/// True where two rows of the table stand in it.
pub(crate) fn recognise(text: &Text) -> bool {
    // The table comes after everything the script installs and prints.
    text.lines().filter_map(row).take(2).count() == 2
}

/// Reads it: a table is a run.
///
/// # Errors
/// None; the list of formats asks for this shape.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let mut log = Log::new("pibenchmarks");
    log.tool = Some(Tool { name: "PiBenchmarks".into(), version: None });
    let mut runs = Runs::default();
    text.lines().filter_map(row).for_each(|figure| runs.add(figure));
    log.runs = runs.finish();
    settle_dd(text, &mut log);
    let scores: Vec<f64> =
        text.lines().filter_map(|line| number(line.trim().strip_prefix("Score:")?)).collect();
    if !scores.is_empty() {
        log.other.insert("pibenchmarks".into(), json!({ "scores": scores }));
    }
    text.lines().for_each(|line| identify(line.trim(), &mut log));
    Ok(vec![log])
}

fn row(line: &str) -> Option<LogFigure> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_program = |word: &&str| tests().iter().any(|(program, ..)| program == word);
    let name = words.first().filter(|word| is_program(word)).and(words.get(1..))?.join(" ");
    let (program, test_name, test) =
        tests().into_iter().find(|(program, test, _)| words[0] == *program && is_row(&name, test))?;
    let step_name = format!("{program} {test_name}");
    let printed = amount(name.strip_prefix(test_name)?)?;
    if printed.unit != "IOPS" {
        return Some(step(&step_name, test, printed, mb_s(program, printed)?));
    }
    let speed = name.split_once('(').and_then(|(_, rest)| amount(rest)).filter(|speed| speed.unit == "KB/s");
    let iops = printed.value;
    let mb_s = speed.map_or(iops * BLOCK as f64 / 1e6, |speed| speed.value * KIB_S);
    Some(LogFigure { mb_s, iops: Some(iops), ..step(&step_name, test, printed, 0.0) })
}

fn is_row(name: &str, test: &str) -> bool {
    name.strip_prefix(test).is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
}

fn mb_s(program: &str, printed: Amount<'_>) -> Option<f64> {
    if program == "DD" { crate::amount::decimal_mb_s(printed.unit) } else { binary_mb_s(printed.unit) }
}

/// dd's own line knows the unit that the table's row lost.
fn settle_dd(text: &Text, log: &mut Log) {
    let copies = dd::finished(text.lines());
    // The table copies dd's number digit by digit; the first dd that printed it is meant.
    let mut by_number: HashMap<u64, &dd::Finished> = HashMap::new();
    copies.iter().for_each(|copy| {
        by_number.entry(copy.copied.value.to_bits()).or_insert(copy);
    });
    let rows = log.runs.iter_mut().flat_map(|run| &mut run.results);
    for figure in rows.filter(|figure| figure.step.as_deref() == Some("DD Disk Write")) {
        let Some(own) = by_number.get(&figure.as_printed.value.to_bits()) else { continue };
        let told = mb_per_s(own.copied.bytes, own.copied.seconds);
        if (told / figure.mb_s - 1.0).abs() > 0.2 {
            log.doubts.push(format!(
                "the table says {} MB/s for dd, dd itself {} {}: the table dropped the unit, dd's was taken",
                figure.as_printed.value, own.copied.value, own.copied.unit
            ));
        }
        figure.mb_s = told;
    }
}

/// `MicroSD information: Clock Speed: 50.0 - Manufacturer: SanDisk - Model: SL16G - …`
fn identify(line: &str, log: &mut Log) {
    let Some((title, rest)) = line.split_once(": ") else { return };
    let fields = || rest.split(" - ").filter_map(|field| field.split_once(':'));
    let field = |name: &str| {
        let value = fields().find(|(key, _)| key.trim() == name)?.1.trim();
        Some(value.to_owned()).filter(|value| !value.is_empty() && value != "N/A")
    };
    match title {
        "Board information" => {
            set(&mut log.condition, "board", field("Model"));
            set(
                &mut log.condition,
                "kernel",
                field("OS").map(|os| format!("{os}, {}", field("Architecture").unwrap_or_default())),
            );
        }
        "MicroSD information" | "Drive information" => {
            let card = &mut log.card;
            (card.maker, card.model) = (field("Manufacturer"), field("Model"));
            (card.form, card.firmware) = (field("Product"), field("FW Version"));
            card.made = field("Date Manufactured").and_then(|date| month("%m/%Y", &date));
            let clock = field("Clock Speed").map(|mhz| format!("SD bus at {mhz} MHz"));
            set(&mut log.condition, "board_clock", clock);
        }
        "Class" => log.card.marks = marks(rest),
        _ => {}
    }
}

fn set(condition: &mut Condition, word: &str, value: Option<String>) {
    if let Some(value) = value {
        condition.set(word, value, Origin::Read);
    }
}

/// `A1 Class 10 V10 U1` as `A1`, `C10`, `V10`, `U1`.
fn marks(text: &str) -> Vec<String> {
    let joined = text.replace("Class ", "C");
    let is_mark = |word: &&str| {
        let number = word.strip_prefix(['A', 'C', 'E', 'U', 'V']);
        number.is_some_and(|n| n.parse::<u16>().is_ok_and(|n| n > 0))
    };
    joined.split_whitespace().filter(is_mark).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::seconds_of;

    fn log(text: &str) -> Log {
        read(&Text::decode(text.as_bytes())).unwrap().remove(0)
    }

    const TABLE: &str = "     Category                  Test                      Result     \r\n--------                  --------                  --------\r\nHDParm                    Disk Read                 38.11 MB/s               \r\nHDParm                    Cached Disk Read          36.22 MB/s               \r\nDD                        Disk Write                15.3 MB/s                \r\nFIO                       4k random read            2001 IOPS (8004 KB/s)   \r\nFIO                       4k random write           401 IOPS (1604 KB/s)    \r\nIOZone                    4k read                   8111 KB/s                \r\nIOZone                    4k write                  2222 KB/s                \r\nIOZone                    4k random read            7333 KB/s                \r\nIOZone                    4k random write           1444 KB/s                \r\n\r\n                          Score: 987                                         \r\n";

    #[test]
    fn a_card_has_the_nine_rows_under_the_recipes_steps() {
        let log = log(TABLE);
        let found: Vec<String> = log.runs[0]
            .results
            .iter()
            .map(|f| format!("{} = {} {:.4} MB/s {:?}", f.step.as_deref().unwrap(), f.name(), f.mb_s, f.iops))
            .collect();
        insta::assert_snapshot!(found.join("\n"), @r#"
        HDParm Disk Read = SEQ2M Q1T1 read 39.9612 MB/s None
        HDParm Cached Disk Read = SEQ2M Q1T1 read 37.9794 MB/s None
        DD Disk Write = SEQ4K Q1T1 write 15.3000 MB/s None
        FIO 4k random read = RND4K Q64T1 read 8.1961 MB/s Some(2001.0)
        FIO 4k random write = RND4K Q64T1 write 1.6425 MB/s Some(401.0)
        IOZone 4k read = SEQ4K Q1T1 read 8.3057 MB/s None
        IOZone 4k write = SEQ4K Q1T1 write 2.2753 MB/s None
        IOZone 4k random read = RND4K Q1T1 read 7.5090 MB/s None
        IOZone 4k random write = RND4K Q1T1 write 1.4787 MB/s None
        "#);
        assert_eq!(log.other["pibenchmarks"]["scores"][0], 987.0);
    }

    #[test]
    fn the_text_before_the_table_tells_board_and_card() {
        let text = format!(
            "Board information: Manufacturer: Raspberry Pi Foundation - Model: Raspberry Pi 3 Model B Plus Rev 1.3 - Architecture: armv7l - OS: Raspbian GNU/Linux 10 (buster)\nMicroSD information: Clock Speed: 50.0 - Manufacturer: Samsung - Model: EB1QT - Vendor: SM - Product: SD - HW Version: 0x3 - FW Version: 0x0 - Date Manufactured: 02/2019\nClass: A1 Class 10 V10 U1\n{TABLE}"
        );
        let log = log(&text);
        assert_eq!((log.card.model.as_deref(), log.card.made.as_deref()), (Some("EB1QT"), Some("2019-02")));
        assert_eq!(log.card.marks, ["A1", "C10", "V10", "U1"]);
        assert_eq!(log.condition.get("board"), Some("Raspberry Pi 3 Model B Plus Rev 1.3"));
        assert_eq!(log.condition.get("board_clock"), Some("SD bus at 50.0 MHz"));
    }

    #[test]
    fn dds_own_line_knows_the_unit_that_the_table_lost() {
        let line = "545259520 bytes (545 MB, 520 MiB) copied, 602.718 s, 905 kB/s\n";
        let log = log(&format!(
            "133120+0 records in\n133120+0 records out\n{line}{}",
            TABLE.replace("15.3 MB/s", "905 MB/s")
        ));
        assert!((log.runs[0].results[2].mb_s - 0.904_668).abs() < 1e-5);
        assert!(log.doubts[0].contains("kB/s"), "{:?}", log.doubts);
    }

    #[test]
    fn a_table_cut_off_keeps_its_whole_rows() {
        let log = log(&TABLE[..TABLE.find("8111 KB").unwrap() + 3]);
        assert_eq!(log.runs[0].results.len(), 5);
    }

    #[test]
    fn copies_without_end_cost_no_time() {
        let copy = |n: u64| format!("{n} bytes copied, 1.0 s, {n} B/s\nDD   Disk Write   5.5 MB/s\n");
        let text: String = (1..60_000).map(copy).collect();
        let (seconds, log) = seconds_of(|| log(&text));
        assert!(log.runs.len() == 59_999 && seconds < 6.0, "{seconds} s");
    }

    proptest::proptest! {
        #[test]
        fn any_iops_come_back(iops in 0u32..1_000_000) {
            let log = log(&format!("FIO   4k random read  {iops} IOPS ({} KB/s)\n", u64::from(iops) * 4));
            let figure = &log.runs[0].results[0];
            proptest::prop_assert_eq!((figure.iops, figure.as_printed.value), (Some(f64::from(iops)), f64::from(iops)));
        }
    }
}
