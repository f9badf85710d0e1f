//! The mapping engine of a card, one of the families, chosen by its file; and the region at its start where the file
//! allocation table lies: guarded, so that writes there are slow, or mapped by page, so that small ones anywhere in it
//! are fast (model 1.2).

use super::counters::Work;
use super::hybrid::Hybrid;
use super::log::Log;
use super::page::Page;
use super::timing::{Cost, Line, Timing, ns, ns_per_byte};
use crate::archetype::{Archetype, FatRegion, Write};

#[derive(Debug)]
pub(super) enum Engine {
    Hybrid(Hybrid),
    Log(Log),
    Page(Page),
    Constant(Timing),
}

impl Engine {
    pub(super) fn new(a: &Archetype, bus: f64) -> Self {
        match (&a.write, &a.constant) {
            (Some(Write::Hybrid(p)), _) => Engine::Hybrid(Hybrid::new(p, &a.flash, bus)),
            (Some(Write::Log(p)), _) => Engine::Log(Log::new(p, &a.flash, a.announced_bytes, bus)),
            (Some(Write::Page(p)), _) => Engine::Page(Page::new(p, a, bus)),
            (None, constant) => {
                let (command_s, mb_s) = constant.map_or((0.0, f64::INFINITY), |c| (c.command_s, c.mb_s));
                let line = Line {
                    base_s: command_s,
                    large_s: command_s,
                    ramp_bytes: 1,
                    serial_s: 0.0,
                    mb_s: mb_s.min(bus),
                };
                Engine::Constant(Timing::new(line))
            }
        }
    }

    /// Cost of writing a piece; `first` where it begins a command.
    #[inline]
    pub(super) fn write(&mut self, offset: u64, len: u64, first: bool) -> Cost {
        match self {
            Engine::Hybrid(hybrid) => Cost::serial(hybrid.write(offset, len, first)),
            Engine::Log(log) => Cost::serial(log.write(offset, len, first)),
            Engine::Page(page) => page.timing.cost(len),
            Engine::Constant(timing) => timing.cost(len),
        }
    }

    /// Nanoseconds that a byte of the last write took, where that went in order: a cache in front takes such bytes.
    #[inline]
    pub(super) fn in_order(&self) -> Option<f64> {
        match self {
            Engine::Hybrid(hybrid) => hybrid.in_order(),
            Engine::Log(log) => log.in_order(),
            Engine::Page(_) | Engine::Constant(_) => None,
        }
    }

    pub(super) fn read(&self, len: u64) -> Cost {
        match self {
            Engine::Page(page) => page.timing.cost(len),
            Engine::Constant(timing) => timing.cost(len),
            Engine::Hybrid(_) | Engine::Log(_) => Cost::default(),
        }
    }

    pub(super) fn work(&self) -> Work {
        match self {
            Engine::Page(page) => page.state.work,
            Engine::Hybrid(hybrid) => hybrid.state.work,
            Engine::Log(log) => log.state.work,
            Engine::Constant(_) => Work::default(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Region {
    /// Byte behind its last.
    pub(super) end: u64,
    slower: f64,
    page_write: Option<f64>,
    per_byte: f64,
}

impl Region {
    pub(super) fn new(p: &FatRegion, card: &Archetype, bus_mb_s: f64) -> Self {
        let constant = || card.constant.map_or(f64::INFINITY, |c| c.mb_s);
        let mb_s = card.write.as_ref().map_or_else(constant, Write::mb_s);
        Region {
            end: p.bytes,
            slower: 1.0 / p.speed,
            page_write: p.page_write_s.map(ns),
            per_byte: ns_per_byte(mb_s.min(bus_mb_s)),
        }
    }

    /// Cost of writing `len` bytes inside it; `engine` says what the same would cost elsewhere, and is not asked
    /// where the region is mapped by page, so that no block is opened.
    pub(super) fn write(&self, len: u64, first: bool, engine: impl FnOnce() -> Cost) -> Cost {
        let cost = match self.page_write {
            Some(base) => Cost::serial(if first { base } else { 0.0 } + len as f64 * self.per_byte),
            None => engine(),
        };
        cost.scaled(self.slower)
    }
}
