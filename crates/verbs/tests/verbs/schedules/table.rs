//! The table that a schedule is played on: the card that is tested and another one, what is in the slot, the fault that is
//! due, and the truth about all that was done to the card.

use super::disks::Disks;
use super::fault::{Due, PutIn};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::target::{IoDirection, IoRequest};
use cardscope_model::identity::Identity;
use cardscope_model::random::mix;
use cardscope_simulator::SimTarget;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;

/// What was done to a sector, as bits.
pub(super) mod sector {
    /// Written, whole or torn, or discarded.
    pub(crate) const TOUCHED: u8 = 1;
    /// Its last write was lost.
    pub(crate) const LOST: u8 = 2;
    /// It fails every I/O.
    pub(crate) const BAD: u8 = 4;
    /// Reads of it brought the same wrong data twice while it held what it held at first: nobody can know.
    pub(crate) const MISREAD: u8 = 8;
    /// A write of it failed, and none since went well.
    pub(crate) const REFUSED: u8 = 16;
    /// An I/O of it failed, and none since went well.
    pub(crate) const FAILED: u8 = 32;
}

pub(super) const SECTOR: u64 = 512;

/// The truth, below anything that Cardscope keeps of it. It outlives the program that is killed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct FaultTruth {
    /// For each sector what was done to it, see [`sector`].
    #[serde(skip)]
    pub(super) sectors: Vec<u8>,
    /// Bytes that were written to the card.
    pub(super) written: u64,
    /// Bytes of them that landed of writes which failed.
    pub(super) landed_of_failed: u64,
    /// Writes to the other card.
    pub(super) other_writes: u64,
    /// Reads that brought what a lost write should have replaced, and were compared with what was written.
    pub(super) stale_reads: u64,
    /// Writes and flushes that failed.
    pub(super) errors: u64,
    /// Whether an I/O failed that was asked for after all of its place had failed.
    pub(super) failed_again: bool,
    /// Reads that brought other data than the card's, by a fault that lasts, and were compared with what was written.
    pub(super) misread_stamps: u64,
    /// Sectors that were misread, each with its wrong data as one number.
    #[serde(skip)]
    pub(super) misread: HashMap<u64, u64>,
    /// Whether a fault struck that may change what is on the card, or what is read of it.
    pub(super) harmed: bool,
    /// All calls on the target and their order, as one number.
    pub(super) calls: u64,
}

impl FaultTruth {
    fn range(offset: u64, len: u64) -> std::ops::Range<usize> {
        (offset / SECTOR) as usize..((offset + len) / SECTOR) as usize
    }

    /// Whether any sector of a range has one of these bits.
    pub(super) fn any(&self, offset: u64, len: u64, bits: u8) -> bool {
        self.sectors[Self::range(offset, len)].iter().any(|sector| sector & bits != 0)
    }

    pub(super) fn all(&self, offset: u64, len: u64, bits: u8) -> bool {
        self.sectors[Self::range(offset, len)].iter().all(|sector| sector & bits != 0)
    }

    pub(super) fn set(&mut self, offset: u64, len: u64, bits: u8) {
        self.sectors[Self::range(offset, len)].iter_mut().for_each(|sector| *sector |= bits);
    }

    /// A read brought these data; `held` says whether the sector at a byte of it holds what it held at first.
    pub(super) fn misread(&mut self, offset: u64, data: &[u8], held: impl Fn(usize) -> bool) {
        for (at, wrong) in (0..).step_by(SECTOR as usize).zip(data.chunks(SECTOR as usize)) {
            let sector = (offset + at as u64) / SECTOR;
            let number = wrong.iter().fold(0, |all, byte| mix(all ^ u64::from(*byte)));
            if held(at) && self.misread.insert(sector, number) == Some(number) {
                self.sectors[sector as usize] |= sector::MISREAD;
            }
        }
    }

    /// The card or its reader failed an I/O by a fault that lasts; `again` where all of its place had failed when it was asked for.
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

    /// Whether any sector lost its last write, or fails.
    pub(super) fn is_lossy(&self) -> bool {
        self.sectors.iter().any(|bits| bits & (sector::LOST | sector::BAD) != 0)
    }

    /// One more call.
    pub(super) fn called(&mut self, operation: &str, offset: u64) {
        self.calls = operation.bytes().fold(mix(self.calls ^ offset), |all, byte| mix(all ^ u64::from(byte)));
    }

    pub(super) fn clear(&mut self, offset: u64, len: u64, bits: u8) {
        self.sectors[Self::range(offset, len)].iter_mut().for_each(|sector| *sector &= !bits);
    }
}

/// A card that lies on the table, with what it says of itself.
pub(super) struct InsertedCard {
    pub(super) card: Option<SimTarget>,
    pub(super) identity: Option<Identity>,
}

/// All of it.
pub(super) struct FaultScenario {
    pub(super) own: InsertedCard,
    pub(super) other: InsertedCard,
    pub(super) slot: PutIn,
    /// Overrides of the fault that lasts.
    pub(super) lasting: &'static str,
    /// What goes wrong next.
    pub(super) due: Option<Due>,
    /// Calls on the target since the run began.
    pub(super) steps: u64,
    /// A run that makes more is taken for one without end.
    pub(super) most_steps: u64,
    /// The call with which the run began to put back.
    pub(super) restoring_at: Option<u64>,
    pub(super) truth: FaultTruth,
    /// What stood on the tested card at first.
    pub(super) before: File,
    pub(super) interrupt: InterruptFlag,
    pub(super) disks: Disks,
    /// Where the card is kept while the program is dead.
    pub(super) grave: PathBuf,
}

/// The names of what is kept there.
pub(super) const CARD: &str = "card";
pub(super) const TRUTH: &str = "truth";
pub(super) const SECTORS: &str = "sectors";

impl FaultScenario {
    /// The program dies here, as a kill ends it: what it has on disk stays, what it has in memory is gone.
    pub(super) fn die(&self, card: &SimTarget) -> ! {
        card.save(&self.grave.join(CARD)).unwrap();
        std::fs::write(self.grave.join(SECTORS), &self.truth.sectors).unwrap();
        std::fs::write(self.grave.join(TRUTH), serde_json::to_vec(&self.truth).unwrap()).unwrap();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        unreachable!("a kill is final")
    }
}
