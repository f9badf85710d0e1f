//! Pages of `jobs`: the list, and one job.

use cardscope_model::job::{Figure, Job, JobDemand, JobWork};
use cardscope_page::figure::{duration, in_a_line, sentence, trimmed};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock, fact};

pub fn list(jobs: &[Job]) -> Page {
    let mut page = Page::plain(format!("{} jobs that cards are ranked for.", jobs.len()));
    let table = Table::of(jobs, &[("job", &|j| j.name.clone()), ("description", &|j| j.title.clone())]);
    page.add("", [PageBlock::Table(table.left_aligned(["description"]))]);
    page.step("Explain one:", Some("cardscope jobs NAME".to_owned()));
    page.step("Rank cards for one:", Some("cardscope rank --for NAME".to_owned()));
    page
}

pub fn page(job: &Job) -> Page {
    let mut page = Page::plain(in_a_line(&format!("{}: {}", job.name, job.title)));
    page.add("", [PageBlock::Facts(vec![fact("source", &job.source)])]);
    let weights: f64 = job.work.iter().map(|work| work.weight).sum();
    for work in &job.work {
        let share = trimmed(100.0 * work.weight / weights, 0);
        page.add(sentence(&work.what).trim_end_matches('.'), [PageBlock::Facts(work_facts(work, &share))]);
    }
    page.add("What a card must reach", [PageBlock::Lines(job.demand.iter().map(demand).collect())]);
    page.step("Rank cards for it:", Some(format!("cardscope rank --for {}", job.name)));
    page
}

fn work_facts(work: &JobWork, share: &str) -> Vec<(String, String)> {
    let asks = work.amounts().into_iter().filter(|(_, amount)| *amount > 0.0);
    let asks = asks.map(|(figure, amount)| fact(figure.words().0, amount_text(figure, amount)));
    let limit = work.other_side_mb_s.map(|mb_s| fact("limited to", format!("{} MB/s", trimmed(mb_s, 1))));
    let scored = [
        fact("100 points", format!("up to {}", duration(work.good_s))),
        fact("0 points", format!("{} or more", duration(work.poor_s))),
        fact("noticeable", format!("a difference of {} or more", duration(work.notice_s))),
        fact("weight", format!("{share} % of the score")),
        fact("source", &work.from),
    ];
    asks.chain(limit).chain(scored).collect()
}

/// Amount of a figure: megabytes of sequential transfers, else I/Os.
fn amount_text(figure: Figure, amount: f64) -> String {
    match figure.is_sequential() {
        true => format!("{} MB", trimmed(amount, 1)),
        false => trimmed(amount, 0),
    }
}

fn demand(demand: &JobDemand) -> String {
    let (words, unit) = demand.figure.words();
    let least = demand.least.map(|least| format!("at least {} {unit}", trimmed(least, 2)));
    let most = demand.most.map(|most| format!("at most {} {unit}", trimmed(most, 2)));
    let limits: Vec<String> = least.into_iter().chain(most).collect();
    sentence(&format!("{words}: {} ({})", limits.join(" and "), demand.why))
}
