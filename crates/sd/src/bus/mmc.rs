//! State of an SD bus in Linux: debugfs `ios`, or the kernel's log line for an inserted card.
//!
//! Kernel: drivers/mmc/core/debugfs.c and include/linux/mmc/host.h. The ceiling follows from the clock and not from
//! the timing's name, because some hosts report SDR104 and run it at 50 MHz.

use super::mode_ceiling_mb_s;
use crate::registers::raw::text_of_code;
use serde::{Deserialize, Serialize};

/// Bus timing of the Linux MMC layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MmcTiming {
    pub code: u8,
    /// Common name of the mode, as in [`super::BUS_MODES`].
    pub mode: &'static str,
    /// Nominal clock in Hz. None where the data lines have another clock.
    pub nominal_hz: Option<u64>,
    /// Transfers per clock and line.
    pub per_clock: u8,
    /// Line rate in MB/s, where the clock does not determine it.
    pub fixed_mb_s: Option<f64>,
}

const fn clocked_timing(code: u8, mode: &'static str, mhz: u64, per_clock: u8) -> MmcTiming {
    MmcTiming { code, mode, nominal_hz: Some(mhz * 1_000_000), per_clock, fixed_mb_s: None }
}

const fn lane_timing(code: u8, mode: &'static str, fixed_mb_s: Option<f64>) -> MmcTiming {
    MmcTiming { code, mode, nominal_hz: None, per_clock: 1, fixed_mb_s }
}

/// Timings of the kernel. UHS-II range A runs its lanes at half the rate of range B.
pub static TIMINGS: [MmcTiming; 17] = [
    clocked_timing(0, "Default Speed", 25, 1),
    clocked_timing(1, "MMC High Speed", 52, 1),
    clocked_timing(2, "High Speed", 50, 1),
    clocked_timing(3, "SDR12", 25, 1),
    clocked_timing(4, "SDR25", 50, 1),
    clocked_timing(5, "SDR50", 100, 1),
    clocked_timing(6, "SDR104", 208, 1),
    clocked_timing(7, "DDR50", 50, 2),
    clocked_timing(8, "MMC DDR52", 52, 2),
    clocked_timing(9, "MMC HS200", 200, 1),
    clocked_timing(10, "MMC HS400", 200, 2),
    lane_timing(11, "SD Express", None),
    lane_timing(12, "SD Express 1.2 V", None),
    lane_timing(13, "UHS-II range A", Some(78.0)),
    lane_timing(14, "UHS-II range A half duplex", Some(156.0)),
    lane_timing(15, "UHS-II FD156", Some(156.0)),
    lane_timing(16, "UHS-II HD312", Some(312.0)),
];

/// Words of the kernel's log line and the bus mode that each stands for, longer words first.
const ARRIVAL_WORDS: [(&str, &str); 7] = [
    ("SDR104", "SDR104"),
    ("DDR50", "DDR50"),
    ("SDR50", "SDR50"),
    ("SDR25", "SDR25"),
    ("SDR12", "SDR12"),
    ("high speed", "High Speed"),
    ("", "Default Speed"),
];

/// SD bus of a card and its current mode.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MmcBus {
    /// sysfs `type`: `SD`, `MMC`, `SDIO` or `SDcombo`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Common name of the mode, e.g. `SDR104`.
    pub mode: Option<String>,
    pub timing: Option<u8>,
    pub timing_text: Option<String>,
    /// Requested clock in Hz.
    pub clock_hz: Option<u64>,
    /// Clock that the host reached, in Hz. Not all hosts report it.
    pub actual_clock_hz: Option<u64>,
    pub bus_width: Option<u8>,
    pub signal_voltage_v: Option<f64>,
    /// Supply voltage as printed: `3.3 ~ 3.4 V`.
    pub vdd: Option<String>,
    /// `on`, `off` or `up`.
    pub power_mode: Option<String>,
    /// Driver type, A to D.
    pub driver_type: Option<String>,
    pub erase_size: Option<u64>,
    /// sysfs `preferred_erase_size` in bytes: AU_SIZE of the SSR, else 4 MiB.
    pub preferred_erase_size: Option<u64>,
    /// Line rate in MB/s (10^6).
    pub ceiling_mb_s: Option<f64>,
}

impl MmcBus {
    /// Parses debugfs `ios`. Missing or malformed lines leave their field None.
    pub fn from_ios(text: &str) -> Self {
        let mut bus = MmcBus::default();
        for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
            bus.parse_line(key.trim(), value.trim());
        }
        bus.ceiling_mb_s = bus.compute_ceiling();
        bus
    }

    /// Parses the kernel's log line for an inserted card, `mmc0: new ultra high speed SDR104 SDXC card at …`. The
    /// line has no clock, so the ceiling is that of the mode.
    pub fn from_kernel_line(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once(": new ")?;
        let (words, _) = rest.split_once(" card at ")?;
        let (_, name) = ARRIVAL_WORDS.iter().find(|(word, _)| words.contains(word))?;
        let (mode, ceiling_mb_s) = (Some((*name).to_owned()), mode_ceiling_mb_s(name));
        Some(MmcBus { mode, ceiling_mb_s, ..MmcBus::default() })
    }

    fn parse_line(&mut self, key: &str, value: &str) {
        let number = value.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
        let code = number.and_then(|number| usize::try_from(number).ok());
        let remark = value.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).map(str::trim);
        match key {
            "clock" => self.clock_hz = number,
            "actual clock" => self.actual_clock_hz = number,
            "vdd" => self.vdd = remark.map(str::to_owned),
            "power mode" => self.power_mode = remark.map(str::to_owned),
            "bus width" => self.bus_width = parse_bus_width(number, remark),
            "timing spec" => self.parse_timing(number, remark),
            "signal voltage" => {
                self.signal_voltage_v = code.and_then(|code| [3.3, 1.8, 1.2].get(code).copied())
            }
            "driver type" => {
                self.driver_type = code.and_then(|code| text_of_code(&["B", "A", "C", "D"], code))
            }
            _ => {}
        }
    }

    fn parse_timing(&mut self, number: Option<u64>, remark: Option<&str>) {
        self.timing = number.and_then(|n| u8::try_from(n).ok());
        self.timing_text = remark.map(str::to_owned);
        self.mode = self.timing_row().map(|timing| timing.mode.to_owned());
    }

    /// Returns the table row of the current timing.
    pub fn timing_row(&self) -> Option<&'static MmcTiming> {
        TIMINGS.iter().find(|timing| Some(timing.code) == self.timing)
    }

    /// Returns the actual clock, else the requested one, or None while the bus sleeps.
    pub fn running_hz(&self) -> Option<u64> {
        self.actual_clock_hz.or(self.clock_hz).filter(|hz| *hz > 0)
    }

    fn compute_ceiling(&self) -> Option<f64> {
        let per_clock = match self.timing_row() {
            Some(MmcTiming { nominal_hz: None, fixed_mb_s, .. }) => return *fixed_mb_s,
            Some(timing) => timing.per_clock,
            // An unknown timing counts as single data rate, which never overstates the ceiling.
            None => 1,
        };
        let bits = self.running_hz()? as f64 * f64::from(self.bus_width?) * f64::from(per_clock);
        Some(bits / 8.0 / 1e6)
    }
}

/// Parses `2 (4 bits)`: the number is a power of two, the remark is the width itself.
fn parse_bus_width(number: Option<u64>, remark: Option<&str>) -> Option<u8> {
    let width = remark.and_then(|text| text.split_whitespace().next()).and_then(|word| word.parse().ok());
    width.or_else(|| number.filter(|n| *n <= 3).map(|n| 1 << n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ios(clock: &str, timing: &str, voltage: &str) -> MmcBus {
        MmcBus::from_ios(&format!(
            "{clock}vdd:\t\t21 (3.3 ~ 3.4 V)\nbus mode:\t2 (push-pull)\nchip select:\t0 (don't care)\npower mode:\t2 (on)\nbus width:\t2 (4 bits)\ntiming spec:\t{timing}\nsignal voltage:\t{voltage}\ndriver type:\t0 (driver type B)\n"
        ))
    }

    #[test]
    fn ceiling_follows_clock_not_timing_name() {
        let bus = ios("clock:\t\t50000000 Hz\n", "6 (sd uhs SDR104)", "1 (1.80 V)");
        assert_eq!((bus.mode.as_deref(), bus.ceiling_mb_s), (Some("SDR104"), Some(25.0)));
        assert_eq!((bus.bus_width, bus.signal_voltage_v), (Some(4), Some(1.8)));
        assert_eq!(bus.driver_type.as_deref(), Some("B"));
        assert_eq!((bus.vdd.as_deref(), bus.power_mode.as_deref()), (Some("3.3 ~ 3.4 V"), Some("on")));
    }

    #[test]
    fn ddr50_ceiling_counts_both_clock_edges() {
        let bus =
            ios("clock:\t\t50000000 Hz\nactual clock:\t50000000 Hz\n", "7 (sd uhs DDR50)", "1 (1.80 V)");
        assert_eq!(bus.ceiling_mb_s, Some(50.0));
    }

    #[test]
    fn actual_clock_takes_precedence_over_requested_clock() {
        let bus =
            ios("clock:\t\t208000000 Hz\nactual clock:\t200000000 Hz\n", "6 (sd uhs SDR104)", "1 (1.80 V)");
        assert_eq!((bus.running_hz(), bus.ceiling_mb_s), (Some(200_000_000), Some(100.0)));
    }

    #[test]
    fn nominal_clock_gives_ceiling_of_each_mode() {
        for timing in TIMINGS.iter().filter(|t| (2..=7).contains(&t.code)) {
            let hz = timing.nominal_hz.unwrap();
            let bus = ios(&format!("clock:\t\t{hz} Hz\n"), &format!("{} (x)", timing.code), "1 (1.80 V)");
            assert_eq!(
                bus.ceiling_mb_s,
                crate::bus::find_bus_mode(timing.mode).map(|m| m.ceiling_mb_s),
                "{}",
                timing.mode
            );
        }
    }

    #[test]
    fn sleeping_bus_has_no_ceiling_and_uhs_ii_uses_lane_rate() {
        assert_eq!(ios("clock:\t\t0 Hz\n", "0 (legacy)", "0 (3.30 V)").ceiling_mb_s, None);
        assert_eq!(ios("clock:\t\t52000000 Hz\n", "16 (invalid)", "1 (1.80 V)").ceiling_mb_s, Some(312.0));
        assert_eq!(MmcBus::from_ios(""), MmcBus::default());
    }

    #[test]
    fn kernel_line_mode_is_parsed_in_old_and_new_wording() {
        for (line, mode, ceiling) in [
            ("mmc0: new ultra high speed SDR104 SDXC card at address aaaa", "SDR104", 104.0),
            ("[    2.1] mmc1: new UHS-I speed DDR50 SDHC card at address 0001", "DDR50", 50.0),
            ("mmc0: new high speed SDHC card at address b368", "High Speed", 25.0),
            ("mmc0: new SD card at address 0002", "Default Speed", 12.5),
        ] {
            let bus = MmcBus::from_kernel_line(line).unwrap();
            assert_eq!((bus.mode.as_deref(), bus.ceiling_mb_s), (Some(mode), Some(ceiling)), "{line}");
        }
        assert_eq!(MmcBus::from_kernel_line("mmc0: card 0001 removed"), None);
    }

    proptest::proptest! {
        #[test]
        fn ios_parser_never_panics(text in "((clock|bus width|timing spec|signal voltage|driver type):[ \t]*[0-9]{0,22} ?(\\([^\n]{0,6}\\)?)?\n){0,6}") {
            let bus = MmcBus::from_ios(&text);
            proptest::prop_assert!(bus.ceiling_mb_s.is_none_or(|c| c >= 0.0));
        }
    }
}
