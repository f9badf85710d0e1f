//! Extents that could not be written: tried again as a whole, for a card that fails now and then, and in parts, for one
//! that fails at a place. A command that hits one bad place fails as a whole, so what is good around it is written only
//! by others.

use super::pass::Pass;
use super::patience::Look;
use cardscope_engine::card::{Extent, Stop, extents};

/// A failed extent is written so many times more, if only a few have failed.
const MORE_TRIES: u32 = 4;
const FEW_FAILED: usize = 16;

/// Bytes of a part: places that fail are pages and blocks.
const PART: u32 = 64 << 10;

impl Pass<'_, '_> {
    /// Writes once more what failed; gives whether the card took any of it.
    pub(super) fn write_stubborn(&mut self, failed: &[Extent]) -> Result<bool, Stop> {
        let tries = if failed.len() <= FEW_FAILED { MORE_TRIES } else { 0 };
        let mut took_any = false;
        for extent in failed {
            let mut took = false;
            for _ in 0..tries {
                took = took || self.write_once(*extent)?;
            }
            took_any |= took || self.write_parts(*extent)?;
        }
        Ok(took_any)
    }

    /// Writes the parts of an extent, as long as the patience lasts with those that fail.
    fn write_parts(&mut self, extent: Extent) -> Result<bool, Stop> {
        let mut took_any = false;
        for part in extents(extent.offset, extent.end(), PART) {
            let began = self.card.seconds();
            if !self.patience.lasts(Look::Usual) || !self.remaining().seconds(self.card, 0.0) {
                break;
            }
            let took = self.write_once(part)?;
            took_any |= took;
            self.patience.spend(Look::Usual, self.card.seconds() - began, took);
        }
        Ok(took_any)
    }

    /// Writes an extent, where the limit allows it.
    fn write_once(&mut self, extent: Extent) -> Result<bool, Stop> {
        if self.remaining().in_order(self.card) < u64::from(extent.len) {
            return Ok(false);
        }
        let mut took = false;
        self.card.write([extent], self.stamped().content(), |_, _, io_error| took = io_error.is_none())?;
        Ok(took)
    }
}
