//! Holds a label against what is possible, what the card says of itself, and what was seen of it.

mod capacity;
mod marks;
mod seen;
mod speed;
#[cfg(test)]
mod tests;

pub use seen::{Measured, Seen};

use crate::finding::Finding;
use cardscope_sd::label::Label;

/// What is untrue or odd about a label, and what was found to be true.
pub fn judge(label: &Label, seen: &Seen<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    capacity::judge(label, seen, &mut findings);
    marks::judge(label, seen, &mut findings);
    speed::judge(label, seen, &mut findings);
    findings
}
