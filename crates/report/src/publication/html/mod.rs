//! A publication as one HTML file: no network, nothing but itself. Bars, tables and pictures stand in it as they are;
//! a small script only adds to them (sorting, choosing, values under the pointer), so that the page works without it.
//!
//! Everything a stranger wrote (names, notes, conditions) goes through `markup`; the policy in the head forbids any
//! script but ours and any connection.

mod bars;
mod card;
mod facts;
mod pairs;
mod rankings;
mod series;
mod tables;

use crate::comparison::{IOPS, words};
use crate::figure::count;
use crate::markup::{escaped, prose};
use crate::svg::palette;
use cardscope_model::publication::Publication;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// SHA-256 of the script in base64: the policy lets it run, and no other. A test holds it against the script.
const SCRIPT_HASH: &str = "ofpgtwP2vBExQGV6PlVO3++ufkHiLREzcV/ic7HeFck=";

/// A part of the page; empty ones are left out, and so is their line in the list of contents.
struct Part {
    id: &'static str,
    head: &'static str,
    body: String,
}

/// The page.
pub(super) fn html(publication: &Publication) -> String {
    let comparison = &publication.comparison;
    let parts = [
        Part { id: "glance", head: "At a glance", body: facts::glance(publication) },
        Part { id: "compared", head: "What was compared", body: tables::compared(comparison) },
        Part { id: "speed", head: "Speed", body: bars::speed(comparison) },
        Part { id: "figures", head: "Figures", body: tables::figures(comparison) },
        Part { id: "iops", head: IOPS, body: tables::iops(comparison) },
        Part { id: "differences", head: "Which differences are real", body: pairs::differences(comparison) },
        Part { id: "rankings", head: "In order", body: rankings::rankings(&publication.rankings) },
        Part { id: "cards", head: "Card by card", body: card::cards(publication) },
        Part {
            id: "methods",
            head: "How it was measured, and how to read it",
            body: facts::methods(publication),
        },
    ];
    let parts: Vec<Part> = parts.into_iter().filter(|part| !part.body.is_empty()).collect();
    let contents: String =
        parts.iter().map(|p| format!("<li><a href=\"#{}\">{}</a></li>", p.id, p.head)).collect();
    let body: String = parts
        .iter()
        .map(|p| format!("<section id=\"{0}\" aria-labelledby=\"{0}-head\">\n<h2 id=\"{0}-head\">{1}</h2>\n{2}</section>\n", p.id, p.head, p.body))
        .collect();
    let title = escaped(&publication.title);
    format!(
        "{}<html lang=\"en\">\n{}<body>\n<a class=\"skip\" href=\"#glance\">Skip to the results</a>\n\
         <header>\n<h1>{title}</h1>\n<p>{}</p>\n<nav aria-label=\"Contents\"><ul>{contents}</ul></nav>\n</header>\n\
         <main>\n{body}</main>\n<footer>Made on {} by Cardscope {}</footer>\n\
         <div id=\"tip\" role=\"status\" hidden></div>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        crate::markup::HEAD,
        head(&title),
        prose(&subtitle(publication)),
        escaped(&publication.made_on),
        escaped(&publication.tool_version),
    )
}

fn head(title: &str) -> String {
    format!(
        "<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'sha256-{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n<style>\n{}{STYLE}</style>\n</head>\n",
        palette::page()
    )
}

/// How much there is, in a line.
fn subtitle(publication: &Publication) -> String {
    let comparison = &publication.comparison;
    if comparison.entries.is_empty() {
        let placed = publication.rankings.iter().map(|ranking| ranking.places.len()).max().unwrap_or(0);
        let orders = count(publication.rankings.len() as u32, "order");
        // Not every card has a place in every order.
        let longest = if publication.rankings.len() == 1 { " of" } else { ", the longest of" };
        return format!("{orders}{longest} {}", count(placed as u32, "card"));
    }
    let parts = [
        count(comparison.cards() as u32, "card"),
        count(comparison.tests.len() as u32, "test"),
        words::runs(comparison),
        words::common_setting(comparison),
    ];
    parts.join(" · ")
}

#[cfg(test)]
mod tests;
