//! Reads: a base time, steps for each boundary that is crossed, a transfer; less if the controller still holds the
//! unit, or the read continues the last one. Planes share the work of a queue: two commands on one plane follow each
//! other, on two planes they overlap (Chen, Koufaty and Zhang, docs/reference/flash.md#literature, infer planes from
//! pairs of reads).

use super::command::{CommandCost, FlashUnit, RampParameters, RampTiming, seconds_to_ns};
use crate::archetype::{Archetype, FlashUnits, ReadTimes};

#[derive(Debug)]
pub(crate) struct ReadPath {
    tlc: RampTiming,
    slc: RampTiming,
    unmapped: Option<RampTiming>,
    sequential: Option<f64>,
    within_unit: Option<f64>,
    read_unit: FlashUnit,
    steps: Vec<(FlashUnit, f64)>,
    pub(super) next: u64,
}

impl ReadPath {
    pub(crate) fn new(read: &ReadTimes, card: &Archetype, bus_mb_s: f64) -> Self {
        let flash = &card.flash;
        let ReadTimes { base_s, large_s, ramp_bytes, serial_s, .. } = *read;
        let line = RampParameters { base_s, large_s, ramp_bytes, serial_s, mb_s: read.mb_s.min(bus_mb_s) };
        let cached = card.cache.map_or(line, |c| RampParameters {
            base_s: c.read_base_s.unwrap_or(base_s),
            serial_s: c.read_serial_s.unwrap_or(serial_s),
            ..line
        });
        let segment = flash.map_segment_bytes.map(|bytes| (bytes, read.segment_step_s));
        let steps = [(flash.page_bytes, read.page_step_s), (flash.au_bytes, read.au_step_s)];
        let steps = steps.into_iter().chain(segment).filter(|(_, step)| *step > 0.0);
        let unmapped = |base_s| RampTiming::new(RampParameters { base_s, large_s: None, ..line });
        let path_s = card.front.path_s;
        ReadPath {
            tlc: RampTiming::new(line),
            slc: RampTiming::new(cached),
            sequential: read.sequential_s.map(seconds_to_ns),
            unmapped: read.unmapped_s.map(unmapped),
            within_unit: read.within_read_unit_s.or((path_s > 0.0).then_some(path_s)).map(seconds_to_ns),
            read_unit: FlashUnit::new(flash.read_unit_bytes),
            steps: steps.map(|(bytes, step)| (FlashUnit::new(bytes), seconds_to_ns(step))).collect(),
            next: u64::MAX,
        }
    }

    /// Cost of a read. `cached` for data in the pSLC cache, `unmapped` for a range that was never written: then no
    /// flash is read and no boundary is crossed.
    #[inline(always)]
    pub(crate) fn read_cost(&mut self, offset: u64, len: u64, cached: bool, unmapped: bool) -> CommandCost {
        let continues = offset == self.next;
        let buffered = self.is_buffered(offset, len);
        self.next = offset + len;
        if let Some(time) = self.within_unit
            && buffered
        {
            return CommandCost { access: time, service: 0.0, serial: 0.0 };
        }
        if let Some(timing) = &self.unmapped
            && unmapped
        {
            return timing.cost(len);
        }
        let mut cost = if cached { self.slc.cost(len) } else { self.tlc.cost(len) };
        match self.sequential {
            Some(time) if continues => cost.access = time,
            _ => {
                let crossed = self.steps.iter().filter(|(unit, _)| unit.crosses_boundary(offset, len));
                crossed.for_each(|(_, step)| cost.access += step);
            }
        }
        cost
    }

    /// True if the whole range lies in the unit that the last read ended in.
    #[inline]
    fn is_buffered(&self, offset: u64, len: u64) -> bool {
        self.within_unit.is_some()
            && self.next != u64::MAX
            && self.next > 0
            && self.read_unit.unit_number(offset) == self.read_unit.unit_number(self.next - 1)
            && !self.read_unit.crosses_boundary(offset, len)
    }

    /// Empties the controller's read buffer, after a write or a reset.
    #[inline]
    pub(crate) fn clear_buffer(&mut self) {
        self.next = u64::MAX;
    }
}

/// Plane of the last read; a queued read on the same plane waits.
#[derive(Debug)]
pub(super) struct PlaneState {
    unit: FlashUnit,
    count: u64,
    last: u64,
}

impl PlaneState {
    /// None for a single plane, or without a queue that could use more.
    pub(super) fn new(flash: &FlashUnits, depth: u32) -> Option<Self> {
        let count = u64::from(flash.planes);
        let unit = FlashUnit::new(flash.plane_bytes());
        (count > 1 && depth > 1).then_some(PlaneState { unit, count, last: u64::MAX })
    }

    /// True if a read at `offset` must wait for the command before it. A write occupies no plane for long, since the
    /// controller holds its data.
    #[inline]
    pub(super) fn must_wait(&mut self, offset: u64, write: bool) -> bool {
        let plane = if write { u64::MAX } else { self.unit.unit_number(offset) % self.count };
        std::mem::replace(&mut self.last, plane) == plane && !write
    }
}
