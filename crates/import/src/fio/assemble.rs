//! From jobs to a log: results, what they are called, and which run they belong to.

use super::{Document, Job, Side, grouped, sum};
use crate::notes::add_note;
use crate::runs::Runs;
use cardscope_model::condition::Origin;
use cardscope_model::log::{Log, LogFigure, LogRun, Tool};
use cardscope_model::test_name::{Op, TestName};
use std::collections::HashMap;

/// The job with which `cdm_fio.sh` fills its file before it tests.
const FILLING: &str = "Bufread";

/// All starts of fio in a log, as one log: those that repeat a test, or have another size, are further runs.
pub(super) fn log(format: &str, documents: Vec<Document>) -> Log {
    let mut log = Log::new(format);
    let version = documents.iter().find_map(|document| document.version.clone());
    log.tool = Some(Tool { name: "fio".to_owned(), version });
    log.date = documents.iter().find_map(|document| document.date.clone());
    let mut runs = Runs::default();
    for document in documents {
        for disk in &document.disks {
            add_note(&mut log.condition, &format!("disk {disk}"), Origin::Read);
        }
        add_document(&mut log, &mut runs, document);
    }
    log.runs = runs.finish();
    log
}

fn add_document(log: &mut Log, runs: &mut Runs, document: Document) {
    let mut jobs = grouped(document.jobs);
    if jobs.iter().any(|job| job.name == FILLING) {
        jobs.retain(|job| job.name != FILLING);
        doubt(log, format!("{FILLING} only fills the file before the tests and was left out"));
    }
    jobs.iter().for_each(|job| note(log, job));
    let figures = named_apart(jobs.iter().flat_map(|job| figures(log, job)).collect());
    let head = head(&jobs);
    let begun = runs.last_mut();
    let same = (begun.size_bytes, begun.loops) == (head.size_bytes, head.loops);
    if !same || figures.iter().any(|figure| runs.has(figure.name(), figure.step.as_deref())) {
        runs.begin(head);
    }
    figures.into_iter().for_each(|figure| runs.add(figure));
}

/// Size and loops that all jobs share.
fn head(jobs: &[Job]) -> LogRun {
    let Some(first) = jobs.first().map(|job| &job.options) else { return LogRun::default() };
    let size = first.size.filter(|size| jobs.iter().all(|job| job.options.size == Some(*size)));
    let loops = first.loops.filter(|loops| jobs.iter().all(|job| job.options.loops == Some(*loops)));
    LogRun { size_bytes: size, loops, ..LogRun::default() }
}

/// What makes a job's figures doubtful, and where it did its I/O.
fn note(log: &mut Log, job: &Job) {
    if job.error != 0 {
        doubt(
            log,
            format!("{} ended with error {}; its figures are what it did until then", job.name, job.error),
        );
    }
    if job.options.direct == Some(false) && (job.read.is_some() || job.write.is_some()) {
        doubt(log, format!("{} did not ask for direct I/O: the page cache took part", job.name));
    }
    if let Some(file) = &job.options.file {
        add_note(&mut log.condition, &format!("on {file}"), Origin::Read);
    }
}

fn doubt(log: &mut Log, doubt: String) {
    if !log.doubts.contains(&doubt) {
        log.doubts.push(doubt);
    }
}

/// A job's results with its name: one direction is a test; both are a mix, and each of them a part of it.
fn figures<'a>(log: &mut Log, job: &'a Job) -> Vec<(&'a str, LogFigure)> {
    let mut result = |op, side: &Side, step: Option<String>| {
        let threads = job.options.threads.unwrap_or(job.count).max(1);
        let (pattern, why) = job.options.pattern(&job.name, op, side.block(), threads);
        why.into_iter().for_each(|why| doubt(log, why));
        (job.name.as_str(), figure(TestName { pattern, op }, side, step))
    };
    match (&job.read, &job.write) {
        (Some(read), Some(write)) => {
            let op = Op::Mix(job.options.share_of_reads(read.iops, write.iops));
            let both = sum(job.read.clone(), job.write.clone());
            let whole = both.map(|both| result(op, &both, None));
            let part = Some(format!("part of {op}"));
            let parts = [result(Op::Read, read, part.clone()), result(Op::Write, write, part)];
            whole.into_iter().chain(parts).collect()
        }
        (Some(read), None) => vec![result(Op::Read, read, None)],
        (None, Some(write)) => vec![result(Op::Write, write, None)],
        (None, None) => Vec::new(),
    }
}

fn figure(name: TestName, side: &Side, step: Option<String>) -> LogFigure {
    LogFigure {
        test: name.pattern,
        op: name.op,
        step,
        mb_s: side.bytes_s / 1e6,
        iops: Some(side.iops).filter(|iops| *iops > 0.0),
        latency_us: side.latency_us,
        max_latency_us: side.max_latency_us,
        as_printed: side.printed.clone(),
    }
}

/// Different jobs that do the same test are told apart by their names.
fn named_apart(figures: Vec<(&str, LogFigure)>) -> Vec<LogFigure> {
    let mut times: HashMap<(TestName, Option<String>), u32> = HashMap::new();
    for (_, figure) in &figures {
        *times.entry((figure.name(), figure.step.clone())).or_default() += 1;
    }
    let named = figures.into_iter().map(|(job, mut figure)| {
        if times.get(&(figure.name(), figure.step.clone())).is_some_and(|times| *times > 1) {
            figure.step = Some(figure.step.map_or_else(|| job.to_owned(), |step| format!("{job}, {step}")));
        }
        figure
    });
    named.collect()
}
