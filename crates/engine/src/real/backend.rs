//! The ways in which bytes reach the kernel, behind one small face: operations are queued, and one call hands them
//! over, waits a while and brings back what has ended.
//!
//! A backend knows file descriptors and memory, nothing of files, devices or caveats.

use super::psync::{Inline, Pool};
use super::transfer::{Ended, Op};
use super::uring::Uring;
use crate::target::TargetError;
use std::time::Duration;

#[derive(Debug)]
pub(super) enum Backend {
    /// By io_uring.
    Uring(Box<Uring>),
    /// By pread and pwrite on the caller's thread, one at a time.
    Inline(Inline),
    /// By pread and pwrite on as many threads as I/Os may be in flight.
    Pool(Pool),
}

impl Backend {
    #[inline]
    pub(super) fn queue(&mut self, op: Op) {
        match self {
            Self::Uring(ring) => ring.queue(op),
            Self::Inline(inline) => inline.queue(op),
            Self::Pool(pool) => pool.queue(op),
        }
    }

    /// True where a wait does not end before the I/O does, however long that takes.
    #[inline]
    pub(super) fn blocks(&self) -> bool {
        matches!(self, Self::Inline(_))
    }

    /// Hands over what is queued, waits until `want` have ended or `patience` is over, appends all that have ended.
    #[inline]
    pub(super) fn wait(
        &mut self,
        want: usize,
        patience: Duration,
        ended: &mut Vec<Ended>,
    ) -> Result<(), TargetError> {
        match self {
            Self::Uring(ring) => ring.wait(want, patience, ended),
            Self::Inline(inline) => {
                inline.wait(ended);
                Ok(())
            }
            Self::Pool(pool) => {
                pool.wait(want, patience, ended);
                Ok(())
            }
        }
    }
}
