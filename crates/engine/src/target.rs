//! The `Target` trait: submits I/O and provides the clock that times it.
//!
//! Implemented by real devices, files and directories, and by simulated cards in virtual time. A simulated card behind
//! FUSE answers in real time and is a real file here. Code that measures cannot distinguish them.

use crate::content::{ContentMatch, IoContent};
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::KernelPath;
use cardscope_model::units::Nanos;
use cardscope_sd::nvme::SmartLog;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoDirection {
    Read,
    Write,
}

/// Request of one I/O. Offset and length are multiples of the sector; reads ignore `content`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoRequest {
    /// Prepared slot that carries the I/O; a slot carries one at a time.
    pub slot: u32,
    pub direction: IoDirection,
    pub offset: u64,
    /// At most the planned block size.
    pub len: u32,
    pub content: IoContent,
}

#[derive(Debug, Clone, PartialEq)]
pub struct IoCompletion {
    pub slot: u32,
    pub at: Nanos,
    /// `Ok` if all bytes were moved.
    pub result: TargetResult,
}

/// I/O of a [`IoRound`] that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundIo {
    pub slot: u32,
    pub at: Nanos,
}

/// Results of one [`Target::round`]; reused to save allocations.
#[derive(Debug, Default)]
pub struct IoRound {
    pub ended: Vec<RoundIo>,
    /// I/Os that failed on a card that still answers, each with its [`TargetError::Io`].
    pub failed: Vec<(RoundIo, TargetError)>,
    /// Number of the round's I/Os that were submitted.
    pub submitted: usize,
    completions: Vec<IoCompletion>,
}

impl IoRound {
    #[inline]
    pub fn clear_results(&mut self) {
        self.ended.clear();
        self.failed.clear();
        self.submitted = 0;
    }
}

/// Requirements of a lane before its first I/O.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LanePlan {
    /// Most I/Os in flight, using slots 0 to `depth - 1`.
    pub depth: u32,
    pub block: u64,
    /// Direct or through the page cache.
    pub path: KernelPath,
    /// True if each write must be on the card before it ends (`O_DSYNC`).
    pub sync_each: bool,
    /// True if each slot needs separate memory, because data read will be examined.
    pub own_buffers: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetRegion {
    pub start: u64,
    pub len: u64,
}

impl TargetRegion {
    /// First byte after the region.
    pub fn end(self) -> u64 {
        self.start + self.len
    }
}

/// Properties of a target that do not change while it is open.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetInfo {
    pub name: String,
    /// Announced bytes; for a directory, free space.
    pub bytes: u64,
    /// Smallest unit of I/O in bytes.
    pub sector: u32,
    /// `io_uring`, `preads` or `simulated`.
    pub io_path: &'static str,
    /// Name of the file system of a file or directory.
    pub file_system: Option<String>,
    /// True for devices and simulated cards, false for files.
    pub whole_card: bool,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TargetError {
    /// A single I/O failed, and the card still answers elsewhere.
    #[error(
        "I/O error: {operation} of {len} bytes at {offset} failed ({reason}), but the card answers \
         elsewhere. Try another reader and cable, then run `cardscope verify --full` to find bad blocks"
    )]
    Io {
        /// `read`, `write`, `flush` and so on.
        operation: &'static str,
        offset: u64,
        len: u64,
        reason: String,
        /// 0 if there is none.
        errno: i32,
    },
    /// The card is present, but nothing on it can be read any more.
    #[error(
        "the card no longer answers ({operation} at {offset}: {reason}). Insert it again and start again, or \
         try another reader. The results so far are stored"
    )]
    Silent { operation: &'static str, offset: u64, reason: String },
    /// The card or its reader was removed.
    #[error(
        "the card went away during {operation} at {offset} ({reason}); insert it and start again. The \
         results so far are stored"
    )]
    Gone { operation: &'static str, offset: u64, reason: String },
    /// The object is no longer the one that the test began with, so nothing more is written to it.
    #[error(
        "{change}; the test of {name} was stopped and nothing more was written to it. The results so far \
         are stored"
    )]
    Changed { name: String, change: ObjectChange },
    #[error("{what} needs {needed} bytes and {available} are free; free some space or give a smaller --size")]
    NoSpace { what: String, needed: u64, available: u64 },
    #[error("{0}")]
    Unsupported(String),
    #[error("{what}: {reason}")]
    Setup {
        /// Action and object that failed.
        what: String,
        /// Reason and advice.
        reason: String,
    },
    #[error("the write limit is reached; give a larger --max-write")]
    WriteLimitReached,
    #[error("interrupted")]
    Interrupted,
}

/// Result of a call to a target.
pub type TargetResult<T = ()> = Result<T, TargetError>;

impl TargetError {
    /// Error of opening or preparing a target: `what` names action and object, `reason` the cause and advice.
    pub fn setup(what: impl Into<String>, reason: impl ToString) -> Self {
        Self::Setup { what: what.into(), reason: reason.to_string() }
    }

    /// True if no further I/O can succeed, or none may be tried.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Gone { .. } | Self::Silent { .. } | Self::Changed { .. })
    }
}

/// Change of the object under test since the test began.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectChange {
    /// Gone, with the kernel's reason.
    #[error("it no longer exists ({0})")]
    Gone(String),
    #[error("the capacity changed from {was} to {is} bytes")]
    Resized {
        /// Bytes at opening.
        was: u64,
        /// Bytes now.
        is: u64,
    },
    /// Its name or slot now belongs to another object, named in the sentence.
    #[error("{0}")]
    Replaced(String),
    /// Used by others now; the sentence names them and gives advice.
    #[error("{0}")]
    InUse(String),
}

/// Bytes that a verb may still write, shared by all targets that it opens.
#[derive(Debug, Clone)]
pub struct WriteQuota {
    remaining: Arc<AtomicU64>,
    /// Part of the quota set aside for later steps.
    reserved: Arc<AtomicU64>,
}

impl WriteQuota {
    pub fn new(bytes: u64) -> Self {
        WriteQuota { remaining: Arc::new(bytes.into()), reserved: Arc::default() }
    }

    /// Bytes that may be written now, without the reserved ones.
    pub fn available(&self) -> u64 {
        self.remaining.load(Ordering::Relaxed).saturating_sub(self.reserved())
    }

    /// Bytes set aside for later steps.
    pub fn reserved(&self) -> u64 {
        self.reserved.load(Ordering::Relaxed)
    }

    /// Sets aside this many bytes, instead of any reserved before.
    pub fn reserve(&self, bytes: u64) {
        self.reserved.store(bytes, Ordering::Relaxed);
    }

    /// Replaces the quota and clears the reserve.
    pub fn reset(&self, bytes: u64) {
        self.remaining.store(bytes, Ordering::Relaxed);
        self.reserve(0);
    }

    /// Takes bytes from the quota. Returns false, and takes none, if fewer are available.
    pub fn try_take(&self, bytes: u64) -> bool {
        let enough = |left: u64| left.checked_sub(bytes).filter(|rest| *rest >= self.reserved());
        self.remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enough).is_ok()
    }
}

/// Destination of I/O.
///
/// A lane is one thread's handle: `plan` it, then `submit` up to `depth` I/Os and `complete` them. Times are
/// nanoseconds of the target's own clock, which all its lanes share.
pub trait Target: Send {
    /// Properties that do not change.
    fn info(&self) -> &TargetInfo;

    /// Time of the target's clock.
    fn now(&mut self) -> Nanos;

    /// Prepares slots. Waits for I/Os of an earlier plan that are still in flight and drops their results: a test that
    /// met an error may leave some behind.
    fn plan(&mut self, plan: &LanePlan) -> TargetResult;

    /// Submits one I/O, which may be held back until `complete`. Fails if the target is gone; a failing I/O is reported
    /// by its completion.
    fn submit(&mut self, io: &IoRequest) -> TargetResult;

    /// Waits until at least `at_least` I/Os have ended and appends all that have. Returns fewer only after an
    /// interrupt.
    fn complete(&mut self, at_least: usize, done: &mut Vec<IoCompletion>) -> TargetResult;

    /// Submits `ios` and waits until at least one I/O has ended. One call for both saves much of the cost of a target
    /// whose I/O is a calculation. After an error `round.taken` still counts the `ios` submitted.
    fn round(&mut self, ios: &[IoRequest], round: &mut IoRound) -> TargetResult {
        round.clear_results();
        for io in ios {
            self.submit(io)?;
            round.submitted += 1;
        }
        self.complete(1, &mut round.completions)?;
        let mut lost = None;
        for IoCompletion { slot, at, result } in round.completions.drain(..) {
            match result {
                Ok(()) => round.ended.push(RoundIo { slot, at }),
                Err(error @ TargetError::Io { .. }) => round.failed.push((RoundIo { slot, at }, error)),
                Err(error) => lost = lost.or(Some(error)),
            }
        }
        lost.map_or(Ok(()), Err)
    }

    /// Flushes the card's cache.
    fn flush(&mut self) -> TargetResult;

    /// Discards a range; [`TargetError::Unsupported`] if the target cannot.
    fn discard(&mut self, range: TargetRegion) -> TargetResult;

    /// Lets time pass without I/O.
    fn idle(&mut self, time: Duration);

    /// Returns a region of `bytes` bytes for tests, or [`TargetError::NoSpace`]; on a directory it creates or grows the
    /// test file.
    fn area(&mut self, bytes: u64) -> TargetResult<TargetRegion>;

    /// Drops the host's caches of this target.
    fn drop_caches(&mut self) -> TargetResult {
        Ok(())
    }

    /// Temperature of the card in °C, if reading it does not disturb measurements.
    fn temperature(&mut self) -> Option<f64> {
        None
    }

    /// Times a command that the controller answers without touching flash (SD: send status; USB: test unit ready; NVMe:
    /// get features), which shows the cost of reader, bus and host. `None` without one. Call it with nothing in flight.
    fn ping(&mut self) -> TargetResult<Option<Nanos>> {
        Ok(None)
    }

    /// Current SMART log of an NVMe card.
    fn health(&mut self) -> Option<SmartLog> {
        None
    }

    /// Closes and reopens the target, to drop the caches of the host.
    fn reopen(&mut self) -> TargetResult;

    /// Returns another handle for another thread. `None` if one thread drives all streams, as in virtual time.
    fn lane(&mut self) -> TargetResult<Option<Box<dyn Target>>> {
        Ok(None)
    }

    /// Memory of a slot planned with `own_buffers`, with the data of a read or for the data of a write
    /// ([`IoContent::Buffer`]). Targets that keep descriptions generate the bytes here.
    fn buffer(&mut self, slot: u32) -> TargetResult<&mut [u8]>;

    /// Compares the last read of a slot planned with `own_buffers` with the expected content, without generating bytes
    /// on targets that keep descriptions.
    fn compare(&mut self, slot: u32, expected: IoContent) -> TargetResult<ContentMatch>;

    /// Remaining write quota, if writing is limited; a write beyond it fails with [`TargetError::WriteLimitReached`].
    fn allowance(&self) -> Option<&WriteQuota> {
        None
    }

    /// Caveats about measurements on this target.
    fn caveats(&self) -> Vec<Caveat> {
        Vec::new()
    }
}

/// Behind the FAT region that many cards treat specially (up to 16 MiB), and on a boundary of all known allocation
/// units, 12, 24 and 48 MiB included.
const AREA_START: u64 = 192 << 20;

/// Places a test area on a whole card of `total` bytes: at 192 MiB, or at 0 if it would not fit there.
pub fn place_area(total: u64, bytes: u64) -> TargetResult<TargetRegion> {
    let behind = AREA_START.checked_add(bytes).is_some_and(|end| end <= total);
    let start = if behind { AREA_START } else { 0 };
    if bytes > total {
        let what = "the test area".to_owned();
        return Err(TargetError::NoSpace { what, needed: bytes, available: total });
    }
    Ok(TargetRegion { start, len: bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_bytes_cannot_be_taken() {
        let allowance = WriteQuota::new(100);
        allowance.reserve(30);
        assert_eq!(
            (allowance.available(), allowance.try_take(71), allowance.try_take(70)),
            (70, false, true)
        );
        assert!(!allowance.try_take(1));
        allowance.reserve(0);
        assert!(allowance.try_take(30) && !allowance.try_take(1));
        assert_eq!(allowance.available(), 0);
    }
}
