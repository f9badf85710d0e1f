//! Heat (model, T): one node with a capacity and a resistance to the room, fed by what the card does, and two
//! limits with hysteresis. Integrated in steps of at least 10 ms of the card's clock, exactly for a constant power.

use super::timing::ns;
use crate::archetype::{Cooling, Rig, Thermal};

/// Shortest step in ns: far below any time constant of a card (minutes), far above the time of an I/O.
const STEP: f64 = 10e6;

/// What the card did since the last look.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    /// ns with a command under way.
    busy: f64,
    /// ns that reads kept the data path busy, at full speed.
    reading: f64,
    /// ns that writes did.
    writing: f64,
}

/// The node.
#[derive(Debug)]
pub(crate) struct Heat {
    p: Thermal,
    k_per_w: f64,
    /// Time constant in ns.
    tau: f64,
    celsius: f64,
    level: u8,
    since: f64,
    work: Work,
    read_factor: f64,
    write_factor: f64,
}

impl Heat {
    pub(crate) fn new(p: &Thermal, rig: &Rig) -> Self {
        let k_per_w = match rig.cooling {
            Cooling::Active => p.active_k_per_w,
            Cooling::Passive => p.passive_k_per_w,
        };
        Heat {
            p: *p,
            k_per_w,
            tau: ns(k_per_w * p.capacity_j_per_k),
            celsius: p.ambient_c + k_per_w * p.idle_w,
            level: 0,
            since: 0.0,
            work: Work::default(),
            read_factor: 1.0,
            write_factor: 1.0,
        }
    }

    /// Multiplies the time of a read.
    #[inline]
    pub(crate) fn read_factor(&self) -> f64 {
        self.read_factor
    }

    /// Multiplies the time of a write.
    #[inline]
    pub(crate) fn write_factor(&self) -> f64 {
        self.write_factor
    }

    /// A command begins at `now`, after the card has rested since the last one ended.
    #[inline]
    pub(crate) fn begin(&mut self, now: f64, last_end: f64) {
        if now - last_end > STEP {
            self.integrate(last_end);
            self.integrate(now);
        }
    }

    /// The card was busy for `busy` ns until `now`, and would have moved its data in `moving` ns when cool: what it
    /// moves costs the same energy at any speed.
    #[inline]
    pub(crate) fn worked(&mut self, now: f64, busy: f64, moving: f64, write: bool) {
        self.work.busy += busy;
        if write {
            self.work.writing += moving
        } else {
            self.work.reading += moving
        }
        if now - self.since >= STEP {
            self.integrate(now);
        }
    }

    /// The temperature at `now` in °C.
    pub(crate) fn celsius(&mut self, now: f64, last_end: f64) -> f64 {
        self.begin(now, last_end);
        self.celsius
    }

    fn integrate(&mut self, now: f64) {
        let dt = now - self.since;
        if dt <= 0.0 {
            return;
        }
        let Work { busy, reading, writing } = std::mem::take(&mut self.work);
        let share = |ns: f64| (ns / dt).min(1.0);
        let watts = self.p.idle_w
            + share(busy) * (self.p.busy_w - self.p.idle_w)
            + share(reading) * self.p.read_w
            + share(writing) * self.p.write_w;
        let goal = self.p.ambient_c + self.k_per_w * watts;
        self.celsius = goal + (self.celsius - goal) * (-dt / self.tau).exp();
        self.since = now;
        self.limit();
    }

    fn limit(&mut self) {
        let (t, p) = (self.celsius, &self.p);
        self.level = match self.level {
            _ if t >= p.tmt2_c => 2,
            2 if t >= p.tmt2_c - p.hysteresis_k => 2,
            0 if t < p.tmt1_c => 0,
            _ if t < p.tmt1_c - p.hysteresis_k => 0,
            _ => 1,
        };
        (self.read_factor, self.write_factor) = match self.level {
            0 => (1.0, 1.0),
            1 => (1.0 / p.light_read, 1.0 / p.light_write),
            _ => (1.0 / p.heavy, 1.0 / p.heavy),
        };
    }
}
