//! Writing that keeps to the time given on a card of any speed. What is under way cannot be taken back, so the first of
//! many is done by itself, and after it no more is begun than there is time for.

use crate::context::Context;
use cardscope_engine::card::{Extent, Stop};
use cardscope_engine::target::Direction;
use cardscope_model::statistics::median;

/// One write waits while another is under way, so that the bus is always busy, as the specification has it.
pub(super) const DEPTH: u32 = 2;
/// Seconds that the first write of a recording may take longer.
const PREPARATION: f64 = 1.0;

/// Extents as they were written: when each ended, in seconds since the first was submitted. What failed is not in it.
pub(super) struct WriteRun {
    pub(super) start: u64,
    pub(super) ends: Vec<(Extent, f64)>,
}

impl WriteRun {
    /// A course from `start` on, in which nothing was written yet.
    pub(super) fn new(start: u64) -> WriteRun {
        WriteRun { start, ends: Vec::new() }
    }

    /// Seconds until the last end.
    pub(super) fn seconds(&self) -> f64 {
        self.ends.last().map_or(0.0, |(_, end)| *end)
    }

    /// Bytes that were written.
    pub(super) fn bytes(&self) -> u64 {
        self.ends.iter().map(|(extent, _)| u64::from(extent.len)).sum()
    }

    /// Writes what was prepared, until all of it is written or the time is over; false where there is time for nothing
    /// that takes as long as the first extent.
    pub(super) fn write(
        &mut self,
        context: &mut Context<'_, '_>,
        all: &mut impl Iterator<Item = Extent>,
    ) -> Result<bool, Stop> {
        if self.ends.is_empty() && !self.first(context, all)? {
            return Ok(false);
        }
        // What the time cuts off says nothing, since only whole units count: a slow stretch must not take minutes.
        let (before, left) = (self.seconds(), context.seconds_left());
        context
            .stream_for(Direction::Write, left, all, |extent, at| self.ends.push((extent, before + at)))?;
        Ok(true)
    }

    /// The first extent by itself; false where there is no time for several that take as long.
    fn first(
        &mut self,
        context: &mut Context<'_, '_>,
        all: &mut impl Iterator<Item = Extent>,
    ) -> Result<bool, Stop> {
        let Some(extent) = all.next().filter(|_| context.has_time(0.0)) else { return Ok(false) };
        let began = context.seconds();
        let time = context.write(extent)?;
        self.ends.extend(time.map(|time| (extent, time)));
        let took = context.seconds() - began;
        Ok(context.has_time(took * f64::from(DEPTH)))
    }

    /// The course without what its first write took longer than the others: each course is a recording that begins, and
    /// the card may still tidy up what was written elsewhere (Physical Layer Specification 4.13.2, 4.13.4: 1 s is
    /// allowed).
    pub(super) fn excused(mut self) -> WriteRun {
        let times: Vec<f64> = self.times().collect();
        let usual = median(&times).unwrap_or(0.0);
        let excess = times.first().map_or(0.0, |t| (t - usual).clamp(0.0, PREPARATION));
        self.ends.iter_mut().for_each(|(_, end)| *end -= excess);
        self
    }

    /// Seconds from end to end.
    pub(super) fn times(&self) -> impl Iterator<Item = f64> {
        let befores = [0.0].into_iter().chain(self.ends.iter().map(|(_, end)| *end));
        self.ends.iter().zip(befores).map(|((_, end), before)| end - before)
    }
}
