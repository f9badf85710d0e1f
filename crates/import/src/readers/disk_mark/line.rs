//! Result lines of the CrystalDiskMark family, and the tests that their labels name.
//!
//! Labels of eighteen years: `Sequential Read :` (3), `Random Read 4KB (QD=32) :` (3), `Sequential Read (Q= 32,T= 1) :`
//! (4 to 6), `Seq Read 128KiB (Q= 8,T= 1):` (6), `Sequential 1MiB (Q=  8, T= 1):` (7) and `SEQ    1MiB (Q=  8, T= 1):`
//! (8). A size that a label omits is the program's default: version 3 moves 1 MiB, 4 to 6 move 128 KiB with a queue and
//! 1 MiB without one (their DiskSpd arguments).

use crate::readers::{parse_speed, text_between};
use cardscope_model::test_name::{AccessPattern, IoOrder, TestOp};
use cardscope_model::units::{KIB, MIB};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpeedLine<'a> {
    pub(super) pattern: AccessPattern,
    /// Operation in the label; newer reports have it in a heading. The share of a mix is in another part of the report.
    pub(super) op: Option<TestOp>,
    pub(super) value: f64,
    /// Unit as printed.
    pub(super) unit: &'a str,
    pub(super) iops: Option<f64>,
    pub(super) latency_us: Option<f64>,
}

/// Share of reads, in percent, of a mix that does not state it: the programs' default.
const DEFAULT_MIX: u8 = 70;

/// Units of speed; translated reports print `Mo/s` and `МБ/с`.
const SPEED_UNITS: [&str; 4] = ["MB/s", "Mo/s", "МБ/с", "MB/c"];

/// Words for the order of access, with which labels begin; a word that begins with another one comes first.
const ORDER_WORDS: [(IoOrder, &str); 2] = [
    (
        IoOrder::Sequential,
        "sequentielles sequentiell sequential séquentielle secuencial последовательная последовательный \
         シーケンシャル seq",
    ),
    (IoOrder::Random, "random zufälliges случайный ランダム rnd"),
];

const OP_WORDS: [(TestOp, &str); 3] = [
    (TestOp::Read, "read lesen lecture lectura чтение 読み込み リード"),
    (TestOp::Write, "write schreiben écriture запись 書き込み ライト"),
    (TestOp::Mix(DEFAULT_MIX), "mixed mix"),
];

fn word_meanings<T: Copy>(meanings: &[(T, &'static str)]) -> impl Iterator<Item = (T, &'static str)> {
    meanings.iter().flat_map(|(meaning, words)| words.split(' ').map(|word| (*meaning, word)))
}

pub(super) fn parse_op(word: &str) -> Option<TestOp> {
    let word = word.to_lowercase();
    word_meanings(&OP_WORDS).find(|(_, known)| *known == word).map(|(op, _)| op)
}

/// Parses a line; `None` if it is not a result, or is cut off before its unit.
pub(super) fn parse_line(line: &str) -> Option<SpeedLine<'_>> {
    let printed = |unit: &&str| line.find(*unit).map(|at| (at, &line[at..at + unit.len()]));
    let (at, unit) = line.contains('/').then(|| SPEED_UNITS.iter().find_map(printed))??;
    let (before, after) = (&line[..at], &line[at + unit.len()..]);
    // Lines of cdm_fio.sh have labels of version 3, too, but print IOPS differently.
    if after.starts_with(" IOPS=") {
        return None;
    }
    let colon = before.rfind([':', '：'])?;
    let value = parse_speed(before[colon..].trim_start_matches([':', '：']))?;
    let (pattern, op) = parse_label(&before[..colon])?;
    let iops = after.split_once("IOPS").and_then(|(n, _)| parse_speed(n.trim_start().strip_prefix('[')?));
    let latency_us = text_between(after, "<", "us").and_then(parse_speed);
    Some(SpeedLine { pattern, op, value, unit, iops, latency_us })
}

/// Parses a label; `None` if it has any other text.
fn parse_label(text: &str) -> Option<(AccessPattern, Option<TestOp>)> {
    // Quotation marks of mail and Markdown may precede a label, and blanks may be anywhere in it.
    let compact: String = text.to_lowercase().chars().filter(|c| !c.is_whitespace()).collect();
    let compact = compact.trim_start_matches(|c: char| !c.is_alphanumeric());
    let (head, depth) = compact.split_once('(').unwrap_or((compact, ""));
    let (order, word) = word_meanings(&ORDER_WORDS).find(|(_, word)| head.starts_with(word))?;
    let (op, block) = op_and_block(&head[word.len()..])?;
    let queue = parse_setting(depth, "q=").or_else(|| parse_setting(depth, "qd=")).unwrap_or(1);
    let threads = parse_setting(depth, "t=").unwrap_or(1);
    let block = match (block, order) {
        (Some(block), _) => block,
        (None, IoOrder::Sequential) if queue > 1 => 128 * KIB,
        (None, IoOrder::Sequential) => MIB,
        (None, IoOrder::Random) => return None,
    };
    Some((AccessPattern { order, block, queue, threads }, op))
}

/// Parses `read4kib`, `4kbread`, `1mib` or an empty text.
fn op_and_block(text: &str) -> Option<(Option<TestOp>, Option<u64>)> {
    let around = |(op, word)| Some((Some(op), text.split_once(word).map(|(b, after)| [b, after].concat())?));
    let (op, block) = word_meanings(&OP_WORDS).find_map(around).unwrap_or((None, text.to_owned()));
    if block.is_empty() { Some((op, None)) } else { Some((op, Some(binary_size(&block)?))) }
}

/// Parses `4kb`, `4kib` or `1mib`, which are powers of two in either spelling.
pub(super) fn binary_size(text: &str) -> Option<u64> {
    let unit = text.find(|c: char| !c.is_ascii_digit())?;
    let factor = match &text[unit..] {
        "k" | "kb" | "kib" => KIB,
        "m" | "mb" | "mib" => MIB,
        "g" | "gb" | "gib" => KIB * MIB,
        _ => return None,
    };
    text[..unit].parse::<u64>().ok()?.checked_mul(factor).filter(|bytes| *bytes > 0)
}

/// Number after a key such as `q=`; 0 counts as missing.
fn parse_setting(text: &str, key: &str) -> Option<u32> {
    let digits = &text[text.find(key)? + key.len()..];
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(line: &str) -> Option<String> {
        let line = parse_line(line)?;
        Some(line.op.map_or(line.pattern.to_string(), |op| format!("{} {op}", line.pattern)))
    }

    #[test]
    fn labels_of_every_version_are_parsed() {
        for (line, name) in [
            ("         Sequential Read :    20.505 MB/s", "SEQ1M Q1T1 read"),
            ("        Random Write 512KB :    10.461 MB/s", "RND512K Q1T1 write"),
            (" Random Read 4KB (QD=32) :     3.859 MB/s [   942.1 IOPS]", "RND4K Q32T1 read"),
            ("  Sequential Write (Q= 32,T= 1) :    60.082 MB/s", "SEQ128K Q32T1 write"),
            ("Sequential Read (T= 1)         :   32.327 MB/s", "SEQ1M Q1T1 read"),
            (" Random Write 4KiB (Q=  8,T= 8) :     2.173 MB/s [    530.5 IOPS]", "RND4K Q8T8 write"),
            ("  Seq Read 128KiB (Q=  8,T= 1):   92.173 MB/s", "SEQ128K Q8T1 read"),
            ("> Sequential 1MiB (Q=  8, T= 1):   91.514 MB/s", "SEQ1M Q8T1"),
            ("  RND    4KiB (Q= 32, T=16):     1.651 MB/s", "RND4K Q32T16"),
            ("Sequential   1 MiB (Q=  8, T= 1):   88.897 MB/s", "SEQ1M Q8T1"),
            ("  Random Mix 4KiB (Q= 32,T= 1):    2.897 MB/s", "RND4K Q32T1 mix70"),
            ("Sequentielles Lesen (Q= 32,T= 1) :    91,559 MB/s", "SEQ128K Q32T1 read"),
            ("Последовательная запись : 12,5 МБ/с", "SEQ1M Q1T1 write"),
            ("ランダム 読み込み 4KiB (Q=  1,T= 1)：    5,297 MB/s", "RND4K Q1T1 read"),
        ] {
            assert_eq!(named(line).as_deref(), Some(name), "{line}");
        }
    }

    #[test]
    fn lines_similar_to_results_are_refused() {
        for line in [
            "",
            "* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]",
            "Seq. read:            20.40 MB/s",
            "Random thoughts : 3 MB/s",
            "Random Read : 3 MB/s",
            "Sequential Read: 91MB/s IOPS=0",
            "Sequential Read : nan MB/s",
            "Sequential Read : -3 MB/s",
            "Sequential Read :   20.5",
            "Sequential Read :   20.505 MB/",
            "SEQ 0MiB (Q= 8, T= 1): 3.0 MB/s",
            "SEQ 99999999999999999MiB (Q= 8, T= 1): 3.0 MB/s",
        ] {
            assert_eq!(parse_line(line), None, "{line}");
        }
    }

    #[test]
    fn iops_and_latency_after_the_speed_are_read() {
        let line =
            parse_line("  Random 4KiB (Q= 32, T=16):  0.851 MB/s [    207.8 IOPS] <635043.04 us>").unwrap();
        assert_eq!((line.value, line.iops, line.latency_us), (0.851, Some(207.8), Some(635_043.04)));
        let cut = parse_line("  Random 4KiB (Q= 32, T=16):  0.851 MB/s [    20").unwrap();
        assert_eq!((cut.iops, cut.latency_us), (None, None));
    }
}
