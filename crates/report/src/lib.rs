//! Results as people read them. Text tables for now; every number carries its unit, in its column's head if not
//! beside it.
//!
//! Nothing here queries or measures: it gets finished documents and lays them out.
#![forbid(unsafe_code)]

pub mod bench;
pub mod figure;
pub mod h2testw;
pub mod identity;
pub mod table;
pub mod verify;
