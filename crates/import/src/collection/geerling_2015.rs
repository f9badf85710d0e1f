//! Geerling's first table, of 2015: rows of `table,item,MBps`, where the table names test and host.
//!
//! Its MB/s are as written there; how iozone's kBytes/sec became them is not told. Comparisons of hosts and of cached reads
//! stand in the same file and are passed over.

use super::name::card_named;
use super::values::{Named, named};
use crate::amount::{Amount, step};
use crate::numbers::speed;
use crate::runs::Runs;
use crate::table::Table;
use crate::{ImportError, Text};
use cardscope_model::condition::Origin;
use cardscope_model::log::{Log, LogFigure};
use cardscope_model::test_name::Op;
use std::collections::HashMap;

/// True where its heading stands first.
pub(crate) fn recognise(text: &Text) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.trim() == "table,item,MBps")
}

/// Reads it: each item on each host is a log.
///
/// # Errors
/// If no row has a figure.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let table = Table::of(text.body());
    let mut logs: Vec<(Log, Runs)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (item, host, figure) in table.rows().filter_map(|row| {
        let (host, test) = test(row.get("table")?)?;
        Some((row.get("item")?, host, made(test, row.get("MBps")?)?))
    }) {
        let place = *places.entry(format!("{item}, {host}")).or_insert_with_key(|part| {
            logs.push((log(item, host, part.clone()), Runs::default()));
            logs.len() - 1
        });
        logs[place].1.add(figure);
    }
    if logs.is_empty() {
        return Err(ImportError::Empty {
            format: "geerling-2015",
            why: "no row of it has a figure".to_owned(),
        });
    }
    Ok(logs.into_iter().map(|(log, runs)| finished(log, runs)).collect())
}

/// Host and test of `Random 4K Read (Raspberry Pi B+)`.
fn test(table: &str) -> Option<(&str, Named)> {
    let (name, host) = table.split_once(" (")?;
    Some((host.trim_end_matches(')'), named(name)?))
}

fn made((test, _): Named, cell: &str) -> Option<LogFigure> {
    let value = speed(cell)?;
    Some(LogFigure { step: None, ..step("", test, Amount { value, unit: "MB/s" }, 1.0) })
}

fn log(item: &str, host: &str, part: String) -> Log {
    let mut log = Log::new("geerling-2015");
    log.card = card_named(item);
    log.condition.set("board", host, Origin::Stated);
    log.part = Some(part);
    log
}

/// What is written faster than it can be read went to the page cache.
fn finished(mut log: Log, runs: Runs) -> Log {
    log.runs = runs.finish();
    let sequential = |op| {
        let mut figures = log.runs.iter().flat_map(|run| &run.results);
        figures.find(|f| f.op == op && f.test.block > 4096).map(|f| f.mb_s)
    };
    if sequential(Op::Write).zip(sequential(Op::Read)).is_some_and(|(write, read)| write > read) {
        log.doubts
            .push("it writes faster than it reads in sequence: the page cache took the data".to_owned());
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::seconds_of;

    #[test]
    fn each_card_has_its_rows_together() {
        let text = Text::of(
            "table,item,MBps\nSequential Read (Board 1),Example Ultra,17.5\nSequential Read (Board 1),Example C4,12\nSequential Write (Board 1),Example Ultra,40.5\nRandom 4K Write (Board 1),Example Ultra,0.75\n(comparison of hosts),Other,300\nRandom 4K Re",
        );
        assert!(recognise(&text));
        let logs = read(&text).unwrap();
        let found: Vec<String> =
            logs[0].runs[0].results.iter().map(|f| format!("{} {}", f.name(), f.mb_s)).collect();
        assert_eq!(found, ["SEQ1M Q1T1 read 17.5", "SEQ1M Q1T1 write 40.5", "RND4K Q1T1 write 0.75"]);
        assert_eq!(
            (logs.len(), logs[0].condition.get("board"), logs[0].doubts.len(), logs[1].doubts.len()),
            (2, Some("Board 1"), 1, 0)
        );
    }

    #[test]
    fn cards_without_end_cost_no_time() {
        let rows: String = (0..60_000).map(|n| format!("Sequential Read (Board),Card {n},5\n")).collect();
        let table = format!("table,item,MBps\n{rows}");
        let text = Text::of(&table);
        let (seconds, logs) = seconds_of(|| read(&text).unwrap());
        assert!(logs.len() == 60_000 && seconds < 6.0, "{seconds} s");
    }

    proptest::proptest! {
        #[test]
        fn any_speed_comes_back(hundredths in 0u32..100_000) {
            let value = f64::from(hundredths) / 100.0;
            let logs = read(&Text::of(&format!("table,item,MBps\nRandom 4K Read (x),y,{value}\n"))).unwrap();
            proptest::prop_assert_eq!(logs[0].runs[0].results[0].as_printed.value, value);
        }
        #[test]
        fn no_text_panics(rows in "((Sequential|Random 4K|Read| \\(x\\)|,|[0-9.]{1,6}|\n)[a-z]?){0,20}") {
            let _ = read(&Text::of(&format!("table,item,MBps\n{rows}")));
        }
    }
}
