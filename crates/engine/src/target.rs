//! The one trait that holds Cardscope up: where I/O goes, and whose clock times it.
//!
//! Three kinds implement it: a real device, file or directory; a simulated card in virtual time; and the same
//! card answering in real time behind FUSE, which to this side is again a real file. Whoever measures is written
//! against the trait and cannot tell them apart.

use crate::allowance::WriteQuota;
use crate::content::{ContentMatch, IoContent};
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::KernelPath;
use cardscope_model::units::Nanos;
use cardscope_sd::nvme::SmartLog;
use std::time::Duration;

/// Direction of one I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoDirection {
    /// From the card.
    Read,
    /// To the card.
    Write,
}

/// One I/O. Offset and length are multiples of the sector; a read ignores `content`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoRequest {
    /// Which of the prepared slots carries it; a slot carries one I/O at a time.
    pub slot: u32,
    /// Read or write.
    pub direction: IoDirection,
    /// First byte.
    pub offset: u64,
    /// Bytes, at most the planned block.
    pub len: u32,
    /// What is written.
    pub content: IoContent,
}

/// An I/O that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct IoCompletion {
    /// The slot that is free again.
    pub slot: u32,
    /// When it ended, on the target's clock.
    pub at: Nanos,
    /// `Ok` where all of its bytes were moved.
    pub result: Result<(), TargetError>,
}

/// An I/O of a [`Round`] that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundIo {
    /// The slot that is free again.
    pub slot: u32,
    /// When it ended, on the target's clock.
    pub at: Nanos,
}

/// What a round of I/O brought; its memory is used again by the next.
#[derive(Debug, Default)]
pub struct IoRound {
    /// The I/Os that ended well.
    pub ended: Vec<RoundIo>,
    /// Those that failed on a card that still answers, each with its [`TargetError::Io`].
    pub failed: Vec<(RoundIo, TargetError)>,
    /// How many of the round's I/Os the target took.
    pub taken: usize,
    completions: Vec<IoCompletion>,
}

impl IoRound {
    /// Forgets the round before.
    #[inline]
    pub fn begin(&mut self) {
        self.ended.clear();
        self.failed.clear();
        self.taken = 0;
    }
}

/// What a lane must be ready for before its first I/O.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LanePlan {
    /// I/Os in flight at most, hence slots 0 to `depth - 1`.
    pub depth: u32,
    /// Bytes of the longest I/O.
    pub block: u64,
    /// Past or through the page cache.
    pub path: KernelPath,
    /// True where each write must be on the card before it ends (`O_DSYNC`).
    pub sync_each: bool,
    /// True where each slot needs memory of its own, because what is read will be looked at.
    pub own_buffers: bool,
}

/// A part of a target that tests may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetRegion {
    /// First byte.
    pub start: u64,
    /// Bytes.
    pub len: u64,
}

impl TargetRegion {
    /// First byte behind it.
    pub fn end(self) -> u64 {
        self.start + self.len
    }
}

/// What does not change about a target while it is open.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetInfo {
    /// As the user named it.
    pub name: String,
    /// Bytes it announces; for a directory, what is free there.
    pub bytes: u64,
    /// Smallest unit of an I/O, in bytes.
    pub sector: u32,
    /// How the I/O goes: `io_uring`, `preads`, `simulated`.
    pub io_path: &'static str,
    /// The file system that a directory or file lies on.
    pub file_system: Option<String>,
    /// True where the whole card can be addressed (a device or a simulated card), false for files.
    pub whole_card: bool,
}

/// What went wrong with a target.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TargetError {
    /// An I/O error: one I/O failed, and the card is there and answers elsewhere.
    #[error(
        "I/O error: {operation} of {len} bytes at {offset} failed ({reason}), but the card answers \
         elsewhere. Try another reader and cable, then run `cardscope verify --full` to find bad blocks"
    )]
    Io {
        /// `read`, `write`, `flush` …
        operation: &'static str,
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
        /// The errno's text.
        reason: String,
        /// The errno, 0 if there is none.
        errno: i32,
    },
    /// An I/O error of all of it: the card is there, and nothing on it can be read any more.
    #[error(
        "the card no longer answers ({operation} at {offset}: {reason}). Insert it again and start again, or \
         try another reader. The results so far are stored"
    )]
    Silent {
        /// What was under way.
        operation: &'static str,
        /// First byte.
        offset: u64,
        /// The errno's text.
        reason: String,
    },
    /// The card is not there any more: pulled out, or its reader with it.
    #[error(
        "the card went away during {operation} at {offset} ({reason}); insert it and start again. The \
         results so far are stored"
    )]
    Gone {
        /// What was under way.
        operation: &'static str,
        /// First byte.
        offset: u64,
        /// The errno's text.
        reason: String,
    },
    /// It is not what the test began with any more, so that nothing more is written to it.
    #[error(
        "{change}; the test of {name} was stopped and nothing more was written to it. The results so far \
         are stored"
    )]
    Changed {
        /// The target, as the user named it.
        name: String,
        /// What changed.
        change: ObjectChange,
    },
    /// No room for the test area.
    #[error("{what} needs {needed} bytes and {available} are free; free some space or give a smaller --size")]
    NoSpace {
        /// What wanted the room.
        what: String,
        /// Bytes it needs.
        needed: u64,
        /// Bytes there are.
        available: u64,
    },
    /// The target cannot do this at all.
    #[error("{0}")]
    Unsupported(String),
    /// Opening or preparing it failed.
    #[error("{what}: {reason}")]
    Setup {
        /// What was attempted, on what.
        what: String,
        /// Why it failed, and what to do.
        reason: String,
    },
    /// No more may be written.
    #[error("the write limit is reached; give a larger --max-write")]
    Rationed,
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl TargetError {
    /// Opening or preparing it failed: what was attempted, on what; why it failed, and what to do.
    pub fn setup(what: impl Into<String>, reason: impl ToString) -> Self {
        Self::Setup { what: what.into(), reason: reason.to_string() }
    }

    /// True where the target as a whole is lost to the test: no further I/O can succeed, or none may be tried.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Gone { .. } | Self::Silent { .. } | Self::Changed { .. })
    }
}

/// What became of the object under test, so that it is not the one any more that the test began with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectChange {
    /// It is not there any more; the reason as the kernel gives it.
    #[error("it no longer exists ({0})")]
    Gone(String),
    /// Its size is another one.
    #[error("the capacity changed from {was} to {is} bytes")]
    Resized {
        /// Bytes when it was opened.
        was: u64,
        /// Bytes now.
        is: u64,
    },
    /// Its name, or its slot, has something else now. The sentence says what.
    #[error("{0}")]
    Another(String),
    /// Somebody else uses it now. The sentence says who, and what to do.
    #[error("{0}")]
    InUse(String),
}

/// Where I/O goes.
///
/// A lane is one thread's handle: `plan` it, then `submit` up to `depth` I/Os and `complete` them. Times are
/// nanoseconds of the target's own clock, which all lanes of one target share.
pub trait Target: Send {
    /// What does not change.
    fn info(&self) -> &TargetInfo;

    /// The target's clock.
    fn now(&mut self) -> Nanos;

    /// Makes slots ready. I/Os of an earlier plan that are still in flight end first, and nobody hears of them: a test
    /// that met an error leaves some behind.
    ///
    /// # Errors
    /// If the target does not answer them, or memory or the I/O path cannot be had.
    fn plan(&mut self, plan: &LanePlan) -> Result<(), TargetError>;

    /// Takes one I/O; it may be held back until `complete`.
    ///
    /// # Errors
    /// If the target went away. A failing I/O is reported by its completion.
    fn submit(&mut self, io: &IoRequest) -> Result<(), TargetError>;

    /// Waits until at least `at_least` I/Os have ended and appends all that have. Returns with fewer only when
    /// the interrupt was raised.
    fn complete(&mut self, at_least: usize, done: &mut Vec<IoCompletion>) -> Result<(), TargetError>;

    /// Takes `ios` and waits until at least one I/O has ended, in one call: for a target whose I/O is a calculation, a
    /// call and a result that may be an error are a good part of its cost.
    ///
    /// # Errors
    /// As [`Target::submit`] and [`Target::complete`]. `round.taken` says how many of `ios` were taken all the same.
    fn round(&mut self, ios: &[IoRequest], round: &mut IoRound) -> Result<(), TargetError> {
        round.begin();
        for io in ios {
            self.submit(io)?;
            round.taken += 1;
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

    /// Has the card store everything it accepted.
    fn flush(&mut self) -> Result<(), TargetError>;

    /// Tells the card that a range holds nothing of value.
    ///
    /// # Errors
    /// If the target takes no discard, or as the device reports.
    fn discard(&mut self, range: TargetRegion) -> Result<(), TargetError>;

    /// Lets time pass without I/O.
    fn idle(&mut self, time: Duration);

    /// A region of `bytes` bytes for tests; on a directory it makes or grows the test file.
    ///
    /// # Errors
    /// If there is no room.
    fn area(&mut self, bytes: u64) -> Result<TargetRegion, TargetError>;

    /// Empties the host's cache of this target.
    fn drop_caches(&mut self) -> Result<(), TargetError> {
        Ok(())
    }

    /// Temperature of the card in °C, where it can be had without disturbing a measurement.
    fn temperature(&mut self) -> Option<f64> {
        None
    }

    /// How long a command takes that the card's controller answers without touching its flash (SD: send status;
    /// USB: test unit ready; NVMe: get features): what reader, bus and host cost by themselves. `None` where the
    /// target has no such command. Asked for with nothing in flight.
    ///
    /// # Errors
    /// If the card is gone, or the command fails.
    fn ping(&mut self) -> Result<Option<Nanos>, TargetError> {
        Ok(None)
    }

    /// What the card counts of itself: the SMART log of an NVMe card, read now.
    fn health(&mut self) -> Option<SmartLog> {
        None
    }

    /// Closes and opens the target again, so that no cache of the host answers for the card.
    fn reopen(&mut self) -> Result<(), TargetError>;

    /// Another handle to the same target for another thread. `None` where one thread drives all streams, as in
    /// virtual time.
    fn lane(&mut self) -> Result<Option<Box<dyn Target>>, TargetError> {
        Ok(None)
    }

    /// The memory of a slot, to read what came or to place what goes ([`Content::Buffer`]). A target that keeps
    /// descriptions instead of bytes makes the bytes here.
    ///
    /// # Errors
    /// If the slot was not planned with `own_buffers`.
    fn buffer(&mut self, slot: u32) -> Result<&mut [u8], TargetError>;

    /// Holds what the slot's last read found against what was expected there, without making bytes where the
    /// target keeps descriptions.
    ///
    /// # Errors
    /// If the slot was not planned with `own_buffers`.
    fn compare(&mut self, slot: u32, expected: IoContent) -> Result<ContentMatch, TargetError>;

    /// How much may still be written, where that is limited; a write beyond it is [`TargetError::Rationed`].
    fn allowance(&self) -> Option<&WriteQuota> {
        None
    }

    /// Doubts that have gathered about what was measured on it.
    fn caveats(&self) -> Vec<Caveat> {
        Vec::new()
    }
}

/// Where the test area of a whole card begins: behind the FAT region that many cards treat specially (up to
/// 16 MiB), and on a boundary of every allocation unit known, 12, 24 and 48 MiB included.
const AREA_START: u64 = 192 << 20;

/// Places a test area on a whole card of `total` bytes: at 192 MiB, or at its very start where it would not fit.
pub fn place_area(total: u64, bytes: u64) -> Result<TargetRegion, TargetError> {
    let behind = AREA_START.checked_add(bytes).is_some_and(|end| end <= total);
    let start = if behind { AREA_START } else { 0 };
    if bytes > total {
        let what = "the test area".to_owned();
        return Err(TargetError::NoSpace { what, needed: bytes, available: total });
    }
    Ok(TargetRegion { start, len: bytes })
}
