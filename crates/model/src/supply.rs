//! Power supply of the host, as reported by boards that monitor it (Raspberry Pi).

use std::fmt;

/// State of the supply. As text a list of faults: `under-voltage now, throttled since boot`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SupplyState {
    /// Status word of the firmware, of which only the bits in `FAULTS` count (Raspberry Pi documentation, `vcgencmd
    /// get_throttled`).
    Firmware(u32),
    /// Under-voltage alarm of the kernel, which persists until it is read (`drivers/hwmon/raspberrypi-hwmon.c`).
    Alarm(bool),
}

/// Bits of present faults; those since boot are 16 bits higher.
const NOW: u32 = 0xf;
const SINCE_BOOT: u32 = NOW << 16;

const FAULTS: [(u32, &str); 8] = [
    (0, "under-voltage now"),
    (16, "under-voltage since boot"),
    (1, "clock capped now"),
    (17, "clock capped since boot"),
    (2, "throttled now"),
    (18, "throttled since boot"),
    (3, "temperature limit now"),
    (19, "temperature limit since boot"),
];
const NO_FAULT: &str = "no under-voltage, not throttled";
const ALARM: &str = "under-voltage";
const NO_ALARM: &str = "no under-voltage";

impl SupplyState {
    /// Parses the text of a condition, or returns None if the user stated another text.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            NO_FAULT => Some(SupplyState::Firmware(0)),
            ALARM => Some(SupplyState::Alarm(true)),
            NO_ALARM => Some(SupplyState::Alarm(false)),
            faults => {
                let bit =
                    |fault: &str| FAULTS.iter().find(|(_, words)| *words == fault).map(|row| 1 << row.0);
                let word = faults.split(", ").map(bit).try_fold(0, |word, bit| Some(word | bit?));
                word.map(SupplyState::Firmware)
            }
        }
    }

    pub fn has_fault_now(self) -> bool {
        matches!(self, SupplyState::Firmware(word) if word & NOW != 0)
    }

    pub fn had_fault(self) -> bool {
        matches!(self, SupplyState::Firmware(word) if word & SINCE_BOOT != 0)
    }
}

impl fmt::Display for SupplyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            SupplyState::Firmware(word) => word,
            SupplyState::Alarm(alarm) => return f.write_str(if *alarm { ALARM } else { NO_ALARM }),
        };
        let found = FAULTS.iter().filter(|(bit, _)| word >> bit & 1 == 1);
        let found: Vec<&str> = found.map(|(_, words)| *words).collect();
        f.write_str(&if found.is_empty() { NO_FAULT.to_owned() } else { found.join(", ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supply_text_round_trips() {
        for word in (0..16).flat_map(|now| (0..16).map(move |boot| now | boot << 16)) {
            let state = SupplyState::Firmware(word);
            assert_eq!(SupplyState::parse(&state.to_string()), Some(state));
        }
        for alarm in [true, false] {
            let state = SupplyState::Alarm(alarm);
            assert_eq!(SupplyState::parse(&state.to_string()), Some(state));
        }
        assert_eq!(SupplyState::Firmware(0).to_string(), "no under-voltage, not throttled");
        assert_eq!(SupplyState::Alarm(true).to_string(), "under-voltage");
        assert_eq!(SupplyState::parse("official 27 W"), None);
    }
}
