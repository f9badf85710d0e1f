//! From the name of a target to an open one: a simulated card, a directory, a file or a device.
//!
//! Everything that could be lost is asked for here, before the first byte is written.

mod device;
mod files;
mod limit;
mod simulated;

pub(crate) use files::mounted;
pub use limit::Limit;

use crate::consent::{Consent, Question, obtain};
use crate::error::Failure;
use crate::journal;
use cardscope_device::asking::{Asking, asking};
use cardscope_device::held::{Device, Held, HoldError, Kind};
use cardscope_device::open::Access;
use cardscope_device::system::System;
use cardscope_device::thermometer::Thermometer;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::null::NullTarget;
use cardscope_engine::real::{HealthSource, PingSource, RealOptions, TemperatureSource};
use cardscope_engine::target::Target;
use cardscope_model::caveat::Caveat;
use cardscope_model::condition::Condition;
use cardscope_model::identity::Identity;
use cardscope_model::report::Header;
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
    /// The very object that is open: device, file or directory. `None` for a simulated card.
    pub held: Option<Arc<Held>>,
    /// How much may be written.
    pub limit: Limit,
    /// How each file is opened, where the target is a directory whose files are targets of their own.
    pub(crate) files: Option<RealOptions>,
    /// Reads the temperature as long as it is kept.
    _thermometer: Option<Thermometer>,
}

impl Opened {
    /// The beginning of a verb's document.
    pub(crate) fn header(&self, target: &str, seed: u64) -> Header {
        Header {
            target: target.to_owned(),
            seed,
            condition: self.condition.clone(),
            io_path: self.target.info().io_path.to_owned(),
            caveats: self.caveats.clone(),
            ..Header::default()
        }
    }

    /// True where the target is a directory, in which only files of the test's own are written.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.held.as_ref().is_some_and(|held| matches!(held.kind(), Kind::Directory))
    }

    /// Lets go of the card, so that the kernel or a mount may have it; gives what was held.
    pub(crate) fn let_go(&mut self) -> Option<Arc<Held>> {
        self.target = Box::new(NullTarget::new(0));
        self.held.take()
    }

    /// A name that leads to what is open, whatever became of the name that it was opened by.
    pub(crate) fn leads_to(&self) -> String {
        match &self.held {
            Some(held) => held.path().to_string_lossy().into_owned(),
            None => self.target.info().name.clone(),
        }
    }

    /// The block device that is open, where the target is one.
    #[must_use]
    pub fn device(&self) -> Option<&Device> {
        match self.held.as_ref()?.kind() {
            Kind::Device(device) => Some(device),
            _ => None,
        }
    }
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
    let mut opened = open_any(name, writes, consent, interrupt)?;
    // In a directory only files of the test's own are written.
    if writes && !opened.is_directory() {
        journal::none_waits(name, &mut opened, interrupt)?;
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
    let access = if writes { Access::ReadWrite } else { Access::Read };
    let held = Arc::new(Held::open(Path::new(name), access).map_err(|error| not_held(name, error))?);
    match held.kind() {
        Kind::Directory => files::directory(&held, interrupt),
        Kind::File => {
            agree(name, &held, writes, consent)?;
            files::file(name, &held, writes, interrupt)
        }
        Kind::Device(device) => {
            agree(name, &held, writes, consent)?;
            device::open(name, &held, device, writes, interrupt)
        }
    }
}

/// Asks about the very object that is open, and looks afterwards whether it is still what was asked about.
fn agree(name: &str, held: &Held, writes: bool, consent: &mut dyn Consent) -> Result<(), Failure> {
    if !writes {
        return Ok(());
    }
    let contents = held.contents().map_err(Failure::io)?;
    let known = held.also_known_as().map_or_else(|| name.to_owned(), |real| format!("{name} ({real})"));
    let at_stake = match held.kind() {
        Kind::Device(device) => device::at_stake(&known, held.bytes(), device, &contents),
        _ => files::at_stake(&known, held.bytes()),
    };
    let at_stake = consent.narrowed(&at_stake, &contents);
    obtain(consent, &Question { target: name.to_owned(), at_stake })?;
    held.agreed().map_err(|change| {
        Failure::Refused(format!(
            "{change}; nothing was written to {name}. Check what it is now and start again"
        ))
    })
}

fn not_held(name: &str, error: HoldError) -> Failure {
    match error {
        HoldError::Name(errno) => no_target(name, &errno.into()),
        other => Failure::refused(other),
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
fn ask(system: &System, name: &str, device: &str, options: &mut RealOptions) -> Result<Vec<Caveat>, Failure> {
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

fn no_target(name: &str, error: &std::io::Error) -> Failure {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let advice = match error.kind() {
        NotFound | NotADirectory => {
            "check the name (`cardscope list` shows the devices), and that the card is plugged in or mounted"
        }
        _ => "name a device as `cardscope list` shows it, a directory, a file, or sim:NAME",
    };
    Failure::Refused(format!("{name} cannot be tested ({error}); {advice}"))
}
