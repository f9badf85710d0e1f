//! Tests the speed classes printed on a card (C10, U3, V30, A2, E300). Its probes run inside `check`.
#![forbid(unsafe_code)]

pub mod page;
pub mod probe;
