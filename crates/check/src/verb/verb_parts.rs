//! Parts that are verbs of their own: `verify` tests the capacity, `map` the flash geometry.

use super::check_run::{CheckRun, PartEnd};
use cardscope_capacity::verb as verify;
use cardscope_engine::event::NestedListener;
use cardscope_flash::verb as map;
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::SoughtProperty;
use cardscope_model::finding::AdvisedVerb;
use cardscope_model::units::MIB;
use cardscope_model::verify::{Verdict, VerifyReport};
use cardscope_session::error::Result;
use cardscope_session::frame::{CommonOptions, SpendLimits, VerbOutcome, run_on_open_card};
use cardscope_session::options::WriteLimit;
use std::time::Duration;

/// Divisor: the capacity test gets this part of the allowed writes.
const VERIFY_SHARE: u64 = 4;

/// Distance in bytes to the write limit within which the limit ended the test, because its last run doubles in such
/// steps.
const LIMIT_TOLERANCE: u64 = 128 << 20;

impl CheckRun<'_, '_> {
    pub(super) fn run_verify(&mut self) -> Result<(), PartEnd> {
        if self.request.read_only {
            return Err(PartEnd::skipped("the test writes, and --read-only was given"));
        }
        let began = self.now();
        let request = self.verify_request();
        let VerbOutcome { report, failure } = match self.directory {
            true => self.verify_files(&request)?,
            false => self.run_part(&request)?,
        };
        // The files are written to targets of their own, which the limit of this target does not count.
        let written = report.body.moved.bytes_written;
        self.session.opened.limit.count_outside_writes(written);
        let whole = report.body.verdict != Verdict::Inconclusive;
        let limited = request.limits.max_write().is_some_and(|most| written + LIMIT_TOLERANCE >= most);
        self.add_verify_result(report);
        let short = match limited {
            true => "not enough writes allowed for a verdict (`--max-write`)",
            false => "not enough time for a verdict (`cardscope verify`)",
        };
        self.end_part(("verify", began), (!whole).then(|| short.to_owned()), !whole && !limited, failure)
    }

    /// Runs `verify --files`, whose files are targets of their own, in the directory that is already open.
    fn verify_files(&mut self, request: &verify::VerifyRequest) -> Result<VerbOutcome<VerifyReport>> {
        let there = self.session.opened.open_object.clone();
        let mut opened = verify::files::open_directory(request, there.as_deref(), self.session.interrupt)?;
        opened.condition.clone_from(&self.session.opened.condition);
        let mut events = NestedListener::new(self.session.events);
        let mut outcome = run_on_open_card(request, &mut opened, self.session.interrupt, &mut events)?;
        self.add_results(&mut outcome.report);
        Ok(outcome)
    }

    fn verify_request(&self) -> verify::VerifyRequest {
        verify::VerifyRequest {
            common: CommonOptions { seed: Some(self.report.header.seed), ..self.request.common.clone() },
            limits: SpendLimits {
                budget: Some(self.budget.verify_time(!self.directory && !self.request.erase)),
                writing: WriteLimit { max_write: self.writes_left().map(|left| left / VERIFY_SHARE) },
            },
            files: self.directory,
            erase: self.request.erase,
            label: self.request.label.clone(),
            ..verify::VerifyRequest::default()
        }
    }

    fn add_verify_result(&mut self, found: VerifyReport) {
        let report = &mut *self.report;
        let (body, verified) = (&mut report.body, &found.body);
        (body.verdict, body.confidence) = (verified.verdict, verified.confidence);
        (body.usable_bytes, body.proven_bytes) = (verified.usable_bytes, verified.proven_bytes);
        if self.directory {
            // The files filled more space than the test file of a benchmark could.
            body.announced_bytes = verified.announced_bytes;
        }
        if body.verdict != Verdict::Inconclusive {
            report.header.findings.iter_mut().for_each(|finding| finding.drop_advice(AdvisedVerb::Verify));
        }
        body.verify = Some(found);
    }
}

/// Shortest time in seconds for a map.
const LEAST_S: f64 = 4.0;

/// Share of the remaining time for the map. Marks and sustained use follow it.
pub(super) const MAP_SHARE: f64 = 0.6;

/// Bytes after which the search for the end of the cache stops, because everything must be saved and restored.
const CACHE_SEARCH_BYTES: u64 = 64 * MIB;

impl CheckRun<'_, '_> {
    pub(super) fn run_map(&mut self) -> Result<(), PartEnd> {
        let began = self.now();
        let left = self.budget.seconds_left(began);
        if self.report.body.verdict.is_bad() {
            return Err(PartEnd::skipped("mapped only if the card keeps its data"));
        }
        if left < LEAST_S {
            return Err(PartEnd::out_of_time("no time left (`cardscope map`)"));
        }
        let read_only = self.no_write_reason().is_some();
        let erase = self.request.erase && !read_only;
        let least = Duration::from_secs_f64(LEAST_S / 2.0);
        let request = map::MapRequest {
            common: self.common(2),
            limits: SpendLimits {
                budget: Some(self.budget.share_of_rest(began, MAP_SHARE).max(least)),
                writing: WriteLimit { max_write: self.writes_left().filter(|_| !read_only) },
            },
            read_only,
            erase,
            cache: (!read_only && !erase).then_some(CACHE_SEARCH_BYTES),
            ..map::MapRequest::default()
        };
        let VerbOutcome { report: found, failure } = self.run_part(&request)?;
        let missing = out_of_time(&found.body.measured);
        self.report.body.map = Some(found);
        self.judge_after_cache();
        let reason = missing.then(|| "no time left for some of it".to_owned());
        self.end_part(("map", began), reason, missing, failure)
    }
}

/// True if main properties are missing for lack of time.
fn out_of_time(found: &MeasuredMap) -> bool {
    let main: [&dyn SoughtProperty; 5] = [
        &found.page_bytes,
        &found.erase_block_bytes,
        &found.open_blocks.linear,
        &found.slc_cache_bytes,
        &found.queue_depth_effective,
    ];
    main.into_iter().any(|property| property.is_out_of_time())
}
