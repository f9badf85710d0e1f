//! Tests only: a slot that stands behind the name of every simulated card on this thread. What is opened by such a name is
//! the card that a test has put there, for verbs as for `restore` and for whatever waits for a card to come back, so that
//! a card can be pulled out and another one put in.

use crate::error::Result;
use crate::opened::OpenTarget;
use std::cell::RefCell;

type CardReplacement = Box<dyn FnMut() -> Result<OpenTarget>>;

thread_local! {
    static SLOT: RefCell<Option<CardReplacement>> = const { RefCell::new(None) };
}

/// From now on this opens what is in the slot.
pub fn fill(opening: impl FnMut() -> Result<OpenTarget> + 'static) {
    SLOT.with_borrow_mut(|slot| *slot = Some(Box::new(opening)));
}

/// What is in the slot; `None` where no test has filled it.
pub(super) fn opened() -> Option<Result<OpenTarget>> {
    SLOT.with_borrow_mut(|slot| slot.as_mut().map(|opening| opening()))
}
