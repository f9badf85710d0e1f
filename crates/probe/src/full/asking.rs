//! Asking again about what was found bad: what is good costs nothing here.
//!
//! Everything in here may write, so it begins with a look whether the card is still the one that was tested.

use super::confirm::{self, Unmasking};
use super::judge::wrap;
use super::pass::Pass;
use super::remaining::Remaining;
use super::samples::{SAMPLE, read};
use super::sentinels;
use super::suspicion::Certain;
use cardscope_engine::card::{Extent, Stop};

/// Places that are looked at, and so many of them that are gone at once are another card.
const LOOKED_AT: u64 = 16;
const FEWEST: usize = 8;

/// Fewer sentinels beyond a suspected end are no proof; then so little is left to write that it is written.
const FEWEST_SENTINELS: u64 = 8;

impl Pass<'_, '_> {
    /// What there is room for.
    pub(super) fn remaining(&self) -> Remaining {
        let each = |mb_s: Option<f64>| mb_s.map_or(0.0, |mb_s| 1.0 / (mb_s * 1e6));
        Remaining {
            max_write: self.settings.max_write,
            until: self.settings.budget_s.map(|budget| self.began + budget),
            seconds_a_byte: each(self.chart.write.mb_s()) + each(self.reads_at),
        }
    }

    /// Whether nothing but an end explains what is lost: beyond it nothing stands that came first, or all of that does
    /// and nothing that comes now. Lost places in a row, on a card that is damaged all over, look like an end too.
    pub(super) fn surely_ends(&mut self, places: &[Extent]) -> Result<bool, Stop> {
        let standing = self.sentinels_beyond(places)?;
        let all = self.seen.sentinels;
        if all < FEWEST_SENTINELS {
            return Ok(false);
        }
        Ok(standing * 10 <= all || standing * 20 >= all * 19 && self.nothing_new_stays(places)?)
    }

    /// Writes places beyond what was written that nothing was written to yet, and looks at them. False where there is no
    /// room for it.
    fn nothing_new_stays(&mut self, places: &[Extent]) -> Result<bool, Stop> {
        let (card_bytes, salt, written) = (self.seen.card_bytes, self.settings.salt, self.seen.written);
        let taken = |new: &Extent| places.iter().any(|p| p.offset < new.end() && new.offset < p.end());
        let mut new = sentinels::places(card_bytes, salt ^ written);
        new.retain(|extent| extent.offset >= written && !taken(extent));
        let bytes = new.iter().map(|extent| u64::from(extent.len)).sum();
        if self.takes_new || new.is_empty() || self.remaining().room(self.card) < bytes {
            return Ok(false);
        }
        sentinels::write(self.card, &new, salt)?;
        self.card.reopen()?;
        let found = sentinels::beyond(self.card, &new, written, salt)?;
        self.takes_new = found.iter().filter(|sample| sample.good()).count() * 10 > found.len();
        Ok(!self.takes_new)
    }

    /// The card ends somewhere: is it a range or a number of blocks that is missing, and do addresses wrap beyond it?
    pub(super) fn look_beyond(&mut self, end: u64, places: &[Extent]) -> Result<(), Stop> {
        let standing = self.sentinels_beyond(places)?;
        if standing * 2 <= self.seen.sentinels {
            let (remaining, salt) = (self.remaining(), self.settings.salt);
            let whole = confirm::mark_beyond(self.card, self.seen.written, end, salt, &remaining)?;
            self.asked("whether addresses wrap beyond the end", whole);
            self.card.reopen()?;
        }
        Ok(())
    }

    /// Addresses wrap: do the ends of the repeated ranges keep anything?
    pub(super) fn look_at_the_tops(&mut self) -> Result<(), Stop> {
        let (remaining, salt) = (self.remaining(), self.settings.salt);
        let whole = confirm::overflow_tops(self.card, self.seen.written, salt, &remaining)?;
        self.asked("whether a part of what repeats is lost as well", whole);
        self.card.reopen()
    }

    fn sentinels_beyond(&mut self, places: &[Extent]) -> Result<u64, Stop> {
        let found = sentinels::beyond(self.card, places, self.seen.written, self.settings.salt)?;
        self.seen.sentinels = found.len() as u64;
        self.seen.sentinels_good = found.iter().filter(|s| s.good()).count() as u64;
        Ok(self.seen.sentinels_good)
    }

    /// What was found bad is asked again in other ways.
    pub(super) fn ask_again(&mut self, places: &[Extent]) -> Result<(), Stop> {
        self.seen.wrap = wrap(&self.ledger, &self.seen);
        self.ledger.others_are_losses(self.seen.wrap);
        if self.ledger.bad() == 0 {
            return self.ask_for_a_crawl();
        }
        self.watch.phase("asking again about what was found bad", None, None);
        self.same_card()?;
        if self.ledger.good() == 0 {
            self.seen.originals_stay = self.originals.stay(self.card)?;
        }
        let whole = self.seen.read_to >= self.seen.written;
        if self.ledger.lost + self.ledger.failed > 0 && whole && !self.seen.originals_stay {
            self.unmask()?;
        }
        if self.ledger.lost + self.ledger.failed > 0 && self.seen.wrap.is_none() {
            self.ask_the_good_ones()?;
            self.sentinels_beyond(places)?;
            self.islands(places);
        }
        let remaining = (!self.seen.stopped_taking).then(|| self.remaining());
        let third = confirm::third_time(self.card, &self.ledger, self.settings.salt, remaining)?;
        (self.disproofs, self.seen.healed) = third;
        Ok(())
    }

    fn unmask(&mut self) -> Result<(), Stop> {
        let beyond = matches!(self.seen.certain, Some(Certain::EndsAt(_)))
            && self.seen.sentinels_good * 2 <= self.seen.sentinels;
        let asked = Unmasking {
            end: self.seen.written,
            period: self.seen.wrap,
            nothing_beyond: beyond,
            salt: self.settings.salt,
            remaining: self.remaining(),
        };
        let chart = &mut self.chart;
        let mut bad = |seen: &super::ledger::Seen| chart.bad(seen.start, seen.end);
        let (hidden, whole) = confirm::unmask(self.card, &mut self.ledger, &asked, &mut bad)?;
        self.hidden = hidden;
        self.good_unknown = !whole;
        self.asked("whether a cache answers for more that is lost", whole);
        Ok(())
    }

    fn ask_the_good_ones(&mut self) -> Result<(), Stop> {
        let good = self.ledger.good_between(0, self.seen.read_to);
        if good.is_empty() {
            return Ok(());
        }
        let (remaining, salt) = (self.remaining(), self.settings.salt);
        let taken = confirm::takes_writes(self.card, &good, salt, &remaining)?;
        self.seen.stopped_taking = taken == Some(false);
        self.asked("whether the card still takes writes", taken.is_some());
        Ok(())
    }

    /// Good ranges behind the first lost address, where they are sentinels and nothing else.
    fn islands(&mut self, places: &[Extent]) {
        let Some(first) = self.ledger.first_lost() else { return };
        let good = self.ledger.good_between(first, self.seen.read_to);
        let stands = |place: &Extent| -> u64 {
            let part = |(from, to): &(u64, u64)| place.end().min(*to).saturating_sub(place.offset.max(*from));
            good.iter().map(part).sum()
        };
        let standing: Vec<u64> = places.iter().map(stands).filter(|bytes| *bytes > 0).collect();
        self.seen.islands = standing.len() as u64;
        // Two of them may touch: what counts is that together they cover what is good.
        let all: u64 = good.iter().map(|(from, to)| to - from).sum();
        self.seen.islands_are_sentinels = all > 0 && standing.iter().sum::<u64>() == all;
    }

    /// A question that was not asked in whole stands in the document.
    pub(super) fn asked(&mut self, what: &str, whole: bool) {
        if whole {
            return;
        }
        self.cut_short = true;
        self.remarks.push(format!("--max-write or --budget left no room to find out {what}"));
    }

    /// Nothing more is written once all that stood is gone at once: what the watch saw during the writing, and what
    /// was read up to the first bad address.
    fn same_card(&mut self) -> Result<(), Stop> {
        if let Some((watchman, last)) = &mut self.watchman {
            watchman.look(self.card, *last)?;
        }
        let stood = self.ledger.first_bad().unwrap_or(self.seen.read_to).min(self.seen.written);
        let step = (stood / LOOKED_AT / SAMPLE * SAMPLE).max(SAMPLE);
        let places = (0..stood / SAMPLE * SAMPLE).step_by(step as usize).take(LOOKED_AT as usize);
        let places: Vec<Extent> = places.map(|offset| Extent { offset, len: SAMPLE as u32 }).collect();
        let stamped = self.stamped();
        for _ in 0..2 {
            let found = read(self.card, places.iter().copied(), stamped)?;
            if found.len() < FEWEST || !found.iter().all(|sample| sample.gone()) {
                return Ok(());
            }
            self.card.reopen()?;
        }
        Err(Stop::Swapped("everything that stood at the first addresses is gone at once".to_owned()))
    }
}
