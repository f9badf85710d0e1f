//! A lock that whoever panicked with it does not take along.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a lock guards, also where whoever held it before panicked: each change is whole.
pub(crate) fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
