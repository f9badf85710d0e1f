//! Cards opened for the tests of this crate.

use crate::consent::DataKept;
use crate::opened::Opened;
use crate::opening;
use cardscope_engine::interrupt::Interrupt;

/// A card or its image, open to be restored.
pub(crate) fn opened(name: &str) -> Opened {
    opening::open_to_restore(opening::Resolved::of(name), &mut DataKept, &Interrupt::default()).unwrap()
}
