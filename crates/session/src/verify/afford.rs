//! What a time budget buys on this card. A few reads are timed before anything is written: what cannot be had in the time
//! is refused or said at once, not found out when the time is over.

use crate::error::Failure;
use crate::opening::Opened;
use cardscope_engine::card::{Card, Extent};
use cardscope_engine::content::Content;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::target::Direction;
use cardscope_journal::witness::WITNESSES;
use cardscope_model::units::MIB;
use cardscope_probe::capacity::{LEAST_IOS, LEAST_RUN, ios_to_a_verdict};
use std::time::Duration;

/// Places where a small read is timed; some cards take longer for the first one.
const LOOKS: u64 = 3;

/// Bytes of a small read.
const SMALL: u32 = 4096;

/// A large read, which shows the speed.
const LARGE: u64 = MIB;

/// The looks end when they have taken so large a share of the budget.
const LOOKING: f64 = 0.05;

/// Each byte that a test overwrites is moved so often: saved, written, put back and compared, the last two twice where
/// the card does not keep it.
const MOVES: f64 = 8.0;

/// Putting back and comparing goes by pieces of a mebibyte, each of them an I/O so often.
const PUTS: f64 = 6.0;

/// What reads of a card cost, seen before a test.
#[derive(Debug, Clone, Copy)]
pub(super) struct Afford {
    budget: f64,
    /// Seconds of an I/O by itself.
    each: f64,
    /// Seconds of a byte.
    byte: f64,
    /// I/Os that come before and after the probe.
    besides: u64,
}

impl Afford {
    /// Times a few reads.
    ///
    /// # Errors
    /// If the card is gone or the user stopped it; [`Failure::Refused`] where the budget does not even buy the shortest
    /// test.
    pub(super) fn look(
        opened: &mut Opened,
        budget: Duration,
        keeps: bool,
        interrupt: &Interrupt,
    ) -> Result<Afford, Failure> {
        let budget = budget.as_secs_f64();
        let mut card = Card::new(opened.target.as_mut(), interrupt, LARGE as u32, 1)?;
        let (began, all) = (card.seconds(), card.bytes());
        let mut each = f64::INFINITY;
        for n in 0..LOOKS {
            let offset = all / (LOOKS + 1) * (n + 1) / LARGE * LARGE;
            let took = card.time(Direction::Read, Content::Buffer, Extent { offset, len: SMALL })?;
            each = took.unwrap_or(each).min(each);
            if card.seconds() - began > budget * LOOKING {
                break;
            }
        }
        let each = if each.is_finite() { each } else { 0.0 };
        let besides = if keeps { WITNESSES } else { 0 };
        let mut found = Afford { budget, each, byte: 0.0, besides };
        found.refuse_too_little()?;
        let large = Extent { offset: all / 2 / LARGE * LARGE, len: LARGE.min(all / 2) as u32 };
        let took = card.time(Direction::Read, Content::Buffer, large)?.unwrap_or_default();
        found.byte = (took - each).max(0.0) / f64::from(large.len);
        Ok(found)
    }

    fn refuse_too_little(&self) -> Result<(), Failure> {
        let ios = self.besides + LEAST_IOS;
        let least = ios as f64 * self.each;
        if least <= self.budget {
            return Ok(());
        }
        Err(Failure::refused(format!(
            "{:.0} s is too short for this card: one I/O takes {:.2} s and the shortest test needs {ios} of them. Nothing was written. Give --budget {:.0}s or more",
            self.budget,
            self.each,
            (2.0 * least).ceil()
        )))
    }

    /// Bytes that can be overwritten and put back in the time, at most.
    pub(super) fn bytes(&self) -> u64 {
        let each = MOVES * self.byte + PUTS * self.each / MIB as f64;
        (self.budget / each).min(u64::MAX as f64) as u64
    }

    /// What the time does not buy, in a sentence.
    pub(super) fn remark(&self, card_bytes: u64) -> Option<String> {
        let ios = (self.besides + ios_to_a_verdict(card_bytes)) as f64;
        let needed = ios * self.each + MOVES * LEAST_RUN as f64 * self.byte;
        (needed > self.budget).then(|| {
            format!(
                "{:.0} s is too short to call this card genuine: at {:.2} s an I/O that takes about {:.0} s. A fake may still be found",
                self.budget, self.each, needed
            )
        })
    }
}
