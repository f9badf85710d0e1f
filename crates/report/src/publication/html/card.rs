//! A card's part of the page: what is known of it, what became of it, and every picture of it.

use super::super::charts;
use super::series;
use crate::card_map;
use crate::chart::Chart;
use crate::markup::{concluded, escaped, facts, figcaption, folded, list, prose};
use crate::ranking::price;
use crate::svg::{self, Medium};
use cardscope_model::card::{CardFacts, Event, EventKind};
use cardscope_model::publication::{CardPart, Publication};
use cardscope_model::units::Capacity;

/// Cards up to which all is unfolded.
const FEW: usize = 3;

pub(super) fn cards(publication: &Publication) -> String {
    let open = publication.cards.len() <= FEW;
    let parts = publication.cards.iter().enumerate().map(|(number, part)| card(number, part, open));
    let parts: String = parts.collect();
    format!("{}{parts}", if open { String::new() } else { contents(&publication.cards) })
}

/// The way to each card, where they are many.
fn contents(cards: &[CardPart]) -> String {
    let link = |(number, part): (usize, &CardPart)| {
        format!("<li><a href=\"#card-{number}\">{}</a></li>", escaped(&part.title))
    };
    let links: String = cards.iter().enumerate().map(link).collect();
    format!("<nav aria-label=\"Cards\"><ul>{links}</ul></nav>\n")
}

fn card(number: usize, part: &CardPart, open: bool) -> String {
    let pictures: String = pictures(part).iter().map(figure).collect();
    let pictures =
        if pictures.is_empty() { pictures } else { format!("<div class=\"pictures\">\n{pictures}</div>\n") };
    let tests = series::table(part);
    format!(
        "<article id=\"card-{number}\">\n<h3>{}</h3>\n{}{}{}{}{}</article>\n",
        escaped(&part.title),
        known(part),
        events(&part.events),
        concluded(4, "What was found", &part.findings),
        advice(part),
        folded("Over time, by size, over the addresses", open, &(pictures + &tests))
    )
}

fn known(part: &CardPart) -> String {
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
    let mut all = vec![
        ("brand", text(brand)),
        ("name", text(name)),
        ("names itself", text(model)),
        ("maker", text(maker)),
        ("capacity", capacity_bytes.map(|bytes| Capacity(bytes).to_string()).unwrap_or_default()),
        ("printed on it", text(capacity_label)),
        ("form", text(form)),
        ("marks", part.card.marks.join(" ")),
        ("firmware", text(firmware)),
        ("made", text(made)),
        ("generation", text(generation)),
        ("serial number", text(&part.card.serial)),
        ("CID", text(&part.card.cid)),
        ("pieces", part.pieces.join(", ")),
        ("note", text(note)),
    ];
    all.extend(proven(part));
    all.extend(part.sustain.as_ref().map(|run| ("in a long run", crate::sustain::headline(run))));
    let inside = part.map.as_ref().map(|map| card_map::known(&map.body.measured)).unwrap_or_default();
    let all = all.into_iter().chain(inside.iter().map(|(name, value)| (name.as_str(), value.clone())));
    facts(all.filter(|(_, value)| !value.is_empty()))
}

/// The proof of capacity in a line.
fn proven(part: &CardPart) -> Option<(&'static str, String)> {
    let body = &part.verify.as_ref()?.body;
    let usable = body.usable_bytes.map(|bytes| format!("; {} can be trusted", Capacity(bytes)));
    let sure = body.confidence.clamp(0.0, 1.0) * 100.0;
    let words = format!("{}, {sure:.1} % sure{}", body.verdict, usable.unwrap_or_default());
    Some(("capacity is", words))
}

fn events(events: &[Event]) -> String {
    let line = |event: &Event| {
        let what = match event.kind {
            EventKind::Bought => "bought",
            EventKind::InUse => "in use",
            EventKind::Failed => "failed",
            EventKind::Warranty => "replaced or refunded",
            EventKind::Gone => "gone",
            EventKind::Note => "noted",
        };
        let paid = event.price.as_ref().map(|p| format!(" for {}", price(p))).unwrap_or_default();
        let note = event.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        let source = event.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
        let date = event.date.as_deref().unwrap_or("date unknown");
        format!("<b>{}</b> {}", escaped(date), prose(&format!("{what}{paid}{note}{source}")))
    };
    let head = if events.is_empty() { "" } else { "<h4>What became of it</h4>\n" };
    format!("{head}{}", list(events.iter().map(line)))
}

fn advice(part: &CardPart) -> String {
    let words = part.map.iter().flat_map(|map| &map.body.advice.words);
    words.map(|words| format!("<p>{}</p>\n", prose(words))).collect()
}

/// Every picture that there is something for.
fn pictures(part: &CardPart) -> Vec<Chart> {
    let of_flash = charts::of_flash(part).into_iter().filter_map(|(_, chart)| chart);
    series::most_telling(part).into_iter().chain(of_flash).collect()
}

fn figure(chart: &Chart) -> String {
    let drawn = svg::of(chart, Medium::Page);
    if drawn.is_empty() {
        return drawn;
    }
    format!(
        "<figure class=\"picture\"><h4>{}</h4>\n{drawn}{}</figure>\n",
        escaped(&chart.title),
        figcaption(&chart.caption.words())
    )
}
