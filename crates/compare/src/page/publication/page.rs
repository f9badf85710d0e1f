//! HTML and Markdown page of a publication: the fastest card and the main chart first, then rankings and speeds; after these,
//! folded, all tables, cards, methods and sources.

use super::card;
use crate::page::comparison::sentences::{self, RunMeasure};
use crate::page::comparison::{self, ComparisonLayout, tables};
use crate::page::{bar_charts as bars, ranking};
use cardscope_model::comparison::{ComparedEntry, Comparison};
use cardscope_model::publication::Publication;
use cardscope_model::report::NewsTone;
use cardscope_page::figure::pluralize;
use cardscope_page::tree::{Page, PageBlock, PageFact, PageSection, fact, findings};

/// Most cards with unfolded sections.
const MOST_UNFOLDED: usize = 3;

pub fn publication_page(publication: &Publication) -> Page {
    let compared = &publication.comparison;
    let mut page = Page::new(&publication.title, NewsTone::Plain, publication_answer(publication));
    let rankings = publication.rankings.iter().skip(usize::from(has_only_rankings(publication)));
    page.add_reasons(NewsTone::Plain, rankings.map(ranking::ranking_answer));
    comparison::add_reasons(&mut page, compared);
    page.figures = key_figures(publication);
    let speeds = match compared.entries.len() {
        1 => bars::bars_by_queue(compared),
        _ => bars::bars_by_card(compared, RunMeasure::Average),
    };
    page.add_section("Speed", speeds.map(PageBlock::from_chart));
    page.add_section("Relative to the best", [PageBlock::Table(tables::relative_table(compared))]);
    for order in &publication.rankings {
        let chart = bars::bars_by_place(order).map(PageBlock::from_chart);
        page.add_section(&ranking::ranking_title(order), chart);
        ranking::add_ranking(&mut page, "", &ranking::criterion_phrase(order), order);
    }
    comparison::add_overall(&mut page, compared);
    comparison::add_figures(&mut page, compared, ComparisonLayout::default());
    comparison::add_differences(&mut page, compared);
    comparison::add_levels(&mut page, compared);
    let folds = publication.cards.len() > MOST_UNFOLDED;
    let cards = publication.cards.iter().map(|part| {
        let section = card::card_section(part, compared.details.get(&part.card_id));
        PageBlock::Section(if folds { section.into_detail() } else { section })
    });
    page.add_section("Card by card", cards);
    page.add_detail("Findings", [PageBlock::Remarks(findings::merge_findings(&compared.findings))]);
    comparison::add_compared(&mut page, compared);
    add_methods(&mut page, compared);
    Page { end: vec![signature_line(publication)], signed: true, ..page }
}

/// Last line of a page, by which a published report is recognised.
pub(super) fn signature_line(publication: &Publication) -> String {
    let Publication { made_on, tool_version, .. } = publication;
    format!("MB/s are 10^6 bytes a second. Made on {made_on} by Cardscope {tool_version}.")
}

/// True for rankings without a comparison.
fn has_only_rankings(publication: &Publication) -> bool {
    publication.comparison.entries.is_empty()
}

fn publication_answer(publication: &Publication) -> String {
    match (publication.rankings.first(), has_only_rankings(publication)) {
        (Some(order), true) => ranking::ranking_answer(order),
        _ => comparison::answer::comparison_answer(&publication.comparison),
    }
}

fn key_figures(publication: &Publication) -> Vec<PageFact> {
    let compared = &publication.comparison;
    if has_only_rankings(publication) {
        let placed = publication.rankings.iter().map(|order| order.places.len()).max().unwrap_or(0);
        return vec![fact("cards", placed), fact("orders", publication.rankings.len())];
    }
    let mut facts = vec![
        fact("cards", publication.cards.len()),
        fact("tests", compared.tests.len()),
        fact("runs", sentences::run_range(compared)),
    ];
    if compared.entries.len() != publication.cards.len() {
        let columns = pluralize(compared.entries.len() as u64, "setting");
        facts.insert(1, fact("compared", format!("{columns} of them")));
    }
    facts.push(fact("measured by", sentences::common_setting(compared)));
    facts
}

/// Explanations for readers, worded as in `docs/comparing.md`.
const READING_GUIDE: [(&str, &str); 6] = [
    (
        "MB/s",
        "10^6 bytes a second. MiB is 2^20 bytes. Some tools print other units under the same name; the figures here are converted.",
    ),
    (
        "interval",
        "How well the mean is known: made this way, 95 of 100 intervals hold the true mean. Runs that follow each other count for less; one or two runs have none. A thin line with ends in the bars.",
    ),
    (
        "ticks in a bar",
        "The single runs. Where they form two clusters the card jumps between two levels: a cache that is full or not, heat.",
    ),
    (
        "faster",
        "The difference is larger than chance alone makes it in 95 of 100 such pairs of cards, corrected for the number of tests in which the two were compared, and more than 3 %. It is not corrected for the number of cards: of very many pairs a few differ by chance.",
    ),
    ("equal", "Closer to each other than anybody would notice, with 95 % confidence."),
    ("open", "What was measured does not decide it. More runs may."),
];

pub(super) fn add_methods(page: &mut Page, compared: &Comparison) {
    let settings = |entry: &ComparedEntry| fact(&entry.name, sentences::setting_lines(entry));
    let sources = compared.entries.iter().filter(|entry| !entry.sources.is_empty());
    let sources = sources.map(|entry| fact(&entry.name, entry.sources.join(", ")));
    let part =
        |h: &str, facts: Vec<PageFact>| PageBlock::Section(PageSection::new(h, [PageBlock::Facts(facts)]));
    let reading = PageBlock::Facts(READING_GUIDE.iter().map(|(word, meaning)| fact(word, meaning)).collect());
    let settings = part("Recipes and conditions", compared.entries.iter().map(settings).collect());
    page.add_detail("Method and sources", [reading, settings, part("Sources", sources.collect())]);
}
