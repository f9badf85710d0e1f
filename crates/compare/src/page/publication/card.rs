//! A card's section of a publication: its facts, events and pictures.

use super::{charts, series};
use crate::page::details;
use crate::page::ranking::format_price;
use cardscope_capacity::page::verdict;
use cardscope_endurance::page::sustain;
use cardscope_flash::page as card_map;
use cardscope_model::card::{CardEvent, CardFacts, EventKind};
use cardscope_model::card_details::CardDetails;
use cardscope_model::publication::{CardPart, CardPicture};
use cardscope_model::units::ExactCapacity;
use cardscope_page::figure::pluralize;
use cardscope_page::tree::{PageBlock, PageFact, PageSection, fact, findings};

pub(super) fn card_section(part: &CardPart, details: Option<&CardDetails>) -> PageSection {
    let detail =
        |head: &str, blocks: Vec<PageBlock>| PageBlock::Section(PageSection::new(head, blocks).into_detail());
    let verdict =
        part.verify.as_ref().map(|verify| verdict::headline(&verify.body, &verify.header.findings, None).1);
    let heat = details.map(details::heat_sentences).unwrap_or_default();
    let long_run = part.sustain.as_ref().map(|run| sustain::run_summary(&run.body.measured));
    let charts = series::steepest_test_chart(part)
        .into_iter()
        .chain(charts::flash_charts(part).into_iter().filter_map(|(_, c)| c));
    let left_out = match part.pictures.skipped {
        0 => String::new(),
        n => format!("{} left out: too large for a page, or damaged.", pluralize(n, "picture")),
    };
    let advice = part.map.iter().flat_map(|map| &map.body.advice.words).cloned().collect();
    PageSection::new(
        &part.title,
        [
            PageBlock::Lines(verdict.map(String::from).into_iter().chain(long_run).chain(heat).collect()),
            PageBlock::Facts(card_facts(part, details)),
            picture_block(&part.pictures.published),
            PageBlock::Words(left_out),
            PageBlock::Lines(advice),
            PageBlock::Remarks(findings::merge_findings(&part.findings)),
            detail("History", vec![PageBlock::Facts(part.events.iter().map(event_fact).collect())]),
            detail("Over time, by size, over the addresses", charts.map(PageBlock::from_chart).collect()),
            detail("Test by test", series::test_blocks(part)),
        ],
    )
}

fn picture_block(shown: &[CardPicture]) -> PageBlock {
    PageBlock::Section(PageSection::new("", shown.iter().cloned().map(PageBlock::Picture)))
}

/// Facts about a card; empty ones are omitted.
pub(super) fn card_facts(part: &CardPart, details: Option<&CardDetails>) -> Vec<PageFact> {
    let CardFacts {
        brand,
        name,
        model,
        maker,
        capacity_bytes,
        capacity_label,
        form,
        firmware,
        made,
        generation,
        note,
        ..
    } = &part.card;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let all = [
        ("brand", text(brand)),
        ("name", text(name)),
        ("model", text(model)),
        ("maker", text(maker)),
        ("capacity", capacity_bytes.map(|bytes| ExactCapacity(bytes).to_string()).unwrap_or_default()),
        ("printed on it", text(capacity_label)),
        ("form", text(form)),
        ("marks", part.card.marks.join(" ")),
        ("firmware", text(firmware)),
        ("made", text(made)),
        ("generation", text(generation)),
        ("serial number", text(&part.card.serial)),
        ("CID", text(&part.card.cid)),
        ("units", part.pieces.join(", ")),
        ("note", text(note)),
    ];
    let inside =
        part.map.as_ref().map(|map| card_map::tested_properties(&map.body.measured)).unwrap_or_default();
    // A map has more details of the same flash.
    let is_said = |name: &String| inside.iter().any(|(said, _)| said == name);
    let beside = details.map(details::detail_facts).unwrap_or_default();
    let beside: Vec<PageFact> = beside.into_iter().filter(|(name, _)| !is_said(name)).collect();
    let all = all.into_iter().map(|(name, value)| fact(name, value)).chain(beside).chain(inside);
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
