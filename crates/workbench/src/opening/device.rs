//! A block device: guarded, asked for, opened exclusively where it is written to.

use super::{Limit, Opened};
use crate::consent::{Consent, Question, obtain};
use crate::error::Failure;
use cardscope_device::block::DeviceNumber;
use cardscope_device::guard::{self, Clearance};
use cardscope_device::open::{Access, OpenDevice, open_device, open_shared, peek};
use cardscope_device::thermometer::Thermometer;
use cardscope_device::{contents, host, inspect, system::System};
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::real::{BlockDevice, IoChoice, RealOptions, RealTarget, Reopen};
use cardscope_engine::target::TargetError;
use cardscope_model::caveat::Caveat;
use cardscope_model::units::Capacity;
use std::path::PathBuf;

pub(super) fn open(
    name: &str,
    writes: bool,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
) -> Result<Opened, Failure> {
    let system = System::host();
    let mut caveats = Vec::new();
    let mut path = PathBuf::from(name);
    let device = if writes {
        let clearance = guard::check(&system, name).map_err(Failure::refused)?;
        obtain(consent, &Question { target: name.to_owned(), at_stake: at_stake(name, &clearance) })?;
        caveats.extend(clearance.remark().map(|text| Caveat::Other { text }));
        path.clone_from(&clearance.path);
        claim(&clearance)?
    } else {
        open_shared(&path).map_err(Failure::refused)?
    };
    let thermometer = Thermometer::find(&system, name);
    let mut options = RealOptions {
        io: IoChoice::from_env(),
        temperature: thermometer.as_ref().map(super::temperature),
        interrupt: interrupt.clone(),
        ..RealOptions::default()
    };
    caveats.extend(super::ask(&system, name, &mut options)?);
    let block = BlockDevice {
        fd: device.fd,
        bytes: device.bytes,
        sector: device.sector,
        name: name.to_owned(),
        reopen: reopen(path, device.rdev, device.sequence, writes),
    };
    let identity = inspect::inspect(&system, name).ok();
    Ok(Opened {
        target: Box::new(RealTarget::device(block, options).map_err(Failure::refused)?),
        condition: host::condition(&system, Some(name)),
        ceiling_mb_s: identity.as_ref().and_then(|i| i.ceiling_mb_s()),
        identity,
        may_write: writes,
        caveats,
        limit: Limit::default(),
        _thermometer: thermometer,
    })
}

/// What stands to be lost: the device, its model and size, its partitions and file systems.
fn at_stake(name: &str, clearance: &Clearance) -> String {
    let model = clearance.model.as_deref().map(|m| format!("{m}, ")).unwrap_or_default();
    let held = match peek(&clearance.path) {
        Ok(file) => contents::describe(&file, clearance.bytes).sentence(),
        Err(error) => format!("something that could not be looked at ({error})"),
    };
    format!("{name} ({model}{}), which holds {held}", Capacity(clearance.bytes))
}

/// Opens exclusively, and makes sure that it is still the device that was let pass.
fn claim(clearance: &Clearance) -> Result<OpenDevice, Failure> {
    let device = open_device(&clearance.path, Access::ReadWrite).map_err(Failure::refused)?;
    let same = clearance.number.is_none_or(|n| n == device.rdev)
        && clearance.sequence == device.sequence
        && clearance.bytes == device.bytes;
    if !same {
        let path = clearance.path.display();
        return Err(Failure::Refused(format!(
            "{path} is another device now than a moment ago; nothing was written"
        )));
    }
    Ok(device)
}

/// Opens the same device again, or none: after a card was swapped its name may stand for another one.
fn reopen(path: PathBuf, number: DeviceNumber, sequence: Option<u64>, writes: bool) -> Reopen {
    Box::new(move || {
        let again = if writes { open_device(&path, Access::ReadWrite) } else { open_shared(&path) };
        let setup =
            |reason: String| TargetError::Setup { what: format!("opening {} again", path.display()), reason };
        let device = again.map_err(|e| setup(e.to_string()))?;
        if device.rdev != number || device.sequence != sequence {
            return Err(setup("it is another device now".into()));
        }
        Ok(device.fd)
    })
}
