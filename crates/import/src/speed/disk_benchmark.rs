//! The Markdown table that Geerling's `disk-benchmark.sh` ends with, of pi-cluster (2024) and raspberry-pi-dramble (2021).
//!
//! The script divides iozone's KiB/s by 1024 and writes MB/s: it is MiB/s. Its "1M sequential read" is iozone's re-read,
//! the write its re-write (reference page `peers` 2.6). The older table's fio row is copied from fio's bracket: MB/s.
//! Steps carry the names of the recipe `geerling-2024`.

use crate::amount::{amount, decimal_mb_s, random, sequential, step};
use crate::error::ImportError;
use crate::numbers::MIB_S;
use crate::runs::Runs;
use crate::text::Text;
use cardscope_model::log::{Log, LogFigure, Tool};
use cardscope_model::test_name::{Op, Order, Pattern, TestName};
use cardscope_model::units::{KIB, MIB};

/// A row's name in small letters, the recipe's step, and the test.
fn rows() -> [(&'static str, &'static str, TestName); 6] {
    [
        ("4k random read", "4k random read", random(4 * KIB, 1, Op::Read)),
        ("4k random write", "4k random write", random(4 * KIB, 1, Op::Write)),
        ("1m random read", "1024k random read", random(MIB, 1, Op::Read)),
        ("1m random write", "1024k random write", random(MIB, 1, Op::Write)),
        ("1m sequential read", "1024k reread", sequential(MIB, Op::Read)),
        ("1m sequential write", "1024k rewrite", sequential(MIB, Op::Write)),
    ]
}

/// What the older script's fio does: four jobs of depth 64.
const FIO: TestName = TestName {
    pattern: Pattern { order: Order::Sequential, block: MIB, queue: 64, threads: 4 },
    op: Op::Read,
};

/// True where two rows of the table stand in it.
pub(crate) fn recognise(text: &Text) -> bool {
    text.head().lines().filter_map(figure).take(2).count() == 2
}

/// Reads it: a table is a run.
///
/// # Errors
/// None; the list of formats asks for this shape.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let mut log = Log::new("disk-benchmark");
    log.tool = Some(Tool { name: "disk-benchmark.sh".into(), version: None });
    let mut runs = Runs::default();
    text.lines().filter_map(figure).for_each(|figure| runs.add(figure));
    log.runs = runs.finish();
    Ok(vec![log])
}

/// `| iozone 4K random read      | 12.09 MB/s |`
fn figure(line: &str) -> Option<LogFigure> {
    let cells: Vec<&str> = line.trim().strip_prefix('|')?.split('|').map(str::trim).collect();
    let (name, printed) = (cells.first()?.to_lowercase(), amount(cells.get(1)?)?);
    let mb_s = decimal_mb_s(printed.unit)?;
    if name == "fio 1m sequential read" {
        return Some(step("fio 1M sequential read", FIO, printed, mb_s));
    }
    let name = name.strip_prefix("iozone ").unwrap_or(&name);
    let (_, step_name, test) = rows().into_iter().find(|(row, ..)| *row == name)?;
    Some(step(step_name, test, printed, mb_s * MIB_S))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Log {
        read(&Text::decode(text.as_bytes())).unwrap().remove(0)
    }

    #[test]
    fn a_cards_table_is_in_mebibytes_whatever_it_says() {
        let text = "| Benchmark                  | Result |\r\n| -------------------------- | ------ |\r\n| iozone 4K random read      | 12.50 MB/s |\r\n| iozone 4K random write     | 4.25 MB/s |\r\n| iozone 1M random read      | 80.00 MB/s |\r\n| iozone 1M random write     | 30.00 MB/s |\r\n| iozone 1M sequential read  | 85.00 MB/s |\r\n| iozone 1M sequential write | 33,50 MB/s |\r\n";
        assert!(recognise(&Text::decode(text.as_bytes())));
        let log = log(text);
        let found: Vec<String> =
            log.runs[0].results.iter().map(|f| format!("{} {:?} {:.4}", f.name(), f.step, f.mb_s)).collect();
        insta::assert_snapshot!(found.join("\n"), @r#"
        RND4K Q1T1 read Some("4k random read") 13.1072
        RND4K Q1T1 write Some("4k random write") 4.4564
        RND1M Q1T1 read Some("1024k random read") 83.8861
        RND1M Q1T1 write Some("1024k random write") 31.4573
        SEQ1M Q1T1 read Some("1024k reread") 89.1290
        SEQ1M Q1T1 write Some("1024k rewrite") 35.1273
        "#);
    }

    #[test]
    fn the_older_tables_fio_row_is_in_true_megabytes() {
        let log = log(
            "| fio 1M sequential read | 416MB/s |\n| iozone 1M random write| 188.70MB/s |\n| iozone 1M ran",
        );
        let figures: Vec<(String, f64)> =
            log.runs[0].results.iter().map(|f| (f.name().to_string(), f.mb_s)).collect();
        assert_eq!(figures[0], ("SEQ1M Q64T4 read".to_owned(), 416.0));
        assert_eq!(figures.len(), 2);
    }

    #[test]
    fn other_tables_are_no_benchmarks() {
        assert!(!recognise(&Text::of("| Disk | 4K Random Read |\n| --- | --- |\n| SD | 7 MB/sec |\n")));
    }

    proptest::proptest! {
        #[test]
        fn any_speed_comes_back_as_printed(hundredths in 0u32..1_000_000) {
            let value = f64::from(hundredths) / 100.0;
            let log = log(&format!("| 4K random read | {value:.2} MB/s |"));
            proptest::prop_assert_eq!(log.runs[0].results[0].as_printed.value, value);
        }
    }
}
