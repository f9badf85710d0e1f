//! `cdm_fio.sh`: reads logs of this script, which imitates CrystalDiskMark with fio, in its old and new revisions.
//!
//! Its `MB/s` are the sum of fio's `bw` (KiB/s) divided by 1024 and cut to a whole number: MiB/s, and up to one too low.
//! IOPS are cut likewise, so 0 means less than one. Old labels omit what follows from the file size: `Sequential` moves
//! the whole file at once, `Sequential Q32T1` a thirty-second of it, and `512KB` is sequential.

use crate::readers::{
    LogText, MIB_S, ReaderOutcome, RunBuilder, add_doubts, new_log, parse_cooling, parse_speed,
    printed_figure,
};
use cardscope_model::condition::Condition;
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::{AccessPattern, IoOrder, TestName, TestOp};
use cardscope_model::units::{GIB, KIB, MIB, parse_size};

/// Size of the test file if the log does not have it: the script's default.
const DEFAULT_SIZE: u64 = GIB;

/// MiB/s below which the cut can be a tenth of the figure.
const COARSE_BELOW: f64 = 10.0;

pub(crate) fn recognise(text: &LogText) -> bool {
    text.lines().any(|line| CdmFioLine::parse(line).is_some())
}

/// Reads the log; each `Configuration:` begins a run.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let mut reader = CdmFioReader::default();
    text.lines().for_each(|line| reader.read_line(line));
    let log = reader.finish();
    if log.runs.is_empty() { Err("it has no complete result line".to_owned()) } else { Ok(vec![log]) }
}

#[derive(Default)]
struct CdmFioReader {
    runs: RunBuilder,
    head: Run,
    zeroes: bool,
    size_guessed: bool,
    coarse: bool,
}

impl CdmFioReader {
    fn read_line(&mut self, text: &str) {
        if let Some(line) = CdmFioLine::parse(text) {
            self.add_result(&line);
        } else if let Some(condition) = parse_cooling(text) {
            self.begin_run(Run { condition: Some(condition), ..Run::default() });
        } else if text.trim() == "Configuration:" {
            self.begin_run(Run { condition: self.head.condition.clone(), ..Run::default() });
        } else if let Some((key, value)) = text.split_once('=') {
            self.read_setting(key.trim(), value.trim());
        }
    }

    /// Begins a run. Its condition also holds for the runs after it.
    fn begin_run(&mut self, head: Run) {
        self.head = head;
        self.runs.begin_run(self.head.clone());
    }

    fn read_setting(&mut self, key: &str, value: &str) {
        match key {
            "Size" => self.head.size_bytes = parse_size(value).ok(),
            "Loops" => self.head.loops = value.parse().ok(),
            "Write Only Zeroes" => self.zeroes |= value == "1",
            _ => return,
        }
        let run = self.runs.current_run();
        if run.results.is_empty() {
            *run = self.head.clone();
        }
    }

    fn add_result(&mut self, line: &CdmFioLine<'_>) {
        let size = self.runs.current_run().size_bytes;
        self.size_guessed |= size.is_none() && line.needs_size();
        let Some(result) = line.to_figure(size.unwrap_or(DEFAULT_SIZE)) else { return };
        self.coarse |= result.printed_or_speed().value < COARSE_BELOW;
        self.runs.add_figure(result);
    }

    fn finish(self) -> CardLog {
        let mut log = CardLog { runs: self.runs.finish(), ..new_log("cdm_fio.sh", None) };
        lift_condition(&mut log);
        let coarse = "cdm_fio.sh rounds down to whole MiB/s: results may be up to 1.05 MB/s too low";
        let doubts = [
            (self.zeroes, "it wrote zeroes, which some controllers do not store"),
            (self.size_guessed, "the size of the test file is missing; assumed 1 GiB"),
            (self.coarse, coarse),
        ];
        add_doubts(&mut log, doubts);
        log
    }
}

/// Moves a condition that all runs share to the log.
fn lift_condition(log: &mut CardLog) {
    let shared = |condition: &Condition| log.runs.iter().all(|run| run.condition.as_ref() == Some(condition));
    if let Some(condition) = log.runs.first().and_then(|run| run.condition.clone()).filter(shared) {
        log.condition = condition;
        log.runs.iter_mut().for_each(|run| run.condition = None);
    }
    let empty = Condition::default();
    log.runs.iter_mut().for_each(|run| run.condition = run.condition.take().filter(|said| *said != empty));
}

/// Parts of a result line: `4KB Q8T8 Write: 88MB/s IOPS=22601`.
struct CdmFioLine<'a> {
    /// `4KB`, `Sequential`, `SEQ8M`.
    access: &'a str,
    /// `Q8T8`; many labels lack it.
    depth: Option<&'a str>,
    op: TestOp,
    value: f64,
    iops: Option<f64>,
}

impl<'a> CdmFioLine<'a> {
    /// Parses from the end, since a prompt may precede the label.
    fn parse(text: &'a str) -> Option<Self> {
        let (before, iops) = text.split_once("MB/s IOPS=")?;
        let (label, value) = before.rsplit_once(':')?;
        let mut words = label.split_whitespace().rev();
        let op = [("Read", TestOp::Read), ("Write", TestOp::Write)];
        let word = words.next()?;
        let (_, op) = op.into_iter().find(|(name, _)| *name == word)?;
        let word = words.next()?;
        let is_depth = word.starts_with('Q') && word.contains('T');
        let (access, depth) = if is_depth { (words.next()?, Some(word)) } else { (word, None) };
        let line = CdmFioLine { access, depth, op, value: parse_speed(value)?, iops: parse_speed(iops) };
        line.pattern(DEFAULT_SIZE).map(|_| line)
    }

    fn needs_size(&self) -> bool {
        self.access == "Sequential"
    }

    /// Access pattern of the label on a test file of `size` bytes.
    fn pattern(&self, size: u64) -> Option<AccessPattern> {
        let depth = self.depth.unwrap_or("Q1T1");
        let Some((order, block)) = self.old_label_access(size) else {
            return format!("{} {depth}", self.access).parse().ok();
        };
        let counts: AccessPattern = format!("SEQ1M {depth}").parse().ok()?;
        Some(AccessPattern { order, block, ..counts }).filter(|pattern| pattern.block > 0)
    }

    fn old_label_access(&self, size: u64) -> Option<(IoOrder, u64)> {
        if self.needs_size() {
            // With a queue the script moves thirty-two parts of the file, without one the whole file.
            return Some((IoOrder::Sequential, if self.depth.is_some() { size / 32 } else { size }));
        }
        let kib: u64 = self.access.strip_suffix("KB")?.parse().ok()?;
        let order = if kib == 4 { IoOrder::Random } else { IoOrder::Sequential };
        Some((order, kib.checked_mul(KIB)?))
    }

    fn to_figure(&self, size: u64) -> Option<TestFigure> {
        let test = TestName { pattern: self.pattern(size)?, op: self.op };
        let mut result = printed_figure(test, self.value, "MB/s", MIB_S);
        result.iops = self.iops.filter(|iops| *iops > 0.0 && self.is_consistent(*iops, test.pattern.block));
        // A printed 0 is coarser than the IOPS, so the speed is computed from these.
        if let (true, Some(iops)) = (self.value == 0.0, result.iops) {
            result.mb_s = iops * test.pattern.block as f64 / 1e6;
        }
        Some(result)
    }

    /// True if speed and IOPS can be of one measurement, each cut to a whole number. In a log that ends within the IOPS
    /// they do not agree.
    fn is_consistent(&self, iops: f64, block: u64) -> bool {
        let (block, mib) = (block as f64, MIB as f64);
        iops * block < (self.value + 1.0) * mib && self.value * mib < (iops + 1.0) * block
    }
}
