//! What stands on the page of a visit, part by part.

use super::inside::{inside, jobs, long_run, marks};
use super::page::{Body, News, Page, Part};
use crate::bench;
use crate::figure::{duration, rate, speed, time_us};
use crate::table::Table;
use cardscope_model::check::{CheckReport, Next, PartState};
use cardscope_model::result::TestResult;
use cardscope_model::units::Capacity;
use cardscope_model::verify::{Method, Verdict};

pub(super) fn page(report: &CheckReport) -> Page {
    let parts = [identity, capacity, speeds, jobs, marks, inside, long_run, findings, doubts, next, time];
    Page {
        title: report.header.target.clone(),
        headline: headline(report),
        news: news(report),
        parts: parts.iter().filter_map(|part| part(report)).filter(|part| !part.body.is_empty()).collect(),
    }
}

fn news(report: &CheckReport) -> News {
    match report.body.verdict {
        _ if report.is_bad() => News::Bad,
        Verdict::Genuine => News::Good,
        _ => News::Open,
    }
}

fn headline(report: &CheckReport) -> String {
    let sure = format!("confidence {:.1} %", report.body.confidence * 100.0);
    match report.body.verdict {
        Verdict::Genuine => format!(
            "genuine as far as was looked, {} of {} proven at one time ({sure})",
            Capacity(report.body.proven_bytes),
            Capacity(report.body.announced_bytes)
        ),
        Verdict::Inconclusive => "whether the capacity is real was not found out".to_owned(),
        Verdict::ReaderSuspect => format!("ask a second reader before the card is accused ({sure})"),
        bad => format!("{}: not what it says ({sure})", bad.word().to_uppercase()),
    }
}

pub(super) fn part(head: &str, body: Vec<Body>) -> Option<Part> {
    Some(Part { head: head.to_owned(), body })
}

pub(super) fn fact(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}

fn identity(report: &CheckReport) -> Option<Part> {
    let identity = report.body.identity.as_ref()?;
    let mut facts = Vec::new();
    if let Some(cid) = &identity.cid {
        facts.push(fact("name", &cid.pnm));
    }
    if let Some(controller) = identity.nvme.as_ref().and_then(|nvme| nvme.identify.as_ref()) {
        facts.push(fact("model", &controller.mn));
    }
    let marks: Vec<String> = identity.mark_demands.iter().map(|d| d.mark.to_string()).collect();
    if !marks.is_empty() {
        facts.push(fact("marks it claims", marks.join(" ")));
    }
    facts.extend(report.header.condition.iter().map(|(word, value)| fact(&word.replace('_', " "), value)));
    part("What it is", if facts.is_empty() { vec![] } else { vec![Body::Facts(facts)] })
}

fn capacity(report: &CheckReport) -> Option<Part> {
    let bytes = |value: Option<u64>| value.map_or("not known".to_owned(), |b| Capacity(b).to_string());
    let by_files = report.body.verify.as_ref().is_some_and(|verify| verify.body.method == Method::Files);
    let facts = vec![
        fact(if by_files { "free space filled" } else { "announced" }, Capacity(report.body.announced_bytes)),
        fact("usable from the start", bytes(report.body.usable_bytes)),
        fact("proven at one time", Capacity(report.body.proven_bytes)),
        fact("what was on it", content(report)),
    ];
    part("Is it real", vec![Body::Facts(facts)])
}

/// What became of the card's content. A journal that waits is named among the findings.
fn content(report: &CheckReport) -> &'static str {
    let waits = report.header.findings.iter().any(|finding| finding.claim == "journal-waits");
    match report.body.moved.data_kept {
        true => "is as it was",
        false if waits => "is not all back yet",
        false => "was given up, as agreed",
    }
}

fn speeds(report: &CheckReport) -> Option<Part> {
    if report.body.bench.is_empty() {
        return None;
    }
    let mut table = Table::new(["test", "MB/s", "± of 95 %", "IOPS", "median", "longest"]);
    report.body.bench.iter().for_each(|result| table.row(row(result)));
    table.drop_blank_columns();
    part("What it can do", vec![Body::Table(table)])
}

fn row(result: &TestResult) -> [String; 6] {
    let width = result.precision.as_ref().and_then(|p| p.ci95_percent);
    [
        result.name().to_string(),
        speed(result.mb_s),
        width.map(|w| format!("{w:.1} %")).unwrap_or_default(),
        rate(result.iops),
        time_us(result.latency_us.p50),
        time_us(result.latency_us.max),
    ]
}

fn findings(report: &CheckReport) -> Option<Part> {
    if report.header.findings.is_empty() {
        return None;
    }
    part("What was noticed", vec![Body::Findings(report.header.findings.clone())])
}

fn doubts(report: &CheckReport) -> Option<Part> {
    let lines = bench::caveats(&report.header.caveats, report.body.bench.iter());
    part("What speaks against the figures", lines.into_iter().map(|line| Body::Words(line + ".")).collect())
}

fn time(report: &CheckReport) -> Option<Part> {
    let mut facts: Vec<(String, String)> = report
        .body
        .parts
        .iter()
        .map(|p| {
            let reason = p.reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default();
            let what = match p.state {
                PartState::Done => duration(p.seconds),
                PartState::Partly => format!("{}, in part{reason}", duration(p.seconds)),
                PartState::LeftOut => format!("left out{reason}"),
            };
            (p.part.clone(), what)
        })
        .collect();
    facts.push(fact(
        "in all",
        format!("{} of {}", duration(report.body.moved.seconds), duration(report.body.budget_s)),
    ));
    let moved = format!(
        "{:.1} MB written, {:.1} MB put back, {:.1} MB read",
        report.body.moved.bytes_written as f64 / 1e6,
        report.body.moved.bytes_restored as f64 / 1e6,
        report.body.moved.bytes_read as f64 / 1e6
    );
    facts.push(fact("moved", moved));
    let mut body = vec![Body::Facts(facts)];
    if let Some(error) = &report.header.error {
        body.push(Body::Words(format!("Ended early: {error}")));
    }
    part("How it was found out", body)
}

fn next(report: &CheckReport) -> Option<Part> {
    let mut body = Vec::new();
    for Next { what, command } in &report.body.next {
        body.push(Body::Words(format!("{what}{}", if command.is_some() { ":" } else { "." })));
        body.extend(command.as_ref().map(|command| Body::Commands(vec![command.clone()])));
    }
    part("What to do next", body)
}
