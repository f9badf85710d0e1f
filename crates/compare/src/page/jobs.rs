//! Pages of `jobs`: the list, and one job.

use cardscope_model::job::{Figure, Job, JobDemand, JobWork};
use cardscope_page::figure::{answer_line, duration, to_sentence, without_trailing_zeros};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock, fact};

pub fn job_list_page(jobs: &[Job]) -> Page {
    let mut page = Page::from_answer(format!("{} jobs that cards are ranked for.", jobs.len()));
    let table =
        Table::from_items(jobs, &[("job", &|j| j.name.clone()), ("description", &|j| j.title.clone())]);
    page.add_section("", [PageBlock::Table(table.left_aligned(["description"]))]);
    page.add_step("Explain one:", Some("cardscope jobs NAME".to_owned()));
    page.add_step("Rank cards for one:", Some("cardscope rank --for NAME".to_owned()));
    page
}

pub fn job_page(job: &Job) -> Page {
    let mut page = Page::from_answer(answer_line(&format!("{}: {}", job.name, job.title)));
    page.add_section("", [PageBlock::Facts(vec![fact("source", &job.source)])]);
    let weights: f64 = job.work.iter().map(|work| work.weight).sum();
    for work in &job.work {
        let share = without_trailing_zeros(100.0 * work.weight / weights, 0);
        let facts = PageBlock::Facts(work_facts(work, &share));
        page.add_section(to_sentence(&work.what).trim_end_matches('.'), [facts]);
    }
    let demands = PageBlock::Lines(job.demand.iter().map(demand_sentence).collect());
    page.add_section("What a card must reach", [demands]);
    page.add_step("Rank cards for it:", Some(format!("cardscope rank --for {}", job.name)));
    page
}

fn work_facts(work: &JobWork, share: &str) -> Vec<(String, String)> {
    let asks = work.needed_amounts().into_iter().filter(|(_, amount)| *amount > 0.0);
    let asks = asks.map(|(figure, amount)| fact(figure.name_and_unit().0, amount_text(figure, amount)));
    let limit = |mb_s| fact("limited to", format!("{} MB/s", without_trailing_zeros(mb_s, 1)));
    let limit = work.other_side_mb_s.map(limit);
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
        true => format!("{} MB", without_trailing_zeros(amount, 1)),
        false => without_trailing_zeros(amount, 0),
    }
}

fn demand_sentence(demand: &JobDemand) -> String {
    let (words, unit) = demand.figure.name_and_unit();
    let least = demand.least.map(|least| format!("at least {} {unit}", without_trailing_zeros(least, 2)));
    let most = demand.most.map(|most| format!("at most {} {unit}", without_trailing_zeros(most, 2)));
    let limits: Vec<String> = least.into_iter().chain(most).collect();
    to_sentence(&format!("{words}: {} ({})", limits.join(" and "), demand.why))
}
