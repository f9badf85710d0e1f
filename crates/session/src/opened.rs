//! An open target with all that is known of it, and how much may be written through it: on the disk that holds the running
//! system little, unless the user says more. Nothing is asked below a mounted file system, and most cards of a small board
//! are just that disk. Whatever a verb plans, its target writes no more.

use crate::error::Failure;
use cardscope_device::filesystem;
use cardscope_device::held::{ClaimedDevice, ClaimedKind, ClaimedTarget};
use cardscope_device::sensors::SensorThreads;
use cardscope_engine::allowance::WriteQuota;
use cardscope_engine::null::NullTarget;
use cardscope_engine::rationed::{WriteLimitedTarget, grows_by_writing};
use cardscope_engine::real::RealOptions;
use cardscope_engine::target::{Target, TargetInfo};
use cardscope_model::caveat::Caveat;
use cardscope_model::condition::Condition;
use cardscope_model::identity::Identity;
use cardscope_model::report::{IoTotals, ReportHeader};
use cardscope_model::suspect_reader::SuspectReader;
use cardscope_model::units::{BinarySize, MIB};
use std::path::Path;
use std::sync::Arc;

/// What a target is, as far as it decides what may be written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetType {
    /// A directory, in which only files of the test's own are written.
    Directory,
    /// A simulated card, on which nothing is anybody's.
    Simulated,
    /// A device or a file, on which data can be lost.
    Card,
}

/// An open target and what is known of it.
pub struct OpenTarget {
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
    /// Reads that gave different data, where that was tested before something is overwritten for good.
    pub suspect_reader: Option<SuspectReader>,
    /// I/Os of that test, and those that failed: counted with the verb's own.
    pub(crate) reader_ios: IoTotals,
    /// Journals that hold data of the card which is not restored.
    pub(crate) waiting_journals: Vec<String>,
    /// The very object that is open: device, file or directory. `None` for a simulated card.
    pub held: Option<Arc<ClaimedTarget>>,
    /// How much may be written.
    pub limit: WriteLimitState,
    /// How each file is opened, where the target is a directory whose files are targets of their own.
    pub files: Option<RealOptions>,
    /// Reads the card's temperature as long as it is kept.
    pub thermometer: Option<SensorThreads>,
}

impl OpenTarget {
    /// A target that is open, of which nothing else is known yet.
    pub fn of(target: Box<dyn Target>, identity: Option<Identity>, condition: Condition) -> Self {
        OpenTarget {
            target,
            ceiling_mb_s: identity.as_ref().and_then(|identity| identity.ceiling_mb_s()),
            identity,
            condition,
            may_write: true,
            caveats: Vec::new(),
            suspect_reader: None,
            reader_ios: IoTotals::default(),
            waiting_journals: Vec::new(),
            held: None,
            limit: WriteLimitState::default(),
            files: None,
            thermometer: None,
        }
    }

    /// The beginning of a verb's document.
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

    /// True where the target is a directory, in which only files of the test's own are written.
    pub fn is_directory(&self) -> bool {
        self.held.as_ref().is_some_and(|held| matches!(held.kind(), ClaimedKind::Directory))
    }

    /// What it is.
    pub fn target_type(&self) -> TargetType {
        match self.is_directory() {
            true => TargetType::Directory,
            false if self.is_simulated() => TargetType::Simulated,
            false => TargetType::Card,
        }
    }

    /// Whether a simulated card is open; not to be asked of one that was let go of.
    pub fn is_simulated(&self) -> bool {
        self.held.is_none()
    }

    /// Lets go of the card, so that the kernel or a mount may have it; gives what was held.
    pub fn let_go(&mut self) -> Option<Arc<ClaimedTarget>> {
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

    /// A path or name of the disk that is open, or on which the open file or directory lies; `None` where it lies on no
    /// single one, or the card is simulated.
    pub fn disk(&self) -> Option<String> {
        match self.held.as_ref()?.kind() {
            ClaimedKind::Device(_) => Some(self.leads_to()),
            ClaimedKind::File | ClaimedKind::Directory => {
                filesystem::of_path(Path::new(&self.leads_to())).ok()?.disk
            }
        }
    }

    /// True where a whole card is open, not a partition of one or a file.
    pub fn is_whole_card(&self) -> bool {
        let is_part = |device: &ClaimedDevice| {
            device.clearance.as_ref().is_some_and(|seen| seen.partition_of.is_some())
        };
        self.is_simulated() || self.device().is_some_and(|device| !is_part(device))
    }

    /// The mark of the card that promises the fastest writes, and how fast in MB/s.
    pub fn promised_write(&self) -> Option<(String, f64)> {
        let demands = &self.identity.as_ref()?.mark_demands;
        let fastest = demands.iter().max_by(|a, b| a.write_mb_s.total_cmp(&b.write_mb_s))?;
        Some((fastest.mark.to_string(), fastest.write_mb_s))
    }

    /// The block device that is open, where the target is one.
    pub fn device(&self) -> Option<&ClaimedDevice> {
        match self.held.as_ref()?.kind() {
            ClaimedKind::Device(device) => Some(device),
            _ => None,
        }
    }
}

/// On the disk that holds the running system no more is written than this, unless `--max-write` says so.
const ON_SYSTEM_DISK: u64 = 256 * MIB;

/// What may be written through an open target; without a limit everything.
#[derive(Debug, Default)]
pub struct WriteLimitState {
    allowance: Option<WriteQuota>,
    /// The disk that the directory shares with the running system, where that is why.
    system_disk: Option<String>,
}

impl WriteLimitState {
    /// Bytes that may still be written; `None` where there is no limit.
    pub fn left(&self) -> Option<u64> {
        self.allowance.as_ref().map(WriteQuota::left)
    }

    /// Puts by what others are to write: of what is left, one of `shares` may be written now.
    pub fn share_out(&self, shares: u32) {
        if let Some(allowance) = &self.allowance {
            allowance.reserve(0);
            let left = allowance.left();
            allowance.reserve(left - left / u64::from(shares.max(1)));
        }
    }

    /// Bytes that were written past the target, to files of their own.
    pub fn count(&self, bytes: u64) {
        if let Some(allowance) = &self.allowance {
            // Less than that may be left: then nothing is.
            let _ = allowance.take(bytes.min(allowance.left()));
        }
    }

    /// The limit in words, to be said before anything is written.
    pub fn words(&self) -> Option<String> {
        let most = BinarySize(self.left()?);
        Some(match &self.system_disk {
            Some(disk) => format!(
                "limited to {most}, since the running system is on this disk ({disk}); raise it with \
                 --max-write"
            ),
            None => format!("limited to {most}"),
        })
    }

    /// What limits writes where the user did not, as the end of a sentence.
    pub fn reason(&self) -> Option<String> {
        let limit = BinarySize(ON_SYSTEM_DISK);
        self.system_disk.as_ref().map(|_| format!("this is the system disk (limit {limit})"))
    }

    /// A refusal: what is to be done writes `needed` bytes, and that is more than may be written.
    pub fn refuse(&self, what: &str, needed: u64) -> Failure {
        let (most, needed) = (BinarySize(self.left().unwrap_or_default()), needed.div_ceil(MIB));
        let why = match &self.system_disk {
            Some(disk) => {
                format!("the running system is on this disk ({disk}), which limits writes to {most}")
            }
            None => format!("the limit is {most}"),
        };
        Failure::refused(format!(
            "{what} writes up to {needed} MiB, but {why}; give --max-write {needed}M, or use another disk"
        ))
    }
}

impl OpenTarget {
    /// Takes the limit of a disk that may hold the running system.
    pub(crate) fn on_disk_of_system(mut self, disk: Option<String>) -> Self {
        if disk.is_some() {
            self.limit_writes(Some(ON_SYSTEM_DISK));
            self.limit.system_disk = disk;
        }
        self
    }

    /// Sets what may be written in all, where the user said so (`--max-write`).
    pub fn limit_writes(&mut self, most: Option<u64>) {
        let Some(bytes) = most else { return };
        self.limit.system_disk = None;
        if let Some(allowance) = &self.limit.allowance {
            return allowance.set(bytes);
        }
        let allowance = WriteQuota::of(bytes);
        self.limit.allowance = Some(allowance.clone());
        let target = std::mem::replace(&mut self.target, Box::new(NullTarget::new(0)));
        let grows = self.grows_by_writing(target.info());
        self.target = Box::new(WriteLimitedTarget::new(target, allowance, grows));
    }

    /// Whether the test's own file on that target grows by writing.
    fn grows_by_writing(&self, target: &TargetInfo) -> bool {
        self.is_directory() && grows_by_writing(target.file_system.as_deref())
    }

    /// Bytes that making a file of `area` bytes writes, before anything is written into it.
    pub fn written_by_growing(&self, area: u64) -> u64 {
        if self.grows_by_writing(self.target.info()) { area } else { 0 }
    }

    /// What is put back is no part of what a test writes.
    pub(crate) fn lift_limit(&self) {
        if let Some(allowance) = &self.limit.allowance {
            allowance.set(u64::MAX);
        }
    }
}
