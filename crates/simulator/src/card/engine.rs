//! The mapping engine of a card: one of the families, chosen by its file.

use super::counters::Work;
use super::hybrid::Hybrid;
use super::log::Log;
use super::page::Page;
use super::timing::{Cost, Line, Timing};
use crate::archetype::{Archetype, Write};

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
            Engine::Page(page) => page.timing().cost(len),
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

    /// Cost of a read where the card has no read path of its own.
    pub(super) fn read(&self, len: u64) -> Cost {
        match self {
            Engine::Page(page) => page.timing().cost(len),
            Engine::Constant(timing) => timing.cost(len),
            Engine::Hybrid(_) | Engine::Log(_) => Cost::default(),
        }
    }

    /// What it did inside the card so far.
    pub(super) fn work(&self) -> Work {
        match self {
            Engine::Page(page) => page.state.work,
            Engine::Hybrid(hybrid) => hybrid.state.work,
            Engine::Log(log) => log.state.work,
            Engine::Constant(_) => Work::default(),
        }
    }
}
