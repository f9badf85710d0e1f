//! Options of a fio job, and the test that they describe.

use cardscope_model::test_name::{AccessPattern, IoOrder, TestOp};
use cardscope_model::units::KIB;

/// fio's defaults: 4 KiB, and half of a mix is reads (its HOWTO).
const DEFAULT_BLOCK: u64 = 4 * KIB;
const DEFAULT_MIX: u8 = 50;

/// Percentage points by which a mix of some thousand I/Os misses the requested share.
const MIX_TOLERANCE: f64 = 1.5;

/// Largest block that counts as random access if neither options nor name state the order, since small blocks are usually
/// tested that way.
const SMALL_BLOCK: u64 = 64 * KIB;

/// Engines that do one I/O at a time, whatever the `iodepth`; `psync` is the default on Linux.
const SYNCHRONOUS: [&str; 6] = ["psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"];

/// A pattern, and a doubt about it.
type DoubtedPattern = (AccessPattern, Option<String>);

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct JobOptions {
    /// True if the log has all options of the job, so that a missing one has fio's default.
    pub(super) is_complete: bool,
    /// `randread`, `rw` …
    access: Option<String>,
    /// Bytes of a read and of a write.
    pub(super) blocks: [Option<u64>; 2],
    pub(super) depth: Option<u32>,
    pub(super) threads: Option<u32>,
    engine: Option<String>,
    /// Share of reads in percent.
    reads: Option<u8>,
    pub(super) size: Option<u64>,
    pub(super) loops: Option<u32>,
    pub(super) direct: Option<bool>,
    pub(super) file: Option<String>,
}

impl JobOptions {
    /// Sets one option by its name in job files. Options that do not affect a test are ignored.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.is_complete = true;
        match name {
            "rw" | "readwrite" => self.access = Some(value.split(':').next().unwrap_or(value).to_owned()),
            "bs" | "blocksize" => self.blocks = parse_block_sizes(value),
            "iodepth" => self.depth = value.parse().ok().filter(|depth| *depth > 0),
            "numjobs" => self.threads = value.parse().ok().filter(|threads| *threads > 0),
            "ioengine" => self.engine = Some(value.to_owned()),
            "rwmixread" => self.reads = value.parse().ok(),
            "rwmixwrite" => self.reads = value.parse().ok().and_then(|writes: u8| 100_u8.checked_sub(writes)),
            "size" => self.size = parse_job_size(value),
            "loops" => self.loops = value.parse().ok(),
            "direct" => self.direct = Some(value != "0"),
            "filename" => self.file = Some(value.to_owned()),
            _ => {}
        }
    }

    /// Pattern of a job that did `op` in blocks of `measured` bytes, and a doubt about it.
    pub(super) fn test_pattern(&self, name: &str, op: TestOp, measured: u64, threads: u32) -> DoubtedPattern {
        let asked = self.blocks[usize::from(op == TestOp::Write)];
        let block = asked.or_else(|| likely_block(measured)).unwrap_or(DEFAULT_BLOCK);
        let (order, doubt) = self.access_order(name, block);
        let engine = self.engine.as_deref().or(self.is_complete.then_some("psync"));
        let synchronous = engine.is_some_and(|engine| SYNCHRONOUS.contains(&engine));
        let capped = || format!("{name}: synchronous engine, so iodepth has no effect (Q1)");
        let capped = (synchronous && self.depth > Some(1)).then(capped);
        let queue = if capped.is_some() { 1 } else { self.depth.unwrap_or(1) };
        (AccessPattern { order, block, queue, threads }, capped.or(doubt))
    }

    fn access_order(&self, name: &str, block: u64) -> (IoOrder, Option<String>) {
        let order = |random| if random { IoOrder::Random } else { IoOrder::Sequential };
        if let Some(access) = &self.access {
            return (order(access.contains("rand")), None);
        }
        if self.is_complete {
            return (IoOrder::Sequential, None);
        }
        let lower = name.to_lowercase();
        if lower.contains("rand") || lower.contains("rnd") || lower.contains("seq") {
            return (order(!lower.contains("seq")), None);
        }
        let taken = if block <= SMALL_BLOCK { "random" } else { "sequential" };
        let doubt = format!("{name}: random or sequential is not given; assumed {taken}");
        (order(block <= SMALL_BLOCK), Some(doubt))
    }

    /// True if the job was only to write, so that its reads are verification.
    pub(super) fn only_writes(&self) -> bool {
        self.access.as_ref().is_some_and(|access| access.ends_with("write") && access != "readwrite")
    }

    /// Share of reads of a mix, in percent, as requested, else as measured. A measured share near a multiple of 5 becomes
    /// that multiple, since people request such shares.
    pub(super) fn share_of_reads(&self, read_ios: f64, write_ios: f64) -> u8 {
        let exact = read_ios / (read_ios + write_ios) * 100.0;
        let asked = (exact / 5.0).round() * 5.0;
        let measured = if (exact - asked).abs() <= MIX_TOLERANCE { asked } else { exact.round() };
        let usual = self.is_complete.then_some(DEFAULT_MIX);
        self.reads.or(usual).unwrap_or(measured as u8).clamp(1, 99)
    }
}

/// Power of two near a measured mean. fio 2 cuts bandwidth to whole KiB/s, which is much on slow cards.
fn likely_block(measured: u64) -> Option<u64> {
    let power = (measured.max(1) as f64).log2().round() as u32;
    let nearest = 1_u64.checked_shl(power)?;
    let near = nearest.abs_diff(measured) <= nearest / 5;
    (measured > 0).then_some(if near { nearest } else { measured })
}

/// `4k`, or `4k,64k` for reads and writes.
fn parse_block_sizes(value: &str) -> [Option<u64>; 2] {
    let (read, write) = value.split_once(',').unwrap_or((value, value));
    let read = parse_job_size(read);
    [read, write.split(',').next().and_then(parse_job_size).or(read)]
}

/// Parses a size of a job file, in which `k` and `kb` are 1024 bytes, `ki` and `kib` 1000 (`kb_base` in fio's HOWTO).
fn parse_job_size(value: &str) -> Option<u64> {
    let lower = value.trim().to_lowercase();
    let digits = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let number: u64 = lower[..digits].parse().ok()?;
    let unit = &lower[digits..];
    let unit = unit.strip_suffix('b').unwrap_or(unit);
    let (unit, base) = unit.strip_suffix('i').map_or((unit, 1024_u64), |unit| (unit, 1000));
    let power = ["", "k", "m", "g", "t"].iter().position(|known| *known == unit)?;
    number.checked_mul(base.checked_pow(power as u32)?).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(set: &[(&str, &str)]) -> JobOptions {
        let mut options = JobOptions::default();
        set.iter().for_each(|(name, value)| options.set(name, value));
        options
    }

    #[test]
    fn job_sizes_are_binary_unless_they_have_an_i() {
        for (text, bytes) in [
            ("4k", Some(4096)),
            ("256M", Some(256 << 20)),
            ("1g", Some(1 << 30)),
            ("4kb", Some(4096)),
            ("4KiB", Some(4000)),
            ("512", Some(512)),
            ("10%", None),
            ("0", None),
            ("99999999999t", None),
        ] {
            assert_eq!(parse_job_size(text), bytes, "{text}");
        }
    }

    #[test]
    fn synchronous_engine_ignores_iodepth() {
        let queued = options(&[("rw", "randwrite"), ("bs", "4k"), ("iodepth", "16"), ("ioengine", "libaio")]);
        let capped = options(&[("rw", "randwrite"), ("bs", "4k"), ("iodepth", "16")]);
        let test = |options: &JobOptions| {
            let (pattern, doubt) = options.test_pattern("job", TestOp::Write, 4096, 2);
            (pattern.to_string(), doubt.is_some())
        };
        assert_eq!(test(&queued), ("RND4K Q16T2".to_owned(), false));
        assert_eq!(test(&capped), ("RND4K Q1T2".to_owned(), true));
    }

    #[test]
    fn pattern_without_options_is_guessed_from_name_and_block() {
        let guess = |name, block| JobOptions::default().test_pattern(name, TestOp::Read, block, 1);
        assert_eq!(guess("seqread", 4096).0.to_string(), "SEQ4K Q1T1");
        assert_eq!(guess("test", 1 << 20).0.to_string(), "SEQ1M Q1T1");
        assert_eq!(guess("rand", 3800).0.to_string(), "RND4K Q1T1");
        assert_eq!(guess("rand", 3000).0.to_string(), "RND3000B Q1T1");
        assert!(guess("test", 4096).1.unwrap().contains("assumed random"));
    }

    #[test]
    fn share_of_reads_is_requested_or_measured() {
        assert_eq!(options(&[("rwmixwrite", "30")]).share_of_reads(1.0, 9.0), 70);
        assert_eq!(options(&[("rw", "randrw")]).share_of_reads(1.0, 9.0), 50);
        assert_eq!(JobOptions::default().share_of_reads(75.0, 25.0), 75);
        assert_eq!(JobOptions::default().share_of_reads(f64::INFINITY, 1.0), 1);
    }
}
