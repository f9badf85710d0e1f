//! Who a card is: cards and readers that are present, registers and buses of one, and pasted registers.
#![forbid(unsafe_code)]

pub mod page;
pub mod verb;
