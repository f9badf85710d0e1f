//! The document of `verify`. Sizes in bytes, times in seconds of the target's clock.

use super::{FilesReport, SectorFound, SpeedMap, Trouble, Verdict};
use crate::caveat::Caveat;
use crate::condition::Condition;
use crate::finding::{Finding, Weight};
use serde::{Deserialize, Serialize};

/// How the card was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Samples and one long run, seconds to minutes.
    Quick,
    /// Every block.
    Full,
    /// Files in the free space of a file system.
    Files,
}

/// An address that disproves the card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disproof {
    /// Byte address.
    pub address: u64,
    /// What was written there: `stamp of address 4096, write 2`.
    pub expected: String,
    /// What stood there.
    #[serde(flatten)]
    pub found: SectorFound,
    /// How often that was seen, in reads after separate openings or writes.
    pub seen: u32,
}

/// A share that a sampled test can exclude.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Independent places that were looked at.
    pub samples: u64,
    /// How many of them were bad.
    pub bad: u64,
    /// A bad share above this (0 to 1) would have been seen with 95 %.
    pub excluded_above: f64,
}

/// What `verify` found out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifyReport {
    /// The target as it was named.
    pub target: String,
    /// How it was looked at.
    pub method: Method,
    /// The answer.
    pub verdict: Verdict,
    /// What the card, or for files its free space, announces.
    pub announced_bytes: u64,
    /// The prefix from 0 that can be trusted; `None` if unknown.
    pub usable_bytes: Option<u64>,
    /// Estimate of all that works, wherever it lies; `None` if unknown.
    pub good_bytes: Option<u64>,
    /// Distinct bytes that the card was seen to keep at one time: no test that writes W bytes can expose a card that
    /// really holds more than W.
    pub proven_bytes: u64,
    /// Written, putting back left out.
    pub bytes_written: u64,
    /// Put back.
    pub bytes_restored: u64,
    /// Read.
    pub bytes_read: u64,
    /// How long it took.
    pub seconds: f64,
    /// True where everything that was on the card is there again, as far as the card can hold it.
    pub data_kept: bool,
    /// 0 to 1.
    pub confidence: f64,
    /// What a sampled test excludes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share: Option<Share>,
    /// Period in which addresses repeat, where they do; of a dead address line the distance of the two addresses that
    /// share a place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wrap_bytes: Option<u64>,
    /// True where `wrap_bytes` is an address line that is not wired, not a period.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub dead_address_line: bool,
    /// Size of the cache that hid losses, as far as it showed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_bytes: Option<u64>,
    /// Addresses that disprove the card, with what was expected and found.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub disproofs: Vec<Disproof>,
    /// The files, where it was looked at by files.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<FilesReport>,
    /// I/Os that failed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub troubles: Vec<Trouble>,
    /// Speed, slowest second and bad bytes over the address axis, where every block was looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub map: Option<SpeedMap>,
    /// What was true of card and rig.
    pub condition: Condition,
    /// How the I/O went.
    pub io_path: String,
    /// The seed of places and data.
    pub seed: u64,
    /// Doubts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub caveats: Vec<Caveat>,
    /// Conclusions.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub findings: Vec<Finding>,
    /// Where it is kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// What ended it early, if anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

impl VerifyReport {
    /// Bytes from 0 on that may be there: what is known to be, else what lies in front of the first repetition.
    #[must_use]
    pub fn at_most_usable(&self) -> Option<u64> {
        self.usable_bytes.or(self.wrap_bytes)
    }

    /// Whether something speaks against the card: exit status 1.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.verdict.is_bad() || self.findings.iter().any(|f| f.weight == Weight::Bad)
    }
}
