//! Tests the marks that card or label claim, and finds the highest that the card meets.

use super::check_run::{CheckRun, PartEnd, first_and_count};
use super::jobs::job_figures;
use cardscope_engine::target::TargetRegion;
use cardscope_marks::probe::{self as marks, MarkOptions, TEST_AREA};
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::mark_result::{JudgedMarks, MarksReport, collect_claims};
use cardscope_model::units::MIB;
use cardscope_probing::context::{CARD_START, ProbeLimits, stamp_salt};
use cardscope_probing::io_size::{PROBE_BLOCK, PROBE_DEPTH};
use cardscope_probing::write_scope::WriteScope;
use cardscope_sd::label;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CommonOptions, Procedure, VerbOutcome, VerbSession, as_probe_journal};
use cardscope_statistics::io_errors;

/// Most bytes to save and write: several allocation units of 4 to 16 MiB.
const MAX_SAVED_BYTES: u64 = 256 * MIB;

/// Share of the remaining time. The rest is for sustained use, which tells less in a minute.
const SHARE: f64 = 0.85;

/// Shortest time in seconds in which an allocation unit can be written.
const LEAST_S: f64 = 4.0;

/// Smallest and largest test file in a directory: enough for a V class, and the test area of A classes.
const OWN_FILE: (u64, u64) = (64 * MIB, TEST_AREA);

/// Share of the remaining time for filling that file.
const FILL_SHARE: f64 = 0.25;

/// Smallest region behind the start of the card.
const LEAST_AREA: u64 = 64 * MIB;

impl CheckRun<'_, '_> {
    pub(super) fn test_marks(&mut self) -> Result<(), PartEnd> {
        let began = self.now();
        if let Some(why) = self.no_write_reason() {
            return Err(PartEnd::skipped(why));
        }
        if self.report.body.verdict.is_bad() {
            return Err(PartEnd::skipped("not judged on a fake"));
        }
        if self.budget.seconds_left(began) < LEAST_S {
            return Err(PartEnd::out_of_time("no time left (`--budget`)"));
        }
        let judging = MarkTest {
            common: self.common(3),
            options: self.marks_options(began)?,
            preserves_data: !self.directory && !self.request.erase,
            may_lose_data: self.request.erase,
        };
        let VerbOutcome { report: found, failure } = self.run_part(&judging)?;
        let measured = found.body.marks;
        self.marks_options = Some(judging.options);
        let (reason, short) = (first_and_count(&measured.left_out), measured.short_of_time);
        self.report.body.marks = Some(measured);
        self.end_part(("marks", began), reason, short, failure)
    }

    pub(super) fn claims_marks(&self) -> bool {
        let printed = self.request.label.as_deref().and_then(|text| label::parse(text).ok());
        !collect_claims(self.session.opened.identity.as_ref(), printed.as_ref()).is_empty()
    }

    /// Judges the marks again with the speed behind the cache, if the map that follows them measured it. The short
    /// writes of the marks test stay in the cache.
    pub(super) fn judge_after_cache(&mut self) {
        let body = &mut self.report.body;
        let mb_s = body.map.as_ref().and_then(|map| measured_after_cache(&map.body.measured));
        let (Some(mb_s), Some(options), Some(marks)) = (mb_s, &self.marks_options, &mut body.marks) else {
            return;
        };
        let findings = &mut self.report.header.findings;
        findings.retain(|finding| !marks.findings.contains(finding));
        marks::judge_after_cache(marks, options, self.session.opened.target.info().bytes, mb_s);
        findings.extend(marks.findings.iter().cloned());
    }

    fn marks_options(&mut self, now: f64) -> Result<MarkOptions> {
        let (erase, unlimited) = (self.request.erase, self.request.has_no_time_limit());
        if self.session.opened.limit.bytes_left().is_some_and(|left| left < 2 * OWN_FILE.0) {
            return Err(self.session.opened.limit.refuse_write("judging marks", 2 * OWN_FILE.1));
        }
        let region = match self.directory {
            true => self.session.opened.target.area(self.test_file_bytes(now)).map_err(Failure::refused)?,
            false if erase => TargetRegion { start: 0, len: self.usable_bytes() },
            false => region_after_start(self.usable_bytes())?,
        };
        // A test file is filled once before it is used.
        let filled = if self.directory { region.len } else { 0 };
        let most = (!erase).then_some(filled + MAX_SAVED_BYTES);
        let limits = ProbeLimits {
            seed: self.seed(3),
            region,
            max_write: most.into_iter().chain(self.writes_left()).min(),
            budget: (!unlimited).then(|| self.budget.share_of_rest(now, SHARE)),
        };
        let printed = self.request.label.as_deref().map(label::parse).transpose();
        let printed = printed.map_err(Failure::refused)?;
        let (identity, ceiling) = (self.session.opened.identity.as_ref(), self.session.opened.ceiling_mb_s);
        let mut options = MarkOptions::for_card(limits, identity, printed.as_ref(), ceiling);
        (options.card_addresses, options.form) = (!self.directory, self.request.marks_form());
        Ok(match &self.report.body.map {
            Some(map) => add_map_results(options, &map.body.measured),
            None => options,
        })
    }

    /// Size of a test file that can be filled in time, by the speed in `bench`.
    fn test_file_bytes(&self, now: f64) -> u64 {
        let mb_s = job_figures(self.report).0.write_mb_s;
        let bytes = (mb_s.unwrap_or_default() * 1e6 * self.budget.seconds_left(now) * FILL_SHARE) as u64;
        let left = self.session.opened.limit.bytes_left().unwrap_or(u64::MAX);
        (bytes.min(left / 2) / MIB * MIB).clamp(OWN_FILE.0, OWN_FILE.1)
    }
}

/// Test of marks as a part, with restoring unless the content may be lost.
struct MarkTest {
    common: CommonOptions,
    options: MarkOptions,
    preserves_data: bool,
    may_lose_data: bool,
}

impl Procedure for MarkTest {
    const VERB: &'static str = "marks";
    type Body = JudgedMarks;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut MarksReport) -> Result<()> {
        let JudgedMarks { marks, moved } = &mut report.body;
        moved.data_kept = true;
        if self.preserves_data {
            session.begin_journal(MAX_SAVED_BYTES, stamp_salt(self.options.limits.seed))?;
        }
        session.begin_row_with(&mut report.header, |start| start)?;
        let ended = session.run_probe((PROBE_BLOCK, PROBE_DEPTH), moved, |card, journal, events| {
            let scope = WriteScope::new(as_probe_journal(journal));
            marks::measure_and_judge(card, scope, &self.options, events, marks)
        });
        moved.data_kept = moved.bytes_written == 0 || !self.may_lose_data;
        let (returned, ended) = session.restore_after_probe(ended.err(), None, moved);
        let findings = &mut report.header.findings;
        findings.extend(marks.findings.iter().cloned());
        let card_bytes = session.card_bytes();
        findings.extend(io_errors::io_error_finding(moved, card_bytes, "while its marks were judged"));
        findings.extend(returned.and_then(|returned| returned.finding(None)));
        ended
    }
}

/// Region without the start of the card, which is spared if data is preserved: a power loss there costs the file system
/// and not just a file.
fn region_after_start(usable: u64) -> Result<TargetRegion> {
    let len = usable.saturating_sub(CARD_START);
    if len < LEAST_AREA {
        return Err(Failure::refused("the card is too small to spare its start; use --erase"));
    }
    Ok(TargetRegion { start: CARD_START, len })
}

/// Adds results of a map: the erase block if no allocation unit is stated (promises refer to stated ones), and the
/// speed behind the cache, which short writes do not reach.
fn add_map_results(mut options: MarkOptions, map: &MeasuredMap) -> MarkOptions {
    let block = map.erase_block_bytes.value.filter(|_| map.erase_block_bytes.is_measured());
    if options.unit.is_none() && block.is_some() {
        (options.unit, options.unit_from) = (block, "erase block measured by the map".to_owned());
    }
    options.after_cache_mb_s = measured_after_cache(map);
    options
}

fn measured_after_cache(map: &MeasuredMap) -> Option<f64> {
    map.after_cache_mb_s.value.filter(|_| map.after_cache_mb_s.is_measured())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::card_map::property::{Property, PropertyEvidence};

    fn bare() -> MarkOptions {
        let region = TargetRegion { start: 0, len: 1 << 30 };
        MarkOptions::for_card(
            ProbeLimits { seed: 1, region, max_write: None, budget: None },
            None,
            None,
            None,
        )
    }

    #[test]
    fn map_adds_unit_if_none_is_stated_and_speed_after_cache() {
        let map = MeasuredMap {
            erase_block_bytes: Property::measured(8 * MIB, 0.9, PropertyEvidence::default()),
            after_cache_mb_s: Property::measured(27.5, 0.9, PropertyEvidence::default()),
            ..MeasuredMap::default()
        };
        let found = add_map_results(bare(), &map);
        assert_eq!((found.unit, found.after_cache_mb_s), (Some(8 * MIB), Some(27.5)));
        assert!(found.unit_from.contains("map"), "{}", found.unit_from);
        let stated = MarkOptions { unit: Some(4 * MIB), unit_from: "SSR".to_owned(), ..bare() };
        let found = add_map_results(stated, &map);
        assert_eq!((found.unit, found.unit_from.as_str()), (Some(4 * MIB), "SSR"));
        let nothing = add_map_results(bare(), &MeasuredMap::default());
        assert_eq!((nothing.unit, nothing.after_cache_mb_s), (None, None));
    }
}
