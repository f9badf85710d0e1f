//! Reasons why a part of a map gives no result.

use cardscope_engine::io_driver::ProbeStop;
use cardscope_model::card_map::property::{NO_TIME, Property};

#[derive(Debug)]
pub(super) enum UnmeasuredReason {
    /// The card, the time or the limits did not allow the measurement.
    Reason(String),
    /// The whole map ends, or the remaining writing parts.
    Stop(ProbeStop),
}

impl From<ProbeStop> for UnmeasuredReason {
    fn from(stop: ProbeStop) -> Self {
        UnmeasuredReason::Stop(stop)
    }
}

impl From<String> for UnmeasuredReason {
    fn from(why: String) -> Self {
        UnmeasuredReason::Reason(why)
    }
}

impl From<&str> for UnmeasuredReason {
    fn from(why: &str) -> Self {
        UnmeasuredReason::Reason(why.to_owned())
    }
}

/// Turns a reason into a property that was not tested. Only [`Stop`] remains an error.
pub(super) fn reason_as_property<T>(
    found: Result<Property<T>, UnmeasuredReason>,
) -> Result<Property<T>, ProbeStop> {
    match found {
        Err(UnmeasuredReason::Reason(why)) => Ok(Property::not_tested(why)),
        Err(UnmeasuredReason::Stop(stop)) => Err(stop),
        Ok(property) => Ok(property),
    }
}

pub(super) fn no_time_reason(seconds: f64) -> String {
    format!("{NO_TIME} (needs about {seconds:.0} s; `--budget`)")
}

pub(super) const OUT_OF_LIMITS: &str = "no time left, or the write limit was reached";
