//! Table headings that name a test: `SEQ1M Q8T1 read (MB/s)`, `4K rand write`, `Random Read 4KB (QD=32)`, `hdparm buffered`,
//! `Write`, `IOPS`. Any other word makes it a heading of another kind.

use crate::readers::{MIB_S, printed_figure, true_mb_s};
use cardscope_model::run::TestFigure;
use cardscope_model::test_name::{AccessPattern, IoOrder, TestName, TestOp};
use cardscope_model::units::{KIB, MB, MIB};

/// Words without meaning for the test.
const FILLER_WORDS: &str = "buffered disk direct speed speeds test tests performance throughput average avg mean block blocks size io i o \
    in of at";

/// A tool in a heading, with step, test and MB/s as in its own reader.
#[derive(Debug, Clone, Copy, PartialEq)]
struct NamedTool {
    step: &'static str,
    block: u64,
    op: Option<TestOp>,
    mb_s: f64,
}

/// hdparm times reads of 2 MiB and prints MiB/s; dd's block counts as 1 MiB unless it is stated.
const TOOLS: [(&str, NamedTool); 2] = [
    ("hdparm", NamedTool { step: "hdparm -t", block: 2 * MIB, op: Some(TestOp::Read), mb_s: MIB_S }),
    ("dd", NamedTool { step: "dd", block: MIB, op: None, mb_s: 1.0 }),
];

/// Part of a test's name; the headings of row and column together name all of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TestLabel {
    order: Option<IoOrder>,
    block: Option<u64>,
    queue: Option<u32>,
    threads: Option<u32>,
    op: Option<TestOp>,
    tool: Option<NamedTool>,
    pub(super) unit: Option<String>,
}

/// Parses a heading; `None` if a word in it does not describe a test.
pub(super) fn parse_label(text: &str) -> Option<TestLabel> {
    let mut said = TestLabel::default();
    let mut tokens = split_tokens(text).into_iter().peekable();
    while let Some(token) = tokens.next() {
        let number = |text: &str| text.parse::<u32>().ok().filter(|n| *n > 0);
        match token.as_str() {
            "read" | "reads" | "reading" => said.op = Some(TestOp::Read),
            "write" | "writes" | "writing" => said.op = Some(TestOp::Write),
            "seq" | "sequential" => said.order = Some(IoOrder::Sequential),
            "rand" | "rnd" | "random" => said.order = Some(IoOrder::Random),
            "q" | "qd" => said.queue = Some(number(&tokens.next()?)?),
            "t" => said.threads = Some(number(&tokens.next()?)?),
            "iops" => said.unit = Some("IOPS".to_owned()),
            digits if digits.starts_with(|c: char| c.is_ascii_digit()) => {
                // The unit of a block is binary in either spelling.
                let unit = match tokens.next()?.as_str() {
                    "k" | "kb" | "kib" => KIB,
                    "m" | "mb" | "mib" => MIB,
                    _ => return None,
                };
                said.block = Some(u64::from(number(digits)?).checked_mul(unit)?);
            }
            word if word.contains('/') => said.unit = Some(canonical_unit(word)?),
            word if FILLER_WORDS.split_whitespace().any(|fill| fill == word) => {}
            word => said.tool = Some(TOOLS.iter().find(|(name, _)| *name == word)?.1),
        }
    }
    Some(said)
}

/// Words and numbers in lower case, split where they are joined: `rnd4k` is `rnd`, `4`, `k`.
fn split_tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in text.to_lowercase().chars() {
        let goes_on = |l: char| l.is_ascii_digit() == c.is_ascii_digit() && (l.is_alphanumeric() || l == '/');
        match c {
            c if !c.is_alphanumeric() && c != '/' => {}
            c if goes_on(last) => out.last_mut().into_iter().for_each(|word| word.push(c)),
            c => out.push(c.to_string()),
        }
        last = c;
    }
    out
}

/// Canonical spelling of a unit: `MB/s` for `mb/s`.
fn canonical_unit(word: &str) -> Option<String> {
    let (prefix, per) = word.split_once('/')?;
    let prefix = ["kB", "KiB", "MB", "MiB", "GB", "GiB"].into_iter().find(|u| u.to_lowercase() == prefix)?;
    matches!(per, "s" | "sec" | "second").then(|| format!("{prefix}/s"))
}

impl TestLabel {
    /// Combines both; if they differ, the first counts.
    pub(super) fn or(&self, other: &TestLabel) -> TestLabel {
        TestLabel {
            order: self.order.or(other.order),
            block: self.block.or(other.block),
            queue: self.queue.or(other.queue),
            threads: self.threads.or(other.threads),
            op: self.op.or(other.op),
            tool: self.tool.or(other.tool),
            unit: self.unit.clone().or_else(|| other.unit.clone()),
        }
    }

    /// Test that is named; `None` if a part is missing. A small block without an order is random, and a sequential test without
    /// a block has 1 MiB.
    pub(super) fn test_name(&self) -> Option<TestName> {
        let op = self.op.or(self.tool.and_then(|tool| tool.op));
        let (order, block) = match (self.order, self.block, self.tool) {
            (None, None, Some(tool)) => (IoOrder::Sequential, tool.block),
            (Some(IoOrder::Sequential), block, tool) => {
                (IoOrder::Sequential, block.or(tool.map(|t| t.block)).unwrap_or(MIB))
            }
            (Some(IoOrder::Random), Some(block), _) => (IoOrder::Random, block),
            (None, Some(block), None) if block < 64 * KIB => (IoOrder::Random, block),
            (None, Some(block), _) => (IoOrder::Sequential, block),
            _ => return None,
        };
        let (queue, threads) = (self.queue.unwrap_or(1), self.threads.unwrap_or(1));
        Some(TestName { pattern: AccessPattern { order, block, queue, threads }, op: op? })
    }

    /// Result of a number in a unit; `None` if the unit is not a speed.
    pub(super) fn to_figure(&self, test: TestName, value: f64, unit: &str) -> Option<TestFigure> {
        let step = self.tool.map(|tool| tool.step.to_owned());
        if unit.eq_ignore_ascii_case("iops") {
            let mb_s = test.pattern.block as f64 / MB;
            return Some(TestFigure { iops: Some(value), step, ..printed_figure(test, value, "IOPS", mb_s) });
        }
        // The unit in a cell may be in any case.
        let known = self::canonical_unit(&unit.to_lowercase())?;
        let factor = self.tool.filter(|_| !known.contains('i')).map_or(1.0, |tool| tool.mb_s);
        Some(TestFigure { step, ..printed_figure(test, value, unit, true_mb_s(&known)? * factor) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_of(text: &str) -> Option<String> {
        Some(parse_label(text)?.test_name()?.to_string())
    }

    #[test]
    fn labels_of_all_tools_name_tests() {
        for (text, test) in [
            ("SEQ1M Q8T1 read (MB/s)", "SEQ1M Q8T1 read"),
            ("Random Read 4KB (QD=32)", "RND4K Q32T1 read"),
            ("4K rand write", "RND4K Q1T1 write"),
            ("4k write [IOPS]", "RND4K Q1T1 write"),
            ("Sequential Write 512 KiB", "SEQ512K Q1T1 write"),
            ("hdparm buffered", "SEQ2M Q1T1 read"),
            ("dd write", "SEQ1M Q1T1 write"),
            ("Seq. read", "SEQ1M Q1T1 read"),
        ] {
            assert_eq!(test_of(text).as_deref(), Some(test), "{text}");
        }
    }

    #[test]
    fn card_names_and_incomplete_labels_name_no_test() {
        for text in [
            "SanDisk Ultra 32GB",
            "A2",
            "Price",
            "Random read",
            "SEQ1M Q8T1",
            "read",
            "",
            "Q",
            "read 99999999999k",
        ] {
            assert_eq!(test_of(text), None, "{text}");
        }
        assert_eq!((parse_label("Samsung EVO"), parse_label("Write MB/s").is_some()), (None, true));
    }
}
