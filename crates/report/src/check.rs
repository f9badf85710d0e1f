//! `check` as one page: identity, capacity, speeds, jobs, marks, flash, a long run, and what to do next.

use crate::bench::precision;
use crate::card_map;
use crate::figure::{duration, rate, speed, test_of, time_us};
use crate::page::{Block, Fact, News, Page, fact, moved};
use crate::table::Table;
use crate::{page_html, ranking, sustain};
use cardscope_model::check::{CheckReport, PartState};
use cardscope_model::identity::Identity;
use cardscope_model::job::JobScore;
use cardscope_model::judged_mark::{ClaimedBy, JudgedMark, MarksMeasured, MarksReport, Outcome, Part};
use cardscope_model::report::Document;
use cardscope_model::result::TestResult;
use cardscope_model::sustain::Measured;
use cardscope_model::units::Capacity;
use cardscope_model::verify::{Method, Verdict};

/// Charts of the map that the page has room for.
const CHARTS: usize = 3;

/// The page for a terminal.
pub fn text(report: &CheckReport) -> String {
    page(report).text()
}

/// The judgement of marks, which is a document of its own in the archive.
pub fn marks(report: &MarksReport) -> String {
    let claimed = report.body.marks.judged.iter().filter(|judged| !judged.claimed_by.is_empty());
    let missed = claimed.clone().filter(|judged| judged.outcome == Outcome::Missed).count();
    let answer = format!("{missed} of {} marks missed", claimed.count());
    let mut page = Page::new(&report.header.target, answer);
    page.add("Marks", [Block::Facts(marks_of(&report.body.marks))]);
    page.framed(&report.header)
}

/// The page as one HTML file that needs nothing else.
pub fn html(report: &CheckReport) -> String {
    page_html::document(&page(report))
}

fn page(report: &CheckReport) -> Page {
    let (header, body) = (&report.header, &report.body);
    let mut page = Page::new(&header.target, answer(report));
    page.news = match body.verdict {
        _ if report.is_bad() => News::Bad,
        Verdict::Genuine => News::Good,
        _ => News::Open,
    };
    if let Some(identity) = &body.identity {
        page.add("What it is", [Block::Facts(what_it_is(identity, report))]);
    }
    page.add("Is it real", [Block::Facts(capacity(report))]);
    page.add("What it can do", [Block::Table(speeds(&body.bench))]);
    page.add("Suitable for", [Block::Facts(jobs(&body.jobs))]);
    page.add("Marks", [Block::Facts(body.marks.as_ref().map(marks_of).unwrap_or_default())]);
    page.add("Flash geometry", flash(report));
    page.add("Sustained use", body.sustain.iter().flat_map(long_run));
    page.add_findings(header, body.bench.iter());
    page.add("What to do next", next(report));
    page.add("How it was found out", [Block::Facts(time(report))]);
    page.add_end(header);
    page
}

fn answer(report: &CheckReport) -> String {
    let body = &report.body;
    let sure = format!("confidence {:.1} %", body.confidence * 100.0);
    match body.verdict {
        Verdict::Genuine => format!(
            "genuine as far as was looked, {} of {} proven at one time ({sure})",
            Capacity(body.proven_bytes),
            Capacity(body.announced_bytes)
        ),
        Verdict::Inconclusive => "whether the capacity is real was not found out".to_owned(),
        Verdict::ReaderSuspect => format!("ask a second reader before the card is accused ({sure})"),
        bad => format!("{}: not what it says ({sure})", bad.word().to_uppercase()),
    }
}

fn what_it_is(identity: &Identity, report: &CheckReport) -> Vec<Fact> {
    let model = identity.nvme.as_ref().and_then(|nvme| nvme.identify.as_ref());
    let marks: Vec<String> = identity.mark_demands.iter().map(|d| d.mark.to_string()).collect();
    let marks = (!marks.is_empty()).then(|| fact("marks it claims", marks.join(" ")));
    let name = identity.cid.iter().map(|cid| fact("name", &cid.pnm));
    let known = name.chain(model.map(|controller| fact("model", &controller.mn))).chain(marks);
    known
        .chain(report.header.condition.iter().map(|(word, value)| fact(&word.replace('_', " "), value)))
        .collect()
}

fn capacity(report: &CheckReport) -> Vec<Fact> {
    let body = &report.body;
    let by_files = body.verify.as_ref().is_some_and(|verify| verify.body.method == Method::Files);
    let usable = body.usable_bytes.map_or("not known".to_owned(), |bytes| Capacity(bytes).to_string());
    vec![
        fact(if by_files { "free space filled" } else { "announced" }, Capacity(body.announced_bytes)),
        fact("usable capacity", usable),
        fact("verified capacity", Capacity(body.proven_bytes)),
        fact("the card's data", content(report)),
    ]
}

/// What became of the card's content. A journal that waits is named among the findings.
fn content(report: &CheckReport) -> &'static str {
    let waits = report.header.findings.iter().any(|finding| finding.claim == "journal-waits");
    match report.body.moved.data_kept {
        true => "preserved",
        false if waits => "not all restored yet",
        false => "given up, as agreed",
    }
}

fn speeds(results: &[TestResult]) -> Table {
    Table::of(
        results,
        &[
            ("test", &|r| test_of(r.name(), r.step.as_deref())),
            ("MB/s", &|r| speed(r.mb_s)),
            ("± of 95 %", &precision),
            ("IOPS", &|r| rate(r.iops)),
            ("median", &|r| time_us(r.latency_us.p50)),
            ("longest", &|r| time_us(r.latency_us.max)),
        ],
    )
}

fn jobs(jobs: &[JobScore]) -> Vec<Fact> {
    let mut jobs: Vec<&JobScore> = jobs.iter().collect();
    jobs.sort_by(|a, b| b.score.unwrap_or(-1.0).total_cmp(&a.score.unwrap_or(-1.0)));
    let line = |job: &JobScore| {
        let mut means = job.missed.first().map_or_else(|| job.meaning.clone(), |missed| vec![missed.clone()]);
        if !job.missing.is_empty() {
            means.push(format!("not measured: {}", job.missing.join(", ")));
        }
        let score = job.score.map(|s| format!(", {s:.0} of 100")).unwrap_or_default();
        fact(&job.job, format!("{}{score}: {}", ranking::fit(job.fit), means.join("; ")))
    };
    jobs.into_iter().map(line).collect()
}

fn marks_of(found: &MarksMeasured) -> Vec<Fact> {
    let claimed = found.judged.iter().filter(|judged| !judged.claimed_by.is_empty());
    let mut facts: Vec<Fact> = claimed
        .map(|judged| {
            let line = mark_line(judged);
            let (name, rest) = line.split_once(": ").unwrap_or(("", &line));
            fact(name, rest)
        })
        .collect();
    let highest: Vec<String> = found.highest.iter().filter_map(|h| h.mark).map(|m| m.to_string()).collect();
    facts
        .push(fact("measured class", if highest.is_empty() { "none".to_owned() } else { highest.join(" ") }));
    facts
}

fn flash(report: &CheckReport) -> Vec<Block> {
    let Some(map) = &report.body.map else { return Vec::new() };
    let roomy = |block: Block| Block::Roomy(Box::new(block));
    let charts = card_map::charts(&map.body.measured).into_iter().take(CHARTS);
    let mut blocks = vec![Block::Facts(card_map::known(&map.body.measured))];
    blocks.extend(charts.map(|chart| roomy(Block::Chart(Box::new(chart)))));
    blocks.extend(map.body.advice.words.iter().map(|words| roomy(Block::Words(words.clone()))));
    blocks.push(Block::Commands(map.body.advice.commands.iter().map(|c| c.command.clone()).collect()));
    blocks
}

fn long_run(found: &Measured) -> Vec<Block> {
    let levels = found.levels.iter().map(|level| {
        let span = format!("{} to {}", duration(level.from_s), duration(level.to_s));
        fact(&level.op, format!("{} MB/s, {} ({span})", speed(level.mb_s), level.state))
    });
    let warmest = found.max_celsius.map(|celsius| fact("warmest", format!("{celsius:.0} °C")));
    let events = found.events.iter();
    let events = events.map(|event| fact(event.kind.words(), format!("after {}", duration(event.at_s))));
    let charts = sustain::charts(found).into_iter().take(1);
    let charts = charts.map(|chart| Block::Roomy(Box::new(Block::Chart(Box::new(chart)))));
    [Block::Facts(levels.chain(warmest).chain(events).collect())].into_iter().chain(charts).collect()
}

fn next(report: &CheckReport) -> impl Iterator<Item = Block> {
    report.body.next.iter().flat_map(|next| {
        let end = if next.command.is_some() { ":" } else { "." };
        [Block::Words(format!("{}{end}", next.what)), Block::Commands(next.command.iter().cloned().collect())]
    })
}

fn time(report: &CheckReport) -> Vec<Fact> {
    let body = &report.body;
    let part = |part: &cardscope_model::check::Part| {
        let reason = part.reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default();
        let what = match part.state {
            PartState::Done => duration(part.seconds),
            PartState::Partly => format!("{}, in part{reason}", duration(part.seconds)),
            PartState::LeftOut => format!("left out{reason}"),
        };
        fact(&part.part, what)
    };
    let all = format!("{} of {}", duration(body.moved.seconds), duration(body.budget_s));
    body.parts.iter().map(part).chain([fact("in all", all), fact("I/O", moved(&body.moved))]).collect()
}

/// One line for a mark, with every figure that decides:
/// `U3 (card): met: writing 512 KiB in order, worst 4 MiB: 31.2 MB/s, 30.0 demanded`.
fn mark_line(judged: &JudgedMark) -> String {
    let by = match judged.claimed_by[..] {
        [] => String::new(),
        [ClaimedBy::Card] => " (card)".to_owned(),
        [ClaimedBy::Label] => " (label)".to_owned(),
        _ => " (card and label)".to_owned(),
    };
    let border = if judged.borderline { ", borderline" } else { "" };
    let word = match judged.outcome {
        Outcome::Met => format!("met{border}:"),
        Outcome::Missed => format!("missed{border}:"),
        Outcome::Borderline => "borderline:".to_owned(),
        Outcome::NotTestable => "not testable here because".to_owned(),
    };
    let figures = [judged.because.clone()].into_iter().chain(others(judged)).collect::<Vec<_>>();
    format!("{}{by}: {word} {}", judged.mark, figures.join("; "))
}

/// Speeds and rates that the reason does not name yet. Single times have limits so wide that nearly every card keeps
/// them: they are named where they are the reason.
fn others(judged: &JudgedMark) -> impl Iterator<Item = String> {
    let new = |part: &&Part| part.unit != "ms" && !judged.because.contains(&part.what);
    judged.parts.iter().filter(new).filter_map(Part::figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(what: &str, measured: f64, unit: &str, demanded: f64) -> Part {
        Part {
            what: what.to_owned(),
            demanded,
            measured: Some(measured),
            at_best: None,
            without_queue: None,
            unit: unit.to_owned(),
            outcome: Outcome::Met,
            margin: None,
            borderline: false,
            confidence: 0.9,
            because: None,
        }
    }

    fn judged(mark: &str, outcome: Outcome, because: &str, parts: Vec<Part>) -> JudgedMark {
        JudgedMark {
            mark: mark.parse().unwrap(),
            claimed_by: vec![ClaimedBy::Card],
            outcome,
            because: because.to_owned(),
            margin: None,
            borderline: false,
            confidence: 0.9,
            parts,
        }
    }

    #[test]
    fn a_line_holds_every_figure_that_decides_once_and_with_its_unit() {
        let worst = part("writing 512 KiB in order, worst 4 MiB", 8.9, "MB/s", 10.0);
        let read = part("single read of 4 KiB, median", 1.2, "ms", 12.0);
        let because = worst.figure().unwrap();
        insta::assert_snapshot!(
            mark_line(&judged("C10", Outcome::Missed, &because, vec![worst, read])),
            @"C10 (card): missed: writing 512 KiB in order, worst 4 MiB: 8.9 MB/s, 10.0 demanded"
        );
    }

    #[test]
    fn rates_stand_with_the_queue_and_without_it() {
        let sustained = part("sustained writing over 16 MiB", 41.0, "MB/s", 10.0);
        let reads = Part {
            without_queue: Some(2130.0),
            ..part("random 4 KiB reads over 256 MiB, queue depth 32", 4510.0, "IOPS", 4000.0)
        };
        let because = reads.figure().unwrap();
        insta::assert_snapshot!(
            mark_line(&judged("A2", Outcome::Met, &because, vec![sustained, reads])),
            @"A2 (card): met: random 4 KiB reads over 256 MiB, queue depth 32: 4510 IOPS (2130 without it), 4000 demanded; sustained writing over 16 MiB: 41.0 MB/s, 10.0 demanded"
        );
    }
}
