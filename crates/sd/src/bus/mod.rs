//! Bus between host and card: bus modes, their line rates, and the state that the host reports.
//!
//! Line rates: Physical Layer Specification 3.9.6, 3.10, 3.16, 3.17 and 8. Commands and block overhead always leave
//! less, so a speed above the line rate means a cache or a wrong unit.

mod mmc;
mod pcie;

pub use mmc::{MmcBus, MmcTiming, TIMINGS};
pub use pcie::PcieLink;

/// Mode of the SD bus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BusMode {
    pub name: &'static str,
    pub signalling: &'static str,
    /// Line rate in MB/s (10^6).
    pub ceiling_mb_s: f64,
}

const fn define_mode(name: &'static str, signalling: &'static str, ceiling_mb_s: f64) -> BusMode {
    BusMode { name, signalling, ceiling_mb_s }
}

/// Bus modes of cards and readers.
pub static BUS_MODES: [BusMode; 15] = [
    define_mode("Default Speed", "25 MHz, 3.3 V", 12.5),
    define_mode("High Speed", "50 MHz, 3.3 V", 25.0),
    define_mode("SDR12", "25 MHz, 1.8 V", 12.5),
    define_mode("SDR25", "50 MHz, 1.8 V", 25.0),
    define_mode("SDR50", "100 MHz, 1.8 V", 50.0),
    define_mode("DDR50", "50 MHz, both edges, 1.8 V", 50.0),
    define_mode("SDR104", "208 MHz, 1.8 V", 104.0),
    define_mode("DDR200", "a maker's own, both edges at 200 MHz; Linux never uses it", 200.0),
    define_mode("UHS-II FD156", "two lanes, full duplex", 156.0),
    define_mode("UHS-II HD312", "two lanes, half duplex", 312.0),
    define_mode("UHS-III FD312", "two lanes, full duplex", 312.0),
    define_mode("UHS-III FD624", "two lanes, full duplex", 624.0),
    define_mode("PCIe 3.0 x1", "8 GT/s", 985.0),
    define_mode("PCIe 3.0 x2 or 4.0 x1", "2 × 8 or 16 GT/s", 1969.0),
    define_mode("PCIe 4.0 x2", "2 × 16 GT/s", 3938.0),
];

/// Returns the mode with this name, ignoring case.
pub fn find_bus_mode(name: &str) -> Option<&'static BusMode> {
    BUS_MODES.iter().find(|mode| mode.name.eq_ignore_ascii_case(name))
}

/// Returns the line rate of a mode in MB/s (10^6), or None if the name implies no rate.
pub fn mode_ceiling_mb_s(name: &str) -> Option<f64> {
    find_bus_mode(name).map(|mode| mode.ceiling_mb_s).or_else(|| pcie::pcie_mode_ceiling(name))
}
