//! Cards opened for the tests of this crate.

use crate::consent::PreservingConsent;
use crate::opened::OpenTarget;
use crate::opening;
use cardscope_engine::interrupt::InterruptFlag;

/// A card or its image, open to be restored.
pub(crate) fn opened(name: &str) -> OpenTarget {
    opening::open_to_restore(
        opening::ResolvedTarget::of(name),
        &mut PreservingConsent,
        &InterruptFlag::default(),
    )
    .unwrap()
}
