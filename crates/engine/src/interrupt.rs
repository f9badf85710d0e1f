//! The one flag that Ctrl-C raises. Every wait looks at it, so that no phase of a test outlives it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared flag: raised once, never lowered.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// True once somebody asked to stop.
    #[must_use]
    pub fn raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Asks everybody to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The flag itself, for a signal handler.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
