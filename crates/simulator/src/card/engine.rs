//! Mapping engine of a card (docs/reference/flash.md#mapping), and the region at its start where the file allocation
//! table lies: guarded, so that writes are slow, or mapped by page, so that small writes anywhere in it are fast.

use super::command::{CommandCost, MappingWork, RampParameters, RampTiming, ns_per_byte, seconds_to_ns};
use super::hybrid::HybridEngine;
use super::log::LogEngine;
use super::page::PageEngine;
use crate::archetype::{Archetype, FatRegion, WriteTimes};

#[derive(Debug)]
pub(super) enum MappingEngine {
    Hybrid(HybridEngine),
    Log(LogEngine),
    Page(PageEngine),
    Constant(RampTiming),
}

impl MappingEngine {
    pub(super) fn new(a: &Archetype, bus: f64) -> Self {
        match &a.write {
            Some(WriteTimes::Hybrid(p)) => MappingEngine::Hybrid(HybridEngine::new(p, &a.flash, bus)),
            Some(WriteTimes::Log(p)) => MappingEngine::Log(LogEngine::new(p, a, bus)),
            Some(WriteTimes::Page(p)) => MappingEngine::Page(PageEngine::new(p, a, bus)),
            None => {
                let (base_s, mb_s) = a.constant.map_or((0.0, f64::INFINITY), |c| (c.command_s, c.mb_s));
                let mb_s = mb_s.min(bus);
                let line = RampParameters { base_s, large_s: None, ramp_bytes: 1, serial_s: 0.0, mb_s };
                MappingEngine::Constant(RampTiming::new(line))
            }
        }
    }

    /// Cost of writing a piece; `first` for the first piece of a command.
    #[inline]
    pub(super) fn write_cost(&mut self, offset: u64, len: u64, first: bool) -> CommandCost {
        match self {
            MappingEngine::Hybrid(hybrid) => CommandCost::serial(hybrid.write(offset, len, first)),
            MappingEngine::Log(log) => CommandCost::serial(log.write(offset, len, first)),
            MappingEngine::Page(page) => page.timing.cost(len),
            MappingEngine::Constant(timing) => timing.cost(len),
        }
    }

    /// Nanoseconds for each byte of the last write if it was in order: a cache takes only such bytes.
    #[inline]
    pub(super) fn in_order_cost(&self) -> Option<f64> {
        match self {
            MappingEngine::Hybrid(hybrid) => hybrid.in_order_cost(),
            MappingEngine::Log(log) => log.in_order_cost(),
            MappingEngine::Page(_) | MappingEngine::Constant(_) => None,
        }
    }

    pub(super) fn read_cost(&self, len: u64) -> CommandCost {
        match self {
            MappingEngine::Page(page) => page.timing.cost(len),
            MappingEngine::Constant(timing) => timing.cost(len),
            MappingEngine::Hybrid(_) | MappingEngine::Log(_) => CommandCost::default(),
        }
    }

    pub(super) fn work(&self) -> MappingWork {
        match self {
            MappingEngine::Page(page) => page.state.work,
            MappingEngine::Hybrid(hybrid) => hybrid.state.work,
            MappingEngine::Log(log) => log.state.work,
            MappingEngine::Constant(_) => MappingWork::default(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct MappedRegion {
    /// Offset behind its last byte.
    pub(super) end: u64,
    slowdown: f64,
    page_write: Option<f64>,
    per_byte: f64,
}

impl MappedRegion {
    pub(super) fn new(p: &FatRegion, card: &Archetype, bus_mb_s: f64) -> Self {
        let constant = || card.constant.map_or(f64::INFINITY, |c| c.mb_s);
        let mb_s = card.write.as_ref().map_or_else(constant, WriteTimes::mb_s);
        MappedRegion {
            end: p.bytes,
            slowdown: 1.0 / p.speed,
            page_write: p.page_write_s.map(seconds_to_ns),
            per_byte: ns_per_byte(mb_s.min(bus_mb_s)),
        }
    }

    /// Cost of writing `len` bytes inside the region. `engine` returns the cost elsewhere; it is not called if the
    /// region is mapped by page, so that no block is opened.
    pub(super) fn cost(&self, len: u64, first: bool, engine: impl FnOnce() -> CommandCost) -> CommandCost {
        let own = |base| CommandCost::serial(if first { base } else { 0.0 } + len as f64 * self.per_byte);
        self.page_write.map_or_else(engine, own).scaled(self.slowdown)
    }
}
