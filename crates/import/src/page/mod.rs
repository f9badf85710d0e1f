//! Pages that people write about cards: charts in Markdown, lists of cards with what they cost, reviews.
//!
//! Only what stands in a fixed form is read; sentences are left to people.

mod chart;
pub(crate) mod chart_page;
mod described;
mod markdown;
mod price;
pub(crate) mod result_list;
mod review;
