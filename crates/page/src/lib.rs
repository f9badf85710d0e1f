//! Result pages: the page tree with its HTML, Markdown and terminal renderers, and charts as SVG, PNG and text.
//!
//! This crate does no I/O. It lays out finished documents, and every number carries its unit or has it in the column's head.
#![forbid(unsafe_code)]

pub mod tree;

mod axis_range;
pub mod chart;
pub mod figure;
mod markup;
pub mod png;

pub mod properties;

pub mod svg;
pub mod text_chart;

pub use markup::PAGE_START as HTML_HEAD;
