//! `/sys/kernel/debug/mmcN/ios`: bus of a card in a built-in slot.
//!
//! The mode follows from the clock, since the timing's name can be wrong (see the model's bus).

use crate::readers::{LogText, ReaderOutcome, add_other, set_word};
use cardscope_model::log::CardLog;
use cardscope_model::units::SpeedMbS;
use cardscope_sd::bus::MmcBus;
use serde_json::json;

/// Beginnings of lines. No other file has two of them.
const LINE_STARTS: [&str; 3] = ["clock:", "bus width:", "timing spec:"];

pub(crate) fn recognise(text: &LogText) -> bool {
    let has = |name: &str| text.head().lines().any(|line| line.trim_start().starts_with(name));
    LINE_STARTS.iter().filter(|name| has(name)).count() >= 2
}

pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let bus = MmcBus::from_ios(text.body());
    let mut log = CardLog::default();
    if bus != MmcBus::default() {
        set_word(&mut log, "bus_mode", bus.mode.clone());
        log.doubts.extend(slow_clock_doubt(&bus));
        add_other(&mut log, "mmc", json!(bus));
    }
    Ok(vec![log])
}

/// Doubt about a host that names a mode, but does not drive its clock.
fn slow_clock_doubt(bus: &MmcBus) -> Option<String> {
    let (row, running) = (bus.timing_row()?, bus.running_hz()?);
    let nominal = row.nominal_hz.filter(|hz| running < hz / 2)?;
    let (mhz, nominal_mhz) = (running as f64 / 1e6, nominal as f64 / 1e6);
    let carries = SpeedMbS(bus.ceiling_mb_s?);
    Some(format!("{} runs at {mhz} instead of {nominal_mhz} MHz and carries {carries}", row.mode))
}
