//! A card's section of a publication: its facts, events and pictures.

use super::{charts, series};
use crate::page::details;
use crate::page::ranking::format_price;
use cardscope_capacity::page::verdict;
use cardscope_endurance::page::sustain;
use cardscope_flash::page as card_map;
use cardscope_model::card::{CardEvent, EventKind};
use cardscope_model::card_details::CardDetails;
use cardscope_model::publication::CardPart;
use cardscope_model::units::ExactCapacity;
use cardscope_page::figure::pluralize;
use cardscope_page::tree::{PageBlock, PageFact, PageSection, fact, findings};

pub(super) fn card_section(part: &CardPart, details: Option<&CardDetails>) -> PageSection {
    let detail =
        |head: &str, blocks: Vec<PageBlock>| PageBlock::Section(PageSection::new(head, blocks).into_detail());
    let verdict = part.verify.as_ref().map(|v| verdict::headline(&v.body, &v.header.findings, None).1);
    let heat = details.map(details::heat_sentences).unwrap_or_default();
    let long_run = part.sustain.as_ref().map(|run| sustain::run_summary(&run.body.measured));
    let flash = charts::flash_charts(part).into_iter().filter_map(|(_, chart)| chart);
    let charts = series::steepest_test_chart(part).into_iter().chain(flash);
    let left_out = match part.pictures.skipped {
        0 => String::new(),
        n => format!("{} left out: too large for a page, or damaged.", pluralize(n, "picture")),
    };
    let advice = part.map.iter().flat_map(|map| &map.body.advice.words).cloned().collect();
    let pictures = part.pictures.published.iter().cloned().map(PageBlock::Picture);
    PageSection::new(
        &part.title,
        [
            PageBlock::Lines(verdict.map(String::from).into_iter().chain(long_run).chain(heat).collect()),
            PageBlock::Facts(card_facts(part, details)),
            PageBlock::Section(PageSection::new("", pictures)),
            PageBlock::Words(left_out),
            PageBlock::Lines(advice),
            PageBlock::Remarks(findings::merge_findings(&part.findings)),
            detail("History", vec![PageBlock::Facts(part.events.iter().map(event_fact).collect())]),
            detail("Over time, by size, over the addresses", charts.map(PageBlock::from_chart).collect()),
            detail("Test by test", series::test_blocks(part)),
        ],
    )
}

/// Facts about a card; empty ones are omitted.
pub(super) fn card_facts(part: &CardPart, details: Option<&CardDetails>) -> Vec<PageFact> {
    let card = &part.card;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let capacity = card.capacity_bytes.map(|bytes| ExactCapacity(bytes).to_string());
    let all = [
        ("brand", text(&card.brand)),
        ("name", text(&card.name)),
        ("model", text(&card.model)),
        ("maker", text(&card.maker)),
        ("capacity", text(&capacity)),
        ("printed on it", text(&card.capacity_label)),
        ("form", text(&card.form)),
        ("marks", card.marks.join(" ")),
        ("firmware", text(&card.firmware)),
        ("made", text(&card.made)),
        ("generation", text(&card.generation)),
        ("serial number", text(&card.serial)),
        ("CID", text(&card.cid)),
        ("units", part.pieces.join(", ")),
        ("note", text(&card.note)),
    ];
    let inside = part.map.as_ref().map(|map| card_map::tested_properties(&map.body.measured));
    let inside = inside.unwrap_or_default();
    // A map has more details of the same flash.
    let mut others = details.map(details::detail_facts).unwrap_or_default();
    others.retain(|(name, _)| inside.iter().all(|(tested, _)| tested != name));
    let all = all.into_iter().map(|(name, value)| fact(name, value)).chain(others).chain(inside);
    all.filter(|(_, value)| !value.is_empty()).collect()
}

fn event_fact(event: &CardEvent) -> PageFact {
    let what = match event.kind {
        EventKind::Bought => "bought",
        EventKind::InUse => "in use",
        EventKind::Failed => "failed",
        EventKind::Warranty => "replaced or refunded",
        EventKind::Gone => "gone",
        EventKind::Note => "noted",
    };
    let paid = event.price.as_ref().map(|p| format!(" for {}", format_price(p))).unwrap_or_default();
    let note = event.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
    let source = event.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
    fact(event.date.as_deref().unwrap_or("date unknown"), format!("{what}{paid}{note}{source}"))
}
