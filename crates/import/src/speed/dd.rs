//! dd in any language: GNU's, busybox's, macOS's and BSD's.
//!
//! The result line is known by its grammar and not by its words: bytes, seconds and a speed that fits both. Speeds are
//! computed from bytes and seconds, so busybox's MB of 2^20 does no harm; coreutils' MB is 10^6. dd does not say
//! whether it read or wrote, nor its block size: the command tells where it stands in the log, and the count of
//! records (`51200+0`) tells the block.

mod command;
mod line;

use crate::amount::sequential;
use crate::error::ImportError;
use crate::numbers::figure;
use crate::text::Text;
use cardscope_model::log::{Log, Tool};
use cardscope_model::run::{Figure, Run};
use cardscope_model::test_name::Op;
use cardscope_model::units::{GIB, MIB};
use command::Command;
use std::collections::VecDeque;

pub(crate) use line::Copied;

/// One finished dd.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finished {
    /// What it moved, and how fast.
    pub(crate) copied: Copied,
    /// Block size from the command or the count of records, in bytes.
    pub(crate) block: Option<u64>,
    /// Which way, from the command.
    pub(crate) op: Option<Op>,
    /// Past the page cache, by the command.
    pub(crate) direct: bool,
    /// What dd complained of before it.
    pub(crate) error: Option<String>,
}

/// True where a result line of dd stands in it.
pub(crate) fn recognise(text: &Text) -> bool {
    !finished(text.lines()).is_empty()
}

/// Reads it: every dd that moved data is a run.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let mut log = Log::new("dd");
    log.tool = Some(Tool { name: "dd".into(), version: None });
    let finished = finished(text.lines());
    log.runs = (1..)
        .zip(finished.iter().filter_map(|dd| Some((dd, dd.figure(None, "dd")?))))
        .map(|(run, (dd, figure))| Run {
            run,
            size_bytes: Some(dd.copied.bytes),
            results: vec![figure],
            ..Run::default()
        })
        .collect();
    log.doubts = doubts(&finished);
    Ok(vec![log])
}

/// All dd's of some lines, those that moved nothing included.
pub(crate) fn finished<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Finished> {
    let mut found = Vec::new();
    // The commands whose results are still to come; the last one holds for all that follow.
    let mut commands = VecDeque::from([Command::default()]);
    let (mut records, mut error) = (None, None);
    for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(count) = line::whole_records(line) {
            records = Some(count);
        } else if let Some(copied) = line::copied(line).filter(|copied| records.is_some() || !copied.progress)
        {
            let command = if commands.len() > 1 { commands.pop_front() } else { commands.front().cloned() };
            let command = command.unwrap_or_default();
            found.push(Finished { error: error.take(), ..Finished::of(copied, &command, records.take()) });
        } else if line.starts_with("dd: ") {
            error = Some(line.to_owned());
        } else {
            let new = Command::all(line);
            if !new.is_empty() {
                (commands, records, error) = (new.into(), None, None);
            }
        }
    }
    found
}

/// Why figures of these are doubtful, in sentences.
pub(crate) fn doubts(finished: &[Finished]) -> Vec<String> {
    let mut doubts = Vec::new();
    if finished.iter().any(|dd| dd.op.is_none()) {
        doubts.push("the log does not show whether dd read or wrote; it was taken for writing".to_owned());
    }
    if finished.iter().any(|dd| dd.block.is_none()) {
        doubts.push("the log does not show dd's block size; 1 MiB was taken".to_owned());
    }
    for dd in finished.iter().filter(|dd| dd.failed()) {
        let why = dd.error.as_deref().unwrap_or("it moved not a byte");
        doubts.push(format!("a dd failed after {} bytes and has no figure: {why}", dd.copied.bytes));
    }
    doubts
}

impl Finished {
    fn of(copied: Copied, command: &Command, records: Option<u64>) -> Self {
        let counted = records.filter(|n| *n > 0 && copied.bytes.is_multiple_of(*n)).map(|n| copied.bytes / n);
        let block = command.block.or(counted).filter(|block| (1..=GIB).contains(block));
        Finished { copied, block, op: command.op, direct: command.direct, error: None }
    }

    /// It moved nothing, or something went wrong: what could not be flushed was never on the card.
    pub(crate) fn failed(&self) -> bool {
        self.copied.bytes == 0 || self.error.is_some()
    }

    /// Its figure, if it went well; `known` is what the section around it tells of direction and block.
    pub(crate) fn figure(&self, known: Option<(Op, u64)>, step: &str) -> Option<Figure> {
        let op = known.map(|(op, _)| op).or(self.op).unwrap_or(Op::Write);
        let block = known.map(|(_, block)| block).or(self.block).unwrap_or(MIB);
        let Copied { value, ref unit, .. } = self.copied;
        let mb_s = self.copied.mb_s().filter(|_| !self.failed())?;
        let step = (!self.direct).then(|| step.to_owned());
        Some(Figure { step, mb_s, ..figure(sequential(block, op), value, unit, 1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Log {
        read(&Text::decode(text.as_bytes())).unwrap().remove(0)
    }

    #[test]
    fn what_comes_from_a_card_is_read_and_what_goes_there_is_written() {
        for (operands, op) in [
            ("if=/dev/mmcblk0 of=card.img", Some(Op::Read)),
            ("if=card.img of=/dev/sdb", Some(Op::Write)),
            ("if=/dev/sda of=/dev/sdb", None),
            ("if=a of=b", None),
        ] {
            assert_eq!(Command::all(&format!("dd {operands} bs=1M"))[0].op, op, "{operands}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_copy_comes_back_from_its_bytes_and_seconds(blocks in 1u64..100_000, micros in 1_000u64..1_000_000_000) {
            let (bytes, seconds) = (blocks * 4096, micros as f64 / 1e6 + 0.000_000_1);
            let mb_s = bytes as f64 / 1e6 / seconds;
            let line = format!("{blocks}+0 records in\n{blocks}+0 records out\n{bytes} bytes (x) copied, {seconds:.7} s, {mb_s:.3} MB/s\n");
            proptest::prop_assume!(mb_s > 0.01);
            let log = log(&line);
            let figure = &log.runs[0].results[0];
            proptest::prop_assert!((figure.mb_s - mb_s).abs() <= mb_s * 1e-3);
            proptest::prop_assert_eq!(figure.name().to_string(), "SEQ4K Q1T1 write");
        }
    }
}
