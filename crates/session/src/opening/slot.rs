//! Tests only: a slot that stands behind the name of every simulated card on this thread. What is opened by such a name is
//! the card that a test has put there, for verbs as for `restore` and for whatever waits for a card to come back, so that
//! a card can be pulled out and another one put in.

use crate::error::Result;
use crate::opened::Opened;
use std::cell::RefCell;

type Opening = Box<dyn FnMut() -> Result<Opened>>;

thread_local! {
    static SLOT: RefCell<Option<Opening>> = const { RefCell::new(None) };
}

/// From now on this opens what is in the slot.
pub fn fill(opening: impl FnMut() -> Result<Opened> + 'static) {
    SLOT.with_borrow_mut(|slot| *slot = Some(Box::new(opening)));
}

/// What is in the slot; `None` where no test has filled it.
pub(super) fn opened() -> Option<Result<Opened>> {
    SLOT.with_borrow_mut(|slot| slot.as_mut().map(|opening| opening()))
}
