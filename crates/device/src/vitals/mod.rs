//! How this computer is just now: what its tasks wait for, how busy its processors are, what its memory does, how
//! warm it is and what may slow it down.
//!
//! Formats: `proc(5)`, `Documentation/accounting/psi.rst` and the sysfs ABI of the Linux kernel. Each figure is
//! optional, since kernels leave out what they were not built for.

mod kernel;
mod pace;

pub use kernel::{
    Hypervisor, capabilities, clock_source, file_systems, hypervisor, io_uring_disabled, module_parameter,
    nvme_driver, programs, sysctl,
};
pub use pace::{IdleState, Zone, cpu_dma_latency_us, idle_states, turbo, zones};

use crate::system::{System, text};

/// One line of a pressure file.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stall {
    /// Share of the last ten seconds in percent.
    pub avg10: f64,
    /// All stalls since boot, in µs.
    pub total_us: u64,
}

/// What tasks waited for: `some` of them, or `full`, all that were not idle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pressure {
    /// At least one task waited.
    pub some: Stall,
    /// Every task that had something to do waited; kernels before 5.13 have none for `cpu`.
    pub full: Option<Stall>,
}

/// Pressure of `cpu`, `io` or `memory`; `None` where the kernel has no PSI (`psi=1` on its command line, or
/// `CONFIG_PSI`).
pub fn pressure(system: &System, resource: &str) -> Option<Pressure> {
    parse_pressure(&text(system.proc().join("pressure").join(resource))?)
}

fn parse_pressure(text: &str) -> Option<Pressure> {
    let line = |word: &str| text.lines().find_map(|line| line.strip_prefix(word)).and_then(stall);
    Some(Pressure { some: line("some ")?, full: line("full ") })
}

fn stall(line: &str) -> Option<Stall> {
    let value =
        |name: &str| line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    Some(Stall { avg10: value("avg10")?.parse().ok()?, total_us: value("total")?.parse().ok()? })
}

/// Processor time since boot in clock ticks of 1/100 s, over all processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// Programs, nice ones included, kernel, interrupts.
    pub busy: u64,
    /// Nothing to do.
    pub idle: u64,
    /// Nothing to do but wait for I/O; a lower bound, since a task that waits belongs to no processor.
    pub iowait: u64,
    /// Taken by the host of a virtual machine.
    pub steal: u64,
    /// Processors.
    pub processors: u32,
    /// Tasks that wait for I/O just now.
    pub blocked: Option<u32>,
}

impl CpuTimes {
    /// All ticks.
    pub fn total(&self) -> u64 {
        self.busy + self.idle + self.iowait + self.steal
    }
}

/// Processor times from `/proc/stat`.
pub fn cpu_times(system: &System) -> Option<CpuTimes> {
    parse_cpu_times(&text(system.proc().join("stat"))?)
}

fn parse_cpu_times(text: &str) -> Option<CpuTimes> {
    let all = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = all.split_whitespace().map_while(|word| word.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; guest times are in user already.
    let tick = |at: usize| ticks.get(at).copied().unwrap_or(0);
    let processors = text.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count();
    let blocked = text.lines().find_map(|line| line.strip_prefix("procs_blocked "));
    (ticks.len() >= 4).then(|| CpuTimes {
        busy: tick(0) + tick(1) + tick(2) + tick(5) + tick(6),
        idle: tick(3),
        iowait: tick(4),
        steal: tick(7),
        processors: processors as u32,
        blocked: blocked.and_then(|count| count.trim().parse().ok()),
    })
}

/// Load of the last minute: tasks that run or wait for I/O.
pub fn load(system: &System) -> Option<f64> {
    text(system.proc().join("loadavg"))?.split_whitespace().next()?.parse().ok()
}

/// Seconds since boot.
pub fn uptime(system: &System) -> Option<f64> {
    text(system.proc().join("uptime"))?.split_whitespace().next()?.parse().ok()
}

/// Memory in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Memory {
    /// In all.
    pub total: u64,
    /// What programs may still have without swapping.
    pub available: u64,
    /// Swap in use.
    pub swap_used: u64,
    /// In the page cache and not yet on its disk.
    pub dirty: u64,
}

/// Memory from `/proc/meminfo`.
pub fn memory(system: &System) -> Option<Memory> {
    let text = text(system.proc().join("meminfo"))?;
    let bytes = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    };
    let swap = |name| bytes(name).unwrap_or(0);
    Some(Memory {
        total: bytes("MemTotal")?,
        available: bytes("MemAvailable").or_else(|| bytes("MemFree"))?,
        swap_used: swap("SwapTotal").saturating_sub(swap("SwapFree")),
        dirty: bytes("Dirty").unwrap_or(0),
    })
}

/// Pages of 4 KiB moved to and from swap since boot.
pub fn swap_bytes(system: &System) -> Option<u64> {
    let text = text(system.proc().join("vmstat"))?;
    let pages = |name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?.trim().parse().ok()
    };
    let page = if system.is_live() { rustix::param::page_size() as u64 } else { 4096 };
    pages("pswpin")?.checked_add(pages("pswpout")?)?.checked_mul(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_is_read_with_and_without_its_second_line() {
        let text = "some avg10=12.50 avg60=0.04 avg300=0.83 total=2296394922\nfull avg10=3.00 avg60=0.00 avg300=0.69 total=688796980";
        let pressure = parse_pressure(text).unwrap();
        assert_eq!(pressure.some, Stall { avg10: 12.5, total_us: 2_296_394_922 });
        assert_eq!(pressure.full.map(|full| full.total_us), Some(688_796_980));
        assert_eq!(parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=1").unwrap().full, None);
        assert_eq!(parse_pressure(""), None);
    }

    #[test]
    fn processor_times_are_summed_by_what_they_mean() {
        let text =
            "cpu  400 10 90 2000 300 5 15 80 7 0\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nctxt 1\nprocs_blocked 3\n";
        let times = parse_cpu_times(text).unwrap();
        assert_eq!((times.busy, times.idle, times.iowait, times.steal), (520, 2000, 300, 80));
        assert_eq!((times.processors, times.blocked), (2, Some(3)));
        assert_eq!(parse_cpu_times("cpu  1 2\n"), None);
    }

    #[test]
    fn this_machine_tells_load_memory_and_time() {
        let system = System::host();
        assert!(load(&system).is_some() && uptime(&system).is_some_and(|s| s > 0.0));
        let memory = memory(&system).unwrap();
        assert!(memory.available > 0 && memory.available <= memory.total);
    }

    proptest::proptest! {
        #[test]
        fn garbage_never_panics(text in "(some |full |cpu |cpu0 |avg10=|total=|[0-9]{0,25}|\\PC{0,5}| |\n){0,30}") {
            let _ = (parse_pressure(&text), parse_cpu_times(&text));
        }
    }
}
