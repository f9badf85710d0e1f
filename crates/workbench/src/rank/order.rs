//! From figures to values, from values to places.

use super::figures::{self, OfCard};
use super::{Asked, Measure};
use cardscope_analysis::comparing::{self, Ranked};
use cardscope_model::comparison::{Entry, Spread};
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::job::{self, Figure, Job, JobScore};
use cardscope_model::ranking::Place;
use cardscope_model::test_name::TestName;
use cardscope_store::{StoredCard, SummaryRow};
use std::collections::HashMap;

/// A card with its value, before it has a place.
struct Valued<'a> {
    card: &'a StoredCard,
    value: f64,
    ci95: Option<[f64; 2]>,
    runs: u32,
    job: Option<JobScore>,
    spread: Option<Spread>,
    /// Of one run of the test.
    deviation: Option<f64>,
    of: OfCard,
    capped: Vec<String>,
}

/// Places of all cards that have a value, best first, and the others with the reason.
pub(super) fn places(
    asked: &Asked,
    cards: &[StoredCard],
    rows: &HashMap<String, Vec<SummaryRow>>,
) -> (Vec<Place>, Vec<(String, String)>) {
    let (mut valued, mut not_placed) = (Vec::new(), Vec::new());
    for card in cards {
        let rows = rows.get(&card.id).map_or(&[][..], Vec::as_slice);
        match value(asked, card, rows) {
            Ok(found) => valued.push(found),
            Err(why) => not_placed.push((card.title.clone(), why)),
        }
    }
    let ranked: Vec<Ranked> = valued.iter().map(ranked).collect();
    let mut placed: Vec<(usize, u32)> =
        comparing::order(&ranked).iter().map(|p| (p.entry, p.place)).collect();
    if let Measure::Job(job) = &asked.measure {
        nobody_notices(job, &valued, &mut placed);
    }
    let shared = |place: u32| placed.iter().filter(|(_, p)| *p == place).count() as u32;
    let places = placed.iter().map(|(entry, place)| to_place(&valued[*entry], *place, shared(*place)));
    (places.collect(), not_placed)
}

fn value<'a>(asked: &Asked, card: &'a StoredCard, rows: &[SummaryRow]) -> Result<Valued<'a>, String> {
    match &asked.measure {
        Measure::Job(job) => by_job(asked, job, card, rows),
        Measure::Test(test) => by_test(asked, *test, card, rows),
    }
}

fn by_job<'a>(
    asked: &Asked,
    job: &Job,
    card: &'a StoredCard,
    rows: &[SummaryRow],
) -> Result<Valued<'a>, String> {
    let mut of = figures::of_card(rows, card.facts.capacity_bytes.or_else(|| labelled(card)));
    if job.work.iter().any(|work| work.sustained_write_mb > 0.0) {
        of.doubts.push("sustained write reckoned with the mean of the runs".to_owned());
    }
    let (figures, capped) = match &asked.host {
        Some(host) => host.cap(&of.figures()),
        None => (of.figures(), Vec::new()),
    };
    let score = job::score(job, &figures);
    let value = score.score.ok_or_else(|| format!("not measured: {}", score.missing.join(", ")))?;
    let ci95 = interval(asked, job, &of);
    let runs = of.runs();
    Ok(Valued { card, value, ci95, runs, job: Some(score), spread: None, deviation: None, of, capped })
}

/// How far the score may be off, as the figures are known from their runs alone.
fn interval(asked: &Asked, job: &Job, of: &OfCard) -> Option<[f64; 2]> {
    let known: Vec<comparing::Figure> =
        of.known.iter().map(|k| comparing::Figure { mean: k.mean, deviation: k.sd, runs: k.runs }).collect();
    comparing::propagate(&known, |values| {
        let figures = of.figures_of(values);
        let figures = asked.host.as_ref().map_or(figures, |host| host.cap(&figures).0);
        job::score(job, &figures).score.unwrap_or(0.0)
    })
}

/// The bytes of a label such as `64GB`, where nobody read the registers.
fn labelled(card: &StoredCard) -> Option<u64> {
    cardscope_model::units::parse_size(card.facts.capacity_label.as_deref()?).ok()
}

fn by_test<'a>(
    asked: &Asked,
    test: TestName,
    card: &'a StoredCard,
    rows: &[SummaryRow],
) -> Result<Valued<'a>, String> {
    let of_the_card = rows.iter().rev().filter(|row| !figures::is_of_a_cache(row.step.as_deref()));
    let row = of_the_card.max_by_key(|row| row.n).ok_or_else(|| format!("{test} was not measured"))?;
    let limit = asked.host.as_ref().and_then(|host| host.limit(figure_of(test)?));
    let value = limit.map_or(row.mean, |limit| row.mean.min(limit));
    let capped =
        limit.filter(|limit| row.mean > *limit).map(|limit| format!("{:.0} → {limit:.0} MB/s", row.mean));
    let of = OfCard { settings: vec![row.setting.clone()], ..OfCard::default() };
    let error = row
        .sd
        .filter(|_| row.n as usize >= comparing::LEAST_RUNS)
        .map(|sd| cardscope_analysis::student::t95(f64::from(row.n) - 1.0) * sd / f64::from(row.n).sqrt());
    let ci95 = error.map(|half| [(value - half).max(0.0), value + half]);
    let spread = Spread {
        n: row.n,
        mean: row.mean,
        median: row.median,
        best: row.best,
        worst: row.worst,
        ci95,
        runs: Vec::new(),
        levels: None,
        as_printed: None,
    };
    Ok(Valued {
        card,
        value,
        ci95,
        runs: row.n,
        job: None,
        spread: Some(spread),
        deviation: row.sd,
        of,
        capped: capped.into_iter().collect(),
    })
}

/// The figure that a host would cap.
fn figure_of(test: TestName) -> Option<Figure> {
    use cardscope_model::test_name::{Op, Order};
    match (test.pattern.order, test.op) {
        (Order::Sequential, Op::Read) => Some(Figure::ReadMbS),
        (Order::Sequential, Op::Write) => Some(Figure::WriteMbS),
        _ => None,
    }
}

fn ranked(valued: &Valued<'_>) -> Ranked {
    match &valued.spread {
        Some(spread) => Ranked::from_runs(valued.value, valued.deviation, spread.n),
        None => Ranked::from_interval(valued.value, valued.ci95, valued.runs),
    }
}

/// Cards whose seconds differ by less than a person notices from those of the first of the place above share that place.
fn nobody_notices(job: &Job, valued: &[Valued<'_>], placed: &mut [(usize, u32)]) {
    let mut leader = 0;
    for at in 1..placed.len() {
        if placed[at].1 == placed[leader].1
            || unnoticed(job, &valued[placed[leader].0], &valued[placed[at].0])
        {
            placed[at].1 = placed[leader].1;
        } else {
            leader = at;
        }
    }
}

fn unnoticed(job: &Job, first: &Valued<'_>, second: &Valued<'_>) -> bool {
    let (Some(a), Some(b)) = (&first.job, &second.job) else { return false };
    a.missed.is_empty() == b.missed.is_empty()
        && a.seconds.len() == b.seconds.len()
        && a.seconds.iter().zip(&b.seconds).all(|((what, before), (same, after))| {
            let work = job.work.iter().find(|work| work.what == *what);
            what == same && work.is_some_and(|work| (before - after).abs() < work.notice_s)
        })
}

fn to_place(valued: &Valued<'_>, place: u32, shared_by: u32) -> Place {
    let card = valued.card;
    let entry = Entry {
        name: card.title.clone(),
        card_id: card.id.clone(),
        card: card.facts.without_serial(),
        settings: valued.of.settings.iter().map(|s| (**s).clone()).collect(),
        specimens: card.specimens,
        sessions: card.sessions,
        runs: valued.runs,
        measured: Option::zip(card.first.clone(), card.last.clone()).map(|(first, last)| [first, last]),
        sources: Vec::new(),
    };
    let paid = card.price.as_ref().filter(|price| price.amount > 0.0);
    Place {
        place,
        shared_by,
        entry,
        value: valued.value,
        ci95: valued.ci95,
        job: valued.job.clone(),
        spread: valued.spread.clone(),
        price: card.price.clone(),
        per_price: paid.map(|price| valued.value / price.amount),
        capped: valued.capped.clone(),
        doubts: valued.of.doubts.clone(),
    }
}

/// What is ordered, in words.
pub(super) fn what(asked: &Asked) -> String {
    match &asked.measure {
        Measure::Job(job) => format!("the score for {:?}", job.name),
        Measure::Test(test) => test.to_string(),
    }
}

/// What there is to say about the order as a whole.
pub(super) fn findings(asked: &Asked, places: &[Place]) -> Vec<Finding> {
    let mut found = Vec::new();
    let tied = places.iter().filter(|p| p.place == 1).count();
    if tied > 1 {
        found.push(Finding::new(
            "tie",
            Weight::Note,
            1.0,
            format!(
                "{tied} cards share the first place: from what was measured, nothing tells them apart in {}",
                what(asked)
            ),
        ));
    }
    let settings = places.iter().flat_map(|p| &p.entry.settings).map(|s| s.recipe.as_str());
    let mut tools: Vec<&str> = settings.collect();
    tools.sort_unstable();
    tools.dedup();
    if tools.len() > 1 {
        found.push(
            Finding::new(
                "several-tools",
                Weight::Hint,
                1.0,
                format!(
                    "measured by different tools ({}): their figures are not all alike",
                    tools.join(", ")
                ),
            )
            .advise("--condition recipe=NAME keeps to one"),
        );
    }
    let currencies: std::collections::BTreeSet<&str> =
        places.iter().filter_map(|p| p.price.as_ref()).map(|p| p.currency.as_str()).collect();
    if currencies.len() > 1 {
        let named: Vec<&str> = currencies.into_iter().collect();
        found.push(Finding::new(
            "currencies",
            Weight::Note,
            1.0,
            format!("prices are in {}, as paid; they are not converted", named.join(" and ")),
        ));
    }
    found
}
