//! `jobs` as text: the list, and one job explained.

use crate::figure::{duration, trimmed};
use crate::page::{Block, Page, fact};
use crate::table::Table;
use cardscope_model::job::{Demand, Figure, Job, Work};

/// The list as people read it.
pub fn list(jobs: &[Job]) -> String {
    let mut page = Page::new("", format!("{} jobs that cards are ranked for", jobs.len()));
    let table = Table::of(jobs, &[("job", &|j| j.name.clone()), ("what it is", &|j| j.title.clone())]);
    page.add("", [Block::Table(table.left_aligned(["what it is"]))]);
    let next = ["cardscope jobs NAME", "cardscope rank --for NAME"];
    page.add("Explain one, rank cards for one", [Block::Commands(next.map(str::to_owned).to_vec())]);
    page.text()
}

/// One job as people read it.
pub fn text(job: &Job) -> String {
    let mut page = Page::new(&job.name, job.title.as_str());
    page.add("", [Block::Facts(vec![fact("source", &job.source)])]);
    let weights: f64 = job.work.iter().map(|work| work.weight).sum();
    for work in &job.work {
        let share = trimmed(100.0 * work.weight / weights, 0);
        page.add(&work.what, [Block::Facts(facts(work, &share))]);
    }
    page.add("What a card must reach", [Block::Lines(job.demand.iter().map(demand).collect())]);
    page.add("Rank cards for it", [Block::Commands(vec![format!("cardscope rank --for {}", job.name)])]);
    page.text()
}

fn facts(work: &Work, share: &str) -> Vec<(String, String)> {
    let asks = work.amounts().into_iter().filter(|(_, amount)| *amount > 0.0);
    let asks = asks.map(|(figure, amount)| fact(figure.words().0, counted(figure, amount)));
    let limit = work.other_side_mb_s.map(|mb_s| fact("no faster than", format!("{} MB/s", trimmed(mb_s, 1))));
    let scored = [
        fact("100 points", format!("within {}", duration(work.good_s))),
        fact("0 points", format!("from {}", duration(work.poor_s))),
        fact("noticed", format!("differences from {}", duration(work.notice_s))),
        fact("weight", format!("{share} % of the score")),
        fact("source", &work.from),
    ];
    asks.chain(limit).chain(scored).collect()
}

/// An amount of a figure: megabytes of what goes in sequence, else I/Os.
fn counted(figure: Figure, amount: f64) -> String {
    match figure.is_sequential() {
        true => format!("{} MB", trimmed(amount, 1)),
        false => trimmed(amount, 0),
    }
}

fn demand(demand: &Demand) -> String {
    let (words, unit) = demand.figure.words();
    let least = demand.least.map(|least| format!("at least {} {unit}", trimmed(least, 2)));
    let most = demand.most.map(|most| format!("at most {} {unit}", trimmed(most, 2)));
    let limits: Vec<String> = least.into_iter().chain(most).collect();
    format!("{words} {}: {}", limits.join(" and "), demand.why)
}
