//! Pages with charts of runs. Only what stands in a fixed form is read; sentences are left to people.

mod chart;
pub(crate) mod chart_page;
mod described;
mod markdown;
