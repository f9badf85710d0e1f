//! What slows processors down: how warm the computer is, how deep they sleep, whether they run above their nominal clock.
//!
//! Thermal zones and their trip points: `Documentation/driver-api/thermal/sysfs-api.rst` of the Linux kernel; sleep and
//! clock: `Documentation/admin-guide/pm/cpuidle.rst` and `cpufreq.rst`, `pm_qos_interface.rst` for `/dev/cpu_dma_latency`.

use crate::hwmon;
use crate::system::{System, flag, names, number, text};
use std::path::PathBuf;

/// Trip points of a zone, at most (`THERMAL_MAX_TRIPS` of older kernels).
const MOST_TRIPS: u32 = 12;

/// A thermal zone and the first temperature at which the kernel slows something down.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// `cpu-thermal`, `x86_pkg_temp`.
    pub kind: String,
    /// Now, in °C.
    pub celsius: f64,
    /// Lowest trip point of the kinds that slow down or switch off (`passive`, `hot`, `critical`), in °C.
    pub limit: Option<f64>,
}

/// All thermal zones that tell a temperature.
pub fn zones(system: &System) -> Vec<Zone> {
    let zone = |(kind, dir): (String, PathBuf)| {
        let celsius = hwmon::celsius_in(&dir.join("temp"))?;
        let limit = (0..MOST_TRIPS)
            .filter_map(|n| {
                let kind = text(dir.join(format!("trip_point_{n}_type")))?;
                let slows = matches!(kind.as_str(), "passive" | "hot" | "critical");
                slows.then(|| hwmon::celsius_in(&dir.join(format!("trip_point_{n}_temp")))).flatten()
            })
            // Firmware leaves 0 where it has no limit.
            .filter(|celsius| *celsius > 0.0)
            .reduce(f64::min);
        Some(Zone { kind, celsius, limit })
    };
    hwmon::zones(system).into_iter().filter_map(zone).collect()
}

/// A sleep state of processor 0 that is not switched off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleState {
    /// `C6`, `WFI`, `haltpoll`.
    pub name: String,
    /// Time that waking takes, in µs.
    pub exit_us: u64,
}

/// Sleep states of processor 0, shallow first; empty where the kernel manages none.
pub fn idle_states(system: &System) -> Vec<IdleState> {
    let root = system.sys().join("devices/system/cpu/cpu0/cpuidle");
    let state = |name: &String| {
        let dir = root.join(name);
        let on = flag(dir.join("disable")) != Some(true);
        let exit_us = number(dir.join("latency"))?;
        on.then(|| text(dir.join("name"))).flatten().map(|name| IdleState { name, exit_us })
    };
    names(&root).iter().filter_map(state).collect()
}

/// Whether processors may run above their nominal clock; `None` where that cannot be told.
pub fn turbo(system: &System) -> Option<bool> {
    let cpu = system.sys().join("devices/system/cpu");
    flag(cpu.join("intel_pstate/no_turbo")).map(|off| !off).or_else(|| flag(cpu.join("cpufreq/boost")))
}

/// The longest wake-up time that somebody allows just now, in µs: 2 000 000 000 where nobody cares. Needs root.
pub fn cpu_dma_latency_us(system: &System) -> Option<i32> {
    use std::io::Read;
    let mut word = [0; 4];
    // A device of the kernel: four bytes in its own order. Reading asks, and changes nothing.
    let mut file = system.is_live().then(|| std::fs::File::open("/dev/cpu_dma_latency").ok()).flatten()?;
    file.read_exact(&mut word).ok()?;
    Some(i32::from_ne_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;

    #[test]
    fn a_zone_is_known_with_the_lowest_trip_that_slows() {
        let zone = "sys/class/thermal/thermal_zone0";
        let files = [
            ("type", "cpu-thermal"),
            ("temp", "78200"),
            ("trip_point_0_type", "critical"),
            ("trip_point_0_temp", "110000"),
            ("trip_point_1_type", "active"),
            ("trip_point_1_temp", "50000"),
            ("trip_point_2_type", "passive"),
            ("trip_point_2_temp", "80000"),
            ("trip_point_3_type", "hot"),
            ("trip_point_3_temp", "0"),
        ]
        .map(|(name, content)| (format!("{zone}/{name}"), content));
        let (_dir, system) = machine(&files.each_ref().map(|(name, content)| (name.as_str(), *content)), &[]);
        let found = zones(&system);
        assert_eq!(found, [Zone { kind: "cpu-thermal".into(), celsius: 78.2, limit: Some(80.0) }]);
    }
}
