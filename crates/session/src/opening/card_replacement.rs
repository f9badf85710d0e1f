//! Fault injection for tests: replaces every simulated card that is opened on this thread. Tests use it to remove or
//! exchange a card while a verb runs.

use crate::error::Result;
use crate::open_target::OpenTarget;
use std::cell::RefCell;

type CardReplacement = Box<dyn FnMut() -> Result<OpenTarget>>;

thread_local! {
    static REPLACEMENT: RefCell<Option<CardReplacement>> = const { RefCell::new(None) };
}

/// Replaces all simulated cards from now on.
pub fn replace_card(opening: impl FnMut() -> Result<OpenTarget> + 'static) {
    REPLACEMENT.with_borrow_mut(|slot| *slot = Some(Box::new(opening)));
}

/// Opens the replacement, or returns None if there is none.
pub(super) fn open_replacement() -> Option<Result<OpenTarget>> {
    REPLACEMENT.with_borrow_mut(|slot| slot.as_mut().map(|opening| opening()))
}
