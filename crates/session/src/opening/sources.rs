//! What is asked beside the I/O: a thermometer, and what the card answers without touching its flash.

use crate::error::Failure;
use cardscope_device::asking::{Asking, asking};
use cardscope_device::system::System;
use cardscope_device::thermometer::Thermometer;
use cardscope_engine::real::{HealthSource, PingSource, RealOptions, TemperatureSource};
use cardscope_model::caveat::Caveat;
use std::sync::Arc;

/// The latest reading of a thermometer that goes on by itself, so that asking disturbs no measurement.
pub(super) fn temperature(thermometer: &Thermometer) -> TemperatureSource {
    let reading = thermometer.reading();
    Arc::new(move || reading.celsius())
}

/// What the card of this device can be asked without touching its flash; what it cannot becomes a caveat.
///
/// # Errors
/// If the card was found missing or changed: what was let pass a moment ago was another one.
pub(super) fn ask(
    system: &System,
    name: &str,
    device: &str,
    options: &mut RealOptions,
) -> Result<Vec<Caveat>, Failure> {
    let Asking { ping, health, missing, gone } = asking(system, device);
    if gone {
        return Err(Failure::Refused(format!(
            "the card in {name} was taken out or changed while it was being opened; nothing was written. Start again"
        )));
    }
    options.ping = ping.map(|ping| -> PingSource { Arc::new(move || ping.ping()) });
    options.health = health.map(|health| -> HealthSource { Arc::new(move || health.read()) });
    Ok(missing.into_iter().map(|text| Caveat::Other { text }).collect())
}
