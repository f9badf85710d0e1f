//! Whether a card meets the marks printed on it: C10, U3, V30, A2, E300. Its probes run inside of `check`.
#![forbid(unsafe_code)]

pub mod page;
pub mod probe;
