//! Open target with its identity, condition and write limit. Without `--max-write` little is written to the disk of the
//! running system: on small boards the card is that disk, and a test in a directory asks for no consent. The limit is
//! enforced in the target itself, whatever a verb plans.

use crate::error::Failure;
use cardscope_device::claimed::{ClaimedDevice, ClaimedKind, ClaimedTarget};
use cardscope_device::filesystem;
use cardscope_device::sensors::SensorThreads;
use cardscope_engine::null_target::NullTarget;
use cardscope_engine::real::RealOptions;
use cardscope_engine::target::{Target, TargetInfo, WriteQuota};
use cardscope_engine::write_limited::{WriteLimitedTarget, grows_by_writing};
use cardscope_model::caveat::Caveat;
use cardscope_model::condition::Condition;
use cardscope_model::identity::Identity;
use cardscope_model::report::{IoTotals, ReportHeader};
use cardscope_model::suspect_reader::SuspectReader;
use cardscope_model::units::{BinarySize, MIB};
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetType {
    /// Directory, in which only test files are written.
    Directory,
    Simulated,
    /// Device or file with data that may be lost.
    Card,
}

pub struct OpenTarget {
    pub target: Box<dyn Target>,
    /// None if the card cannot be queried.
    pub identity: Option<Identity>,
    pub condition: Condition,
    /// Speed limit of the bus in MB/s.
    pub ceiling_mb_s: Option<f64>,
    /// True for simulated cards, directories, and with consent.
    pub is_writable: bool,
    pub caveats: Vec<Caveat>,
    pub suspect_reader: Option<SuspectReader>,
    /// I/Os of the reader check, which are added to those of the verb.
    pub(crate) reader_ios: IoTotals,
    /// Journals with unrestored data of this card.
    pub(crate) waiting_journals: Vec<String>,
    /// Open device, file or directory. None for a simulated card.
    pub open_object: Option<Arc<ClaimedTarget>>,
    pub limit: WriteLimitState,
    /// Options for opening each file if the target is a directory of separate targets.
    pub files: Option<RealOptions>,
    /// Thermometer of the card, which is read until this is dropped.
    pub thermometer: Option<SensorThreads>,
}

impl OpenTarget {
    /// Creates a writable target without caveats and limit.
    pub fn writable(target: Box<dyn Target>, identity: Option<Identity>, condition: Condition) -> Self {
        OpenTarget {
            target,
            ceiling_mb_s: identity.as_ref().and_then(|identity| identity.ceiling_mb_s()),
            identity,
            condition,
            is_writable: true,
            caveats: Vec::new(),
            suspect_reader: None,
            reader_ios: IoTotals::default(),
            waiting_journals: Vec::new(),
            open_object: None,
            limit: WriteLimitState::default(),
            files: None,
            thermometer: None,
        }
    }

    pub(crate) fn header(&self, target: &str, seed: u64) -> ReportHeader {
        ReportHeader {
            target: target.to_owned(),
            seed,
            condition: self.condition.clone(),
            io_path: self.target.info().io_path.to_owned(),
            caveats: self.caveats.clone(),
            suspect_reader: self.suspect_reader.clone(),
            ..ReportHeader::default()
        }
    }

    pub fn is_directory(&self) -> bool {
        self.open_object.as_ref().is_some_and(|held| matches!(held.kind(), ClaimedKind::Directory))
    }

    pub fn target_type(&self) -> TargetType {
        match self.is_directory() {
            true => TargetType::Directory,
            false if self.is_simulated() => TargetType::Simulated,
            false => TargetType::Card,
        }
    }

    /// True for a simulated card. Wrong after [`OpenTarget::release`].
    pub fn is_simulated(&self) -> bool {
        self.open_object.is_none()
    }

    /// Closes the target, so that the kernel can use or mount the card. Returns the object that was open.
    pub fn release(&mut self) -> Option<Arc<ClaimedTarget>> {
        self.target = Box::new(NullTarget::new(0));
        self.open_object.take()
    }

    /// Path to the open object, which stays valid if the original name changes.
    pub(crate) fn stable_path(&self) -> String {
        match &self.open_object {
            Some(held) => held.descriptor_path().to_string_lossy().into_owned(),
            None => self.target.info().name.clone(),
        }
    }

    /// Disk that is open, or that the open file or directory lies on. None for a simulated card, or if there is no single disk.
    pub fn disk(&self) -> Option<String> {
        self.open_object.as_ref()?;
        match self.device() {
            Some(_) => Some(self.stable_path()),
            None => filesystem::file_system_at(Path::new(&self.stable_path())).ok()?.disk,
        }
    }

    /// True for a whole card, false for a partition or file.
    pub fn is_whole_card(&self) -> bool {
        let is_part = |device: &ClaimedDevice| {
            device.clearance.as_ref().is_some_and(|seen| seen.partition_of.is_some())
        };
        self.is_simulated() || self.device().is_some_and(|device| !is_part(device))
    }

    pub fn fastest_mark(&self) -> Option<(String, f64)> {
        let demands = &self.identity.as_ref()?.mark_demands;
        let fastest = demands.iter().max_by(|a, b| a.write_mb_s.total_cmp(&b.write_mb_s))?;
        Some((fastest.mark.to_string(), fastest.write_mb_s))
    }

    pub fn device(&self) -> Option<&ClaimedDevice> {
        match self.open_object.as_ref()?.kind() {
            ClaimedKind::Device(device) => Some(device),
            _ => None,
        }
    }
}

/// Write limit on the disk of the running system without `--max-write`.
const SYSTEM_DISK_LIMIT: u64 = 256 * MIB;

#[derive(Debug, Default)]
pub struct WriteLimitState {
    allowance: Option<WriteQuota>,
    /// Disk of the running system, if it is the reason for the limit.
    system_disk: Option<String>,
}

impl WriteLimitState {
    /// Bytes that may still be written, None without a limit.
    pub fn bytes_left(&self) -> Option<u64> {
        self.allowance.as_ref().map(WriteQuota::available)
    }

    /// Reserves the rest of the limit for later parts, so that one of `shares` equal parts may be written now.
    pub fn reserve_shares(&self, shares: u32) {
        if let Some(allowance) = &self.allowance {
            // Reservations of earlier parts end here.
            allowance.reserve(0);
            let left = allowance.available();
            allowance.reserve(left - left / u64::from(shares.max(1)));
        }
    }

    /// Counts bytes that were written to separate files instead of the target.
    pub fn count_outside_writes(&self, bytes: u64) {
        if let Some(allowance) = &self.allowance {
            // More than the rest of the limit may have been written. Then the rest is used up.
            let _ = allowance.try_take(bytes.min(allowance.available()));
        }
    }

    /// The limit as a warning before the test.
    pub fn warning_text(&self) -> Option<String> {
        let most = BinarySize(self.bytes_left()?);
        let disk = self.system_disk.as_ref();
        let reason = disk.map_or_else(String::new, |disk| {
            format!(", since the running system is on this disk ({disk}); raise it with --max-write")
        });
        Some(format!("limited to {most}{reason}"))
    }

    /// Reason for a default limit, as the end of a sentence.
    pub fn reason(&self) -> Option<String> {
        let limit = BinarySize(SYSTEM_DISK_LIMIT);
        self.system_disk.as_ref().map(|_| format!("this is the system disk (limit {limit})"))
    }

    pub fn refuse_write(&self, what: &str, needed: u64) -> Failure {
        let (most, needed) = (BinarySize(self.bytes_left().unwrap_or_default()), needed.div_ceil(MIB));
        let limits =
            |disk| format!("the running system is on this disk ({disk}), which limits writes to {most}");
        let why = self.system_disk.as_ref().map_or_else(|| format!("the limit is {most}"), limits);
        let advice = format!("give --max-write {needed}M, or use another disk");
        Failure::refused(format!("{what} writes up to {needed} MiB, but {why}; {advice}"))
    }
}

impl OpenTarget {
    pub(crate) fn with_system_disk_limit(mut self, disk: Option<String>) -> Self {
        if disk.is_some() {
            self.limit_writes(Some(SYSTEM_DISK_LIMIT));
            self.limit.system_disk = disk;
        }
        self
    }

    pub fn limit_writes(&mut self, most: Option<u64>) {
        let Some(bytes) = most else { return };
        self.limit.system_disk = None;
        if let Some(allowance) = &self.limit.allowance {
            return allowance.reset(bytes);
        }
        let allowance = WriteQuota::new(bytes);
        self.limit.allowance = Some(allowance.clone());
        let target = std::mem::replace(&mut self.target, Box::new(NullTarget::new(0)));
        let grows = self.grows_by_writing(target.info());
        self.target = Box::new(WriteLimitedTarget::new(target, allowance, grows));
    }

    /// True on file systems that zero-fill a growing file (FAT, exFAT), if the target is a test file in a directory.
    fn grows_by_writing(&self, target: &TargetInfo) -> bool {
        self.is_directory() && grows_by_writing(target.file_system.as_deref())
    }

    /// Bytes that creating a test file of `area` bytes writes before any test data.
    pub fn growth_bytes(&self, area: u64) -> u64 {
        if self.grows_by_writing(self.target.info()) { area } else { 0 }
    }

    /// Removes the limit before a restoration, which does not count as a write of the test.
    pub(crate) fn lift_limit(&self) {
        if let Some(allowance) = &self.limit.allowance {
            allowance.reset(u64::MAX);
        }
    }
}
