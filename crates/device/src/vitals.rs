//! Load and configuration of this computer: pressure stalls, processors, memory, thermal zones, kernel settings and
//! running programs.
//!
//! Formats: `proc(5)`, `Documentation/accounting/psi.rst` and the sysfs ABI of the Linux kernel; thermal zones and
//! their trip points: `Documentation/driver-api/thermal/sysfs-api.rst`; sleep and clock:
//! `Documentation/admin-guide/pm/cpuidle.rst` and `cpufreq.rst`, `pm_qos_interface.rst` for `/dev/cpu_dma_latency`.
//! Each figure is optional, since kernels may be built without it.

use crate::hwmon;
use crate::system::{SystemRoots, dir_entries, dir_names, is_number, read_flag, read_number, read_text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PressureLine {
    /// Share of the last ten seconds in percent.
    pub avg10: f64,
    /// Time stalled since boot in µs.
    pub total_us: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StallPressure {
    /// At least one task waited.
    pub some: PressureLine,
    /// All tasks with work waited; missing for `cpu` before Linux 5.13.
    pub full: Option<PressureLine>,
}

/// Pressure of `cpu`, `io` or `memory`; `None` without PSI in the kernel (`psi=1` on its command line, or
/// `CONFIG_PSI`).
pub fn read_pressure(system: &SystemRoots, resource: &str) -> Option<StallPressure> {
    parse_pressure(&read_text(system.proc.join("pressure").join(resource))?)
}

fn parse_pressure(text: &str) -> Option<StallPressure> {
    let line = |word: &str| text.lines().find_map(|line| line.strip_prefix(word)).and_then(parse_stall);
    Some(StallPressure { some: line("some ")?, full: line("full ") })
}

fn parse_stall(line: &str) -> Option<PressureLine> {
    let value = |name: &str| line.split_whitespace().find_map(|word| word.strip_prefix(name));
    Some(PressureLine { avg10: value("avg10=")?.parse().ok()?, total_us: value("total=")?.parse().ok()? })
}

/// Processor time since boot in clock ticks of 1/100 s, summed over all processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// Programs, kernel and interrupts.
    pub busy: u64,
    pub idle: u64,
    /// Idle with I/O pending; a lower bound, since a waiting task belongs to no processor.
    pub iowait: u64,
    /// Taken by the host of a virtual machine.
    pub steal: u64,
    pub processors: u32,
    /// Tasks waiting for I/O now.
    pub blocked: Option<u32>,
}

impl CpuTimes {
    pub fn total(&self) -> u64 {
        self.busy + self.idle + self.iowait + self.steal
    }
}

pub fn cpu_times(system: &SystemRoots) -> Option<CpuTimes> {
    parse_cpu_times(&read_text(system.proc.join("stat"))?)
}

fn parse_cpu_times(text: &str) -> Option<CpuTimes> {
    let all = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = all.split_whitespace().map_while(|word| word.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; guest times are in user already.
    let tick = |at: usize| ticks.get(at).copied().unwrap_or(0);
    let processors = text.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count();
    (ticks.len() >= 4).then(|| CpuTimes {
        busy: tick(0) + tick(1) + tick(2) + tick(5) + tick(6),
        idle: tick(3),
        iowait: tick(4),
        steal: tick(7),
        processors: processors as u32,
        blocked: named_number(text, "procs_blocked "),
    })
}

/// Average number of tasks that ran or waited for I/O in the last minute.
pub fn load_average(system: &SystemRoots) -> Option<f64> {
    first_number(&read_text(system.proc.join("loadavg"))?)
}

pub fn uptime_seconds(system: &SystemRoots) -> Option<f64> {
    first_number(&read_text(system.proc.join("uptime"))?)
}

fn first_number<T: FromStr>(text: &str) -> Option<T> {
    text.split_whitespace().next()?.parse().ok()
}

/// First number after a name at the start of a line.
fn named_number<T: FromStr>(text: &str, name: &str) -> Option<T> {
    text.lines().find_map(|line| line.strip_prefix(name)).and_then(first_number)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryBytes {
    pub total: u64,
    /// Free for programs without swapping.
    pub available: u64,
    pub swap_used: u64,
}

pub fn memory_bytes(system: &SystemRoots) -> Option<MemoryBytes> {
    let text = read_text(system.proc.join("meminfo"))?;
    let bytes = |name: &str| named_number::<u64>(&text, name)?.checked_mul(1024);
    let swap = |name| bytes(name).unwrap_or(0);
    Some(MemoryBytes {
        total: bytes("MemTotal:")?,
        available: bytes("MemAvailable:").or_else(|| bytes("MemFree:"))?,
        swap_used: swap("SwapTotal:").saturating_sub(swap("SwapFree:")),
    })
}

/// Bytes moved to and from swap since boot.
pub fn swap_bytes(system: &SystemRoots) -> Option<u64> {
    let text = read_text(system.proc.join("vmstat"))?;
    let pages = |name: &str| named_number::<u64>(&text, name);
    let page = if system.is_live() { rustix::param::page_size() as u64 } else { 4096 };
    pages("pswpin ")?.checked_add(pages("pswpout ")?)?.checked_mul(page)
}

/// Setting of `/proc/sys`, such as `vm/dirty_ratio`.
pub fn read_sysctl(system: &SystemRoots, name: &str) -> Option<String> {
    read_text(system.proc.join("sys").join(name))
}

/// `kernel.io_uring_disabled` (Linux 6.6): 0 allows all, 1 a group and root, 2 nobody.
pub fn io_uring_disabled(system: &SystemRoots) -> Option<u64> {
    read_number(system.proc.join("sys/kernel/io_uring_disabled"))
}

pub fn clock_source(system: &SystemRoots) -> Option<String> {
    read_text(system.sys.join("devices/system/clocksource/clocksource0/current_clocksource"))
}

/// File systems registered in the kernel; modules not loaded yet are missing.
pub fn file_systems(system: &SystemRoots) -> Vec<String> {
    let listed = read_text(system.proc.join("filesystems")).unwrap_or_default();
    listed.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect()
}

pub fn has_nvme_driver(system: &SystemRoots) -> bool {
    let sys = &system.sys;
    sys.join("module/nvme").is_dir() || sys.join("bus/pci/drivers/nvme").is_dir()
}

pub fn module_parameter(system: &SystemRoots, module: &str, parameter: &str) -> Option<String> {
    read_text(system.sys.join("module").join(module).join("parameters").join(parameter))
}

/// Effective capabilities of this process, one bit each (`capabilities(7)`).
pub fn capabilities(system: &SystemRoots) -> Option<u64> {
    let status = read_text(system.proc.join("self/status"))?;
    let hex = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(hex.trim(), 16).ok()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hypervisor {
    pub name: Option<String>,
}

const VM_NAMES: &[&str] = &["qemu", "kvm", "vmware", "virtualbox", "innotek", "xen", "bochs", "parallels"];

/// Detects a virtual machine, by the processor's flag, `/sys/hypervisor`, or the maker's name.
pub fn detect_hypervisor(system: &SystemRoots) -> Option<Hypervisor> {
    let named = read_text(system.sys.join("hypervisor/type"));
    let vendor = read_text(system.sys.join("class/dmi/id/sys_vendor"));
    let product = read_text(system.sys.join("class/dmi/id/product_name"));
    let is_machine = |word: &String| VM_NAMES.iter().any(|name| word.to_ascii_lowercase().contains(name));
    let known = [vendor, product].into_iter().flatten().find(is_machine);
    let flagged = read_text(system.proc.join("cpuinfo")).is_some_and(|cpus| has_flag(&cpus, "hypervisor"));
    let name = named.or(known);
    (flagged || name.is_some()).then_some(Hypervisor { name })
}

fn has_flag(cpus: &str, flag: &str) -> bool {
    let mut lines = cpus.lines().filter(|line| line.starts_with("flags"));
    lines.any(|line| line.split_whitespace().any(|word| word == flag))
}

/// Names of running programs, each once, as far as `/proc` shows them.
pub fn running_programs(system: &SystemRoots) -> Vec<String> {
    let processes = dir_names(&system.proc).into_iter().filter(|name| is_number(name));
    let programs = processes.filter_map(|name| read_text(system.proc.join(name).join("comm")));
    BTreeSet::from_iter(programs).into_iter().collect()
}

/// `THERMAL_MAX_TRIPS` of older kernels.
const MAX_TRIP_POINTS: u32 = 12;

#[derive(Debug, Clone, PartialEq)]
pub struct ThermalZone {
    pub kind: String,
    pub celsius: f64,
    /// Lowest trip point in °C that slows down or switches off (`passive`, `hot`, `critical`).
    pub limit: Option<f64>,
}

pub fn zones_with_limits(system: &SystemRoots) -> Vec<ThermalZone> {
    let limit = |dir: &Path, n: u32| {
        let kind = read_text(dir.join(format!("trip_point_{n}_type")))?;
        let slows = ["passive", "hot", "critical"].contains(&kind.as_str());
        let celsius = slows.then(|| hwmon::read_celsius(&dir.join(format!("trip_point_{n}_temp")))).flatten();
        // Firmware without a limit reports 0.
        celsius.filter(|celsius| *celsius > 0.0)
    };
    let zone = |(kind, dir): (String, PathBuf)| {
        let limit = (0..MAX_TRIP_POINTS).filter_map(|n| limit(&dir, n)).reduce(f64::min);
        Some(ThermalZone { kind, celsius: hwmon::read_celsius(&dir.join("temp"))?, limit })
    };
    hwmon::thermal_zones(system).into_iter().filter_map(zone).collect()
}

/// Enabled sleep state of processor 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleState {
    pub name: String,
    /// Time to wake up in µs.
    pub exit_us: u64,
}

/// Sleep states of processor 0, shallowest first; empty if the kernel manages none.
pub fn idle_states(system: &SystemRoots) -> Vec<IdleState> {
    let state = |dir: PathBuf| {
        let on = read_flag(dir.join("disable")) != Some(true);
        let exit_us = read_number(dir.join("latency"))?;
        on.then(|| read_text(dir.join("name"))).flatten().map(|name| IdleState { name, exit_us })
    };
    dir_entries(system.sys.join("devices/system/cpu/cpu0/cpuidle")).into_iter().filter_map(state).collect()
}

/// True if processors may exceed their nominal clock; `None` if unknown.
pub fn allows_turbo(system: &SystemRoots) -> Option<bool> {
    let cpu = system.sys.join("devices/system/cpu");
    let no_turbo = read_flag(cpu.join("intel_pstate/no_turbo"));
    no_turbo.map(|off| !off).or_else(|| read_flag(cpu.join("cpufreq/boost")))
}

/// Longest wake-up time allowed by any program, in µs: 2 000 000 000 without a limit. Needs root.
pub fn cpu_dma_latency_us(system: &SystemRoots) -> Option<i32> {
    use std::io::Read;
    let mut word = [0; 4];
    // The device returns four bytes in native order. Reading it has no effect.
    let file = system.is_live().then(|| std::fs::File::open("/dev/cpu_dma_latency"))?;
    file.ok()?.read_exact(&mut word).ok()?;
    Some(i32::from_ne_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{machine, put};

    #[test]
    fn pressure_is_parsed_with_and_without_full_line() {
        let text = "some avg10=12.50 avg60=0.04 avg300=0.83 total=2296394922\nfull avg10=3.00 avg60=0.00 avg300=0.69 total=688796980";
        let pressure = parse_pressure(text).unwrap();
        assert_eq!(pressure.some, PressureLine { avg10: 12.5, total_us: 2_296_394_922 });
        assert_eq!(pressure.full.map(|full| full.total_us), Some(688_796_980));
        assert_eq!(parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=1").unwrap().full, None);
        assert_eq!(parse_pressure(""), None);
    }

    #[test]
    fn processor_times_are_summed_by_kind() {
        let text =
            "cpu  400 10 90 2000 300 5 15 80 7 0\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nctxt 1\nprocs_blocked 3\n";
        let times = parse_cpu_times(text).unwrap();
        assert_eq!((times.busy, times.idle, times.iowait, times.steal), (520, 2000, 300, 80));
        assert_eq!((times.processors, times.blocked), (2, Some(3)));
        assert_eq!(parse_cpu_times("cpu  1 2\n"), None);
    }

    #[test]
    fn load_memory_and_uptime_are_read() {
        let system = SystemRoots::host();
        assert!(load_average(&system).is_some() && uptime_seconds(&system).is_some_and(|s| s > 0.0));
        let memory = memory_bytes(&system).unwrap();
        assert!(memory.available > 0 && memory.available <= memory.total);
    }

    proptest::proptest! {
        #[test]
        fn garbage_never_panics(text in "(some |full |cpu |cpu0 |avg10=|total=|[0-9]{0,25}|\\PC{0,5}| |\n){0,30}") {
            let _ = (parse_pressure(&text), parse_cpu_times(&text));
        }
    }

    #[test]
    fn virtual_machine_is_detected_by_flag_or_maker() {
        let (dir, system) = machine("");
        assert_eq!(detect_hypervisor(&system), None);
        put(dir.path(), "proc/cpuinfo", "flags\t\t: fpu vme hypervisor lahf_lm\n");
        assert_eq!(detect_hypervisor(&system), Some(Hypervisor { name: None }));
        put(dir.path(), "sys/class/dmi/id/sys_vendor", "QEMU\n");
        assert_eq!(detect_hypervisor(&system), Some(Hypervisor { name: Some("QEMU".into()) }));
    }

    #[test]
    fn virtualization_support_is_not_a_hypervisor() {
        assert!(!has_flag("flags : fpu svm vmx\nvmx flags : hypervisor_like\n", "hypervisor"));
    }

    #[test]
    fn zone_limit_is_lowest_throttling_trip() {
        let zone = "sys/class/thermal/thermal_zone0";
        let (_dir, system) = machine(&format!(
            "
            {zone}/type = cpu-thermal
            {zone}/temp = 78200
            {zone}/trip_point_0_type = critical
            {zone}/trip_point_0_temp = 110000
            {zone}/trip_point_1_type = active
            {zone}/trip_point_1_temp = 50000
            {zone}/trip_point_2_type = passive
            {zone}/trip_point_2_temp = 80000
            {zone}/trip_point_3_type = hot
            {zone}/trip_point_3_temp = 0
            "
        ));
        let found = zones_with_limits(&system);
        assert_eq!(found, [ThermalZone { kind: "cpu-thermal".into(), celsius: 78.2, limit: Some(80.0) }]);
    }
}
