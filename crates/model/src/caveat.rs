//! Caveats of a result: stored with it and formatted in one place.

use crate::units::SpeedMbS;
use crate::verify::io_errors::IoCounts;
use serde::{Deserialize, Deserializer, Serialize};

/// Doubt about a result, with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Caveat {
    /// The file system does not support direct I/O, so the page cache is part of the results.
    #[error(
        "{file_system} does not support direct I/O here, so the page cache is part of the results; test the \
         bare device, or a directory on another file system"
    )]
    NoDirectIo { file_system: String },
    /// A layer between the program and the card caches, encrypts, compresses or copies on write.
    #[error("the path is on {file_system} ({effect}), so that layer is part of the results")]
    Layered {
        file_system: String,
        /// Effect on the data: `in memory`, `encrypted`, `copy-on-write, may compress` …
        effect: String,
    },
    /// The kernel refused io_uring.
    #[error(
        "io_uring is not available ({reason}): threads with pread and pwrite were used, which need more processor time for deep queues"
    )]
    NoIoUring { reason: String },
    #[error("registered buffers are not available ({reason}), which costs some processor time")]
    NoRegisteredBuffers { reason: String },
    /// I/Os in flight share their memory, because one block for each would not fit.
    #[error(
        "{depth} blocks in flight share {shared_bytes} bytes of memory, so the data read was not checked"
    )]
    SharedBuffers { depth: u32, shared_bytes: u64 },
    /// Speed above the line rate of the bus: a cache or a wrong unit, not the card.
    #[error(
        "{} is more than the bus carries ({}): a cache of this computer answered, not the card",
        SpeedMbS(*mb_s),
        SpeedMbS(*ceiling_mb_s)
    )]
    AboveBusCeiling { mb_s: f64, ceiling_mb_s: f64 },
    /// The interval required by `until` was not reached.
    #[error(
        "the 95 % interval is ±{reached_percent:.1} % instead of ±{wanted_percent:.1} %: {limit} came first"
    )]
    NotPrecise { wanted_percent: f64, reached_percent: f64, limit: String },
    #[error("{failed_once} I/Os failed once and {failed_twice} twice in this test, so its speed is doubtful")]
    FailedIos { failed_once: u64, failed_twice: u64 },
    #[error(
        "the page cache could not be emptied ({reason}), so buffered results are those of a warm cache; run as root"
    )]
    CachesKept { reason: String },
    #[error("{text}")]
    Other { text: String },
}

impl Caveat {
    pub fn from_failed_ios(counts: IoCounts) -> Option<Self> {
        let IoCounts { failed_once, failed_twice, .. } = counts;
        (counts.failed() > 0).then_some(Caveat::FailedIos { failed_once, failed_twice })
    }

    pub fn from_text(text: impl Into<String>) -> Self {
        Caveat::Other { text: text.into() }
    }
}

/// Deserializes caveats. Documents of `observe` by earlier versions have plain sentences.
pub(crate) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Caveat>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum CaveatText {
        Coded(Caveat),
        Sentence(String),
    }
    let caveat = |doubt| match doubt {
        CaveatText::Coded(caveat) => caveat,
        CaveatText::Sentence(text) => Caveat::Other { text },
    };
    Ok(Vec::<CaveatText>::deserialize(from)?.into_iter().map(caveat).collect())
}

pub fn add_new_caveats(into: &mut Vec<Caveat>, more: impl IntoIterator<Item = Caveat>) {
    for caveat in more {
        if !into.contains(&caveat) {
            into.push(caveat);
        }
    }
}
