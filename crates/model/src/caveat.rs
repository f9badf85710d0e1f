//! Doubts about a result: each is stored with it and rendered in one place.

use crate::units::SpeedMbS;
use crate::verify::io_error::IoCounts;
use serde::{Deserialize, Deserializer, Serialize};

/// One doubt, with the numbers it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Caveat {
    /// The file system takes no direct I/O: the page cache answers too.
    #[error(
        "{file_system} does not support direct I/O here, so the page cache is part of the results; test the \
         bare device, or a directory on another file system"
    )]
    NoDirectIo {
        /// The file system's name.
        file_system: String,
    },
    /// A file system between us and the card that caches, encrypts, compresses or copies on write.
    #[error("the path is on {file_system} ({effect}), so that layer is part of the results")]
    Layered {
        /// The file system's name.
        file_system: String,
        /// What it does to the data: `in memory`, `encrypted`, `copy-on-write, may compress` …
        effect: String,
    },
    /// The kernel refused io_uring.
    #[error(
        "io_uring is not available ({reason}): threads with pread and pwrite were used, which need more \
         processor time for deep queues"
    )]
    NoIoUring {
        /// The errno's text.
        reason: String,
    },
    /// Registered buffers were refused (memory lock limit).
    #[error("registered buffers are not available ({reason}), which costs some processor time")]
    NoRegisteredBuffers {
        /// The errno's text.
        reason: String,
    },
    /// Several I/Os in flight share their memory, because a block for each would not fit.
    #[error(
        "{depth} blocks in flight share {shared_bytes} bytes of memory, so the data read was not checked"
    )]
    SharedBuffers {
        /// I/Os in flight.
        depth: u32,
        /// Bytes that they share.
        shared_bytes: u64,
    },
    /// Speed above what the bus can carry: a cache or a wrong unit, not the card.
    #[error(
        "{} is more than the bus carries ({}): a cache of this computer answered, not the card",
        SpeedMbS(*mb_s),
        SpeedMbS(*ceiling_mb_s)
    )]
    AboveBusCeiling {
        /// Speed measured.
        mb_s: f64,
        /// What the bus carries.
        ceiling_mb_s: f64,
    },
    /// The interval that `until` asks for was not reached.
    #[error(
        "the 95 % interval is ±{reached_percent:.1} % instead of ±{wanted_percent:.1} %: {limit} came \
             first"
    )]
    NotPrecise {
        /// Wanted half width in percent of the mean.
        wanted_percent: f64,
        /// Reached half width.
        reached_percent: f64,
        /// What ended the test.
        limit: String,
    },
    /// I/Os of this test failed.
    #[error("{failed_once} I/Os failed once and {failed_twice} twice in this test, so its speed is doubtful")]
    FailedIos {
        /// Failed, and not again.
        failed_once: u64,
        /// Failed at the second try, too.
        failed_twice: u64,
    },
    /// The page cache could not be emptied.
    #[error(
        "the page cache could not be emptied ({reason}), so buffered results are those of a warm cache; run \
         as root"
    )]
    CachesKept {
        /// The errno's text.
        reason: String,
    },
    /// A doubt that only one place knows.
    #[error("{text}")]
    Other {
        /// The doubt, as a sentence.
        text: String,
    },
}

impl Caveat {
    /// The doubt that failed I/Os of a test leave, if any did.
    pub fn of_failed(counts: IoCounts) -> Option<Self> {
        let IoCounts { failed_once, failed_twice, .. } = counts;
        (counts.failed() > 0).then_some(Caveat::FailedIos { failed_once, failed_twice })
    }

    /// A doubt that only one place knows, as a sentence.
    pub fn other(text: impl Into<String>) -> Self {
        Caveat::Other { text: text.into() }
    }
}

/// Reads the doubts of a document; watches of earlier versions kept theirs as plain sentences.
pub(crate) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Caveat>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum CaveatText {
        Coded(Caveat),
        Sentence(String),
    }
    let doubts = Vec::<CaveatText>::deserialize(from)?.into_iter();
    Ok(doubts
        .map(|doubt| match doubt {
            CaveatText::Coded(caveat) => caveat,
            CaveatText::Sentence(text) => Caveat::Other { text },
        })
        .collect())
}

/// Adds the doubts that are not there yet.
pub fn add(into: &mut Vec<Caveat>, more: impl IntoIterator<Item = Caveat>) {
    for caveat in more {
        if !into.contains(&caveat) {
            into.push(caveat);
        }
    }
}
