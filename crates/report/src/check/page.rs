//! A page as data: headed parts of facts, tables, sentences and pictures.

use crate::table::Table;
use cardscope_model::card_map::plot::Plot;
use cardscope_model::finding::Finding;

/// How good the news is, for the colour of the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    Good,
    Open,
    Bad,
}

/// The page.
#[derive(Debug, Clone)]
pub(super) struct Page {
    /// What was looked at.
    pub(super) title: String,
    /// The answer, in a sentence.
    pub(super) headline: String,
    pub(super) news: News,
    pub(super) parts: Vec<Part>,
}

/// A headed part.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) head: String,
    pub(super) body: Vec<Body>,
}

/// What stands in a part.
#[derive(Debug, Clone)]
pub(super) enum Body {
    /// Names and values.
    Facts(Vec<(String, String)>),
    Table(Table),
    /// A sentence.
    Words(String),
    /// Commands ready to paste.
    Commands(Vec<String>),
    Findings(Vec<Finding>),
    /// In HTML only: a terminal's page shall stay one.
    Aside(String),
    /// In HTML only.
    Picture(Plot),
}
