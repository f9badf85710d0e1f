//! Test support: opens cards.

use crate::consent::PreservingConsent;
use crate::open_target::OpenTarget;
use crate::opening;
use cardscope_engine::interrupt::InterruptFlag;

pub(crate) fn open_card(name: &str) -> OpenTarget {
    opening::open_to_restore(
        opening::ResolvedTarget::from_name(name),
        &mut PreservingConsent,
        &InterruptFlag::default(),
    )
    .unwrap()
}
