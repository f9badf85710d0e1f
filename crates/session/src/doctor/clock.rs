//! How well this computer tells time: the cost of a reading, its smallest step, and how late a sleep ends.

use cardscope_device::system::System;
use cardscope_device::vitals;
use cardscope_model::doctor::{Point, State, Topic};
use std::time::{Duration, Instant};

/// Clocks that are read without asking a chip outside the processor.
const GOOD: &[&str] = &[
    "tsc",
    "arch_sys_counter",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "xen",
    "riscv_clocksource",
    "timebase",
    "stp",
];
/// Clocks that step with the kernel's tick.
const TICKING: &[&str] = &["jiffies", "refined-jiffies"];

const READINGS: u32 = 20_000;
const SLEEPS: usize = 60;
const SLEEP: Duration = Duration::from_millis(1);

/// A reading that costs more than this shows in small I/Os; a step above this makes them unmeasurable.
const DEAR_NS: f64 = 1_000.0;
const COARSE_NS: u64 = 100_000;

/// Sleeps that end this late, in the median and nearly always, make pauses and rates inexact.
const LATE_US: (f64, f64) = (300.0, 5_000.0);

pub(super) fn points(system: &System) -> Vec<Point> {
    let mut points = vec![source(system)];
    if system.is_live() {
        points.extend([reading(), sleeping()]);
    }
    points
}

fn source(system: &System) -> Point {
    let point = Topic::Clock.asks("clock-source", "every latency is the difference of two readings; a clock outside the processor costs a microsecond each");
    match vitals::clock_source(system) {
        None => point.is(State::Unknown, "the kernel does not tell"),
        Some(name) if GOOD.contains(&name.as_str()) => point.is(State::Ok, &name),
        Some(name) if TICKING.contains(&name.as_str()) => point.is(State::Fail, &name)
            .advise("look in the kernel log why no better clock is used: dmesg | grep -i clocksource"),
        Some(name) => point.is(State::Warn, &name)
            .advise("echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource, where it is offered"),
    }
}

fn reading() -> Point {
    let (cost, step) = cost_and_step();
    let seen = format!("a reading costs {cost:.0} ns, the smallest step seen is {step} ns");
    let state = match (cost, step) {
        (_, step) if step > COARSE_NS => State::Fail,
        (cost, _) if cost > DEAR_NS => State::Warn,
        _ => State::Ok,
    };
    let why =
        "the clock is read once for each I/O; its cost and its step bound what can be told of small ones";
    let point = Topic::Clock.asks("clock-reading", why).is(state, seen);
    if state == State::Ok { point } else { point.advise("see the point clock-source") }
}

/// Nanoseconds a reading, and the smallest step that is more than none.
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

fn sleeping() -> Point {
    let late = lateness_us();
    let (median, most) = (late[SLEEPS / 2], late[SLEEPS * 95 / 100]);
    let seen = format!("a sleep of 1 ms ends {median:.0} µs late in the median, {most:.0} µs at 95 %");
    let good = median <= LATE_US.0 && most <= LATE_US.1;
    let why = "pauses between I/Os, idle times and the times of a simulated card in real time rest on sleeps";
    let point = Topic::Clock.asks("sleep-overshoot", why);
    match good {
        true => point.is(State::Ok, seen),
        false => point
            .is(State::Warn, seen)
            .advise("end what else runs; in a virtual machine, measure on the host itself"),
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
    fn this_computer_s_clock_is_tried_and_has_a_cost_and_a_step() {
        let (cost, step) = cost_and_step();
        assert!(cost > 0.0 && step > 0 && step < u64::MAX);
        assert!(lateness_us().windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
