//! How warm the computer is and whether its firmware throttles it.
//!
//! Thermal zones and their trip points: `Documentation/driver-api/thermal/sysfs-api.rst` of the Linux kernel.

use crate::host;
use crate::hwmon;
use crate::system::{System, names, text};

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
#[must_use]
pub fn zones(system: &System) -> Vec<Zone> {
    let root = system.sys().join("class/thermal");
    let zone = |name: &String| {
        let dir = root.join(name);
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
        Some(Zone { kind: text(dir.join("type"))?, celsius, limit })
    };
    names(&root).iter().filter(|name| name.starts_with("thermal_zone")).filter_map(zone).collect()
}

/// What a Raspberry Pi's firmware says of supply and throttling: `None` on other boards.
#[must_use]
pub fn throttled(system: &System) -> Option<u32> {
    host::throttled(system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_known_with_the_lowest_trip_that_slows() {
        let dir = tempfile::tempdir().unwrap();
        let zone = dir.path().join("class/thermal/thermal_zone0");
        std::fs::create_dir_all(dir.path().join("block")).unwrap();
        std::fs::create_dir_all(&zone).unwrap();
        for (name, content) in [
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
        ] {
            std::fs::write(zone.join(name), content).unwrap();
        }
        let found = zones(&System::recorded(dir.path()));
        assert_eq!(found, [Zone { kind: "cpu-thermal".into(), celsius: 78.2, limit: Some(80.0) }]);
    }
}
