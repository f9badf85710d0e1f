//! The script's dd and hdparm sections as runs: the k-th pass of each section is run k.

use super::identity::Tested;
use super::parts::{Heading, Part};
use crate::speed::{dd, hdparm};
use crate::text::Text;
use cardscope_model::log::Log;
use cardscope_model::run::{Figure, Run};
use cardscope_sd::bus::bus_mode;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Adds the runs, what failed, and what only a cache can have answered.
pub(super) fn put(parts: &[Part<'_>], tested: &Tested<'_>, log: &mut Log) {
    let mut runs: BTreeMap<u32, Vec<Figure>> = BTreeMap::new();
    let mut failures = Vec::new();
    for part in parts {
        let (figures, failed) = measured(part);
        runs.entry(part.run).or_default().extend(figures);
        failures.extend(failed);
    }
    mark_cached(runs.values_mut().flatten(), tested, log);
    let filled = runs.into_values().filter(|results| !results.is_empty());
    log.runs = filled.zip(1..).map(|(results, run)| Run { run, results, ..Run::default() }).collect();
    if !failures.is_empty() {
        log.doubts
            .push(format!("{} of dd's copies failed: the card did not answer all of them", failures.len()));
        log.other.insert("dd_failures".into(), Value::Array(failures));
    }
}

/// Figures of a part, and its copies that failed.
fn measured(part: &Part<'_>) -> (Vec<Figure>, Vec<Value>) {
    match &part.heading {
        Heading::Hdparm => (hdparm::figures(&Text::of(&part.lines.join("\n"))), Vec::new()),
        Heading::Dd { op, block, step } => {
            let all = dd::finished(part.lines.iter().copied());
            let (good, bad): (Vec<_>, Vec<_>) = all.iter().partition(|copy| !copy.failed());
            let failures = bad.iter().map(|copy| {
                json!({"run": part.run, "op": op.to_string(), "step": step, "bytes": copy.copied.bytes,
                    "seconds": copy.copied.seconds, "error": copy.error})
            });
            (
                good.iter().filter_map(|copy| copy.figure(Some((*op, *block)), step)).collect(),
                failures.collect(),
            )
        }
        _ => Default::default(),
    }
}

/// Names figures that no bus can carry for what they are, so that nobody takes them for the card's.
fn mark_cached<'a>(figures: impl Iterator<Item = &'a mut Figure>, tested: &Tested<'_>, log: &mut Log) {
    // Linux drives a slot of its own up to SDR104; a reader may be UHS-II.
    let fastest = if tested.in_slot() == Some(true) { "SDR104" } else { "UHS-II HD312" };
    let Some(mode) = bus_mode(fastest) else { return };
    let mut count = 0;
    for figure in figures.filter(|figure| figure.mb_s > mode.ceiling_mb_s) {
        figure.step = Some(format!("{}, page cache", figure.step.as_deref().unwrap_or("dd")));
        count += 1;
    }
    if count > 0 {
        log.doubts.push(format!(
            "figures faster than any such bus ({} MB/s for {fastest}): {count}; the page cache answered, not the card",
            mode.ceiling_mb_s
        ));
    }
}
