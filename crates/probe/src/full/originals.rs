//! What stood on the card before: a card that accepts writes and drops them shows it again, where a dead one shows
//! nothing.

use cardscope_engine::card::{Answer, Card, Extent, Stop};
use cardscope_engine::content::Content;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Hashes of places that held more than one repeated byte.
#[derive(Debug, Clone, Default)]
pub(crate) struct Originals(Vec<(Extent, u64)>);

impl Originals {
    /// Reads the sentinels' places before anything is written.
    pub(crate) fn read(card: &mut Card<'_>, places: &[Extent]) -> Result<Self, Stop> {
        let mut list = Vec::new();
        card.read(places.iter().copied(), Content::Buffer, |extent, _, answer| {
            if let Answer::Differs { bytes, .. } = answer
                && bytes.iter().any(|byte| Some(byte) != bytes.first())
            {
                list.push((extent, hash(bytes)));
            }
            Ok(())
        })?;
        Ok(Originals(list))
    }

    /// Whether all of it stands there still; false where there was nothing to be seen.
    pub(crate) fn stay(&self, card: &mut Card<'_>) -> Result<bool, Stop> {
        let mut same = 0;
        for (place, before) in &self.0 {
            card.read([*place], Content::Buffer, |_, _, answer| {
                if let Answer::Differs { bytes, .. } = answer {
                    same += usize::from(hash(bytes) == *before);
                }
                Ok(())
            })?;
        }
        Ok(!self.0.is_empty() && same == self.0.len())
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
