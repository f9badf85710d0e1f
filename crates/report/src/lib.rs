//! Results as people read them: on a terminal, as pages, tables, pictures and in the layouts of others. Every number
//! carries its unit, in its column's head if not beside it.
//!
//! Nothing here queries or measures: it gets finished documents and lays them out.
#![forbid(unsafe_code)]

pub mod bench;
pub mod card_map;
pub mod chart;
pub mod check;
pub mod comparison;
mod details;
pub mod doctor;
pub mod endure;
mod evidence;
pub mod figure;
pub mod fit;
pub mod format;
pub mod h2testw;
pub mod identity;
pub mod import;
pub mod jobs;
mod markup;
pub mod observe;
pub mod page;
mod plot;
pub mod png;
mod present_layout;
mod properties;
pub mod publication;
pub mod ranking;
pub mod recipes;
pub mod records;
pub mod restore;
mod ruler;
mod specification;
pub mod sustain;
pub mod svg;
mod verdict;
pub mod verify;

pub use markup::HEAD as HTML_HEAD;

#[cfg(test)]
mod sample;
