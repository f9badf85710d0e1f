//! Pages of all verbs through each renderer.

mod html;
mod png;
mod specification;
mod svg;
mod terminal;
mod tree;
