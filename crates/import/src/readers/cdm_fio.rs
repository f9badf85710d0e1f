//! Logs of `cdm_fio.sh`, which has fio do what CrystalDiskMark does, with the labels of its old and new revisions.
//!
//! It prints the sum of fio's `bw` (KiB/s) divided by 1024 and cut to a whole number as `MB/s`: MiB/s, up to one too low.
//! IOPS are cut likewise, so 0 stands for less than one. Old labels leave out what follows from the size: `Sequential`
//! moves the whole file at once, `Sequential Q32T1` a thirty-second of it, and `512KB` is sequential.

use crate::readers::error::ReaderOutcome;
use crate::readers::notes::{cooling, log_of};
use crate::readers::numbers::{MIB_S, figure, speed};
use crate::readers::runs::RunBuilder;
use crate::readers::text::LogText;
use cardscope_model::condition::Condition;
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::{AccessPattern, IoOrder, TestName, TestOp};
use cardscope_model::units::{GIB, KIB, MIB, parse_size};

/// Size of the test file where the log lost it: the script's own choice.
const USUAL_SIZE: u64 = GIB;

/// Below this many MiB/s what the script cuts off may be a tenth of the figure.
const COARSE_BELOW: f64 = 10.0;

/// True where a result line stands in it.
pub(crate) fn recognise(text: &LogText) -> bool {
    text.lines().any(|line| CdmFioLine::parse(line).is_some())
}

/// Reads the runs of the log, one a `Configuration:`.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let mut reader = CdmFioReader::default();
    text.lines().for_each(|line| reader.line(line));
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
    fn line(&mut self, text: &str) {
        if let Some(line) = CdmFioLine::parse(text) {
            self.result(&line);
        } else if let Some(condition) = cooling(text) {
            self.begin(Run { condition: Some(condition), ..Run::default() });
        } else if text.trim() == "Configuration:" {
            self.begin(Run { condition: self.head.condition.clone(), ..Run::default() });
        } else if let Some((key, value)) = text.split_once('=') {
            self.setting(key.trim(), value.trim());
        }
    }

    /// A run begins; a condition holds for all that follow it.
    fn begin(&mut self, head: Run) {
        self.head = head;
        self.runs.begin(self.head.clone());
    }

    fn setting(&mut self, key: &str, value: &str) {
        match key {
            "Size" => self.head.size_bytes = parse_size(value).ok(),
            "Loops" => self.head.loops = value.parse().ok(),
            "Write Only Zeroes" => self.zeroes |= value == "1",
            _ => return,
        }
        let run = self.runs.last_mut();
        if run.results.is_empty() {
            *run = self.head.clone();
        }
    }

    fn result(&mut self, line: &CdmFioLine<'_>) {
        let size = self.runs.last_mut().size_bytes;
        self.size_guessed |= size.is_none() && line.needs_size();
        let Some(result) = line.figure(size.unwrap_or(USUAL_SIZE)) else { return };
        self.coarse |= result.printed().value < COARSE_BELOW;
        self.runs.add(result);
    }

    fn finish(self) -> CardLog {
        let mut log = log_of("cdm_fio.sh", None);
        log.runs = self.runs.finish();
        lift_condition(&mut log);
        let doubts = [
            (self.zeroes, "it wrote zeroes, which some controllers do not store"),
            (self.size_guessed, "the size of the test file is missing; assumed 1 GiB"),
            (self.coarse, "cdm_fio.sh rounds down to whole MiB/s: results may be up to 1.05 MB/s too low"),
        ];
        log.doubts.extend(doubts.into_iter().filter(|(holds, _)| *holds).map(|(_, doubt)| doubt.to_owned()));
        log
    }
}

/// What holds for every run holds for the log.
fn lift_condition(log: &mut CardLog) {
    let first = log.runs.first().and_then(|run| run.condition.clone());
    if let Some(condition) =
        first.filter(|first| log.runs.iter().all(|run| run.condition.as_ref() == Some(first)))
    {
        log.condition = condition;
        log.runs.iter_mut().for_each(|run| run.condition = None);
    }
    let empty = Condition::default();
    log.runs.iter_mut().for_each(|run| run.condition = run.condition.take().filter(|said| *said != empty));
}

/// `4KB Q8T8 Write: 88MB/s IOPS=22601`, taken apart.
struct CdmFioLine<'a> {
    /// `4KB`, `Sequential`, `SEQ8M`.
    access: &'a str,
    /// `Q8T8`, where the label has it.
    depth: Option<&'a str>,
    op: TestOp,
    value: f64,
    iops: Option<f64>,
}

impl<'a> CdmFioLine<'a> {
    /// Reads a line from its end: before the label a prompt may stand.
    fn parse(text: &'a str) -> Option<Self> {
        let (before, iops) = text.split_once("MB/s IOPS=")?;
        let (label, value) = before.rsplit_once(':')?;
        let mut words = label.split_whitespace().rev();
        let op = match words.next()? {
            "Read" => TestOp::Read,
            "Write" => TestOp::Write,
            _ => return None,
        };
        let word = words.next()?;
        let is_depth = word.starts_with('Q') && word.contains('T');
        let (access, depth) = if is_depth { (words.next()?, Some(word)) } else { (word, None) };
        let line = CdmFioLine { access, depth, op, value: speed(value)?, iops: speed(iops) };
        line.pattern(USUAL_SIZE).map(|_| line)
    }

    fn needs_size(&self) -> bool {
        self.access == "Sequential"
    }

    /// The test that the label names on a file of `size` bytes.
    fn pattern(&self, size: u64) -> Option<AccessPattern> {
        let depth = self.depth.unwrap_or("Q1T1");
        let Some((order, block)) = self.old_access(size) else {
            return format!("{} {depth}", self.access).parse().ok();
        };
        let counts: AccessPattern = format!("SEQ1M {depth}").parse().ok()?;
        Some(AccessPattern { order, block, ..counts }).filter(|pattern| pattern.block > 0)
    }

    /// Order and block size of an old label.
    fn old_access(&self, size: u64) -> Option<(IoOrder, u64)> {
        if self.needs_size() {
            // The script queues thirty-two parts of the file, or moves it whole.
            return Some((IoOrder::Sequential, if self.depth.is_some() { size / 32 } else { size }));
        }
        let kib: u64 = self.access.strip_suffix("KB")?.parse().ok()?;
        let order = if kib == 4 { IoOrder::Random } else { IoOrder::Sequential };
        Some((order, kib.checked_mul(KIB)?))
    }

    fn figure(&self, size: u64) -> Option<TestFigure> {
        let test = TestName { pattern: self.pattern(size)?, op: self.op };
        let mut result = figure(test, self.value, "MB/s", MIB_S);
        result.iops = self.iops.filter(|iops| *iops > 0.0 && self.agrees(*iops, test.pattern.block));
        // Printed 0: the IOPS are the finer figure.
        if let (true, Some(iops)) = (self.value == 0.0, result.iops) {
            result.mb_s = iops * test.pattern.block as f64 / 1e6;
        }
        Some(result)
    }

    /// Speed and IOPS were each cut to a whole number of the same measurement; where a log is cut off in the middle of
    /// the IOPS they are not.
    fn agrees(&self, iops: f64, block: u64) -> bool {
        let (block, mib) = (block as f64, MIB as f64);
        iops * block < (self.value + 1.0) * mib && self.value * mib < (iops + 1.0) * block
    }
}
