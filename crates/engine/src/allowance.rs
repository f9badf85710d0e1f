//! How many bytes may still be written: one figure for all that a verb opens. Who plans asks what is left; who does not
//! ask is stopped all the same ([`crate::rationed`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that may be written, shared by everything that writes.
#[derive(Debug, Clone)]
pub struct Allowance(Arc<Purse>);

#[derive(Debug)]
struct Purse {
    left: AtomicU64,
    /// So much of it is for later.
    kept: AtomicU64,
}

impl Allowance {
    /// So many bytes.
    pub fn of(bytes: u64) -> Self {
        Allowance(Arc::new(Purse { left: AtomicU64::new(bytes), kept: AtomicU64::new(0) }))
    }

    /// Bytes that may be written now.
    pub fn left(&self) -> u64 {
        self.0.left.load(Ordering::Relaxed).saturating_sub(self.kept())
    }

    /// Bytes that are put by for later.
    pub fn kept(&self) -> u64 {
        self.0.kept.load(Ordering::Relaxed)
    }

    /// Puts so many bytes by for later, instead of what was put by before.
    pub fn keep(&self, bytes: u64) {
        self.0.kept.store(bytes, Ordering::Relaxed);
    }

    /// So many bytes from now on, and nothing put by.
    pub fn set(&self, bytes: u64) {
        self.0.left.store(bytes, Ordering::Relaxed);
        self.keep(0);
    }

    /// Takes bytes; false, and none taken, where less is left.
    pub fn take(&self, bytes: u64) -> bool {
        let enough = |left: u64| left.checked_sub(bytes).filter(|rest| *rest >= self.kept());
        self.0.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enough).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_by_is_not_taken() {
        let allowance = Allowance::of(100);
        allowance.keep(30);
        assert_eq!((allowance.left(), allowance.take(71), allowance.take(70)), (70, false, true));
        assert!(!allowance.take(1));
        allowance.keep(0);
        assert!(allowance.take(30) && !allowance.take(1));
        assert_eq!(allowance.left(), 0);
    }
}
