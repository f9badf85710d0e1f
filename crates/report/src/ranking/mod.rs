//! `rank` for a terminal: cards in order with ties as ties, what that means for the job, and who could not be placed.

pub mod tables;

use crate::comparison::section;
use crate::finding;
use cardscope_model::ranking::Ranking;
use std::fmt::Write;

/// The order as people read it on a terminal.
#[must_use]
pub fn text(ranking: &Ranking) -> String {
    let mut out = format!("{}\n", tables::title(ranking));
    match ranking.places.is_empty() {
        true => out += "No card could be placed.\n",
        false => section(&mut out, "Best first", &tables::places(ranking).to_string()),
    }
    if ranking.places.iter().any(|p| p.shared_by > 1) {
        let _ = writeln!(out, "{}", tables::SHARED);
    }
    section(&mut out, "What that means", &remarks(ranking));
    section(&mut out, "Not placed", &not_placed(ranking));
    if let Some(groups) = &ranking.groups {
        let body = format!("{}\n{}\n", tables::groups(groups, ranking), groups.verdict);
        section(&mut out, &format!("By {}, {}", groups.by, tables::unit(ranking)), &body);
    }
    section(&mut out, "What was noticed", &finding::lines(&ranking.findings));
    out
}

fn remarks(ranking: &Ranking) -> String {
    let mut out = String::new();
    for place in &ranking.places {
        let remarks = tables::remarks(place);
        if !remarks.is_empty() {
            let _ = writeln!(out, "  {}. {}: {}", place.place, place.entry.name, remarks.join("; "));
        }
    }
    out
}

fn not_placed(ranking: &Ranking) -> String {
    ranking.not_placed.iter().fold(String::new(), |mut out, (card, reason)| {
        let _ = writeln!(out, "  {card}: {reason}");
        out
    })
}

#[cfg(test)]
mod tests;
