//! Builds logs from fio's jobs: results, their names and their runs.

use super::{FioDocument, FioJob, JobDirection, group_by_key, sum_by_group};
use crate::readers::{RunBuilder, add_note, new_log};
use cardscope_model::condition::ConditionOrigin;
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::{TestName, TestOp};
use cardscope_model::untrusted_text::shorten_text;
use std::collections::HashMap;

/// Job by which `cdm_fio.sh` fills its file before the tests.
const FILL_JOB: &str = "Bufread";

/// Doubts that are listed one by one. Only broken logs have as many.
const MOST_DOUBTS: usize = 50;

/// Logs of all starts of fio, one for each computer. Of several reports on the same jobs the last one counts.
pub(super) fn build_logs(documents: Vec<FioDocument>) -> Vec<CardLog> {
    let mut final_: Vec<FioDocument> = Vec::new();
    for document in documents {
        if final_.last().is_some_and(|last| last.is_continued_by(&document)) {
            final_.pop();
        }
        final_.push(document);
    }
    let hosts = group_by_key(final_.into_iter().map(|document| (document.host.clone(), document)));
    hosts.into_iter().map(|(host, documents)| CardLog { part: host, ..build_log(documents) }).collect()
}

/// Log of one computer. A start of fio that repeats a test, or has another size, begins a run.
fn build_log(documents: Vec<FioDocument>) -> CardLog {
    let mut log = new_log("fio", documents.iter().find_map(|document| document.version.as_deref()));
    log.date = documents.iter().find_map(|document| document.date.clone());
    let mut runs = RunBuilder::default();
    for document in documents {
        for disk in &document.disks {
            add_note(&mut log.condition, &format!("disk {disk}"), ConditionOrigin::Read);
        }
        add_document(&mut log, &mut runs, document);
    }
    log.runs = runs.finish();
    log
}

fn add_document(log: &mut CardLog, runs: &mut RunBuilder, document: FioDocument) {
    let mut jobs = sum_by_group(document.jobs);
    if jobs.iter().any(|job| job.name == FILL_JOB) {
        jobs.retain(|job| job.name != FILL_JOB);
        add_doubt(log, format!("skipped {FILL_JOB}, which only fills the file"));
    }
    jobs.iter().for_each(|job| note_job(log, job));
    let mut groups: HashMap<u64, Vec<&str>> = HashMap::new();
    jobs.iter().for_each(|job| groups.entry(job.group).or_default().push(&job.name));
    let measured = jobs.iter().flat_map(|job| {
        let beside = concurrent_step(log, job, &groups);
        let mut figures = job_figures(log, job);
        for (_, figure) in &mut figures {
            let steps: Vec<String> = figure.step.take().into_iter().chain(beside.clone()).collect();
            figure.step = Some(steps.join(", ")).filter(|_| !steps.is_empty());
        }
        figures
    });
    let figures = add_job_names(measured.collect());
    let head = shared_settings(&jobs);
    let begun = runs.current_run();
    let same = (begun.size_bytes, begun.loops) == (head.size_bytes, head.loops);
    if !same || figures.iter().any(|figure| runs.has_test(figure.name(), figure.step.as_deref())) {
        runs.begin_run(head);
    }
    figures.into_iter().for_each(|figure| runs.add_figure(figure));
}

/// Step for the figures of a job that ran at the same time as another one.
fn concurrent_step(log: &mut CardLog, job: &FioJob, groups: &HashMap<u64, Vec<&str>>) -> Option<String> {
    let names = groups.get(&job.group)?;
    let other = names.iter().find(|name| **name != job.name)?;
    let first = names.first().copied().unwrap_or_default();
    add_doubt(log, format!("{} jobs from {} on ran at the same time", names.len(), shorten_text(first)));
    let more = if names.len() > 2 { format!(" and {} more", names.len() - 2) } else { String::new() };
    Some(format!("beside {other}{more}"))
}

/// Size and loops, if all jobs share them.
fn shared_settings(jobs: &[FioJob]) -> Run {
    let Some(first) = jobs.first().map(|job| &job.options) else { return Run::default() };
    let size = first.size.filter(|size| jobs.iter().all(|job| job.options.size == Some(*size)));
    let loops = first.loops.filter(|loops| jobs.iter().all(|job| job.options.loops == Some(*loops)));
    Run { size_bytes: size, loops, ..Run::default() }
}

/// Notes doubts about a job, and the file that it used.
fn note_job(log: &mut CardLog, job: &FioJob) {
    let name = shorten_text(&job.name);
    let cached = job.options.direct == Some(false) && job.directions.iter().any(Option::is_some);
    let doubts = [
        (job.error != 0, format!("ended with error {}; its results are partial", job.error)),
        (cached, "did not use direct I/O: the page cache is part of the results".to_owned()),
        (job.discards, "also discarded blocks, which is not imported".to_owned()),
    ];
    for (_, doubt) in doubts.iter().filter(|(applies, _)| *applies) {
        add_doubt(log, format!("{name} {doubt}"));
    }
    if let Some(file) = &job.options.file {
        add_note(&mut log.condition, &format!("on {file}"), ConditionOrigin::Read);
    }
}

fn add_doubt(log: &mut CardLog, doubt: String) {
    match log.doubts.len() {
        _ if log.doubts.contains(&doubt) => {}
        ..MOST_DOUBTS => log.doubts.push(doubt),
        MOST_DOUBTS => log.doubts.push("more jobs with such caveats".to_owned()),
        _ => {}
    }
}

/// A job's results with its name. One direction is a test; both are a mix, and each of them is a part of it.
fn job_figures<'a>(log: &mut CardLog, job: &'a FioJob) -> Vec<(&'a str, TestFigure)> {
    let mut result = |op, side: &JobDirection, step: Option<String>| {
        let threads = job.options.threads.unwrap_or(job.count).max(1);
        let (pattern, why) = job.options.test_pattern(&job.name, op, side.block_bytes(), threads);
        why.into_iter().for_each(|why| add_doubt(log, why));
        (job.name.as_str(), build_figure(TestName { pattern, op }, side, step))
    };
    let [read, write, mixed] = &job.directions;
    match (read, write) {
        (None, None) => {
            let op = TestOp::Mix(job.options.share_of_reads(1.0, 1.0));
            mixed.iter().map(|mixed| result(op, mixed, None)).collect()
        }
        (Some(read), Some(write)) if job.options.only_writes() => {
            vec![result(TestOp::Write, write, None), result(TestOp::Read, read, Some("verify".to_owned()))]
        }
        (Some(read), Some(write)) => {
            let op = TestOp::Mix(job.options.share_of_reads(read.iops, write.iops));
            let whole = result(op, &read.clone().merge_direction(write.clone()), None);
            let part = Some(format!("part of {op}"));
            vec![whole, result(TestOp::Read, read, part.clone()), result(TestOp::Write, write, part)]
        }
        (Some(read), None) => vec![result(TestOp::Read, read, None)],
        (None, Some(write)) => vec![result(TestOp::Write, write, None)],
    }
}

fn build_figure(name: TestName, side: &JobDirection, step: Option<String>) -> TestFigure {
    TestFigure {
        step,
        iops: Some(side.iops).filter(|iops| *iops > 0.0),
        latency_us: side.latency_us,
        max_latency_us: side.max_latency_us,
        percentiles_us: side.percentiles_us,
        as_printed: Some(side.printed.clone()),
        ..TestFigure::from_speed(name, side.bytes_s / 1e6)
    }
}

/// Adds the job's name to figures of different jobs with the same test.
fn add_job_names(figures: Vec<(&str, TestFigure)>) -> Vec<TestFigure> {
    let key = |figure: &TestFigure| (figure.name(), figure.step.clone());
    let mut times: HashMap<(TestName, Option<String>), u32> = HashMap::new();
    figures.iter().for_each(|(_, figure)| *times.entry(key(figure)).or_default() += 1);
    let named = figures.into_iter().map(|(job, mut figure)| {
        if times.get(&key(&figure)).is_some_and(|times| *times > 1) {
            figure.step = Some(figure.step.map_or_else(|| job.to_owned(), |step| format!("{job}, {step}")));
        }
        figure
    });
    named.collect()
}
