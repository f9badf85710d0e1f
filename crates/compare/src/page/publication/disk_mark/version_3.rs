//! Lines of CrystalDiskMark 3, for a card with tests of that version: no other version has blocks of 512 KB. Labels, widths
//! and order are those of the program's reports (docs/reference/tools.md#crystaldiskmark).

use cardscope_model::comparison::iops_at_speed;
use cardscope_model::test_name::{AccessPattern, IoOrder, TestName, TestOp};
use cardscope_model::units::{KIB, MIB};
use std::fmt::Write;

/// Width of a rule, in columns.
pub(super) const WIDTH: usize = 71;

/// Width of a label, in columns.
const LABEL_WIDTH: usize = 26;

/// Block that no later version tests.
const MEDIUM_BLOCK: u64 = 512 * KIB;

/// Tests in the program's order, reads before writes: order of access, bytes of a block, I/Os in the queue.
const TESTS: [(IoOrder, u64, u32); 4] = [
    (IoOrder::Sequential, MIB, 1),
    (IoOrder::Random, MEDIUM_BLOCK, 1),
    (IoOrder::Random, 4 * KIB, 1),
    (IoOrder::Random, 4 * KIB, 32),
];

/// Lines of these tests with their MB/s (10^6); `None` if the tests are not those of version 3.
pub(super) fn format_lines(measured: &[(TestName, f64)]) -> Option<String> {
    let all: Vec<TestName> =
        TESTS.iter().flat_map(|test| [TestOp::Read, TestOp::Write].map(|op| test_name(*test, op))).collect();
    let has_medium = measured.iter().any(|(test, _)| test.pattern.block == MEDIUM_BLOCK);
    if !has_medium || measured.iter().any(|(test, _)| !all.contains(test)) {
        return None;
    }
    let mut out = String::new();
    for test in all {
        let found = measured.iter().filter(|(measured, _)| *measured == test);
        found.for_each(|(_, mb_s)| out += &format_line(test, *mb_s));
    }
    Some(out)
}

fn test_name((order, block, queue): (IoOrder, u64, u32), op: TestOp) -> TestName {
    TestName { pattern: AccessPattern { order, block, queue, threads: 1 }, op }
}

fn format_line(test: TestName, mb_s: f64) -> String {
    let AccessPattern { order, block, queue, .. } = test.pattern;
    let op = if test.op == TestOp::Read { "Read" } else { "Write" };
    let label = match (order, block) {
        (IoOrder::Sequential, _) => format!("Sequential {op}"),
        (_, MEDIUM_BLOCK) => format!("Random {op} 512KB"),
        _ => format!("Random {op} 4KB (QD={queue})"),
    };
    let mut out = format!("{label:>LABEL_WIDTH$} :{mb_s:>10.3} MB/s");
    let small = iops_at_speed(mb_s, block).filter(|_| block == 4 * KIB);
    small.into_iter().for_each(|iops| {
        let _ = write!(out, " [{iops:>8.1} IOPS]");
    });
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(tests: &[(&str, f64)]) -> Option<String> {
        format_lines(&tests.iter().map(|(test, mb_s)| (test.parse().unwrap(), *mb_s)).collect::<Vec<_>>())
    }

    #[test]
    fn lines_match_a_report_of_version_3() {
        let found = measured(&[
            ("RND4K Q32T1 read", 271.859),
            ("RND512K Q1T1 write", 190.461),
            ("SEQ1M Q1T1 read", 505.825),
            ("SEQ1M Q1T1 write", 189.856),
            ("RND4K Q1T1 write", 63.703),
        ]);
        // Layout of a real report of 3.0.1.
        let report = "           Sequential Read :   505.825 MB/s
          Sequential Write :   189.856 MB/s
        Random Write 512KB :   190.461 MB/s
   Random Write 4KB (QD=1) :    63.703 MB/s [ 15552.5 IOPS]
   Random Read 4KB (QD=32) :   271.859 MB/s [ 66371.8 IOPS]
";
        assert_eq!(found.as_deref(), Some(report));
    }

    #[test]
    fn other_tests_do_not_use_the_layout_of_version_3() {
        assert_eq!(measured(&[("SEQ1M Q1T1 read", 90.0), ("RND4K Q1T1 read", 5.0)]), None);
        assert_eq!(measured(&[("RND512K Q1T1 read", 60.0), ("SEQ1M Q8T1 read", 90.0)]), None);
    }
}
