//! What is asked beside the I/O: a thermometer, and what the card answers without touching its flash.

use crate::error::Failure;
use cardscope_device::commands::{Commands, commands};
use cardscope_device::sensors::Sensors;
use cardscope_device::system::System;
use cardscope_engine::real::{HealthSource, PingSource, RealOptions, TemperatureSource};
use cardscope_model::caveat::Caveat;
use std::sync::Arc;

/// The latest temperature of a card, which a thread of its own reads, so that asking disturbs no measurement.
pub(super) fn temperature(sensors: &Sensors) -> TemperatureSource {
    let readings = sensors.readings();
    Arc::new(move || readings.at("card"))
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
    let Commands { ping, health, missing, gone } = commands(system, device);
    if gone {
        return Err(Failure::refused(format!(
            "the card in {name} was taken out or changed while it was being opened; nothing was written. Start again"
        )));
    }
    options.ping = ping.map(|ping| -> PingSource { Arc::new(move || ping.ping()) });
    options.health = health.map(|health| -> HealthSource { Arc::new(move || health.read()) });
    Ok(missing.into_iter().map(|text| Caveat::Other { text }).collect())
}
