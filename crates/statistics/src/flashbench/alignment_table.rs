//! Page and erase block from the alignment table of flashbench (`-a`). It has fewer levels than `map`, no errors, and means
//! over seven places, so the noise is estimated from neighbouring lines.

use super::open_blocks::{MAX_CONFIDENCE, MIN_CONFIDENCE, NOT_IN_LOG};
use crate::boundary::{
    BoundaryLevel, CandidateUnits, EffectChoice, fit_levels, measured_levels, page_candidates,
    unit_candidates,
};
use crate::robust::MAD_SCALE;
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::flashbench::AlignRow;
use cardscope_model::statistics::{median, median_in_place};
use cardscope_model::units::{BinarySize, three_digits};
use std::collections::BTreeMap;

/// Least height of a step in units of the noise, as a person would judge the column.
const STEP_OVER_NOISE: f64 = 3.0;

/// Resolution of the clock in µs, a lower limit of the noise.
const CLOCK_RESOLUTION_US: f64 = 1e-3;

pub(super) fn page_and_block(rows: &[AlignRow]) -> (Property<u64>, Property<u64>) {
    let (lines, tables) = line_medians(rows);
    let noise = line_noise(&lines);
    let fit = |noise| Some((fit_levels(&boundary_levels(&lines, noise), &power_candidates())?, noise));
    let Some((found, noise)) = noise.and_then(fit) else {
        return (Property::not_tested(NOT_IN_LOG), Property::not_tested(NOT_IN_LOG));
    };
    let property = |choice: &EffectChoice| boundary_property(choice, noise, tables);
    (property(&found.page), property(&found.unit))
}

fn line_medians(rows: &[AlignRow]) -> (BTreeMap<u64, f64>, usize) {
    let mut all: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for row in rows {
        // A fork of flashbench prints only the time across a boundary. The time of reads elsewhere is the same for all lines.
        let across = row.on_us.filter(|_| row.pre_us.is_none() && row.post_us.is_none());
        let whole = row.diff_us.filter(|_| row.pre_us.is_some() && row.post_us.is_some());
        if let Some(extra) = whole.or(across) {
            all.entry(row.align_bytes).or_default().push(extra);
        }
    }
    let tables = all.values().map(Vec::len).max().unwrap_or(0);
    (all.into_iter().filter_map(|(bytes, extras)| Some((bytes, median(&extras)?))).collect(), tables)
}

/// Noise of a line, from the median distance of neighbours, which a few steps do not move.
fn line_noise(lines: &BTreeMap<u64, f64>) -> Option<f64> {
    let extras: Vec<f64> = lines.values().copied().collect();
    let mut jumps: Vec<f64> = extras.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    // The distance of two lines has the noise of both.
    Some((median_in_place(&mut jumps)? * MAD_SCALE / std::f64::consts::SQRT_2).max(CLOCK_RESOLUTION_US))
}

fn boundary_levels(lines: &BTreeMap<u64, f64>, noise: f64) -> Vec<BoundaryLevel> {
    let largest = measured_levels(u64::MAX, 512).last().copied().unwrap_or(u64::MAX);
    let level = |(bytes, extra): (&u64, &f64)| BoundaryLevel { bytes: *bytes, extra: *extra, error: noise };
    lines.iter().filter(|(bytes, _)| **bytes <= largest).map(level).collect()
}

/// Candidates that flashbench can show: it reads at powers of two only.
fn power_candidates() -> CandidateUnits {
    let powers = |all: Vec<u64>| all.into_iter().filter(|bytes| bytes.is_power_of_two()).collect();
    CandidateUnits { pages: powers(page_candidates()), units: powers(unit_candidates()) }
}

fn boundary_property(choice: &EffectChoice, noise: f64, tables: usize) -> Property<u64> {
    let sure = choice.confidence.min(MAX_CONFIDENCE);
    let evidence = PropertyEvidence::from_method("reads across boundaries of powers of two (flashbench -a)")
        .with_number("tables", tables as f64, "")
        .with_number("scatter of a line", noise, "µs");
    match choice.step {
        Some(step) if sure >= MIN_CONFIDENCE && step.height > STEP_OVER_NOISE * noise => {
            let evidence = evidence.with_number("extra time across it", step.height, "µs");
            Property::measured(step.bytes, sure, evidence)
        }
        None if sure >= MIN_CONFIDENCE => Property::none(sure, evidence),
        Some(step) if sure >= MIN_CONFIDENCE => {
            let (size, [height, noise]) = (BinarySize(step.bytes), [step.height, noise].map(three_digits));
            Property::not_tested(format!("undecided: {size} adds {height} µs, scatter {noise} µs"))
        }
        step => {
            let size = step.map_or("none".to_owned(), |step| BinarySize(step.bytes).to_string());
            Property::not_tested(format!("undecided: {size}, {:.0} % sure", 100.0 * sure))
        }
    }
}
