//! The question of the fit put to a table of flashbench (`-a`): fewer levels, no errors, means over seven places. What a
//! person does who looks down the column: find where it falls, and by how much more than it wavers.

use cardscope_analysis::boundary::{
    Candidates, Choice, Level, Step, fit, levels, page_candidates, unit_candidates,
};
use cardscope_analysis::robust::MAD_SCALE;
use cardscope_model::statistics::{median, median_in_place};

/// A line of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    /// The unit in bytes.
    pub(crate) bytes: u64,
    /// Its `diff`.
    pub(crate) diff: f64,
}

/// What a table shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shown {
    /// Effective page, where it shows.
    pub(crate) page: Option<Step>,
    /// Erase block, where it shows.
    pub(crate) unit: Option<Step>,
}

/// A person calls it a step where it is so many times the wavering of the lines.
const STEP_OVER_NOISE: f64 = 3.0;

/// What is chosen must be so much more probable than anything else.
const SURE: f64 = 0.9;

/// Reads the tables of one card, repetitions of one another. `None` where there is too little to look at.
pub(crate) fn read(tables: &[Vec<Row>]) -> Option<Shown> {
    let rows = means(tables);
    let noise = wavering(&rows)?;
    let largest = *levels(u64::MAX, 512).last()?;
    let small = rows.iter().filter(|r| r.bytes <= largest);
    let levels: Vec<Level> = small.map(|r| Level { bytes: r.bytes, extra: r.diff, error: noise }).collect();
    let powers = |all: Vec<u64>| all.into_iter().filter(|u| u.is_power_of_two()).collect();
    let candidates = Candidates { pages: powers(page_candidates()), units: powers(unit_candidates()) };
    let fit = fit(&levels, &candidates)?;
    let seen = |choice: &Choice| {
        choice.step.filter(|s| s.height > STEP_OVER_NOISE * noise && choice.confidence >= SURE)
    };
    Some(Shown { page: seen(&fit.page), unit: seen(&fit.unit) })
}

/// Line by line the middle of the repetitions.
fn means(tables: &[Vec<Row>]) -> Vec<Row> {
    let Some(first) = tables.first() else { return Vec::new() };
    let diff = |row: &Row| {
        let found = tables.iter().filter_map(|table| table.iter().find(|same| same.bytes == row.bytes));
        median(&found.map(|row| row.diff).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    first.iter().map(|row| Row { bytes: row.bytes, diff: diff(row) }).collect()
}

/// Typical distance of neighbouring lines: the few steps among them do not move it.
fn wavering(rows: &[Row]) -> Option<f64> {
    let mut jumps: Vec<f64> = rows.windows(2).map(|pair| (pair[1].diff - pair[0].diff).abs()).collect();
    // Two lines waver in a jump. No clock is finer than a nanosecond.
    Some((median_in_place(&mut jumps)? * MAD_SCALE / std::f64::consts::SQRT_2).max(1e-9))
}
