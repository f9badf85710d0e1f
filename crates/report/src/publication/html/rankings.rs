//! Orders on the page: bars with their intervals, places with ties, what that means for the job, groups.

use super::bars;
use crate::chart::{Chart, Kind, bars as chart};
use crate::markup::{concluded, escaped, facts, figcaption, folded, grid, prose};
use crate::ranking;
use cardscope_model::ranking::Ranking;

pub(super) fn rankings(rankings: &[Ranking]) -> String {
    rankings.iter().map(ranking).collect()
}

fn ranking(ranking: &Ranking) -> String {
    let mut out = format!("<article>\n<h3>{}</h3>\n", prose(&ranking::title(ranking)));
    if let Some(Chart { caption, kind: Kind::Bars(bars), .. }) = chart::by_place(ranking) {
        let groups: String =
            bars.groups.iter().map(|group| bars::group_of(group, &bars, |_| String::new())).collect();
        out += &format!("<div class=\"bars\">\n{groups}</div>\n{}", figcaption(&caption.words()));
    }
    match ranking.places.is_empty() {
        true => out += "<p>No card could be placed.</p>\n",
        false => out += &grid(&ranking::places(ranking)),
    }
    let remarks = ranking.places.iter().map(|place| (place, ranking::remarks(place)));
    let remarks = remarks.filter(|(_, remarks)| !remarks.is_empty());
    let remarks = remarks.map(|(p, said)| (format!("{}. {}", p.place, p.entry.name), said.join("; ")));
    out += &folded("What that means, card by card", false, &facts(remarks));
    if !ranking.not_placed.is_empty() {
        let rows = ranking.not_placed.iter().map(|(card, reason)| (card, reason));
        out += &format!("<h4>Not placed</h4>\n{}", facts(rows));
    }
    if let Some(groups) = &ranking.groups {
        out += &format!(
            "<h4>By {}, {}</h4>\n{}<p>{}</p>\n",
            escaped(&groups.by),
            ranking::unit(ranking),
            grid(&ranking::groups(groups, ranking)),
            prose(&groups.verdict)
        );
    }
    out += &concluded(4, "What was noticed", &ranking.findings);
    out + "</article>\n"
}
