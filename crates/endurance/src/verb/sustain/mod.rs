//! `sustain` verb: long use of a card with thermometers. Samples are stored while the run continues.

mod scope;
mod thermometers;
mod writer;

pub use cardscope_engine::target::TargetRegion;
pub use scope::SustainRequest;
pub use thermometers::{ManualReading, ManualThermometer, NoManualReading};

use crate::judge::long_run;
use crate::probe::sustain::{
    QUEUE_DEPTH, RANDOM_BLOCK, SEQUENTIAL_BLOCK, SustainOptions, plan_stages, run_sustain,
};
use cardscope_model::caveat::{self, Caveat};
use cardscope_model::condition::{Condition, ConditionOrigin};
use cardscope_model::finding::Finding;
use cardscope_model::report::IoTotals;
use cardscope_model::sustain::{LongRun, MeasuredRun, SustainReport, WorkloadKind, WorkloadPattern};
use cardscope_probing::write_scope::WriteScope;
use cardscope_session::archive_access::load_baseline;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CardNeeds, CommonOptions, Procedure, VerbSession};
use cardscope_session::open_target::TargetType;
use cardscope_statistics::bottleneck::{self, LimitFacts};
use scope::SustainScope;
use std::cell::RefCell;
use thermometers::{RunLog, RunThermometers, SharedListener};
use writer::SampleWriter;

/// Long run with its baseline and the source of manual temperature readings.
pub struct AttendedRun<'a> {
    request: &'a SustainRequest,
    baseline: Option<SustainReport>,
    typist: RefCell<&'a mut dyn ManualReading>,
}

impl SustainRequest {
    /// Writing loses data, wherever it is allowed.
    pub fn needs(&self) -> CardNeeds {
        if scope::opens_for_writing(self) { CardNeeds::Overwrite(self.region) } else { CardNeeds::Read }
    }

    /// Prepares the run for execution.
    /// # Errors
    /// Refuses if the baseline cannot be found or read.
    pub fn with_manual_readings<'a>(&'a self, typist: &'a mut dyn ManualReading) -> Result<AttendedRun<'a>> {
        let archive = self.common.archive.named_path();
        let load = |name| load_baseline(name, archive, "sustain");
        let baseline = self.baseline.as_deref().map(load).transpose()?;
        Ok(AttendedRun { request: self, baseline, typist: RefCell::new(typist) })
    }
}

impl Procedure for AttendedRun<'_> {
    const VERB: &'static str = "sustain";
    type Body = LongRun;

    fn common(&self) -> &CommonOptions {
        &self.request.common
    }

    fn needs(&self) -> CardNeeds {
        self.request.needs()
    }

    fn check(&self, target: TargetType) -> Result<()> {
        scope::checked_work(self.request, target)?;
        thermometers::parse_thermometers(self.request).map(drop)
    }

    /// Adds `--cooling` and `--cooling-of` to the conditions.
    fn stated_conditions(&self) -> Result<Condition> {
        let request = self.request;
        let mut stated = request.common.conditions.parse_conditions()?;
        for (word, value) in [("cooling", &request.cooling), ("cooling_of", &request.cooling_of)] {
            if let Some(value) = value {
                stated.set(word, value, ConditionOrigin::Stated);
            }
        }
        if request.common.is_simulated() && request.cooling.is_some() {
            let place = "in its name, e.g. sim:NAME?cooling=passive, not with --cooling";
            return Err(Failure::refused(format!("set the cooling of a simulated card {place}")));
        }
        Ok(stated)
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut SustainReport) -> Result<()> {
        session.opened.limit_writes(self.request.writing.max_write);
        let scope = SustainScope::prepare(self.request, session.opened)?;
        let mut thermometers = RunThermometers::open_all(self.request, session.opened)?;
        let options = scope.sustain_options(session.opened, report.header.seed);
        let moved = std::mem::take(&mut report.body.moved);
        report.body = initial_body(&options, session.bytes(), moved);
        let line = scope.plan_line(session.opened);
        session.events.announce_plan(plan_stages(&options).with_summary(line));
        session.begin_row(report)?;
        let mut writer = SampleWriter::start(session.recorder.take(), report)?;
        thermometers.begin_manual(*self.typist.borrow_mut());
        let LongRun { moved, measured, .. } = &mut report.body;
        let ended = session.run_probe((SEQUENTIAL_BLOCK, QUEUE_DEPTH), moved, |card, _, events| {
            let shared = SharedListener(RefCell::new(events));
            let (writer, thermometers) = (&mut writer, &mut thermometers);
            let mut log = RunLog { writer, thermometers, listener: &shared };
            run_sustain(card, WriteScope::new(None), &options, &mut &shared, &mut log, measured)
        });
        conclude_sustain(report, session, thermometers.failures());
        let baseline = self.request.baseline.as_deref().zip(self.baseline.as_ref());
        report.body.against = baseline.map(|(name, earlier)| long_run::compare_runs(report, name, earlier));
        let written = writer.finish().map(|recorder| session.recorder = recorder);
        ended?;
        written
    }
}

/// Body of the document before the run.
fn initial_body(options: &SustainOptions, announced_bytes: u64, moved: IoTotals) -> LongRun {
    let &SustainOptions { work, pattern, card_limits: limits, .. } = options;
    let region = options.limits.region;
    LongRun {
        work,
        pattern,
        block_bytes: u64::from(match pattern {
            WorkloadPattern::Sequential => SEQUENTIAL_BLOCK,
            WorkloadPattern::Random => RANDOM_BLOCK,
        }),
        region_start: region.start,
        region_bytes: region.len,
        measured: MeasuredRun { queue_depth: QUEUE_DEPTH, limits, ..MeasuredRun::default() },
        announced_bytes,
        // A test file overwrites no data of the user.
        moved: IoTotals { data_kept: work == WorkloadKind::Read || options.is_test_file, ..moved },
        ..LongRun::default()
    }
}

/// Adds findings and caveats.
fn conclude_sustain(report: &mut SustainReport, session: &VerbSession<'_>, thermometers: Vec<String>) {
    let doubts = thermometers.into_iter().chain(long_run::missing_evidence(&report.body.measured.series));
    session.collect_target_caveats(&mut report.header);
    caveat::add_new_caveats(&mut report.header.caveats, doubts.map(|text| Caveat::Other { text }));
    let LongRun { measured, moved, .. } = &mut report.body;
    measured.failed_ios = moved.counts.failed();
    let (card_bytes, condition) = (session.card_bytes(), &report.header.condition);
    report.header.findings.extend(long_run::long_run_findings(measured, moved, card_bytes, condition));
    report.header.findings.extend(bottlenecks(report, session));
}

/// Bottlenecks: of the slowest level compared with the card's strictest mark, of the fastest compared with the bus.
fn bottlenecks(report: &SustainReport, session: &VerbSession<'_>) -> Vec<Finding> {
    let (measured, reads) = (&report.body.measured, report.body.work == WorkloadKind::Read);
    let op = if reads { "read" } else { "write" };
    let speeds = || measured.levels.iter().filter(|level| level.op == op).map(|level| level.mb_s);
    let level = |which: &str, mb_s: f64| {
        let test_name = format!("The {which} {op} level");
        LimitFacts { test_name, mb_s, ..LimitFacts::default() }
    };
    let promises = !reads && report.body.pattern == WorkloadPattern::Sequential;
    let slowest = speeds().reduce(f64::min).map(|mb_s| LimitFacts {
        promised: session.opened.fastest_mark().filter(|_| promises),
        is_hot: measured.throttling.is_some(),
        is_disturbed: measured.interference.is_some(),
        ..level("slowest", mb_s)
    });
    let bus_mb_s = session.opened.ceiling_mb_s;
    let fastest = speeds().reduce(f64::max).map(|mb_s| LimitFacts { bus_mb_s, ..level("fastest", mb_s) });
    bottleneck::bottleneck_findings(&slowest.into_iter().chain(fastest).collect::<Vec<_>>())
}
