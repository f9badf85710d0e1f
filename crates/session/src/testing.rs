//! Test support: opens cards.

use crate::consent::PreservingConsent;
use crate::opened::OpenTarget;
use crate::opening;
use cardscope_engine::interrupt::InterruptFlag;

pub(crate) fn opened(name: &str) -> OpenTarget {
    opening::open_to_restore(
        opening::ResolvedTarget::of(name),
        &mut PreservingConsent,
        &InterruptFlag::default(),
    )
    .unwrap()
}
