//! A publication as Markdown: the same parts as on a terminal, as any forge, wiki or blog shows them.

use crate::card_map;
use crate::comparison::{self, How};
use crate::page::sentence;
use crate::page::{Block, Page};
use crate::ranking;
use crate::table::Table;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::outside;
use cardscope_model::publication::{CardPart, Publication};
use cardscope_model::units::Capacity;
use std::fmt::Write;

/// Characters of a name at the head of a column.
const NAME: usize = 40;

/// The page.
pub(super) fn markdown(publication: &Publication) -> String {
    let compared = &publication.comparison;
    let mut page = Page::default();
    comparison::add_compared(&mut page, compared);
    page.add("Findings", [Block::Findings(compared.findings.clone())]);
    comparison::add_figures(&mut page, compared, How::default());
    comparison::add_differences(&mut page, compared);
    publication.rankings.iter().for_each(|order| ranking::add(&mut page, &ranking::title(order), order));
    let mut out = format!("# {}\n{}", plain(&publication.title), parts(&page));
    if !publication.cards.is_empty() {
        out += "\n## Card by card\n";
    }
    publication.cards.iter().for_each(|part| out += &card(part));
    out + &foot(publication)
}

/// The parts of a page, each under its heading.
pub(super) fn parts(page: &Page) -> String {
    page.parts.iter().fold(String::new(), |mut out, part| {
        let head = if part.head.is_empty() { String::new() } else { format!("\n## {}\n", plain(&part.head)) };
        let _ = write!(out, "{head}{}", part.body.iter().map(block).collect::<String>());
        out
    })
}

fn block(block: &Block) -> String {
    let list = |lines: Vec<String>| lines.iter().fold("\n".to_owned(), |out, line| out + "- " + line + "\n");
    match block {
        Block::Table(table) => grid(table),
        Block::Cards(table) => grid(&table.clone().with_heads_of(NAME)),
        Block::Words(words) => format!("\n{}\n", plain(words)),
        Block::Lines(lines) => list(lines.iter().map(|line| plain(line)).collect()),
        Block::Facts(facts) => list(facts.iter().map(|(name, value)| fact(name, value)).collect()),
        Block::Findings(findings) => list(findings.iter().map(finding).collect()),
        Block::Commands(lines) => format!("\n```\n{}\n```\n", lines.join("\n")),
        Block::Roomy(block) => self::block(block),
        Block::Verbatim(_) | Block::Chart(_) => String::new(),
    }
}

fn fact(name: &str, value: &str) -> String {
    format!("**{}**: {}", plain(name), plain(value))
}

fn finding(finding: &Finding) -> String {
    let weight = match finding.weight {
        Weight::Note => "",
        Weight::Hint => "**Hint:** ",
        Weight::Bad => "**Bad:** ",
    };
    format!("{weight}{}", plain(&sentence(finding)))
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

/// A table with its numbers to the right.
fn grid(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells = cells.iter().map(|cell| plain(cell)).collect::<Vec<_>>().join(" | ");
        format!("| {cells} |\n")
    };
    let rules = (0..table.head().len()).map(|c| if table.is_left_aligned(c) { "---" } else { "---:" });
    let rule = format!("| {} |\n", rules.collect::<Vec<_>>().join(" | "));
    let rows: String = table.rows().iter().map(|row| line(row)).collect();
    format!("\n{}{rule}{rows}", line(table.head()))
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
    let inside = part.map.as_ref().map(|map| card_map::known(&map.body.measured)).unwrap_or_default();
    let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(inside);
    let known = facts.filter(|(_, value)| !value.is_empty());
    known.map(|(name, value)| format!("- {}\n", fact(&name, &value))).collect()
}

fn card(part: &CardPart) -> String {
    let mut out = format!("\n### {}\n\n{}", plain(&part.title), known(part));
    if let Some(verify) = &part.verify {
        let sure = verify.body.confidence.clamp(0.0, 1.0) * 100.0;
        let _ = writeln!(out, "- **Its capacity is {}**, {sure:.1} % sure", verify.body.verdict);
    }
    if !part.findings.is_empty() {
        out += &block(&Block::Findings(part.findings.clone()));
    }
    out
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
