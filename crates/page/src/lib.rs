//! Results as people read them: on a terminal, as pages, tables, pictures and in the layouts of others. Every number
//! carries its unit, in its column's head if not beside it.
//!
//! Nothing here queries or measures: it gets finished documents and lays them out.
#![forbid(unsafe_code)]

pub mod tree;

pub mod chart;
pub mod figure;
mod markup;
pub mod plot;
pub mod png;
pub mod present_layout;
pub mod properties;
mod ruler;
mod specification;
pub mod svg;

pub use markup::HEAD as HTML_HEAD;
