//! Names of tests in the notation of CrystalDiskMark and similar tools: `RND4K Q32T1 read`.

use crate::units;
use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IoOrder {
    #[default]
    #[serde(rename = "SEQ")]
    Sequential,
    #[serde(rename = "RND")]
    Random,
}

/// Operation of a test, written `read`, `write` or `mix70` (70 % of the I/Os are reads).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub enum TestOp {
    #[default]
    Read,
    Write,
    /// Reads and writes, with the share of reads in percent, 1 to 99.
    Mix(u8),
}

impl TestOp {
    pub fn writes(self) -> bool {
        self != TestOp::Read
    }
    pub fn reads(self) -> bool {
        self != TestOp::Write
    }
}

/// Access pattern without its direction, e.g. `RND4K Q32T1`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct AccessPattern {
    pub order: IoOrder,
    pub block: u64,
    pub queue: u32,
    pub threads: u32,
}

/// Pattern and operation, e.g. `RND4K Q32T1 read`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct TestName {
    pub pattern: AccessPattern,
    pub op: TestOp,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a test name: {reason}; write it like \"RND4K Q32T1 read\" or \"SEQ1M Q8T1 mix70\"")]
pub struct TestNameError {
    pub text: String,
    pub reason: &'static str,
}

impl fmt::Display for TestOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TestOp::Read => f.pad("read"),
            TestOp::Write => f.pad("write"),
            TestOp::Mix(reads) => f.pad(&format!("mix{reads}")),
        }
    }
}

impl FromStr for TestOp {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "read" => Ok(TestOp::Read),
            "write" => Ok(TestOp::Write),
            _ => match text.strip_prefix("mix").map(str::parse::<u8>) {
                Some(Ok(share @ 1..=99)) => Ok(TestOp::Mix(share)),
                Some(_) => Err("a mix names its share of reads, mix1 to mix99"),
                None => Err("the last word is read, write or mix70"),
            },
        }
    }
}

impl fmt::Display for AccessPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}", self.access_text(), self.parallelism_text()))
    }
}

impl AccessPattern {
    /// Returns order and block size, e.g. `RND4K`.
    pub fn access_text(&self) -> String {
        let order = if self.order == IoOrder::Sequential { "SEQ" } else { "RND" };
        let (number, unit) = units::whole_binary_unit(self.block).unwrap_or((self.block, "B"));
        format!("{order}{number}{unit}")
    }

    /// Returns queue depth and threads, e.g. `Q32T1`.
    pub fn parallelism_text(&self) -> String {
        format!("Q{}T{}", self.queue, self.threads)
    }
}

impl FromStr for AccessPattern {
    type Err = TestNameError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_pattern(text).map_err(|reason| TestNameError { text: text.to_owned(), reason })
    }
}

fn parse_pattern(text: &str) -> Result<AccessPattern, &'static str> {
    let mut words = text.split_whitespace();
    let access = words.next().ok_or("it is empty")?;
    let depth = words.next().unwrap_or("Q1T1");
    if words.next().is_some() {
        return Err("too many words");
    }
    let (order, block) = match (access.strip_prefix("SEQ"), access.strip_prefix("RND")) {
        (Some(block), _) => (IoOrder::Sequential, block),
        (_, Some(block)) => (IoOrder::Random, block),
        _ => return Err("it starts with SEQ or RND"),
    };
    let block = units::parse_size(block).map_err(|_| "invalid block size")?;
    let numbers = depth.strip_prefix('Q').and_then(|depth| depth.split_once('T'));
    let (queue, threads) = numbers.ok_or("the second word is like Q32T1")?;
    let queue = queue.parse().map_err(|_| "invalid queue depth")?;
    let threads = threads.parse().map_err(|_| "invalid thread count")?;
    Ok(AccessPattern { order, block, queue, threads })
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}", self.pattern, self.op))
    }
}

impl FromStr for TestName {
    type Err = TestNameError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |reason| TestNameError { text: text.to_owned(), reason };
        let words = text.trim().rsplit_once(char::is_whitespace);
        let (pattern, op) = words.ok_or_else(|| fail("it has one word"))?;
        Ok(TestName { pattern: parse_pattern(pattern).map_err(fail)?, op: op.parse().map_err(fail)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_names_round_trip() {
        for name in [
            "SEQ1M Q8T1 read",
            "RND4K Q32T1 write",
            "SEQ1G Q1T1 read",
            "SEQ512K Q1T1 mix70",
            "RND512B Q1T1 read",
        ] {
            assert_eq!(name.parse::<TestName>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn invalid_test_names_are_refused_with_reason() {
        for (name, reason) in [
            ("RND4K", "it has one word"),
            ("FOO4K Q1T1 read", "it starts with SEQ or RND"),
            ("RND4Z Q1T1 read", "invalid block size"),
            ("RND4K 32 read", "the second word is like Q32T1"),
            ("RND4K Q1T1 mix100", "a mix names its share of reads, mix1 to mix99"),
            ("RND4K Q1T1 erase", "the last word is read, write or mix70"),
        ] {
            assert_eq!(name.parse::<TestName>().unwrap_err().reason, reason, "{name}");
        }
    }
}
