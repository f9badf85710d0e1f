//! How the processor is clocked and sleeps, and what else runs on it.
//!
//! DESIGN.md, "Baselines": a 4 KiB read through FUSE takes 71 µs as a machine comes and 7 µs with
//! `/dev/cpu_dma_latency` held at 0; that is what sleeping processors can cost.

use cardscope_device::system::System;
use cardscope_device::{host, vitals};
use cardscope_model::doctor::{Point, State, Topic};

/// Waking that takes longer than this, in µs, shows in the latency of a fast card.
const SLOW_WAKING_US: u64 = 50;

/// Pressure over ten seconds in percent from which results suffer, and from which they are wrong. The kernel's average
/// fades with 10 s (Documentation/accounting/psi.rst), so that from calm it takes 14 s of unbroken waiting to reach
/// the second: what `doctor` happens to see of a moment's load only warns.
const PRESSURE: (f64, f64) = (5.0, 75.0);

/// Share of the time that the host of a virtual machine may take.
const STEAL: f64 = 0.01;

const HOLD: &str = r#"sudo sh -c 'exec 3>/dev/cpu_dma_latency; printf "\0\0\0\0" >&3; exec cardscope bench TARGET --recipe NAME'"#;

pub(super) fn points(system: &System) -> Vec<Point> {
    let mut points = vec![governor(system), turbo(system), sleep(system)];
    points.push(pressure(
        system,
        "cpu",
        "cpu-pressure",
        "other programs take the processor from the measurement",
    ));
    points.push(pressure(
        system,
        "io",
        "io-pressure",
        "other programs do I/O, perhaps through the same reader or bus",
    ));
    points.extend(steal(system));
    points
}

fn governor(system: &System) -> Point {
    let new = |state, seen: String| {
        Point::new(
            "governor",
            Topic::Processor,
            state,
            seen,
            "between I/Os a processor clocks down, and each small I/O then costs more of its time: IOPS fall, and differ from run to run",
        )
    };
    match host::governor(system) {
        None => new(State::Unknown, "the kernel governs no processor clock here".to_owned()),
        Some(governor) if governor == "performance" => new(State::Ok, governor),
        Some(governor) => new(State::Warn, governor)
            .advise("echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"),
    }
}

fn turbo(system: &System) -> Point {
    let (state, seen) = match vitals::turbo(system) {
        Some(true) => (State::Ok, "on: the clock rises as long as heat allows"),
        Some(false) => (State::Ok, "off: the clock stays the same"),
        None => (State::Unknown, "the kernel does not tell"),
    };
    Point::new(
        "turbo",
        Topic::Processor,
        state,
        seen,
        "a clock that follows the heat makes later runs differ from earlier ones",
    )
}

fn sleep(system: &System) -> Point {
    let new = |state, seen: String| {
        Point::new(
            "sleep-states",
            Topic::Processor,
            state,
            seen,
            "a processor that sleeps deeply wakes late when an I/O ends: latencies at queue depth 1 grow by that time",
        )
    };
    let states = vitals::idle_states(system);
    let Some(deepest) = states.iter().max_by_key(|state| state.exit_us) else {
        return new(State::Unknown, "the kernel manages no sleep states here".to_owned());
    };
    let held = vitals::cpu_dma_latency_us(system).and_then(|us| u64::try_from(us).ok());
    let limit = held.unwrap_or(u64::MAX);
    let used =
        states.iter().filter(|state| state.exit_us <= limit).map(|state| state.exit_us).max().unwrap_or(0);
    if used <= SLOW_WAKING_US {
        return new(State::Ok, format!("waking takes {used} µs at most"));
    }
    new(State::Warn, format!("waking from {} takes {} µs", deepest.name, deepest.exit_us)).advise(HOLD)
}

fn pressure(system: &System, resource: &str, name: &str, why: &str) -> Point {
    let new = |state, seen: String| Point::new(name, Topic::Processor, state, seen, why);
    let load = vitals::load(system).map_or_else(String::new, |load| format!(", load {load:.2}"));
    let Some(now) = vitals::pressure(system, resource).map(|p| p.some.avg10) else {
        return new(State::Unknown, format!("the kernel tells no pressure (PSI){load}"));
    };
    let seen = format!("tasks waited {now:.1} % of the last ten seconds{load}");
    match now {
        now if now >= PRESSURE.1 => {
            new(State::Fail, seen).advise("end what else runs (`top` shows it) and look again")
        }
        now if now >= PRESSURE.0 => {
            new(State::Warn, seen).advise("wait until it is calm, or end what else runs (`top` shows it)")
        }
        _ => new(State::Ok, seen),
    }
}

fn steal(system: &System) -> Option<Point> {
    let times = vitals::cpu_times(system).filter(|times| times.total() > 0)?;
    let share = times.steal as f64 / times.total() as f64;
    (share > STEAL).then(|| {
        Point::new(
            "steal",
            Topic::Processor,
            State::Warn,
            format!(
                "the host of this virtual machine took {:.1} % of the processors' time since boot",
                share * 100.0
            ),
            "what the host takes shows as latency of the card",
        )
        .advise("measure on the host itself, or on a quieter one")
    })
}
