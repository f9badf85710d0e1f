//! A publication as Markdown: tables that any forge, wiki or blog shows, and the same sentences as everywhere.

use crate::comparison::words::Measure;
use crate::comparison::{IOPS, tables, words};
use crate::finding::sentence;
use crate::ranking;
use crate::table::Table;
use cardscope_model::comparison::Comparison;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::outside;
use cardscope_model::publication::{CardPart, Publication};
use cardscope_model::ranking::Ranking;
use cardscope_model::units::Capacity;
use std::fmt::Write;

/// Characters of a name at the head of a column.
const NAME: usize = 40;

/// The page.
#[must_use]
pub fn markdown(publication: &Publication) -> String {
    let mut out = format!("# {}\n", plain(&publication.title));
    out += &compared(&publication.comparison);
    out += &figures(&publication.comparison);
    out += &iops(&publication.comparison);
    out += &differences(&publication.comparison);
    publication.rankings.iter().for_each(|ranking| out += &ranked(ranking));
    if !publication.cards.is_empty() {
        out += "\n## Card by card\n";
    }
    publication.cards.iter().for_each(|part| out += &card(part));
    out += &foot(publication);
    out
}

/// Text that Markdown, the HTML in it and Hugo's shortcodes leave alone.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in outside::line(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '$' | '{' | '}' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}

/// A table with its numbers to the right; nothing where it has no rows.
pub(super) fn grid(table: &Table) -> String {
    if table.rows().is_empty() {
        return String::new();
    }
    let line = |cells: &[String]| {
        let cells = cells.iter().map(|cell| plain(cell)).collect::<Vec<_>>().join(" | ");
        format!("| {cells} |\n")
    };
    let rules = (0..table.head().len()).map(|c| if table.is_left_aligned(c) { "---" } else { "---:" });
    let rule = format!("| {} |\n", rules.collect::<Vec<_>>().join(" | "));
    let rows: String = table.rows().iter().map(|row| line(row)).collect();
    format!("\n{}{rule}{rows}", line(table.head()))
}

pub(super) fn compared(comparison: &Comparison) -> String {
    let n = comparison.entries.len();
    if n == 0 {
        return findings(&comparison.findings);
    }
    let mut out = format!("\n## What was compared\n{}", grid(&tables::entries(comparison)));
    let _ = writeln!(out, "\nMeasured by: {}.", plain(&words::common_setting(comparison)));
    let differs = tables::differs(comparison, 0..n, NAME);
    if !differs.rows().is_empty() {
        let _ = write!(out, "\n### What differs besides the card\n{}", grid(&differs));
    }
    out + &findings(&comparison.findings)
}

fn figures(comparison: &Comparison) -> String {
    Measure::ALL.iter().fold(String::new(), |mut out, measure| {
        let table = grid(&tables::figures(comparison, *measure, 0..comparison.entries.len(), false, NAME));
        if !table.is_empty() {
            let _ = write!(
                out,
                "\n## {}, MB/s\n\nEach figure is {}.\n{table}",
                measure.word(),
                measure.meaning()
            );
        }
        out
    })
}

/// The tests of 4 KiB as I/Os a second.
fn iops(comparison: &Comparison) -> String {
    let table = grid(&tables::iops(comparison, 0..comparison.entries.len(), NAME));
    if table.is_empty() { table } else { format!("\n## {IOPS}\n{table}") }
}

pub(super) fn differences(comparison: &Comparison) -> String {
    let table = tables::orders(comparison, tables::number);
    if table.rows().is_empty() {
        return String::new();
    }
    format!(
        "\n## Which differences are real\n\nNumbers are those of the cards; `>` faster for sure, `=` alike, `?` cannot be told apart. {}\n{}{}",
        words::counted(comparison).unwrap_or_default(),
        grid(&table),
        grid(&tables::pairs(comparison, |_| true))
    )
}

pub(super) fn ranked(ranking: &Ranking) -> String {
    let mut out = format!("\n## {}\n", plain(&ranking::title(ranking)));
    out += &grid(&ranking::places(ranking));
    if ranking.places.iter().any(|place| place.shared_by > 1) {
        let _ = writeln!(out, "\n{}", ranking::SHARED);
    }
    for place in &ranking.places {
        let remarks = ranking::remarks(place);
        if !remarks.is_empty() {
            let _ = write!(out, "\n- {}: {}", plain(&place.entry.name), plain(&remarks.join("; ")));
        }
    }
    for (card, reason) in &ranking.not_placed {
        let _ = write!(out, "\n- {}, not placed: {}", plain(card), plain(reason));
    }
    out.push('\n');
    if let Some(groups) = &ranking.groups {
        let table = grid(&ranking::groups(groups, ranking));
        let _ = write!(out, "\n### By {}\n{table}\n{}\n", plain(&groups.by), plain(&groups.verdict));
    }
    out + &findings(&ranking.findings)
}

/// What is known of a card as lines; shared with the page for Hugo.
pub(super) fn known(part: &CardPart) -> String {
    let card = &part.card;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let facts = [
        ("Names itself", text(&card.model)),
        ("Maker", text(&card.maker)),
        ("Firmware", text(&card.firmware)),
        ("Made", text(&card.made)),
        ("Form", text(&card.form)),
        ("Marks", card.marks.join(" ")),
        ("Capacity", card.capacity_bytes.map(|bytes| Capacity(bytes).to_string()).unwrap_or_default()),
        ("Serial number", text(&card.serial)),
        ("CID", text(&card.cid)),
        ("Note", text(&card.note)),
    ];
    let inside = part
        .map
        .as_ref()
        .map(|map| crate::card_map::properties::known(&map.body.measured))
        .unwrap_or_default();
    let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(inside);
    facts.filter(|(_, value)| !value.is_empty()).fold(String::new(), |mut out, (name, value)| {
        let _ = writeln!(out, "- **{}**: {}", plain(&name), plain(&value));
        out
    })
}

fn card(part: &CardPart) -> String {
    let mut out = format!("\n### {}\n\n{}", plain(&part.title), known(part));
    if let Some(verify) = &part.verify {
        let sure = verify.body.confidence.clamp(0.0, 1.0) * 100.0;
        let _ = writeln!(out, "- **Its capacity is {}**, {sure:.1} % sure", verify.body.verdict);
    }
    out + &findings(&part.findings)
}

fn findings(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let weight = match finding.weight {
            Weight::Note => "",
            Weight::Hint => "**Hint:** ",
            Weight::Bad => "**Bad:** ",
        };
        let _ = write!(out, "\n- {weight}{}", plain(&sentence(finding)));
    }
    if out.is_empty() { out } else { out + "\n" }
}

pub(super) fn foot(publication: &Publication) -> String {
    let mut out = String::from("\n## Where the figures are from\n");
    for entry in publication.comparison.entries.iter().filter(|entry| !entry.sources.is_empty()) {
        let _ = write!(out, "\n- {}: {}", plain(&entry.name), plain(&entry.sources.join(", ")));
    }
    let _ = writeln!(
        out,
        "\n\nMB/s are 10^6 bytes a second. Made on {} by Cardscope {}.",
        plain(&publication.made_on),
        plain(&publication.tool_version)
    );
    out
}
