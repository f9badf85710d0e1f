//! Write quota: the bytes that a verb may still write, shared by all targets that it opens. Planners ask for the rest;
//! [`crate::write_limited`] stops all others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
