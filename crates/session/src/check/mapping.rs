//! The part that looks inside, as far as the time goes.

use super::visit::{Ended, Visit};
use crate::frame::{Common, Limits, Outcome};
use crate::map;
use cardscope_model::card_map::Measured;
use cardscope_model::random::mix;
use cardscope_model::units::MIB;
use std::time::Duration;

/// Below this a map says nothing.
const LEAST_S: f64 = 4.0;

/// Bytes after which the search for the end of the cache is given up: all of it must be saved and put back.
const CACHE: u64 = 64 * MIB;

impl Visit<'_, '_> {
    pub(super) fn map(&mut self) -> Result<(), Ended> {
        let began = self.now();
        let left = self.budget.left(began);
        if self.report.body.verdict.is_bad() {
            return Err(Ended::left_out("only a card that keeps what is written to it is worth a map"));
        }
        if left < LEAST_S {
            return Err(Ended::no_time("no time was left; `cardscope map` takes the time it needs"));
        }
        let read_only = self.no_writes().is_some();
        let request = map::Request {
            common: Common { seed: Some(mix(self.report.header.seed ^ 2)), ..self.request.common.clone() },
            limits: Limits {
                budget: Some(self.budget.map(began).max(Duration::from_secs_f64(LEAST_S / 2.0))),
                max_write: self.left_to_write().filter(|_| !read_only),
            },
            read_only,
            erase: self.request.erase && self.no_writes().is_none(),
            cache: (self.no_writes().is_none() && !self.request.erase).then_some(CACHE),
            ..map::Request::default()
        };
        let Outcome { report: found, failure } = self.session.part(&request)?;
        self.add(&found.body.moved);
        self.found(found.header.findings.iter().cloned());
        let missing = out_of_time(&found.body.measured);
        self.report.body.map = Some(found);
        self.done("map", began, missing.then(|| "some of it had no time".to_owned()));
        if missing {
            self.wants_time();
        }
        Ended::with(failure)
    }
}

/// Whether the main properties were left out for want of time.
fn out_of_time(found: &Measured) -> bool {
    let reasons = [
        &found.page_bytes.reason,
        &found.erase_block_bytes.reason,
        &found.open_blocks.linear.reason,
        &found.slc_cache_bytes.reason,
        &found.queue_depth_effective.reason,
    ];
    reasons.into_iter().flatten().any(|reason| reason.contains("time"))
}
