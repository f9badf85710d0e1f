//! How deep the processors sleep and whether they run above their nominal clock.
//!
//! `Documentation/admin-guide/pm/cpuidle.rst` and `cpufreq.rst` of the Linux kernel, `pm_qos_interface.rst` for
//! `/dev/cpu_dma_latency`.

use crate::system::{System, flag, names, number, text};

/// A sleep state of processor 0 that is not switched off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleState {
    /// `C6`, `WFI`, `haltpoll`.
    pub name: String,
    /// Time that waking takes, in µs.
    pub exit_us: u64,
}

/// Sleep states of processor 0, shallow first; empty where the kernel manages none.
#[must_use]
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
#[must_use]
pub fn turbo(system: &System) -> Option<bool> {
    let cpu = system.sys().join("devices/system/cpu");
    flag(cpu.join("intel_pstate/no_turbo")).map(|off| !off).or_else(|| flag(cpu.join("cpufreq/boost")))
}

/// The longest wake-up time that somebody allows just now, in µs: 2 000 000 000 where nobody cares. Needs root.
#[must_use]
pub fn cpu_dma_latency_us(system: &System) -> Option<i32> {
    use std::io::Read;
    let mut word = [0; 4];
    // A device of the kernel: four bytes in its own order. Reading asks, and changes nothing.
    let mut file = system.is_live().then(|| std::fs::File::open("/dev/cpu_dma_latency").ok()).flatten()?;
    file.read_exact(&mut word).ok()?;
    Some(i32::from_ne_bytes(word))
}
