//! Looking again: is it still the object that was opened, and does nobody else use it by now?

use super::{Device, Held, Kind};
use crate::block::{DeviceNumber, is_listed};
use crate::guard::{self, Clearance};
use crate::open::{sequence_of, size_of};
use crate::system::System;
use cardscope_engine::real::Holding;
use cardscope_engine::target::Change;
use cardscope_files::Identity;
use rustix::fs::{FileType, fstat, stat};

impl Held {
    /// Whether what was agreed to is what is going to be written: asked once, after the question.
    ///
    /// # Errors
    /// What changed meanwhile.
    pub fn agreed(&self) -> Result<(), Change> {
        self.present()?;
        self.named()?;
        self.unused(true)
    }

    /// Whether the guards saw this very device, in this very coming.
    pub fn is(&self, seen: &Clearance) -> bool {
        matches!(&self.kind, Kind::Device(device)
            if (Some(device.number), device.sequence, self.bytes) == (seen.number, seen.sequence, seen.bytes))
    }

    /// Whether its name still leads to it.
    fn named(&self) -> Result<(), Change> {
        let name = self.name.display();
        let other = || Change::Another(format!("{name} leads to something else now than when it was opened"));
        let found = stat(&self.name).map_err(|errno| {
            Change::Another(format!("{name} leads to nothing any more ({errno}); it was moved or removed"))
        })?;
        let same = match &self.kind {
            Kind::Device(device) => {
                FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice
                    && DeviceNumber::from_raw(found.st_rdev) == device.number
            }
            _ => self.id == Identity::from(&found),
        };
        same.then_some(()).ok_or_else(other)
    }

    /// Whether nobody else uses it. A directory may be used: in it only files of our own are written.
    fn unused(&self, all: bool) -> Result<(), Change> {
        let system = System::host();
        let free = match &self.kind {
            Kind::Device(device) => {
                guard::check_held(&system, device.number, &self.name.to_string_lossy(), all)
            }
            Kind::File => guard::check_file_id(&system, self.id, &self.name).and_then(|()| match all {
                true => guard::check_locks(&system, self.id, &self.name),
                false => Ok(()),
            }),
            Kind::Directory => Ok(()),
        };
        free.map_err(|refusal| Change::InUse(refusal.to_string()))
    }

    fn resized(&self, is: u64) -> Result<(), Change> {
        match is == self.bytes {
            true => Ok(()),
            false => Err(Change::Resized { was: self.bytes, is }),
        }
    }

    fn device_present(&self, device: &Device) -> Result<(), Change> {
        // A device whose driver let go answers with no size, or not at all.
        match size_of(&self.fd) {
            Ok(0) => Err(Change::Gone("its size is 0".to_owned())),
            Err(errno) => Err(Change::Gone(errno.to_string())),
            Ok(_) if sequence_of(&self.fd) != device.sequence => {
                Err(Change::Another(format!("another card is in {} now", self.name.display())))
            }
            Ok(bytes) => self.resized(bytes),
        }
    }
}

impl Holding for Held {
    fn present(&self) -> Result<(), Change> {
        if self.carrier.is_some_and(|number| !is_listed(number)) {
            return Err(Change::Gone("the kernel does not list its device any more".to_owned()));
        }
        match &self.kind {
            Kind::Device(device) => self.device_present(device),
            Kind::File | Kind::Directory => {
                let found = fstat(&self.fd).map_err(|errno| Change::Gone(errno.to_string()))?;
                if matches!(self.kind, Kind::File) { self.resized(found.st_size as u64) } else { Ok(()) }
            }
        }
    }

    fn may_write(&self) -> Result<(), Change> {
        self.present()?;
        // Links to a device come and go with what is written to it (by-label, by-uuid): its number and sequence tell.
        if !matches!(self.kind, Kind::Device(_)) {
            self.named()?;
        }
        if self.writes { self.unused(false) } else { Ok(()) }
    }
}
