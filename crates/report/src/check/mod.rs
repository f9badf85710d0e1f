//! `check` as one page: the same parts in the same order, as text for a terminal and as an HTML file.

mod html;
mod inside;
mod page;
mod parts;
mod terminal;

pub use html::HEAD;

use cardscope_model::check::CheckReport;

/// The page for a terminal.
#[must_use]
pub fn text(report: &CheckReport) -> String {
    terminal::text(&parts::page(report))
}

/// The page as one HTML file that needs nothing else.
#[must_use]
pub fn html(report: &CheckReport) -> String {
    html::document(&parts::page(report))
}
