//! Processor, heat and clock: frequency, sleep states, load by other programs, temperature and supply, and the cost,
//! resolution and delay of timing.
//!
//! Sleep states: a 4 KiB read through FUSE takes 71 µs by default and 7 µs with `/dev/cpu_dma_latency` held at 0.
//! Heat: a Raspberry Pi's hot USB controller changed results by a factor of two or three
//! (docs/reference/reports.md#raspberry-pi-comparison); its firmware reports throttling (`vcgencmd get_throttled`).

use cardscope_device::host;
use cardscope_device::system::SystemRoots;
use cardscope_device::vitals::{self, ThermalZone};
use cardscope_model::doctor::{DoctorPoint, DoctorTopic, PointState};
use cardscope_model::supply::SupplyState;
use std::time::{Duration, Instant};

/// Wake-up time in µs above which sleep states show in the latency of a fast card.
const SLOW_WAKING_US: u64 = 50;

/// Pressure over ten seconds, in percent, that warns and that fails. The kernel's average decays with 10 s
/// (Documentation/accounting/psi.rst), so an idle system needs 14 s of constant waiting to reach the second: a short
/// load only warns.
const PRESSURE: (f64, f64) = (5.0, 75.0);

/// Share of processor time above which the host of a virtual machine disturbs.
const STEAL: f64 = 0.01;

const HOLD_AWAKE_COMMAND: &str = r#"sudo sh -c 'exec 3>/dev/cpu_dma_latency; printf "\0\0\0\0" >&3; exec cardscope bench TARGET --recipe NAME'"#;

pub(super) fn points(system: &SystemRoots) -> Vec<DoctorPoint> {
    let mut points = vec![
        governor_point(system),
        turbo_point(system),
        sleep_states_point(system),
        pressure_point(system, "cpu", "other programs use processor time that the test needs"),
        pressure_point(system, "io", "other programs do I/O, possibly through the same reader or bus"),
    ];
    points.extend(steal_point(system));
    points.extend([supply_point(system), temperature_point(system), clock_source_point(system)]);
    if system.is_live() {
        points.extend([clock_reading_point(), sleep_delay_point()]);
    }
    points
}

fn governor_point(system: &SystemRoots) -> DoctorPoint {
    let why = "a processor that clocks down between I/Os lowers IOPS and adds scatter";
    let point = DoctorTopic::Processor.define_point("governor", why);
    let choose = "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
    match host::cpu_governor(system) {
        None => point.unknown("no frequency governor"),
        Some(governor) if governor == "performance" => point.ok(governor),
        Some(governor) => point.warn(governor, choose),
    }
}

fn turbo_point(system: &SystemRoots) -> DoctorPoint {
    let (state, seen) = match vitals::allows_turbo(system) {
        Some(true) => (PointState::Ok, "on"),
        Some(false) => (PointState::Ok, "off"),
        None => (PointState::Unknown, "not reported by the kernel"),
    };
    let why = "a boost clock that depends on temperature makes later runs differ from earlier ones";
    DoctorTopic::Processor.define_point("turbo", why).with_state(state, seen)
}

fn sleep_states_point(system: &SystemRoots) -> DoctorPoint {
    let why = "deep sleep states delay the end of each I/O at queue depth 1";
    let point = DoctorTopic::Processor.define_point("sleep-states", why);
    let states = vitals::idle_states(system);
    let Some(deepest) = states.iter().max_by_key(|state| state.exit_us) else {
        return point.unknown("no sleep states");
    };
    let held = vitals::cpu_dma_latency_us(system).and_then(|us| u64::try_from(us).ok());
    let limit = held.unwrap_or(u64::MAX);
    let used = states.iter().map(|state| state.exit_us).filter(|us| *us <= limit).max().unwrap_or(0);
    if used <= SLOW_WAKING_US {
        return point.ok(format!("wakes within {used} µs"));
    }
    point.warn(format!("wakes from {} in {} µs", deepest.name, deepest.exit_us), HOLD_AWAKE_COMMAND)
}

fn pressure_point(system: &SystemRoots, resource: &str, why: &str) -> DoctorPoint {
    let name = &format!("{resource}-pressure");
    let point = DoctorTopic::Processor.define_point(name, why);
    let load = vitals::load_average(system).map_or_else(String::new, |load| format!(", load {load:.2}"));
    let Some(now) = vitals::read_pressure(system, resource).map(|p| p.some.avg10) else {
        return point.unknown(format!("no pressure information (PSI){load}"));
    };
    let seen = format!("tasks waited {now:.1} % of the last 10 s{load}");
    match now {
        _ if now >= PRESSURE.1 => point.fail(seen, "stop other programs (`top` shows them) and check again"),
        now if now >= PRESSURE.0 => point.warn(seen, "stop other programs (`top` shows them)"),
        _ => point.ok(seen),
    }
}

fn steal_point(system: &SystemRoots) -> Option<DoctorPoint> {
    let times = vitals::cpu_times(system).filter(|times| times.total() > 0)?;
    let share = times.steal as f64 / times.total() as f64;
    let part = format!("{:.1} % of the processor time since boot", share * 100.0);
    let seen = format!("the host of this virtual machine took {part}");
    let why = "time taken by the host appears as latency of the card";
    let point = DoctorTopic::Processor.define_point("steal", why);
    let advice = "measure on the host itself, or on an idle one";
    (share > STEAL).then(|| point.warn(seen, advice))
}

/// Distance in °C to a limit that the next long test will reach.
const NEAR_C: f64 = 8.0;

fn supply_point(system: &SystemRoots) -> DoctorPoint {
    let why = "under-voltage and throttling slow the processor and the bus, and make cards fail";
    let point = DoctorTopic::Heat.define_point("supply", why);
    let Some(supply) = host::supply_state(system) else {
        return point.unknown("this board does not monitor its supply");
    };
    let advice =
        "use the board's own power supply and a short cable, cool the board, restart it and check again";
    let state = match supply {
        SupplyState::Alarm(true) => PointState::Fail,
        _ if supply.has_fault_now() => PointState::Fail,
        _ if supply.had_fault() => PointState::Warn,
        _ => PointState::Ok,
    };
    let point = point.with_state(state, supply.to_string());
    if state == PointState::Ok { point } else { point.with_advice(advice) }
}

fn temperature_point(system: &SystemRoots) -> DoctorPoint {
    let why = "a processor or SoC at its temperature limit throttles, and slows down the test";
    let point = DoctorTopic::Heat.define_point("heat", why);
    let zones = vitals::zones_with_limits(system);
    let distance = |zone: &ThermalZone| zone.limit.map_or(f64::INFINITY, |limit| limit - zone.celsius);
    let hotter = |a: &&ThermalZone, b: &&ThermalZone| {
        distance(a).total_cmp(&distance(b)).then(b.celsius.total_cmp(&a.celsius))
    };
    let Some(worst) = zones.iter().min_by(hotter) else { return point.unknown("no temperature sensor") };
    let limit = worst.limit.map_or("limit unknown".to_owned(), |limit| format!("limit {limit:.0} °C"));
    let seen = format!("{} is at {:.1} °C ({limit})", worst.kind, worst.celsius);
    match distance(worst) {
        left if left <= 0.0 => point.fail(seen, "let it cool down, add a fan, and check again"),
        left if left <= NEAR_C => point.warn(seen, "cool it before a long test: a fan, or a pause"),
        _ => point.ok(seen),
    }
}

/// Clocks that are read without leaving the processor.
const FAST_CLOCKS: &str =
    "tsc arch_sys_counter kvm-clock hyperv_clocksource_tsc_page xen riscv_clocksource timebase stp";

/// Clocks that advance with the kernel's tick.
const TICK_CLOCKS: &[&str] = &["jiffies", "refined-jiffies"];

const READINGS: u32 = 20_000;
const SLEEPS: usize = 60;
const SLEEP: Duration = Duration::from_millis(1);

/// Cost of a reading in ns that shows in small I/Os, and resolution in ns that makes them unmeasurable.
const COSTLY_READING_NS: f64 = 1_000.0;
const COARSE_NS: u64 = 100_000;

/// Delay of a sleep in µs, median and 95th percentile, above which pauses and rates are inexact.
const LATE_US: (f64, f64) = (300.0, 5_000.0);

fn clock_source_point(system: &SystemRoots) -> DoctorPoint {
    let why = "each latency needs two clock readings; a clock outside the processor takes about 1 µs each";
    let point = DoctorTopic::Clock.define_point("clock-source", why);
    let choose = "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource, where it is offered";
    match vitals::clock_source(system) {
        None => point.unknown("not reported by the kernel"),
        Some(name) if FAST_CLOCKS.split(' ').any(|clock| clock == name) => point.ok(&name),
        Some(name) if TICK_CLOCKS.contains(&name.as_str()) => {
            point.fail(&name, "find out why no better clock is used: dmesg | grep -i clocksource")
        }
        Some(name) => point.warn(&name, choose),
    }
}

fn clock_reading_point() -> DoctorPoint {
    let (cost, step) = cost_and_step();
    let seen = format!("a reading takes {cost:.0} ns, resolution {step} ns");
    let state = match (cost, step) {
        (_, step) if step > COARSE_NS => PointState::Fail,
        (cost, _) if cost > COSTLY_READING_NS => PointState::Warn,
        _ => PointState::Ok,
    };
    let why = "the clock is read for each I/O; its cost and resolution limit the accuracy of small ones";
    let point = DoctorTopic::Clock.define_point("clock-reading", why).with_state(state, seen);
    if state == PointState::Ok { point } else { point.with_advice("see clock-source") }
}

/// Nanoseconds of a clock reading, and the smallest step greater than zero.
fn cost_and_step() -> (f64, u64) {
    let start = Instant::now();
    let (mut last, mut step) = (start, u64::MAX);
    for _ in 0..READINGS {
        let now = Instant::now();
        let passed = u64::try_from(now.duration_since(last).as_nanos()).unwrap_or(u64::MAX);
        if passed > 0 {
            step = step.min(passed);
        }
        last = now;
    }
    (start.elapsed().as_nanos() as f64 / f64::from(READINGS), step)
}

fn sleep_delay_point() -> DoctorPoint {
    let late = lateness_us();
    let (median, most) = (late[SLEEPS / 2], late[SLEEPS * 95 / 100]);
    let seen = format!("a sleep of 1 ms ends {median:.0} µs late (median), {most:.0} µs (95 %)");
    let good = median <= LATE_US.0 && most <= LATE_US.1;
    let why = "pauses, idle times and simulated cards in real time depend on sleeps";
    let point = DoctorTopic::Clock.define_point("sleep-overshoot", why);
    match good {
        true => point.ok(seen),
        false => point.warn(seen, "stop other programs; in a virtual machine, measure on the host itself"),
    }
}

fn lateness_us() -> Vec<f64> {
    let late = |_| {
        let start = Instant::now();
        std::thread::sleep(SLEEP);
        start.elapsed().saturating_sub(SLEEP).as_nanos() as f64 / 1e3
    };
    let mut late: Vec<f64> = (0..SLEEPS).map(late).collect();
    late.sort_by(f64::total_cmp);
    late
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_of_this_computer_has_cost_and_resolution() {
        let (cost, step) = cost_and_step();
        assert!(cost > 0.0 && step > 0 && step < u64::MAX);
        assert!(lateness_us().windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
