//! The parts of the page about marks, the inside of the card, and jobs.

use super::page::{Body, Part};
use super::parts::{fact, part};
use crate::card_map::{plots, properties};
use crate::figure::{duration, speed};
use crate::{marks, ranking};
use cardscope_model::check::CheckReport;
use cardscope_model::job::JobScore;

/// Pictures that the page has room for.
const PICTURES: usize = 3;

pub(super) fn marks(report: &CheckReport) -> Option<Part> {
    let found = report.body.marks.as_ref()?;
    let claimed = found.judged.iter().filter(|j| !j.claimed_by.is_empty());
    let mut facts: Vec<(String, String)> = claimed
        .map(|judged| {
            let line = marks::line(judged);
            match line.split_once(": ") {
                Some((name, rest)) => fact(name, rest),
                None => fact("", line),
            }
        })
        .collect();
    let highest: Vec<String> = found.highest.iter().filter_map(|h| h.mark).map(|m| m.to_string()).collect();
    let highest = if highest.is_empty() { "none".to_owned() } else { highest.join(" ") };
    facts.push(fact("it would meet", highest));
    part("Marks", vec![Body::Facts(facts)])
}

pub(super) fn inside(report: &CheckReport) -> Option<Part> {
    let map = report.body.map.as_ref()?;
    let mut body = vec![Body::Facts(properties::known(&map.body.measured))];
    body.extend(plots(&map.body.measured).into_iter().take(PICTURES).cloned().map(Body::Picture));
    body.extend(map.body.advice.words.iter().cloned().map(Body::Aside));
    let commands: Vec<String> = map.body.advice.commands.iter().map(|c| c.command.clone()).collect();
    if !commands.is_empty() {
        body.push(Body::Commands(commands));
    }
    part("What is inside", body)
}

pub(super) fn jobs(report: &CheckReport) -> Option<Part> {
    if report.body.jobs.is_empty() {
        return None;
    }
    let mut jobs: Vec<&JobScore> = report.body.jobs.iter().collect();
    jobs.sort_by(|a, b| b.score.unwrap_or(-1.0).total_cmp(&a.score.unwrap_or(-1.0)));
    part("What it is good for", vec![Body::Facts(jobs.into_iter().map(line).collect())])
}

fn line(job: &JobScore) -> (String, String) {
    let fit = ranking::tables::fit(job.fit);
    let mut means = job.missed.first().map_or_else(|| job.meaning.clone(), |missed| vec![missed.clone()]);
    if !job.missing.is_empty() {
        means.push(format!("not measured: {}", job.missing.join(", ")));
    }
    let score = job.score.map(|s| format!(", {s:.0} of 100")).unwrap_or_default();
    fact(&job.job, format!("{fit}{score}: {}", means.join("; ")))
}

pub(super) fn long_run(report: &CheckReport) -> Option<Part> {
    let found = report.body.sustain.as_ref()?;
    let mut facts = Vec::new();
    for level in &found.levels {
        let span = format!("{} to {}", duration(level.from_s), duration(level.to_s));
        facts.push(fact(&level.op, format!("{} MB/s, {} ({span})", speed(level.mb_s), level.state)));
    }
    if let Some(celsius) = found.max_celsius {
        facts.push(fact("warmest", format!("{celsius:.0} °C")));
    }
    facts.extend(
        found.events.iter().map(|event| fact(event.kind.words(), format!("after {}", duration(event.at_s)))),
    );
    let pictures = crate::sustain::plots(found).into_iter().take(1).map(Body::Picture);
    let body = if facts.is_empty() { vec![] } else { vec![Body::Facts(facts)] };
    part("Used for a while", body.into_iter().chain(pictures).collect())
}
