//! What `--max-write` and `--budget` leave for the writes that are made to be certain.
//!
//! A question that there is no room for is not asked, and the answer says so.

use cardscope_engine::card::Card;

/// Bytes that the writing leaves over, so that the short questions can be asked of a card that lost something.
const FOR_QUESTIONS: u64 = 64 << 10;

/// Limits below this are too small to leave anything over.
const LEAST: u64 = 1 << 20;

/// What the limits of a pass leave.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Remaining {
    /// Bytes that may be written in all.
    pub(crate) max_write: Option<u64>,
    /// When nothing new begins, in seconds of the card's clock.
    pub(crate) until: Option<f64>,
    /// Seconds that a byte takes to be written and read again, as far as is known.
    pub(crate) seconds_a_byte: f64,
}

impl Remaining {
    /// Bytes that may still be written and read again, in whole sectors.
    pub(crate) fn room(&self, card: &mut Card<'_>) -> u64 {
        let left = self.max_write.map_or(u64::MAX, |most| most.saturating_sub(card.tally().written));
        let sector = u64::from(card.sector());
        left.min(self.in_time(card)) / sector * sector
    }

    /// Bytes that may still be written in order.
    pub(crate) fn in_order(&self, card: &Card<'_>) -> u64 {
        let Some(most) = self.max_write else { return u64::MAX };
        let kept_back = if most >= LEAST { FOR_QUESTIONS } else { 0 };
        most.saturating_sub(card.tally().written).saturating_sub(kept_back)
    }

    /// Whether so many seconds are left.
    pub(crate) fn seconds(&self, card: &mut Card<'_>, seconds: f64) -> bool {
        self.until.is_none_or(|until| card.seconds() + seconds < until)
    }

    fn in_time(&self, card: &mut Card<'_>) -> u64 {
        let Some(until) = self.until else { return u64::MAX };
        let left = until - card.seconds();
        match self.seconds_a_byte {
            _ if left <= 0.0 => 0,
            each if each > 0.0 => (left / each) as u64,
            _ => u64::MAX,
        }
    }
}
