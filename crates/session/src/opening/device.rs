//! A block device that is held: what is known of it, and the target on it.

use super::opened::Opened;
use super::sources;
use crate::error::Failure;
use cardscope_device::contents::Contents;
use cardscope_device::held::{Device, Held};
use cardscope_device::sensors::Sensors;
use cardscope_device::{host, inspect, system::System};
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::real::{BlockDevice, Holding, IoChoice, RealOptions, RealTarget};
use cardscope_model::caveat::Caveat;
use cardscope_model::units::Capacity;
use std::sync::Arc;

pub(super) fn open(
    name: &str,
    held: &Arc<Held>,
    device: &Device,
    writes: bool,
    interrupt: &Interrupt,
) -> Result<Opened, Failure> {
    let system = System::host();
    // Whatever is asked beside the I/O is asked of what is held, not of what the name leads to by now.
    let this = held.path();
    let this = this.to_string_lossy();
    let remark = device.clearance.as_ref().and_then(|seen| seen.remark());
    let mut caveats: Vec<Caveat> = remark.map(|text| Caveat::Other { text }).into_iter().collect();
    let thermometer = Sensors::of_card(&system, &this);
    let mut options = RealOptions {
        io: IoChoice::from_env(),
        temperature: thermometer.as_ref().map(sources::temperature),
        interrupt: interrupt.clone(),
        holding: Some(Arc::clone(held) as Arc<dyn Holding>),
        read_only: !writes,
        ..RealOptions::default()
    };
    caveats.extend(sources::ask(&system, name, &this, &mut options)?);
    let block = BlockDevice {
        fd: held.descriptor().map_err(Failure::io)?,
        bytes: held.bytes(),
        sector: device.sector,
        name: name.to_owned(),
    };
    let target = Box::new(RealTarget::device(block, options).map_err(Failure::refused)?);
    let identity = inspect::inspect(&system, &this).ok();
    Ok(Opened {
        may_write: writes,
        caveats,
        held: Some(Arc::clone(held)),
        _thermometer: thermometer,
        ..Opened::of(target, identity, host::condition(&system, Some(&this)))
    })
}

/// What stands to be lost: the device, its model and size, its partitions and file systems.
pub(super) fn at_stake(name: &str, bytes: u64, device: &Device, contents: &Contents) -> String {
    let model = device.clearance.as_ref().and_then(|seen| seen.model.as_deref());
    let model = model.map(|m| format!("{m}, ")).unwrap_or_default();
    format!("{name} ({model}{}), which holds {}", Capacity(bytes), contents.sentence())
}
