//! The card on its own clock: what a command costs, by which engine, in which queue, at what temperature.
//! Equations and symbols are those of the flash model's description; here is only what ties them together.

mod cache;
mod hybrid;
mod log;
mod noise;
mod read;
#[cfg(test)]
mod tests;
mod thermal;
mod timing;

use crate::archetype::{Archetype, QueueCost, Write};
use cache::Pslc;
use hybrid::Hybrid;
use log::Log;
use noise::{Draw, Noise};
use read::ReadPath;
use thermal::Heat;
use timing::{Cost, Line, Timing, ns};

/// A long command is charged in pieces of this size, so that heat and cache follow its course.
const PIECE: u64 = 8 << 20;

/// Commands in flight that the table of queue costs tells apart.
const DEPTHS: usize = 256;

/// One command to the card.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    /// True for a write.
    pub(crate) write: bool,
    /// First byte.
    pub(crate) offset: u64,
    /// Bytes, at least one.
    pub(crate) len: u64,
    /// Commands in flight, this one included.
    pub(crate) in_flight: u32,
}

#[derive(Debug)]
enum Engine {
    Hybrid(Hybrid),
    Log(Log),
    Page(Timing),
    Constant(Timing),
}

/// A card. Times are nanoseconds since it was put in.
#[derive(Debug)]
pub(crate) struct Card {
    engine: Engine,
    reads: Option<ReadPath>,
    pslc: Option<Pslc>,
    heat: Option<Heat>,
    noise: Noise,
    /// 1 / Q.
    queue_share: f64,
    read_cost: Box<[f32; DEPTHS]>,
    write_cost: Box<[f32; DEPTHS]>,
    flush: f64,
    /// When the last command ends.
    last_end: f64,
}

impl Card {
    pub(crate) fn new(a: &Archetype, seed: u64) -> Self {
        let bus = a.rig.bus_mb_s.unwrap_or(f64::INFINITY);
        let page = match &a.write {
            Some(Write::Page(p)) => Some(p),
            _ => None,
        };
        Card {
            engine: engine(a, bus),
            reads: a.read.as_ref().map(|r| ReadPath::new(r, &a.flash, a.cache.as_ref(), bus)),
            pslc: a.cache.as_ref().zip(page).map(|(c, p)| Pslc::new(c, p, a.announced_bytes, bus)),
            heat: heat(a),
            noise: Noise::new(&a.noise, seed),
            queue_share: 1.0 / f64::from(a.queue.depth),
            read_cost: steps(&a.queue.read_cost),
            write_cost: steps(&a.queue.write_cost),
            flush: ns(a.queue.flush_s),
            last_end: 0.0,
        }
    }

    /// Serves a command that arrives at `now`; returns when it ends. Commands end in the order of their arrival.
    #[inline]
    pub(crate) fn serve(&mut self, now: f64, command: Command) -> f64 {
        if let Some(heat) = &mut self.heat {
            heat.begin(now, self.last_end);
        }
        if let Some(pslc) = &mut self.pslc {
            pslc.begin(now);
        }
        let mut end = self.serve_piece(now, Command { len: command.len.min(PIECE), ..command }, true);
        let mut done = PIECE;
        while done < command.len {
            let piece =
                Command { offset: command.offset + done, len: PIECE.min(command.len - done), ..command };
            end = self.serve_piece(now, piece, false);
            done += PIECE;
        }
        end
    }

    #[inline]
    fn serve_piece(&mut self, now: f64, piece: Command, first: bool) -> f64 {
        let slot = (piece.in_flight as usize).min(DEPTHS - 1);
        let (cost, draw, heat) = if piece.write {
            let cost = self.write_cost_of(now.max(self.last_end), piece, first);
            let heat = self.heat.as_ref().map_or(1.0, Heat::write_factor);
            (cost.scaled(f64::from(self.write_cost[slot])), self.noise.write(), heat)
        } else {
            let cost = self.read_cost_of(piece);
            let heat = self.heat.as_ref().map_or(1.0, Heat::read_factor);
            (cost.scaled(f64::from(self.read_cost[slot])), self.noise.read(), heat)
        };
        let start = now.max(self.last_end);
        let cool = cost.scaled(draw.factor);
        let end = self.end_of(now, cool.scaled(heat), draw, first);
        self.last_end = end;
        if let Some(node) = &mut self.heat {
            node.worked(end, end - start, cool.service.max(cool.serial), piece.write);
        }
        if let Some(pslc) = &mut self.pslc {
            pslc.end(end, piece.write);
        }
        end
    }

    /// T(d) = max(T1 / min(d, Q), t_ser), said by command: alone in the queue the first term rules, with Q and more
    /// in flight the second, and in between the closed loop of the first gives d / T1.
    #[inline]
    fn end_of(&self, now: f64, cost: Cost, draw: Draw, first: bool) -> f64 {
        if !first {
            return self.last_end + cost.service;
        }
        let alone = now + cost.access + cost.service;
        let share = (cost.access + cost.service) * self.queue_share;
        alone.max(self.last_end + share.max(cost.service).max(cost.serial)) + draw.hiccup_ns
    }

    #[inline]
    fn read_cost_of(&mut self, piece: Command) -> Cost {
        let cached = self.pslc.as_ref().is_some_and(|p| p.holds(piece.offset));
        match (&mut self.reads, &self.engine) {
            (Some(reads), _) => reads.cost(piece.offset, piece.len, cached),
            (None, Engine::Constant(timing) | Engine::Page(timing)) => timing.cost(piece.len),
            (None, _) => Cost::default(),
        }
    }

    #[inline]
    fn write_cost_of(&mut self, now: f64, piece: Command, first: bool) -> Cost {
        if let Some(reads) = &mut self.reads {
            reads.forget();
        }
        let serial = |service| Cost { access: 0.0, service, serial: 0.0 };
        match (&mut self.engine, &mut self.pslc) {
            (Engine::Hybrid(hybrid), _) => serial(hybrid.write(piece.offset, piece.len, first)),
            (Engine::Log(log), _) => serial(log.write(piece.offset, piece.len, first)),
            (Engine::Constant(timing) | Engine::Page(timing), None) => timing.cost(piece.len),
            (Engine::Constant(timing) | Engine::Page(timing), Some(pslc)) => {
                cached_write(pslc, timing, now, piece)
            }
        }
    }

    /// Flushes at `now`; returns when everything is stored.
    pub(crate) fn flush(&mut self, now: f64) -> f64 {
        self.last_end = now.max(self.last_end) + self.flush;
        self.last_end
    }

    /// The card is told that `len` bytes hold nothing of value.
    pub(crate) fn discard(&mut self, len: u64) {
        if let Some(pslc) = &mut self.pslc {
            pslc.discard(len);
        }
    }

    /// The card was reset: its buffers are empty.
    pub(crate) fn reset(&mut self) {
        if let Some(reads) = &mut self.reads {
            reads.forget();
        }
    }

    /// Temperature at `now` in °C, where a heat model runs.
    pub(crate) fn celsius(&mut self, now: f64) -> Option<f64> {
        let last_end = self.last_end.min(now);
        self.heat.as_mut().map(|heat| heat.celsius(now, last_end))
    }
}

/// A write in front of which a cache stands: what the cache takes at its speed, the rest at the flash's own.
#[inline]
fn cached_write(pslc: &mut Pslc, tlc: &Timing, now: f64, piece: Command) -> Cost {
    let taken = pslc.take(now, piece.len);
    pslc.place(piece.offset, piece.len, taken == piece.len);
    if taken == piece.len {
        return pslc.timing().cost(piece.len);
    }
    let mut cost = tlc.cost(piece.len);
    if taken > 0 {
        cost.service = pslc.timing().transfer(taken) + tlc.transfer(piece.len - taken);
    }
    cost
}

fn engine(a: &Archetype, bus: f64) -> Engine {
    match (&a.write, &a.constant) {
        (Some(Write::Hybrid(p)), _) => Engine::Hybrid(Hybrid::new(p, &a.flash, bus)),
        (Some(Write::Log(p)), _) => Engine::Log(Log::new(p, &a.flash, a.announced_bytes, bus)),
        (Some(Write::Page(p)), _) => Engine::Page(Timing::new(Line {
            base_s: p.base_s,
            large_s: p.large_s.unwrap_or(p.base_s),
            ramp_bytes: p.ramp_bytes,
            serial_s: p.serial_s,
            mb_s: p.mb_s.min(bus),
        })),
        (None, constant) => {
            let (command_s, mb_s) = constant.map_or((0.0, f64::INFINITY), |c| (c.command_s, c.mb_s));
            let (base_s, large_s) = (command_s, command_s);
            Engine::Constant(Timing::new(Line {
                base_s,
                large_s,
                ramp_bytes: 1,
                serial_s: 0.0,
                mb_s: mb_s.min(bus),
            }))
        }
    }
}

fn heat(a: &Archetype) -> Option<Heat> {
    a.thermal.as_ref().filter(|_| a.rig.heat).map(|thermal| Heat::new(thermal, &a.rig))
}

/// The cost factor at each number of commands in flight.
fn steps(list: &[QueueCost]) -> Box<[f32; DEPTHS]> {
    let mut sorted = list.to_vec();
    sorted.sort_by_key(|s| s.in_flight);
    let mut table = Box::new([1.0f32; DEPTHS]);
    for step in sorted {
        let from = (step.in_flight as usize).min(DEPTHS);
        table[from..].fill(step.factor as f32);
    }
    table
}
