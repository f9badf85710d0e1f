//! What the kernel allows and is built for, whether it runs in a virtual machine, and which programs run.

use crate::system::{System, names, number, text};
use std::path::Path;

/// A setting of `/proc/sys`, such as `vm/dirty_ratio`.
pub fn sysctl(system: &System, name: &str) -> Option<String> {
    text(system.proc().join("sys").join(name))
}

/// `kernel.io_uring_disabled` (Linux 6.6): 0 for all, 1 for a group and root, 2 for nobody.
pub fn io_uring_disabled(system: &System) -> Option<u64> {
    number(system.proc().join("sys/kernel/io_uring_disabled"))
}

/// The clock that the kernel counts time with: `tsc`, `arch_sys_counter`, `hpet`.
pub fn clock_source(system: &System) -> Option<String> {
    text(system.sys().join("devices/system/clocksource/clocksource0/current_clocksource"))
}

/// File systems that the kernel knows now; modules that were not needed yet are missing.
pub fn file_systems(system: &System) -> Vec<String> {
    let listed = text(system.proc().join("filesystems")).unwrap_or_default();
    listed.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect()
}

/// True where the kernel has its NVMe driver at hand.
pub fn nvme_driver(system: &System) -> bool {
    let sys = system.sys();
    sys.join("module/nvme").is_dir() || sys.join("bus/pci/drivers/nvme").is_dir()
}

/// A module's parameter, such as `usb_storage`, `quirks`.
pub fn module_parameter(system: &System, module: &str, parameter: &str) -> Option<String> {
    text(system.sys().join("module").join(module).join("parameters").join(parameter))
}

/// Capabilities of this process, one bit each (`capabilities(7)`).
pub fn capabilities(system: &System) -> Option<u64> {
    let status = text(system.proc().join("self/status"))?;
    let hex = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(hex.trim(), 16).ok()
}

/// What a virtual machine runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hypervisor {
    /// Its name, where it gives one.
    pub name: Option<String>,
}

/// Names in DMI that only virtual machines have.
const MACHINES: &[&str] = &["qemu", "kvm", "vmware", "virtualbox", "innotek", "xen", "bochs", "parallels"];

/// Whether this is a virtual machine: by the processor's flag, by `/sys/hypervisor`, by the maker's name.
pub fn hypervisor(system: &System) -> Option<Hypervisor> {
    let named = text(system.sys().join("hypervisor/type"));
    let vendor = text(system.sys().join("class/dmi/id/sys_vendor"));
    let product = text(system.sys().join("class/dmi/id/product_name"));
    let known = [vendor, product].into_iter().flatten().find(|word| {
        let word = word.to_ascii_lowercase();
        MACHINES.iter().any(|machine| word.contains(machine))
    });
    let flagged = text(system.proc().join("cpuinfo")).is_some_and(|cpus| has_flag(&cpus, "hypervisor"));
    let name = named.or(known);
    (flagged || name.is_some()).then_some(Hypervisor { name })
}

fn has_flag(cpus: &str, flag: &str) -> bool {
    cpus.lines()
        .filter(|line| line.starts_with("flags"))
        .any(|line| line.split_whitespace().any(|word| word == flag))
}

/// Names of running programs, each once, as far as `/proc` shows them.
pub fn programs(system: &System) -> Vec<String> {
    let process = |name: &String| name.bytes().all(|b| b.is_ascii_digit());
    let comm = |name: &String| text(Path::new(system.proc()).join(name).join("comm"));
    let mut found: Vec<String> =
        names(system.proc()).iter().filter(|n| process(n)).filter_map(comm).collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{machine, put};

    #[test]
    fn a_virtual_machine_is_known_by_its_processor_or_its_maker() {
        let (dir, system) = machine(&[], &[]);
        assert_eq!(hypervisor(&system), None);
        put(dir.path(), "proc/cpuinfo", "flags\t\t: fpu vme hypervisor lahf_lm\n");
        assert_eq!(hypervisor(&system), Some(Hypervisor { name: None }));
        put(dir.path(), "sys/class/dmi/id/sys_vendor", "QEMU\n");
        assert_eq!(hypervisor(&system), Some(Hypervisor { name: Some("QEMU".into()) }));
    }

    #[test]
    fn a_processor_that_can_host_virtual_machines_is_not_taken_for_one() {
        assert!(!has_flag("flags : fpu svm vmx\nvmx flags : hypervisor_like\n", "hypervisor"));
    }
}
