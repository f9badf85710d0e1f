//! Why a part of a map gives no figure: something was in its way, or it must end at once.

use cardscope_engine::card::ProbeStop;
use cardscope_model::card_map::property::{NO_TIME, Property};

/// Why there is no figure.
#[derive(Debug)]
pub(super) enum UnmeasuredReason {
    /// The card, the time or the bytes left no way to measure it.
    Because(String),
    /// The whole map ends, or what is left of a part that writes.
    Stop(ProbeStop),
}

impl From<ProbeStop> for UnmeasuredReason {
    fn from(stop: ProbeStop) -> Self {
        UnmeasuredReason::Stop(stop)
    }
}

impl From<String> for UnmeasuredReason {
    fn from(why: String) -> Self {
        UnmeasuredReason::Because(why)
    }
}

impl From<&str> for UnmeasuredReason {
    fn from(why: &str) -> Self {
        UnmeasuredReason::Because(why.to_owned())
    }
}

/// The property, or why it was not tested; only what ends more than this part stays an error.
pub(super) fn or_reason<T>(found: Result<Property<T>, UnmeasuredReason>) -> Result<Property<T>, ProbeStop> {
    match found {
        Err(UnmeasuredReason::Because(why)) => Ok(Property::not_tested(why)),
        Err(UnmeasuredReason::Stop(stop)) => Err(stop),
        Ok(property) => Ok(property),
    }
}

/// The reason of a part for which no time is left.
pub(super) fn no_time(seconds: f64) -> String {
    format!("{NO_TIME} (needs about {seconds:.0} s; `--budget`)")
}

/// The reason of what a limit of time or of bytes ended.
pub(super) const OUT_OF_LIMITS: &str = "no time left, or the write limit was reached";
