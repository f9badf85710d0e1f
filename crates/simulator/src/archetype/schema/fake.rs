//! What is false about the capacity.

use super::check::{SECTOR, Verdict, some_bytes};
use serde::{Deserialize, Serialize};

/// Kinds of false capacity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FakeKind {
    /// The capacity is real.
    #[default]
    None,
    /// What lies beyond the real bytes is lost, but for a cache.
    Limbo,
    /// Addresses wrap at `wrap_bytes`.
    Wraparound,
    /// Addresses wrap at `wrap_bytes`, and what then lies beyond the real bytes is lost.
    Chain,
}

/// What a lost block reads as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lost {
    /// Zeros.
    #[default]
    Zeros,
    /// 0xFF, as erased flash.
    Ones,
    /// The read fails.
    Error,
}

/// False capacity (model, F).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fake {
    /// The kind.
    pub kind: FakeKind,
    /// Bytes that really are there.
    pub real_bytes: Option<u64>,
    /// Where addresses wrap.
    pub wrap_bytes: Option<u64>,
    /// Bytes of the lost range that a cache keeps for a while, by address modulo its size.
    pub cache_bytes: Option<u64>,
    /// What a lost block reads as.
    pub lost: Lost,
}

impl Fake {
    pub(super) fn check(&self, announced: u64) -> Verdict {
        let given =
            |key: &str, value: Option<u64>| value.ok_or_else(|| format!("this kind of fake needs {key}"));
        let sizes = [
            ("fake.real_bytes", self.real_bytes),
            ("fake.wrap_bytes", self.wrap_bytes),
            ("fake.cache_bytes", self.cache_bytes),
        ];
        for (key, value) in sizes.into_iter().filter_map(|(key, value)| value.map(|v| (key, v))) {
            if value % SECTOR != 0 {
                return Err(format!("{key} = {value} must be a multiple of 512"));
            }
            if value > announced {
                return Err(format!("{key} = {value} is more than the card announces ({announced})"));
            }
        }
        let real =
            || some_bytes("fake.real_bytes", given("fake.real_bytes (fake_bytes=…)", self.real_bytes)?);
        let wrap =
            || some_bytes("fake.wrap_bytes", given("fake.wrap_bytes (wrap_bytes=…)", self.wrap_bytes)?);
        match self.kind {
            FakeKind::None => Ok(()),
            FakeKind::Limbo => real(),
            FakeKind::Wraparound => wrap(),
            FakeKind::Chain => real().and_then(|()| wrap()),
        }
    }
}
