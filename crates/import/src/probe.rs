//! Tools that look into a card or ask whether its capacity is real: one module each.

pub(crate) mod f3;
pub(crate) mod flashbench;
pub(crate) mod h2testw;
pub(crate) mod mfst;
