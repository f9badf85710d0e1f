//! Result pages: the page tree with its HTML, Markdown and terminal renderers, and charts as SVG, PNG and text.
//!
//! This crate does no I/O. It lays out finished documents, and every number carries its unit or has it in the column's head.
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
