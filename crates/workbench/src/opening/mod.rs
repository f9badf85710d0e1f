//! From the name of a target to an open one: a simulated card, a directory, a file or a device.
//!
//! Everything that could be lost is asked for here, before the first byte is written.

mod device;
mod files;
mod limit;
mod simulated;

pub(crate) use files::mounted;
pub use limit::Limit;

use crate::consent::Consent;
use crate::error::Failure;
use crate::journal;
use cardscope_device::asking::{Asking, asking};
use cardscope_device::system::System;
use cardscope_device::thermometer::Thermometer;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::real::{HealthSource, PingSource, RealOptions, TemperatureSource};
use cardscope_engine::target::Target;
use cardscope_model::caveat::Caveat;
use cardscope_model::condition::Condition;
use cardscope_model::identity::Identity;
use std::path::Path;
use std::sync::Arc;

/// An open target and what is known of it.
pub struct Opened {
    /// Where the I/O goes.
    pub target: Box<dyn Target>,
    /// What the card says of itself, where it could be asked.
    pub identity: Option<Identity>,
    /// What is true of card and rig, as far as it can be read.
    pub condition: Condition,
    /// What the bus carries in MB/s, where known.
    pub ceiling_mb_s: Option<f64>,
    /// True where the recipe may write: to a simulated card, a directory, or with consent.
    pub may_write: bool,
    /// Doubts that concern every test on it.
    pub caveats: Vec<Caveat>,
    /// How much may be written.
    pub limit: Limit,
    /// Reads the temperature as long as it is kept.
    _thermometer: Option<Thermometer>,
}

/// Opens a target. `writes` tells whether something is going to be written to it.
///
/// # Errors
/// A refusal: there is no such target, it is not safe to write to, consent was not given, or a journal waits that has
/// what an earlier test overwrote on it.
pub fn open(
    name: &str,
    writes: bool,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
) -> Result<Opened, Failure> {
    let opened = open_any(name, writes, consent, interrupt)?;
    // In a directory only files of the test's own are written.
    if writes && !Path::new(name).is_dir() {
        journal::none_waits(name, &opened)?;
    }
    Ok(opened)
}

/// Opens a target to put back what a journal or an image has.
///
/// # Errors
/// A refusal, as [`open`]; a journal that waits is none.
pub(crate) fn open_to_restore(
    name: &str,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
) -> Result<Opened, Failure> {
    open_any(name, true, consent, interrupt)
}

fn open_any(
    name: &str,
    writes: bool,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
) -> Result<Opened, Failure> {
    if name.starts_with("sim:") {
        return simulated::open(name);
    }
    let path = Path::new(name);
    let metadata = std::fs::metadata(path).map_err(|e| no_target(name, &e))?;
    if metadata.is_dir() {
        files::directory(path, interrupt)
    } else if metadata.is_file() {
        files::file(name, metadata.len(), writes, consent, interrupt)
    } else {
        device::open(name, writes, consent, interrupt)
    }
}

/// The latest reading of a thermometer that goes on by itself, so that asking disturbs no measurement.
fn temperature(thermometer: &Thermometer) -> TemperatureSource {
    let reading = thermometer.reading();
    Arc::new(move || reading.celsius())
}

/// What the card of this device can be asked without touching its flash; what it cannot becomes a caveat.
///
/// # Errors
/// If the card was found missing or changed: what was let pass a moment ago was another one.
fn ask(system: &System, device: &str, options: &mut RealOptions) -> Result<Vec<Caveat>, Failure> {
    let Asking { ping, health, missing, gone } = asking(system, device);
    if gone {
        return Err(Failure::Refused(format!(
            "the card in {device} was taken out or changed while it was being opened; nothing was written. Start again"
        )));
    }
    options.ping = ping.map(|ping| -> PingSource { Arc::new(move || ping.ping()) });
    options.health = health.map(|health| -> HealthSource { Arc::new(move || health.read()) });
    Ok(missing.into_iter().map(|text| Caveat::Other { text }).collect())
}

fn no_target(name: &str, error: &std::io::Error) -> Failure {
    Failure::Refused(format!(
        "{name} cannot be tested ({error}); name a device as `cardscope list` shows it, a directory, a file, or sim:NAME"
    ))
}
