//! Long tables of bytes as runs of equal ones, so that the saved state of a card stays small.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<S: Serializer>(bytes: &[u8], out: S) -> Result<S::Ok, S::Error> {
    let mut runs: Vec<(u8, u32)> = Vec::new();
    for byte in bytes {
        match runs.last_mut() {
            Some((last, count)) if last == byte && *count < u32::MAX => *count += 1,
            _ => runs.push((*byte, 1)),
        }
    }
    runs.serialize(out)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    /// A card of 2 PiB: more than that in a file is a mistake, not a card.
    const MOST: u64 = 1 << 33;
    let runs = Vec::<(u8, u32)>::deserialize(from)?;
    let total: u64 = runs.iter().map(|(_, count)| u64::from(*count)).sum();
    if total > MOST {
        return Err(serde::de::Error::custom(format!("a table of {total} bytes is too long for any card")));
    }
    Ok(runs.into_iter().flat_map(|(byte, count)| std::iter::repeat_n(byte, count as usize)).collect())
}
