//! Heat: one node with a capacity and a resistance to the room, heated by the card's work, and two limits with
//! hysteresis (docs/reference/flash.md#heat). Integrated exactly for constant power, in steps of at least 10 ms of card
//! time. Counts what an NVMe card reports in its SMART log.

use super::command::{CommandCost, seconds_to_ns};
use crate::archetype::{Archetype, CoolingKind, ThermalNode, ThrottleKind};
use serde::{Deserialize, Serialize};

/// Shortest step in ns: far below the time constant of a card (minutes), far above the time of an I/O.
const STEP_NS: f64 = 10e6;

const KELVIN_OFFSET: f64 = 273.0;

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct HeatWork {
    /// ns with a command under way.
    busy: f64,
    /// ns of the data path for reads, at full speed.
    reading: f64,
    /// ns of the data path for writes, at full speed.
    writing: f64,
}

/// Counters of heat; seconds of card time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HeatCounters {
    /// Starts of light throttling (TMT1).
    pub(crate) t1_transitions: u32,
    /// Starts of heavy throttling (TMT2).
    pub(crate) t2_transitions: u32,
    pub(crate) t1_s: f64,
    pub(crate) t2_s: f64,
    pub(crate) warning_s: f64,
    pub(crate) critical_s: f64,
    pub(crate) busy_s: f64,
    pub(crate) highest_c: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ThermalState {
    celsius: f64,
    level: u8,
    since: f64,
    work: HeatWork,
    pub(super) counters: HeatCounters,
}

#[derive(Debug)]
pub(crate) struct HeatModel {
    parameters: ThermalNode,
    k_per_w: f64,
    tau: f64,
    warning_c: f64,
    critical_c: f64,
    pub(super) state: ThermalState,
    read_factor: f64,
    write_factor: f64,
}

impl HeatModel {
    pub(crate) fn new(p: &ThermalNode, card: &Archetype) -> Self {
        let k_per_w = match card.rig.cooling {
            CoolingKind::Active => p.active_k_per_w,
            CoolingKind::Passive => p.passive_k_per_w,
        };
        let celsius = p.ambient_c + k_per_w * p.idle_w;
        let limit = |kelvin: Option<u16>| kelvin.map_or(f64::INFINITY, |k| f64::from(k) - KELVIN_OFFSET);
        let nvme = card.identity.nvme.as_ref();
        HeatModel {
            parameters: *p,
            k_per_w,
            tau: seconds_to_ns(k_per_w * p.capacity_j_per_k),
            warning_c: limit(nvme.map(|n| n.wctemp_k)),
            critical_c: limit(nvme.map(|n| n.cctemp_k)),
            state: ThermalState {
                celsius,
                level: 0,
                since: 0.0,
                work: HeatWork::default(),
                counters: HeatCounters { highest_c: celsius, ..HeatCounters::default() },
            },
            read_factor: 1.0,
            write_factor: 1.0,
        }
    }

    pub(crate) fn restore_state(&mut self, state: ThermalState) {
        self.state = state;
        self.update_factors();
    }

    #[inline]
    pub(crate) fn throttled_cost(&self, cost: CommandCost, write: bool, first: bool) -> CommandCost {
        let factor = if write { self.write_factor } else { self.read_factor };
        // A long command keeps the data path busy from its second piece on, so those pieces take the full factor.
        if self.parameters.throttle == ThrottleKind::Clock || !first {
            return cost.scaled(factor);
        }
        CommandCost { serial: cost.serial.max(cost.service) * factor, ..cost }
    }

    /// Begins a command at `now`; integrates the rest since the last command ended.
    #[inline]
    pub(crate) fn begin_command(&mut self, now: f64, last_end: f64) {
        if now - last_end > STEP_NS {
            self.integrate_until(last_end);
            self.integrate_until(now);
        }
    }

    /// Counts `busy` ns of work until `now`. `moving` ns is the transfer time of a cool card, since a transfer takes
    /// the same energy at any speed.
    #[inline]
    pub(crate) fn count_work(&mut self, now: f64, busy: f64, moving: f64, write: bool) {
        self.state.work.busy += busy;
        let work = &mut self.state.work;
        *(if write { &mut work.writing } else { &mut work.reading }) += moving;
        if now - self.state.since >= STEP_NS {
            self.integrate_until(now);
        }
    }

    pub(crate) fn celsius(&mut self, now: f64, last_end: f64) -> f64 {
        self.begin_command(now, last_end);
        self.state.celsius
    }

    fn integrate_until(&mut self, now: f64) {
        let dt = now - self.state.since;
        if dt <= 0.0 {
            return;
        }
        let HeatWork { busy, reading, writing } = std::mem::take(&mut self.state.work);
        let share = |ns: f64| (ns / dt).min(1.0);
        let ThermalNode { idle_w, read_w, write_w, .. } = self.parameters;
        let throttled = if self.state.level == 0 { 1.0 } else { self.parameters.throttled_busy };
        let busy_w = share(busy) * (self.parameters.busy_w * throttled - idle_w);
        let watts = idle_w + busy_w + share(reading) * read_w + share(writing) * write_w;
        let goal = self.parameters.ambient_c + self.k_per_w * watts;
        self.state.counters.busy_s += share(busy) * dt / 1e9;
        self.state.celsius = goal + (self.state.celsius - goal) * libm::exp(-dt / self.tau);
        self.state.since = now;
        self.count_seconds(dt / 1e9);
        self.update_level();
    }

    fn count_seconds(&mut self, seconds: f64) {
        let ThermalState { celsius, level, counters, .. } = &mut self.state;
        counters.highest_c = counters.highest_c.max(*celsius);
        match level {
            1 => counters.t1_s += seconds,
            2 => counters.t2_s += seconds,
            _ => {}
        }
        counters.warning_s += if *celsius >= self.warning_c { seconds } else { 0.0 };
        counters.critical_s += if *celsius >= self.critical_c { seconds } else { 0.0 };
    }

    fn update_level(&mut self) {
        let (t, p, before) = (self.state.celsius, &self.parameters, self.state.level);
        self.state.level = match before {
            _ if t >= p.tmt2_c => 2,
            2 if t >= p.tmt2_c - p.hysteresis_k => 2,
            0 if t < p.tmt1_c => 0,
            _ if t < p.tmt1_c - p.hysteresis_k => 0,
            _ => 1,
        };
        if self.state.level == before {
            return;
        }
        let counters = &mut self.state.counters;
        counters.t1_transitions += u32::from(self.state.level == 1);
        counters.t2_transitions += u32::from(self.state.level == 2);
        self.update_factors();
    }

    fn update_factors(&mut self) {
        let p = &self.parameters;
        (self.read_factor, self.write_factor) = match self.state.level {
            0 => (1.0, 1.0),
            1 => (1.0 / p.light_read, 1.0 / p.light_write),
            _ => (1.0 / p.heavy, 1.0 / p.heavy),
        };
    }
}

#[cfg(test)]
mod tests {
    use crate::card::{CardCommand, CardModel};
    use crate::target_spec;

    const MIB: u64 = 1 << 20;

    fn card(name: &str, overrides: &str) -> CardModel {
        let name = format!("sim:{name}?cooling=passive&read_sigma=0&write_sigma=0&hiccup_p=0&{overrides}");
        CardModel::new(&target_spec::parse(&name).unwrap().archetype, 1)
    }

    /// Reads blocks of `len` one after the other for `seconds`; returns the end and MB/s.
    fn read(card: &mut CardModel, from: f64, seconds: f64, len: u64) -> (f64, f64) {
        let (mut now, mut bytes, mut offset) = (from, 0, 0);
        while now < from + seconds * 1e9 {
            now = card.execute_command(now, CardCommand { write: false, offset, len, in_flight: 1 });
            bytes += len;
            offset = (offset + len) % (1024 * MIB);
        }
        (now, bytes as f64 / 1e6 / ((now - from) / 1e9))
    }

    #[test]
    fn duty_throttling_spares_small_reads() {
        // Hot from the start and never cool again.
        let hot = "thermal.tmt1_c=20&thermal.tmt2_c=200&light_read=0.65";
        let mut cool = card("adata-256g-express", "heat=off");
        let (cool_large, cool_small) =
            (read(&mut cool, 0.0, 3.0, 64 * MIB).1, read(&mut cool, 10e9, 3.0, 4096).1);
        let mut duty = card("adata-256g-express", hot);
        let (end, large) = read(&mut duty, 0.0, 3.0, 64 * MIB);
        let small = read(&mut duty, end, 3.0, 4096).1;
        assert!((large / cool_large / 0.65 - 1.0).abs() < 0.02, "{large} of {cool_large}");
        assert!((small / cool_small - 1.0).abs() < 0.01, "{small} of {cool_small}");
        let mut clock = card("adata-256g-express", &format!("{hot}&throttle=clock"));
        let (end, _) = read(&mut clock, 0.0, 3.0, 64 * MIB);
        let small = read(&mut clock, end, 3.0, 4096).1;
        assert!((small / cool_small / 0.65 - 1.0).abs() < 0.02, "{small} of {cool_small}");
    }

    #[test]
    fn counters_match_transitions_and_seconds() {
        let power = "idle_w=0&busy_w=1&throttled_busy=1&read_w=0&write_w=0&capacity_j_per_k=1&ambient_c=20&passive_k_per_w=60";
        let limits = "thermal.tmt1_c=50&thermal.tmt2_c=70&hysteresis_k=2";
        let mut card = card("lexar-1tb-express", &format!("{power}&{limits}"));
        // 20 + 60 · (1 - exp(-t/60 s)): 50 °C after 41.6 s, 70 °C after 107.5 s.
        let (now, _) = read(&mut card, 0.0, 150.0, MIB);
        let counters = card.heat_counters(now);
        assert_eq!((counters.t1_transitions, counters.t2_transitions), (1, 1));
        assert!((counters.t1_s - 65.9).abs() < 1.0, "{counters:?}");
        assert!((counters.t2_s - 42.5).abs() < 1.5, "{counters:?}");
        assert!((counters.busy_s - 150.0).abs() < 1.0, "{counters:?}");
        // At rest it cools through both limits; it throttles again at the next load.
        card.heat_counters(now + 600e9);
        let (now, _) = read(&mut card, now + 600e9, 60.0, MIB);
        assert_eq!(card.heat_counters(now).t1_transitions, 2);
    }
}
