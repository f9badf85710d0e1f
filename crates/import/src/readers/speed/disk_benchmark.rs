//! Geerling's `disk-benchmark.sh`: its final Markdown table, of pi-cluster (2024) and raspberry-pi-dramble (2021).
//!
//! The script divides iozone's KiB/s by 1024 and prints MB/s, which are MiB/s. Its "1M sequential read" is iozone's
//! re-read, the write its re-write (docs/reference/tools.md#geerlings-scripts). The older table's fio row has the MB/s in
//! fio's brackets. Steps have the names in the recipe `geerling-2024`.

use crate::readers::{
    LogText, MIB_S, ReaderOutcome, RunBuilder, decimal_mb_s, new_log, parse_amount, random_test,
    sequential_test, step_figure,
};
use cardscope_model::run::TestFigure;
use cardscope_model::test_name::{AccessPattern, IoOrder, TestName, TestOp};
use cardscope_model::units::{KIB, MIB};

/// Name of a row in lower case, step of the recipe, and test.
const ROWS: [(&str, &str, TestName); 6] = [
    ("4k random read", "4k random read", random_test(4 * KIB, 1, TestOp::Read)),
    ("4k random write", "4k random write", random_test(4 * KIB, 1, TestOp::Write)),
    ("1m random read", "1024k random read", random_test(MIB, 1, TestOp::Read)),
    ("1m random write", "1024k random write", random_test(MIB, 1, TestOp::Write)),
    ("1m sequential read", "1024k reread", sequential_test(MIB, TestOp::Read)),
    ("1m sequential write", "1024k rewrite", sequential_test(MIB, TestOp::Write)),
];

/// Test of fio in the older script: four jobs of depth 64.
const FIO_TEST: TestName = TestName {
    pattern: AccessPattern { order: IoOrder::Sequential, block: MIB, queue: 64, threads: 4 },
    op: TestOp::Read,
};

/// True if the text has two rows of the table.
pub(crate) fn recognise(text: &LogText) -> bool {
    text.head().lines().filter_map(parse_row).take(2).count() == 2
}

/// Reads the text; each table is a run.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let mut log = new_log("disk-benchmark.sh", None);
    log.runs = RunBuilder::group_figures(text.lines().filter_map(parse_row));
    Ok(vec![log])
}

/// Parses `| iozone 4K random read      | 12.09 MB/s |`.
fn parse_row(line: &str) -> Option<TestFigure> {
    let cells: Vec<&str> = line.trim().strip_prefix('|')?.split('|').map(str::trim).collect();
    let (name, printed) = (cells.first()?.to_lowercase(), parse_amount(cells.get(1)?)?);
    let mb_s = decimal_mb_s(printed.unit)?;
    if let "fio 1m sequential read" = name.as_str() {
        return Some(step_figure("fio 1M sequential read", FIO_TEST, printed, mb_s));
    }
    let name = name.strip_prefix("iozone ").unwrap_or(&name);
    let (_, step_name, test) = ROWS.into_iter().find(|(row, ..)| *row == name)?;
    Some(step_figure(step_name, test, printed, mb_s * MIB_S))
}
