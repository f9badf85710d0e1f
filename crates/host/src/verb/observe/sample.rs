//! Converts two readings of the counters into a sample.

use cardscope_device::device_counters::{CounterSnapshot, DeviceCounters};
use cardscope_device::vitals::CpuTimes;
use cardscope_model::observe::ObserveSample;
use cardscope_model::units::mb_per_s;

/// Sample over the whole time since boot.
pub(super) fn sample_since_boot(look: &CounterSnapshot) -> ObserveSample {
    let nothing = CounterSnapshot {
        io_stall_us: look.io_stall_us.map(|_| (0, 0)),
        memory_stall_us: look.memory_stall_us.map(|_| (0, 0)),
        cpu_stall_us: look.cpu_stall_us.map(|_| 0),
        cpu: look.cpu.map(|_| CpuTimes::default()),
        swap_bytes: look.swap_bytes.map(|_| 0),
        ..CounterSnapshot::default()
    };
    sample_between(&nothing, look, look.uptime)
}

/// Sample of the `seconds` between two readings. Counters that went back, as after a device was replaced, count as
/// zero.
pub(super) fn sample_between(
    before: &CounterSnapshot,
    after: &CounterSnapshot,
    seconds: f64,
) -> ObserveSample {
    let (a, b) = (&before.device, &after.device);
    let grown = |of: fn(&DeviceCounters) -> u64| of(b).saturating_sub(of(a));
    let (reads, writes) = (grown(|c| c.reads), grown(|c| c.writes));
    let (read_bytes, write_bytes) = (grown(|c| c.read_bytes), grown(|c| c.write_bytes));
    let waited = grown(|c| c.read_ms) + grown(|c| c.write_ms);
    let stalled = |before: Option<u64>, after: Option<u64>| {
        Some(clamped_share(after?.saturating_sub(before?) as f64 / 1e6, seconds))
    };
    let some = |pair: Option<(u64, u64)>| pair.map(|(some, _)| some);
    let full = |pair: Option<(u64, u64)>| pair.map(|(_, full)| full);
    let cpu = before.cpu.zip(after.cpu);
    let of_cpu = |of: fn(&CpuTimes) -> u64| cpu.and_then(|(a, b)| cpu_share(&a, &b, of));
    ObserveSample {
        uptime_seconds: after.uptime,
        seconds,
        reads,
        writes,
        read_bytes,
        write_bytes,
        read_mb_s: mb_per_s(read_bytes, seconds),
        write_mb_s: mb_per_s(write_bytes, seconds),
        wait_ms: (reads + writes > 0).then(|| waited as f64 / (reads + writes) as f64),
        utilisation: clamped_share(grown(|c| c.busy_ms) as f64 / 1e3, seconds),
        queue: if seconds > 0.0 { grown(|c| c.queue_ms) as f64 / 1e3 / seconds } else { 0.0 },
        in_flight: b.in_flight,
        io_some: stalled(some(before.io_stall_us), some(after.io_stall_us)),
        io_full: stalled(full(before.io_stall_us), full(after.io_stall_us)),
        memory_some: stalled(some(before.memory_stall_us), some(after.memory_stall_us)),
        cpu_some: stalled(before.cpu_stall_us, after.cpu_stall_us),
        cpu_busy: of_cpu(|c| c.busy),
        iowait: of_cpu(|c| c.iowait),
        cpu_idle: of_cpu(|c| c.idle + c.iowait),
        steal: of_cpu(|c| c.steal),
        blocked: after.cpu.and_then(|cpu| cpu.blocked),
        swap_bytes: before.swap_bytes.zip(after.swap_bytes).map(|(a, b)| b.saturating_sub(a)),
        load: after.load,
        other_utilisation: busiest_other(before, after, seconds),
    }
}

/// Share of a time, at most 1: counters in ms may exceed the interval slightly.
fn clamped_share(time: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { (time / seconds).clamp(0.0, 1.0) } else { 0.0 }
}

/// Share of the processors' time between two readings; `None` if no time passed.
fn cpu_share(before: &CpuTimes, after: &CpuTimes, of: fn(&CpuTimes) -> u64) -> Option<f64> {
    let all = after.total().checked_sub(before.total()).filter(|all| *all > 0)?;
    // iowait may go back a tick (proc(5)).
    Some(clamped_share(of(after).saturating_sub(of(before)) as f64, all as f64))
}

/// Highest utilisation of any other disk, which may be the bottleneck.
fn busiest_other(before: &CounterSnapshot, after: &CounterSnapshot, seconds: f64) -> Option<f64> {
    let grown = |(name, busy): &(String, u64)| {
        let was = before.others.iter().find(|(known, _)| known == name).map_or(0, |(_, busy)| *busy);
        clamped_share(busy.saturating_sub(was) as f64 / 1e3, seconds)
    };
    after.others.iter().map(grown).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(uptime: f64, device: DeviceCounters) -> CounterSnapshot {
        CounterSnapshot { uptime, device, ..CounterSnapshot::default() }
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    #[test]
    fn sample_is_the_growth_of_counters() {
        let before = DeviceCounters {
            reads: 100,
            read_bytes: 409_600,
            read_ms: 50,
            busy_ms: 1000,
            ..DeviceCounters::default()
        };
        let after = DeviceCounters {
            reads: 300,
            read_bytes: 409_600 + 819_200,
            read_ms: 450,
            writes: 50,
            write_bytes: 204_800,
            write_ms: 600,
            busy_ms: 1900,
            queue_ms: 1000,
            in_flight: 2,
        };
        let sample = sample_between(&look(9.0, before), &look(10.0, after), 1.0);
        assert_eq!((sample.reads, sample.writes, sample.in_flight), (200, 50, 2));
        near(sample.read_mb_s, 0.8192);
        near(sample.utilisation, 0.9);
        near(sample.queue, 1.0);
        near(sample.wait_ms.unwrap(), 1000.0 / 250.0);
        near(sample.mean_io_bytes().unwrap(), 4096.0);
    }

    #[test]
    fn pressure_and_cpu_times_are_shares_of_the_interval() {
        let cpu =
            |busy, idle, iowait| CpuTimes { busy, idle, iowait, blocked: Some(4), ..CpuTimes::default() };
        let before = CounterSnapshot {
            io_stall_us: Some((1_000_000, 0)),
            cpu: Some(cpu(10, 80, 10)),
            ..CounterSnapshot::default()
        };
        let after = CounterSnapshot {
            io_stall_us: Some((2_500_000, 500_000)),
            cpu: Some(cpu(60, 180, 60)),
            ..CounterSnapshot::default()
        };
        let sample = sample_between(&before, &after, 2.0);
        near(sample.io_some.unwrap(), 0.75);
        near(sample.io_full.unwrap(), 0.25);
        near(sample.cpu_busy.unwrap(), 0.25);
        near(sample.iowait.unwrap(), 0.25);
        near(sample.cpu_idle.unwrap(), 0.75);
        assert_eq!((sample.blocked, sample.memory_some), (Some(4), None));
    }

    #[test]
    fn decreasing_counters_and_empty_intervals_give_zero() {
        let many = DeviceCounters { reads: 10, busy_ms: 10, ..DeviceCounters::default() };
        let sample = sample_between(&look(1.0, many), &look(1.0, DeviceCounters::default()), 0.0);
        assert_eq!((sample.reads, sample.utilisation, sample.wait_ms), (0, 0.0, None));
    }

    #[test]
    fn sample_since_boot_covers_the_uptime() {
        let all =
            DeviceCounters { writes: 7, write_bytes: 7 << 20, busy_ms: 30_000, ..DeviceCounters::default() };
        let mut seen = look(120.0, all);
        seen.io_stall_us = Some((60_000_000, 6_000_000));
        let sample = sample_since_boot(&seen);
        near(sample.utilisation, 0.25);
        near(sample.io_some.unwrap(), 0.5);
        assert_eq!((sample.seconds, sample.writes), (120.0, 7));
    }
}
