//! Page of `rank`, and its tables for publications: the card to buy, all cards in tiers, their meaning for the job, value for
//! money, groups, and cards that are not ranked.

mod decision;

pub(crate) use decision::{
    criterion_phrase, format_price, format_value, purchase_reasons, ranking_answer, value_unit,
};

use crate::page::comparison;
use cardscope_model::job::{Figure, JobFit};
use cardscope_model::ranking::{GroupDivision, RankedBy, RankedCard, Ranking};
use cardscope_model::report::NewsTone;
use cardscope_model::units::three_digits as speed;
use cardscope_page::figure::{interval_text, percent, to_sentence};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock, findings};

pub fn ranking_page(ranking: &Ranking) -> Page {
    let mut page = Page::new(&ranking_title(ranking), NewsTone::Plain, ranking_answer(ranking));
    page.add_reasons(NewsTone::Plain, purchase_reasons(ranking));
    add_ranking(&mut page, "Best first", "", ranking);
    if ranking.places.is_empty() {
        page.add_step("Measure a card:", Some("cardscope check DEVICE".to_owned()));
        page.add_step("Or import what other tools measured:", Some("cardscope import FILE".to_owned()));
    }
    page
}

/// Adds a ranking to a page. `of` names it in headings, if the page has several.
pub(crate) fn add_ranking(page: &mut Page, head: &str, of: &str, ranking: &Ranking) {
    let head_of = |part: &str| format!("{part} {of}").trim_end().to_owned();
    let tiers = ranking.places.last().map_or(0, |place| place.placement.tier);
    let note = match (ranking.places.len(), tiers) {
        (0, _) => "No card could be placed.",
        (1, _) => "",
        (cards, tiers) if cards as u32 == tiers => "",
        _ => TIER_MEANING,
    };
    page.add_section(head, [PageBlock::Table(place_table(ranking)), PageBlock::Words(note.to_owned())]);
    page.add_detail(&head_of("Value for money"), money_blocks(ranking));
    let means = ranking.places.iter().map(|place| (place, place_remarks(place)));
    let means = means.filter(|(_, remarks)| !remarks.is_empty());
    let means = means.map(|(p, remarks)| format!("{}: {}", p.entry.name, remarks.join("; ")));
    page.add_detail(&head_of("Card by card"), [PageBlock::Lines(means.collect())]);
    let excluded = ranking.excluded.iter().map(|card| format!("{}: {}", card.name, card.reason));
    let not_placed = ranking.not_placed.iter().map(|(card, reason)| format!("{card}: {reason}"));
    let not_placed = excluded.chain(not_placed);
    page.add_detail(&head_of("Not ranked"), [PageBlock::Lines(not_placed.collect())]);
    // The result was requested, so it is visible; the groups behind it are folded.
    let predicts = ranking.groups.iter().map(|found| to_sentence(&found.verdict));
    page.add_section(&head_of("What predicts the order"), [PageBlock::Lines(predicts.collect())]);
    for found in &ranking.groups {
        let head = format!("By {}, {}", found.by, value_unit(ranking));
        page.add_detail(&head, [PageBlock::Table(group_table(found, ranking))]);
    }
    page.add_detail(&head_of("Findings"), [PageBlock::Remarks(findings::merge_findings(&ranking.findings))]);
}

/// Meaning of a tier.
pub const TIER_MEANING: &str = "Within a tier no card is notably worse than the first, or not for sure.";

/// Heading of a ranking.
pub fn ranking_title(ranking: &Ranking) -> String {
    let on = ranking.on.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
    match &ranking.by {
        RankedBy::Job(name) => {
            let words = ranking.places.iter().find_map(|p| p.job.as_ref()).map(|job| job.title.as_str());
            match words.filter(|words| !words.is_empty() && words != name) {
                Some(words) => format!("Cards for {name}{on}: {words}"),
                None => format!("Cards for {name}{on}"),
            }
        }
        RankedBy::Test(test) => format!("Cards by {test}{on}"),
    }
}

pub fn fit_word(fit: JobFit) -> &'static str {
    match fit {
        JobFit::Unfit => "unfit",
        JobFit::Poor => "poor",
        JobFit::Fair => "fair",
        JobFit::Good => "good",
        JobFit::Unknown => "not known",
    }
}

pub fn place_table(ranking: &Ranking) -> Table {
    let ends = |ends: [f64; 2]| interval_text(ends, |v| format_value(ranking, v));
    let table = Table::from_items(
        &ranking.places,
        &[
            ("tier", &|p| p.placement.tier.to_string()),
            ("card", &|p| p.entry.name.clone()),
            (value_unit(ranking), &|p| format_value(ranking, p.value)),
            ("95 % interval", &|p| p.ci95.map(ends).unwrap_or_default()),
            ("best", &|p| percent(p.placement.probability_best)),
            ("runs", &|p| p.entry.runs.to_string()),
            ("fit", &|p| p.job.as_ref().map(|job| fit_word(job.fit).to_owned()).unwrap_or_default()),
        ],
    );
    table.left_aligned(["card", "fit"])
}

/// Cards with a price by their value for money, each currency separately.
pub fn money_table(ranking: &Ranking) -> Table {
    let mut priced: Vec<&RankedCard> = ranking.places.iter().filter(|p| p.per_price.is_some()).collect();
    let currency = |place: &RankedCard| place.price.as_ref().map(|price| price.currency.clone());
    priced.sort_by(|a, b| {
        let more = b.per_price.unwrap_or(0.0).total_cmp(&a.per_price.unwrap_or(0.0));
        currency(a).cmp(&currency(b)).then(more)
    });
    let table = Table::from_items(
        &priced,
        &[
            ("card", &|p| p.entry.name.clone()),
            ("price", &|p| p.price.as_ref().map(format_price).unwrap_or_default()),
            ("of", &|p| p.priced.clone().unwrap_or_default()),
            (value_unit(ranking), &|p| format_value(ranking, p.value)),
            ("per price", &|p| value_per_price(p)),
            ("GB", &|p| p.gb_per_price.map(speed).unwrap_or_default()),
            ("MB/s read", &|p| speed_per_price(p, Figure::ReadMbS)),
            ("MB/s write", &|p| speed_per_price(p, Figure::WriteMbS)),
            ("IOPS read", &|p| speed_per_price(p, Figure::RandomReadIops)),
            ("IOPS write", &|p| speed_per_price(p, Figure::RandomWriteIops)),
        ],
    );
    let mut table = table.left_aligned(["card"]);
    table.drop_blank_columns();
    table
}

/// Table of value for money with its explanation; empty without prices.
fn money_blocks(ranking: &Ranking) -> impl Iterator<Item = PageBlock> {
    let table = money_table(ranking);
    let meaning = PageBlock::Words("From \"per price\" on: what one unit of the currency buys.".to_owned());
    (!table.rows().is_empty()).then_some([PageBlock::Table(table), meaning]).into_iter().flatten()
}

/// Speed for one unit of currency.
fn speed_per_price(place: &RankedCard, figure: Figure) -> String {
    place.figures_per_price.and_then(|all| all.get(figure)).map(speed).unwrap_or_default()
}

fn value_per_price(place: &RankedCard) -> String {
    match (place.per_price, &place.price) {
        (Some(value), Some(price)) => format!("{} / {}", speed(value), price.currency),
        (Some(value), None) => speed(value),
        (None, _) => String::new(),
    }
}

/// Remarks on a card at its place.
pub fn place_remarks(place: &RankedCard) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(job) = &place.job {
        out.extend((!job.meaning.is_empty()).then(|| job.meaning.join("; ")));
        out.extend(job.missed.iter().map(|missed| format!("misses {missed}")));
        out.extend((!job.missing.is_empty()).then(|| format!("not measured: {}", job.missing.join(", "))));
    }
    if !place.capped.is_empty() {
        out.push(format!("the host caps {}", place.capped.join(", ")));
    }
    out.extend(place.spread.as_ref().and_then(comparison::sentences::two_level_phrase));
    out.extend(place.caveat.iter().chain(&place.doubts).cloned());
    out
}

pub fn group_table(groups: &GroupDivision, ranking: &Ranking) -> Table {
    let value = |v: f64| format_value(ranking, v);
    Table::from_items(
        &groups.groups,
        &[
            (groups.by.as_str(), &|g| g.name.clone()),
            ("cards", &|g| g.cards.to_string()),
            ("mean", &|g| value(g.mean)),
            ("median", &|g| value(g.median)),
            ("worst", &|g| value(g.worst)),
            ("best", &|g| value(g.best)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::ranking::ExcludedCard;
    use cardscope_testkit::samples as sample;

    #[test]
    fn ranking_page_matches_its_sample() {
        sample::assert_same_sample("ranked.txt", &ranking_page(&sample::ranking(3)).to_text());
    }

    #[test]
    fn fake_is_listed_with_its_reason_but_not_ranked() {
        let mut ranking = sample::ranking(3);
        let fake = ExcludedCard { name: "SanDian 1TB".into(), reason: "fake".into(), avoid: true };
        ranking.decision.as_mut().unwrap().avoid = vec![(fake.name.clone(), fake.reason.clone())];
        ranking.excluded = vec![fake];
        let text = ranking_page(&ranking).to_text();
        assert!(text.contains("Avoid SanDian 1TB (fake)."), "{text}");
        assert!(text.contains("Not ranked\n  SanDian 1TB: fake\n"), "{text}");
        (ranking.decision, ranking.places) = (None, Vec::new());
        assert!(ranking_answer(&ranking).starts_with("No card can be recommended"));
    }

    #[test]
    fn undecided_choice_states_missing_runs() {
        let mut ranking = sample::ranking(2);
        let decision = ranking.decision.as_mut().unwrap();
        decision.buy = vec!["Alder Swift 64GB".into(), "Birch Endure 128GB".into()];
        (decision.probability, decision.more_runs) = (0.58, Some(3));
        assert_eq!(ranking_answer(&ranking), "Buy Alder Swift 64GB or Birch Endure 128GB for pi-boot.");
        let text = ranking_page(&ranking).to_text();
        assert!(text.contains("3 more runs of each would probably"), "{text}");
    }

    #[test]
    fn ranking_by_test_names_the_fastest_with_its_speed() {
        let mut ranking = sample::ranking(2);
        ranking.by = RankedBy::Test("SEQ1M Q1T1 read".parse().unwrap());
        assert_eq!(
            ranking_answer(&ranking),
            "Alder Swift 64GB is fastest in SEQ1M Q1T1 read: 91.5 MB/s (83 %)."
        );
    }

    #[test]
    fn empty_ranking_lists_cards_that_were_not_placed() {
        let mut ranking = sample::ranking(0);
        ranking.decision = None;
        let page = ranking_page(&ranking).to_text();
        assert!(
            page.starts_with("No card could be ranked for pi-boot.")
                && page.contains("Fir 8GB: random writes"),
            "{page}"
        );
    }
}
