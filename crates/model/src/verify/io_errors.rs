//! Failed I/Os, the content of wrong sectors, and the classification of failures as occasional, frequent, lasting or
//! caused by the reader: by number, position, size and errno.

use crate::units::MIB;
use serde::{Deserialize, Serialize};

/// Failed I/O, with its position and the outcome of the second try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoError {
    pub operation: String,
    pub offset: u64,
    pub len: u64,
    /// Errno; 0 if there is none.
    pub errno: i32,
    pub reason: String,
    pub recovered: bool,
    /// True if small requests succeeded for the same bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_parts: bool,
}

/// Adds a failed I/O to a list of at most `most`. If it is full, one that failed twice replaces one that recovered.
pub fn list_failed(listed: &mut Vec<IoError>, most: usize, io_error: IoError) {
    if listed.len() < most {
        listed.push(io_error);
    } else if !io_error.recovered
        && let Some(recovered) = listed.iter().rposition(|other| other.recovered)
    {
        listed[recovered] = io_error;
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoCounts {
    /// All I/Os, without second tries.
    pub ios: u64,
    pub failed_once: u64,
    pub failed_twice: u64,
}

impl IoCounts {
    pub fn failed(self) -> u64 {
        self.failed_once + self.failed_twice
    }
}

impl std::ops::AddAssign for IoCounts {
    fn add_assign(&mut self, more: IoCounts) {
        self.ios += more.ios;
        self.failed_once += more.failed_once;
        self.failed_twice += more.failed_twice;
    }
}

impl std::ops::Sub for IoCounts {
    type Output = IoCounts;

    fn sub(self, before: IoCounts) -> IoCounts {
        IoCounts {
            ios: self.ios - before.ios,
            failed_once: self.failed_once - before.failed_once,
            failed_twice: self.failed_twice - before.failed_twice,
        }
    }
}

/// Content of a sector that should hold a stamp of the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "found")]
pub enum SectorFound {
    Expected,
    /// Expected data with a few wrong bits.
    Flipped {
        bits: u32,
    },
    /// Data of this run for another address.
    Elsewhere {
        /// Byte address in the stamp. The JSON object of the proof has the sector's own `address` on the same level.
        #[serde(rename = "found_address", default)]
        address: u64,
    },
    /// Data of this address and run, but of another write than the last one.
    Stale {
        generation: u32,
    },
    /// Stamp of another run or another card.
    Foreign {
        /// Byte address in the stamp.
        #[serde(rename = "found_address", default)]
        address: u64,
        salt: u64,
    },
    Constant {
        byte: u8,
    },
    /// Older content or noise.
    Other,
    Error,
}

/// Rate of failures, each successful at the second try, that occasional bus errors explain. From a first sample of
/// cards (docs/accuracy.md, "Occasional I/O errors").
pub const TOLERATED_PER_MILLION: f64 = 100.0;

/// Chance of accusing a card with that rate.
const ACCUSED_BY_CHANCE: f64 = 0.001;

/// Chance below which I/Os that failed twice are not explained by the overall failure rate.
const EXCUSED_BY_CHANCE: f64 = 0.01;

/// Bytes at the end that some readers announce although the card lacks them, or that cannot be read several sectors
/// at once (the kernel's `last_sector_bug` quirk).
const LAST_BYTES: u64 = 8 * 512;

/// `EILSEQ` and `ETIMEDOUT`: wrong checksum on the bus, or no answer.
const BUS_ERRORS: [i32; 2] = [84, 110];

/// Least failures that the reader may explain. Bus errors must occur in that many different mebibytes, since fewer
/// could be stalls of the card.
const MIN_READER_FAILURES: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorPattern {
    None,
    /// Few failures, all successful at the second try.
    Occasional,
    /// Many failures, but none that failed twice even in small requests.
    Frequent,
    /// Failures that the reader explains.
    Reader(ReaderFault),
    /// Positions that fail repeatedly.
    Lasting,
}

/// Claim of the finding that the reader causes the failures, so that the test proves nothing.
pub const READER_ERRORS: &str = "reader-errors";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReaderFault {
    /// Commands or data are lost on the bus between card and host.
    Bus,
    /// Requests of this many bytes fail, while small ones at the same positions succeed.
    LongRequests(u64),
    /// More sectors are announced than the card has.
    LastSectors,
}

impl ErrorPattern {
    /// Classifies failures. `listed` are the first of them; `card_bytes` is unknown for files.
    pub fn from_errors(counts: IoCounts, listed: &[IoError], card_bytes: Option<u64>) -> Self {
        // Some readers fail reads of several sectors at the very end, but succeed one by one; that is not a fault.
        let last = card_bytes.map_or(u64::MAX, |bytes| bytes.saturating_sub(LAST_BYTES));
        let at_the_end = |error: &IoError| error.offset + error.len > last;
        let quirks = listed.iter().filter(|e| e.recovered && e.in_parts && at_the_end(e)).count() as u64;
        let once = counts.failed_once.saturating_sub(quirks);
        let twice: Vec<&IoError> = listed.iter().filter(|error| !error.recovered).collect();
        match counts.failed() {
            0 => ErrorPattern::None,
            _ if counts.failed_twice > 0 && !is_chance(counts, &twice) => {
                reader_fault(&twice, last).map_or(ErrorPattern::Lasting, ErrorPattern::Reader)
            }
            _ if counts.failed_twice > 0 => ErrorPattern::Frequent,
            _ if once <= failures_at_rate(counts.ios, TOLERATED_PER_MILLION) => ErrorPattern::Occasional,
            _ if is_bus_fault(&listed.iter().collect::<Vec<_>>()) => ErrorPattern::Reader(ReaderFault::Bus),
            _ => ErrorPattern::Frequent,
        }
    }
}

/// True if failures at the second try are chance: small requests succeeded there, or so many I/Os fail that some fail
/// twice. A defective position fails each time, so most of its failures would be double ones.
fn is_chance(counts: IoCounts, twice: &[&IoError]) -> bool {
    let in_parts = !twice.is_empty() && twice.iter().all(|error| error.in_parts);
    let expected = (counts.failed() as f64).powi(2) / counts.ios.max(1) as f64;
    if counts.failed_twice <= counts.failed_once {
        in_parts || counts.failed_twice <= poisson_quantile(expected, EXCUSED_BY_CHANCE)
    } else {
        in_parts && twice.len() < MIN_READER_FAILURES
    }
}

fn reader_fault(twice: &[&IoError], last: u64) -> Option<ReaderFault> {
    let shortest = twice.iter().map(|error| error.len).min()?;
    if twice.iter().all(|error| error.in_parts) {
        return Some(ReaderFault::LongRequests(shortest));
    }
    if twice.iter().all(|error| error.offset >= last) {
        return Some(ReaderFault::LastSectors);
    }
    is_bus_fault(twice).then_some(ReaderFault::Bus)
}

fn is_bus_fault(errors: &[&IoError]) -> bool {
    let mut places: Vec<u64> = errors.iter().map(|error| error.offset / MIB).collect();
    places.sort_unstable();
    places.dedup();
    places.len() >= MIN_READER_FAILURES && errors.iter().all(|error| BUS_ERRORS.contains(&error.errno))
}

/// Returns the most failures that a rate per million I/Os explains.
pub fn failures_at_rate(ios: u64, per_million: f64) -> u64 {
    poisson_quantile(ios as f64 * per_million / 1e6, ACCUSED_BY_CHANCE).max(1)
}

/// Returns the least count that a Poisson variable with mean `expected` exceeds with a probability of at most `tail`.
fn poisson_quantile(expected: f64, tail: f64) -> u64 {
    // For large numbers the normal distribution is close enough; both tails used here are below 3.1 standard
    // deviations.
    if expected > 500.0 {
        return (expected + 3.1 * expected.sqrt()).ceil() as u64;
    }
    let (mut chance, mut below, mut count) = ((-expected).exp(), 0.0, 0);
    loop {
        below += chance;
        if below >= 1.0 - tail {
            return count;
        }
        count += 1;
        chance *= expected / count as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SURE_CONFIDENCE, Verdict};
    use super::*;

    fn tolerated_failures(ios: u64) -> u64 {
        failures_at_rate(ios, TOLERATED_PER_MILLION)
    }

    const CARD: u64 = 64 << 30;

    fn failed(offset: u64, len: u64) -> IoError {
        IoError {
            operation: "read".into(),
            offset,
            len,
            errno: 5,
            reason: "Input/output error".into(),
            recovered: false,
            in_parts: false,
        }
    }

    fn pattern(ios: u64, listed: &[IoError]) -> ErrorPattern {
        let failed_once = listed.iter().filter(|error| error.recovered).count() as u64;
        let failed_twice = listed.len() as u64 - failed_once;
        ErrorPattern::from_errors(IoCounts { ios, failed_once, failed_twice }, listed, Some(CARD))
    }

    #[test]
    fn position_that_fails_twice_is_lasting() {
        let once = IoError { recovered: true, ..failed(0, 4096) };
        for place in [0, 4096, 50_000_000 / 512 * 512, CARD - (1 << 20)] {
            assert_eq!(pattern(1_000_000, &[once.clone(), failed(place, 512)]), ErrorPattern::Lasting);
        }
        let unlisted = IoCounts { ios: 10, failed_once: 0, failed_twice: 1 };
        assert_eq!(ErrorPattern::from_errors(unlisted, &[], Some(CARD)), ErrorPattern::Lasting);
    }

    #[test]
    fn reader_fault_follows_from_position_size_or_errno() {
        let last = [failed(CARD - 512, 512), failed(CARD - 1024, 512)];
        assert_eq!(pattern(1000, &last), ErrorPattern::Reader(ReaderFault::LastSectors));
        let long = [0, MIB, 7 * MIB].map(|at| IoError { in_parts: true, ..failed(at, 128 << 10) });
        assert_eq!(pattern(1000, &long), ErrorPattern::Reader(ReaderFault::LongRequests(128 << 10)));
        assert_eq!(pattern(1000, &long[..2]), ErrorPattern::Frequent, "two may be chance");
        let once = IoError { recovered: true, in_parts: false, ..long[0].clone() };
        let all = [long.as_slice(), &[once.clone(), once.clone(), once]].concat();
        assert_eq!(pattern(1000, &all), ErrorPattern::Frequent, "so may be one half");
        let one_in_ten = |twice: usize| {
            let once = IoError { recovered: true, ..failed(0, 4096) };
            [vec![once; 100 - twice], vec![failed(4096, 4096); twice]].concat()
        };
        assert_eq!(pattern(1000, &one_in_ten(12)), ErrorPattern::Frequent, "10 of 100 fail again");
        assert_eq!(pattern(1000, &one_in_ten(30)), ErrorPattern::Lasting);
        let bus = [0, 9 * MIB, 80 * MIB].map(|at| IoError { errno: 84, ..failed(at, 4096) });
        assert_eq!(pattern(1000, &bus), ErrorPattern::Reader(ReaderFault::Bus));
        assert_eq!(pattern(1000, &bus[..2]), ErrorPattern::Lasting, "two places may be the card's");
        let one_more = [bus.as_slice(), &[failed(MIB, 4096)]].concat();
        assert_eq!(pattern(1000, &one_more), ErrorPattern::Lasting, "one of them is the card's");
    }

    #[test]
    fn single_errors_are_occasional_up_to_a_rate() {
        let once = |n: u64| Vec::from_iter((0..n).map(|at| IoError { recovered: true, ..failed(at, 4096) }));
        assert_eq!(pattern(5000, &[]), ErrorPattern::None);
        for ios in [10, 5000, 1_000_000] {
            let most = tolerated_failures(ios);
            assert_eq!(pattern(ios, &once(most)), ErrorPattern::Occasional, "{ios}");
            assert_eq!(pattern(ios, &once(most + 1)), ErrorPattern::Frequent, "{ios}");
        }
        assert_eq!([0, 5000, 1_000_000].map(tolerated_failures), [1, 4, 132]);
        let normal = failures_at_rate(5_010_000, 100.0);
        assert!(normal.abs_diff(failures_at_rate(4_990_000, 100.0)) <= 4, "both tails meet: {normal}");
    }

    #[test]
    fn errors_override_clean_and_open_verdicts() {
        use Verdict::{Damaged, Dead, Genuine, Inconclusive, Limbo, ReaderSuspect, Unstable};
        let reader = ErrorPattern::Reader(ReaderFault::Bus);
        for (before, pattern, after) in [
            (Genuine, ErrorPattern::Occasional, (Genuine, 0.75)),
            (Genuine, ErrorPattern::Lasting, (Damaged, SURE_CONFIDENCE)),
            (Inconclusive, ErrorPattern::Frequent, (Unstable, SURE_CONFIDENCE)),
            (Damaged, ErrorPattern::Lasting, (Damaged, SURE_CONFIDENCE)),
            (Unstable, ErrorPattern::Lasting, (Damaged, SURE_CONFIDENCE)),
            (Damaged, reader, (Damaged, 0.75)),
            (Genuine, reader, (ReaderSuspect, SURE_CONFIDENCE)),
            (Limbo, ErrorPattern::Lasting, (Limbo, 0.75)),
            (Dead, ErrorPattern::Frequent, (Dead, 0.75)),
        ] {
            assert_eq!(before.with_errors(0.75, pattern, false), after, "{before} {pattern:?}");
        }
        assert_eq!(Damaged.with_errors(0.75, reader, true).0, ReaderSuspect, "nothing else was lost");
    }

    #[test]
    fn last_sector_quirk_is_occasional() {
        let quirk = IoError { recovered: true, in_parts: true, ..failed(CARD - MIB, MIB) };
        assert_eq!(pattern(100, &vec![quirk; 50]), ErrorPattern::Occasional);
    }
}
