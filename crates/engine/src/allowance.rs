//! How many bytes may still be written: one figure for all that a verb opens. Who plans asks what is left; who does not
//! ask is stopped all the same ([`crate::rationed`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that may be written, shared by everything that writes.
#[derive(Debug, Clone)]
pub struct WriteQuota {
    left: Arc<AtomicU64>,
    /// So much of it is for later.
    reserved: Arc<AtomicU64>,
}

impl WriteQuota {
    /// Allows so many bytes to be written.
    pub fn of(bytes: u64) -> Self {
        WriteQuota { left: Arc::new(bytes.into()), reserved: Arc::default() }
    }

    /// Bytes that may be written now.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed).saturating_sub(self.reserved())
    }

    /// Bytes that are put by for later.
    pub fn reserved(&self) -> u64 {
        self.reserved.load(Ordering::Relaxed)
    }

    /// Puts so many bytes by for later, instead of what was put by before.
    pub fn reserve(&self, bytes: u64) {
        self.reserved.store(bytes, Ordering::Relaxed);
    }

    /// Allows so many bytes from now on, and puts nothing by.
    pub fn set(&self, bytes: u64) {
        self.left.store(bytes, Ordering::Relaxed);
        self.reserve(0);
    }

    /// Takes bytes; false, and none taken, where less is left.
    pub fn take(&self, bytes: u64) -> bool {
        let enough = |left: u64| left.checked_sub(bytes).filter(|rest| *rest >= self.reserved());
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enough).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_by_is_not_taken() {
        let allowance = WriteQuota::of(100);
        allowance.reserve(30);
        assert_eq!((allowance.left(), allowance.take(71), allowance.take(70)), (70, false, true));
        assert!(!allowance.take(1));
        allowance.reserve(0);
        assert!(allowance.take(30) && !allowance.take(1));
        assert_eq!(allowance.left(), 0);
    }
}
