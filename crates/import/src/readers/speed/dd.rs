//! dd in any language: GNU's, busybox's, macOS's and BSD's.
//!
//! The result line is recognised by its grammar instead of its words: bytes, seconds and a speed that agrees with both.
//! Speeds are computed from bytes and seconds, so that busybox's MB of 2^20 does no harm; coreutils' MB is 10^6. dd prints
//! neither the direction nor the block size: the command shows both if it is in the log, and the count of records
//! (`51200+0`) implies the block.

use crate::readers::{
    LogText, ReaderOutcome, RunBuilder, decimal_mb_s, new_log, parse_number, printed_figure, sequential_test,
};
use cardscope_model::run::TestFigure;
use cardscope_model::test_name::TestOp;
use cardscope_model::units::{GIB, MB, MIB, parse_size};
use cardscope_model::untrusted_text::shorten_text;
use std::collections::VecDeque;

/// Result of one dd with its command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FinishedDd {
    pub(crate) copied: DdResult,
    command: DdCommand,
    /// Error message of dd before the result.
    pub(crate) error: Option<String>,
}

/// True if the text has a result line of dd.
pub(crate) fn recognise(text: &LogText) -> bool {
    !find_results(text.lines()).is_empty()
}

/// Reads the text; every dd that moved data is a run.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let mut log = new_log("dd", None);
    let finished = find_results(text.lines());
    let moved = finished.iter().filter_map(|dd| Some((dd.copied.bytes, dd.to_figure(None, "dd")?)));
    let (sizes, figures): (Vec<u64>, Vec<TestFigure>) = moved.unzip();
    log.runs = RunBuilder::separate_figures(figures.into_iter());
    log.runs.iter_mut().zip(sizes).for_each(|(run, size)| run.size_bytes = Some(size));
    log.doubts = result_doubts(&finished, false);
    Ok(vec![log])
}

/// Results of all dd's in some lines, including those that moved nothing.
pub(crate) fn find_results<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<FinishedDd> {
    let mut found = Vec::new();
    // Commands without a result yet; the last one holds for all results that follow.
    let mut commands = VecDeque::from([DdCommand::default()]);
    let (mut records, mut error) = (None, None);
    for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(count) = whole_records(line) {
            records = Some(count);
        } else if let Some(copied) = parse_result(line).filter(|copied| records.is_some() || !copied.progress)
        {
            let command = if commands.len() > 1 { commands.pop_front() } else { commands.front().cloned() };
            let command = command.unwrap_or_default().with_counted_block(copied.bytes, records.take());
            found.push(FinishedDd { copied, command, error: error.take() });
        } else if line.starts_with("dd: ") {
            error = Some(line.to_owned());
        } else {
            let new = DdCommand::parse_line(line);
            if !new.is_empty() {
                (commands, records, error) = (new.into(), None, None);
            }
        }
    }
    found
}

/// Doubts about the figures, as sentences.
pub(crate) fn result_doubts(finished: &[FinishedDd], is_write_known: bool) -> Vec<String> {
    let mut doubts = Vec::new();
    if !is_write_known && finished.iter().any(|dd| dd.command.op.is_none()) {
        doubts.push("the log does not show whether dd read or wrote; assumed writing".to_owned());
    }
    if finished.iter().any(|dd| dd.command.block.is_none()) {
        doubts.push("the log does not show dd's block size; assumed 1 MiB".to_owned());
    }
    for dd in finished.iter().filter(|dd| dd.has_failed()) {
        let why = dd.error.as_deref().unwrap_or("it copied 0 bytes");
        doubts.push(format!("dd failed after {} bytes: {}", dd.copied.bytes, shorten_text(why)));
    }
    doubts
}

impl FinishedDd {
    /// True if it moved nothing or reported an error: data that could not be flushed never was on the card.
    pub(crate) fn has_failed(&self) -> bool {
        self.copied.bytes == 0 || self.error.is_some()
    }

    /// Figure of a dd without an error. `known` are operation and block according to the section of the log.
    pub(crate) fn to_figure(&self, known: Option<(TestOp, u64)>, step: &str) -> Option<TestFigure> {
        let op = known.map(|(op, _)| op).or(self.command.op).unwrap_or(TestOp::Write);
        let block = known.map(|(_, block)| block).or(self.command.block).unwrap_or(MIB);
        let DdResult { value, ref unit, .. } = self.copied;
        if self.has_failed() {
            return None;
        }
        let mb_s = self.copied.bytes as f64 / MB / self.copied.seconds;
        let step = (!self.command.direct).then(|| step.to_owned());
        Some(TestFigure { step, mb_s, ..printed_figure(sequential_test(block, op), value, unit, 1.0) })
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
struct DdCommand {
    op: Option<TestOp>,
    /// Bytes.
    block: Option<u64>,
    /// True if the page cache is bypassed.
    direct: bool,
}

impl DdCommand {
    /// Commands of a line, in order: `dd if=/dev/zero of=a … && dd if=a of=/dev/null …` are two.
    fn parse_line(line: &str) -> Vec<Self> {
        let parts = line.contains("dd").then(|| line.split("&&").flat_map(|part| part.split(';')));
        parts.into_iter().flatten().filter_map(DdCommand::parse).collect()
    }

    /// Parses a line such as `sudo dd if=/dev/zero of=test bs=8k count=50k conv=fsync`; `None` for other commands.
    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let operand = |n: &str| words.iter().find_map(|word| word.strip_prefix(n)).filter(|v| !v.is_empty());
        let is_dd = words.iter().any(|word| *word == "dd" || word.ends_with("/dd"));
        let (source, sink) = (operand("if="), operand("of="));
        (is_dd && (source.is_some() || sink.is_some())).then(|| DdCommand {
            op: copy_direction(source, sink),
            // `k`, `M` and `KiB` are powers of 1024, `kB` and `MB` of 1000; a lone `K`, too.
            block: operand("bs=").or(operand("ibs=")).and_then(|s| parse_size(s).ok()).filter(|n| *n > 0),
            direct: ["oflag=", "iflag="].into_iter().filter_map(operand).any(|f| f.contains("direct")),
        })
    }

    /// Adds the block size that follows from a count of records, if the command does not state it.
    fn with_counted_block(self, bytes: u64, records: Option<u64>) -> Self {
        let counted = records.filter(|n| *n > 0 && bytes.is_multiple_of(*n)).map(|n| bytes / n);
        DdCommand { block: self.block.or(counted).filter(|block| (1..=GIB).contains(block)), ..self }
    }
}

/// Direction of a copy: zeros and random data are written, data for /dev/null are read. A copy from a card to a file is a read,
/// the reverse a write. `None` for copies between two files or two cards.
fn copy_direction(source: Option<&str>, sink: Option<&str>) -> Option<TestOp> {
    const SOURCES: [&str; 3] = ["/dev/zero", "/dev/urandom", "/dev/random"];
    match (source, sink) {
        (_, Some("/dev/null")) => Some(TestOp::Read),
        (Some(source), _) if SOURCES.contains(&source) => Some(TestOp::Write),
        (Some(source), sink) if is_card(source) && !sink.is_some_and(is_card) => Some(TestOp::Read),
        (source, Some(sink)) if is_card(sink) && !source.is_some_and(is_card) => Some(TestOp::Write),
        _ => None,
    }
}

/// True for the names of cards on Linux and macOS.
fn is_card(path: &str) -> bool {
    let names = ["/dev/mmcblk", "/dev/sd", "/dev/disk", "/dev/rdisk", "/dev/nvme"];
    names.iter().any(|name| path.starts_with(name))
}

/// Relative deviation of a printed speed from bytes over seconds: rounding to two digits, and MB that are MiB.
const MOST_DEVIATION: f64 = 0.15;

/// Values of a result line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DdResult {
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
    /// Speed and its unit as printed.
    pub(crate) value: f64,
    pub(crate) unit: String,
    /// True if it may be a line of `status=progress`, which prints whole seconds.
    progress: bool,
}

/// First number of `51200+0 records in`, in any language.
fn whole_records(line: &str) -> Option<u64> {
    let count = line.split_whitespace().next()?;
    let (whole, partial) = count.split_once('+')?;
    let partial: u64 = partial.parse().ok()?;
    // With partial records, bytes over records is not the block.
    whole.parse().ok().map(|whole: u64| if partial == 0 { whole } else { 0 })
}

/// Parses a result line; `None` for other lines.
fn parse_result(line: &str) -> Option<DdResult> {
    // In every language the unit of speed has a slash.
    let numbers = line.contains('/').then(|| numbers_with_rest(line))?;
    let [(bytes, ..), .., (seconds, _), (speed, after)] = &numbers[..] else { return None };
    if let Some(copied) = parse_bsd_result(line, &numbers) {
        return Some(copied);
    }
    let bytes: u64 = bytes.parse().ok()?;
    let unit = parse_unit(after)?;
    // busybox prints MiB as MB, which is close enough to recognise the line.
    let (elapsed, value) = (parse_number(seconds)?, parse_number(speed)?);
    let progress = !seconds.contains(['.', ',']);
    let copied = DdResult { bytes, seconds: elapsed, value, unit: unit.to_owned(), progress };
    is_consistent(bytes, elapsed, value * decimal_mb_s(unit)?).then_some(copied)
}

/// Parses a line of BSD or macOS, with bytes a second in brackets: `1048576 bytes transferred in 0.5 secs (2097152
/// bytes/sec)`.
fn parse_bsd_result(line: &str, numbers: &[(&str, &str)]) -> Option<DdResult> {
    let (head, _) = line.split_once("bytes/sec")?;
    let (_, speed) = head.rsplit_once('(')?;
    let bytes: u64 = numbers.first()?.0.parse().ok()?;
    let [.., (seconds, _), _] = numbers else { return None };
    let (seconds, value) = (parse_number(seconds)?, parse_number(speed)?);
    let copied = DdResult { bytes, seconds, value, unit: "bytes/sec".to_owned(), progress: false };
    is_consistent(bytes, seconds, value / MB).then_some(copied)
}

fn is_consistent(bytes: u64, seconds: f64, mb_s: f64) -> bool {
    let true_mb_s = bytes as f64 / MB / seconds;
    let nothing = bytes == 0 && mb_s == 0.0;
    seconds > 0.0 && (nothing || (true_mb_s - mb_s).abs() <= MOST_DEVIATION * mb_s.max(true_mb_s))
}

/// Unit after the last number: letters, a slash, and the word for a second in any language.
fn parse_unit(after: &str) -> Option<&str> {
    let unit = after.split_whitespace().next()?.trim_end_matches(['.', ',', ')']);
    let (size, time) = unit.split_once('/')?;
    (size.ends_with('B') && (1..=4).contains(&time.chars().count())).then_some(unit)
}

/// Numbers of a line, each with the text after it.
fn numbers_with_rest(line: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let tail = &rest[start..];
        let part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        // A short time has an exponent: 8.1e-05 s.
        let mut end = tail.find(|c: char| !part(c)).unwrap_or(tail.len());
        if let Some(power) = tail[end..].strip_prefix("e-") {
            end += 2 + power.find(|c: char| !c.is_ascii_digit()).unwrap_or(power.len());
        }
        found.push((tail[..end].trim_end_matches(['.', ',']), &tail[end..]));
        rest = &tail[end..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direction_follows_from_source_and_sink() {
        for (operands, op) in [
            ("if=/dev/mmcblk0 of=card.img", Some(TestOp::Read)),
            ("if=card.img of=/dev/sdb", Some(TestOp::Write)),
            ("if=/dev/sda of=/dev/sdb", None),
            ("if=a of=b", None),
        ] {
            assert_eq!(DdCommand::parse_line(&format!("dd {operands} bs=1M"))[0].op, op, "{operands}");
        }
    }
}
