//! Ranges of a card in which commands fail, as text: `50MB+100kB, 0+512:write`.

use cardscope_model::units::parse_size;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ErrorRanges(Vec<ErrorRange>);

/// Bytes `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ErrorRange {
    start: u64,
    end: u64,
    reads: bool,
    writes: bool,
}

impl ErrorRanges {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a command fails that touches `len` bytes from `offset`.
    pub(crate) fn fails_command(&self, write: bool, offset: u64, len: u64) -> bool {
        let strikes = |r: &ErrorRange| if write { r.writes } else { r.reads };
        self.0.iter().any(|r| strikes(r) && offset < r.end && r.start < offset + len)
    }

    /// Returns whether any command fails at `at`, and for how many bytes, at most `len`, that answer holds.
    pub(crate) fn failing_run(&self, at: u64, len: u64) -> (bool, u64) {
        let edges = self.0.iter().flat_map(|r| [r.start, r.end]);
        let next = edges.filter(|edge| *edge > at).min().unwrap_or(u64::MAX);
        (self.0.iter().any(|r| (r.start..r.end).contains(&at)), (next - at).min(len))
    }
}

impl FromStr for ErrorRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} must be START+LEN, START+LEN:read or START+LEN:write");
        let (range, on) = text.split_once(':').unwrap_or((text, ""));
        let (start, len) = range.split_once('+').ok_or_else(wrong)?;
        let (reads, writes) = match on {
            "" => (true, true),
            "read" => (true, false),
            "write" => (false, true),
            _ => return Err(wrong()),
        };
        let size = |text: &str| parse_size(text).map_err(|e| e.to_string());
        let (start, len) = (size(start)?, size(len)?);
        let end = start.checked_add(len).filter(|end| *end > start).ok_or_else(wrong)?;
        Ok(ErrorRange { start, end, reads, writes })
    }
}

impl TryFrom<String> for ErrorRanges {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let ranges = text.split(',').map(str::trim).filter(|range| !range.is_empty());
        ranges.map(str::parse).collect::<Result<_, _>>().map(ErrorRanges)
    }
}

impl fmt::Display for ErrorRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = match (self.reads, self.writes) {
            (true, true) => "",
            (true, false) => ":read",
            _ => ":write",
        };
        write!(f, "{}+{}{on}", self.start, self.end - self.start)
    }
}

impl fmt::Display for ErrorRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<_> = self.0.iter().map(ErrorRange::to_string).collect();
        f.write_str(&all.join(", "))
    }
}

impl From<ErrorRanges> for String {
    fn from(ranges: ErrorRanges) -> String {
        ranges.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(text: &str) -> Result<ErrorRanges, String> {
        text.to_owned().try_into()
    }

    #[test]
    fn ranges_round_trip_as_text() {
        let two = ranges("50MB+100kB, 1MiB+512:write").unwrap();
        assert_eq!(two.to_string(), "50000000+100000, 1048576+512:write");
        assert_eq!(ranges(&two.to_string()).unwrap(), two);
        assert!(ranges("").unwrap().is_empty());
        for bad in ["50MB", "1+0", "1+512:erase", "x+512", "18446744073709551615+2"] {
            assert!(ranges(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn commands_fail_in_ranges_of_their_kind() {
        let two = ranges("4096+512, 8192+4096:write").unwrap();
        assert!(two.fails_command(false, 0, 4608) && two.fails_command(true, 4096, 512));
        assert!(!two.fails_command(false, 4608, 8192) && two.fails_command(true, 4608, 8192));
        assert!(!two.fails_command(true, 0, 4096));
        assert_eq!(two.failing_run(0, 1 << 20), (false, 4096));
        assert_eq!(two.failing_run(4096, 1 << 20), (true, 512));
        assert_eq!(two.failing_run(12288, 4096), (false, 4096));
    }
}
