//! `/sys/kernel/debug/mmcN/ios`: bus of a card in a built-in slot.
//!
//! The mode follows from the clock, since the timing's name can be wrong (see the model's bus).

use crate::readers::error::ReaderOutcome;
use crate::readers::text::LogText;
use cardscope_model::condition::ConditionOrigin;
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
    if bus == MmcBus::default() {
        return Ok(vec![log]);
    }
    if let Some(mode) = &bus.mode {
        log.condition.set("bus_mode", mode.clone(), ConditionOrigin::Read);
    }
    log.doubts.extend(slow_clock_doubt(&bus));
    log.other.insert("mmc".into(), json!(bus));
    Ok(vec![log])
}

/// Doubt about a host that names a mode, but does not drive its clock.
fn slow_clock_doubt(bus: &MmcBus) -> Option<String> {
    let (row, running) = (bus.timing_row()?, bus.running_hz()?);
    let nominal = row.nominal_hz.filter(|hz| running < hz / 2)?;
    Some(format!(
        "{} runs at {} instead of {} MHz and carries {}",
        row.mode,
        running as f64 / 1e6,
        nominal as f64 / 1e6,
        SpeedMbS(bus.ceiling_mb_s?)
    ))
}
