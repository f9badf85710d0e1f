//! State of a schedule: the tested card and another one, the card in the slot, the pending fault, and the truth about
//! everything that happened to the card.

use super::disks::Disks;
use super::fault::{Due, PutIn};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::target::{IoDirection, IoRequest};
use cardscope_model::identity::Identity;
use cardscope_model::random::mix_bits;
use cardscope_simulator::SimTarget;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;

/// Events of a sector, as bits.
pub(super) mod sector {
    /// Written, completely or partly, or discarded.
    pub(crate) const TOUCHED: u8 = 1;
    /// The last write was lost.
    pub(crate) const LOST: u8 = 2;
    /// Every I/O fails.
    pub(crate) const BAD: u8 = 4;
    /// Two reads returned the same wrong data while the original was in place, which no program can detect.
    pub(crate) const MISREAD: u8 = 8;
    /// A write failed, and none has succeeded since.
    pub(crate) const REFUSED: u8 = 16;
    /// An I/O failed, and none has succeeded since.
    pub(crate) const FAILED: u8 = 32;
}

pub(super) const SECTOR: u64 = 512;

/// Truth about the card, recorded below Cardscope. It survives a kill.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct FaultTruth {
    /// Bits of [`sector`] for each sector.
    #[serde(skip)]
    pub(super) sectors: Vec<u8>,
    pub(super) written: u64,
    /// Bytes of failed writes that reached the card nevertheless.
    pub(super) landed_of_failed: u64,
    /// Number of writes to the other card.
    pub(super) other_writes: u64,
    /// Reads that returned data older than a lost write, and that were compared with written data.
    pub(super) stale_reads: u64,
    /// Number of failed writes and flushes.
    pub(super) errors: u64,
    /// True if an I/O failed whose whole range had failed before.
    pub(super) failed_again: bool,
    /// Reads misread by a lasting fault, and compared with written data.
    pub(super) misread_stamps: u64,
    /// Hash of the wrong data of each misread sector.
    #[serde(skip)]
    pub(super) misread: HashMap<u64, u64>,
    /// True if a fault struck that may change the card's data or what is read of it.
    pub(super) harmed: bool,
    /// Hash of all calls on the target in their order.
    pub(super) calls: u64,
}

impl FaultTruth {
    fn range(offset: u64, len: u64) -> std::ops::Range<usize> {
        (offset / SECTOR) as usize..((offset + len) / SECTOR) as usize
    }

    /// True if any sector of a range has one of these bits.
    pub(super) fn any(&self, offset: u64, len: u64, bits: u8) -> bool {
        self.sectors[Self::range(offset, len)].iter().any(|sector| sector & bits != 0)
    }

    pub(super) fn all(&self, offset: u64, len: u64, bits: u8) -> bool {
        self.sectors[Self::range(offset, len)].iter().all(|sector| sector & bits != 0)
    }

    pub(super) fn set(&mut self, offset: u64, len: u64, bits: u8) {
        self.sectors[Self::range(offset, len)].iter_mut().for_each(|sector| *sector |= bits);
    }

    /// Records wrong data of a read; `held` is true for offsets whose sector has its original content.
    pub(super) fn misread(&mut self, offset: u64, data: &[u8], held: impl Fn(usize) -> bool) {
        for (at, wrong) in (0..).step_by(SECTOR as usize).zip(data.chunks(SECTOR as usize)) {
            let sector = (offset + at as u64) / SECTOR;
            let number = wrong.iter().fold(0, |all, byte| mix_bits(all ^ u64::from(*byte)));
            if held(at) && self.misread.insert(sector, number) == Some(number) {
                self.sectors[sector as usize] |= sector::MISREAD;
            }
        }
    }

    /// Records an I/O that failed by a lasting fault; `again` is true if its whole range had failed before.
    pub(super) fn failed(&mut self, io: &IoRequest, again: bool) {
        let (start, len) = (io.offset, u64::from(io.len));
        self.failed_again |= again;
        self.set(start, len, sector::FAILED);
        if io.direction == IoDirection::Write {
            self.errors += 1;
            self.written -= len;
            self.set(start, len, sector::REFUSED);
        }
    }

    /// True if any sector is bad or lost its last write.
    pub(super) fn is_lossy(&self) -> bool {
        self.sectors.iter().any(|bits| bits & (sector::LOST | sector::BAD) != 0)
    }

    /// Adds a call to the hash.
    pub(super) fn called(&mut self, operation: &str, offset: u64) {
        self.calls = operation
            .bytes()
            .fold(mix_bits(self.calls ^ offset), |all, byte| mix_bits(all ^ u64::from(byte)));
    }

    pub(super) fn clear(&mut self, offset: u64, len: u64, bits: u8) {
        self.sectors[Self::range(offset, len)].iter_mut().for_each(|sector| *sector &= !bits);
    }
}

/// Card on the table with its identity.
pub(super) struct InsertedCard {
    pub(super) card: Option<SimTarget>,
    pub(super) identity: Option<Identity>,
}

pub(super) struct FaultScenario {
    pub(super) own: InsertedCard,
    pub(super) other: InsertedCard,
    pub(super) slot: PutIn,
    /// Overrides of the active lasting fault.
    pub(super) lasting: &'static str,
    /// Next fault.
    pub(super) due: Option<Due>,
    /// Calls on the target since the start of the command.
    pub(super) steps: u64,
    /// Limit of calls, beyond which the command counts as endless.
    pub(super) most_steps: u64,
    /// Call at which the restoring began.
    pub(super) restoring_at: Option<u64>,
    pub(super) truth: FaultTruth,
    /// Original content of the tested card.
    pub(super) before: File,
    pub(super) interrupt: InterruptFlag,
    pub(super) disks: Disks,
    /// Folder for the card after a kill.
    pub(super) grave: PathBuf,
}

/// File names in that folder.
pub(super) const CARD: &str = "card";
pub(super) const TRUTH: &str = "truth";
pub(super) const SECTORS: &str = "sectors";

impl FaultScenario {
    /// Saves the card and the truth, and kills this process: files remain, memory is lost.
    pub(super) fn simulate_kill(&self, card: &SimTarget) -> ! {
        card.save(&self.grave.join(CARD)).unwrap();
        std::fs::write(self.grave.join(SECTORS), &self.truth.sectors).unwrap();
        std::fs::write(self.grave.join(TRUTH), serde_json::to_vec(&self.truth).unwrap()).unwrap();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        unreachable!("a kill is final")
    }
}
