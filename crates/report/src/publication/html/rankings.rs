//! Orders on the page: bars with their intervals, places with ties, what that means for the job, groups.

use super::bars;
use crate::chart::{Chart, Kind, bars as chart};
use crate::markup::{concluded, escaped, figcaption, folded, grid, prose};
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
    let remarks: String = ranking
        .places
        .iter()
        .map(|place| (place, ranking::remarks(place)))
        .filter(|(_, remarks)| !remarks.is_empty())
        .map(|(p, remarks)| {
            format!(
                "<dt>{}. {}</dt><dd>{}</dd>\n",
                p.place,
                escaped(&p.entry.name),
                prose(&remarks.join("; "))
            )
        })
        .collect();
    if !remarks.is_empty() {
        out += &folded("What that means, card by card", false, &format!("<dl>\n{remarks}</dl>\n"));
    }
    out += &not_placed(ranking);
    if let Some(groups) = &ranking.groups {
        out += &format!(
            "<h4>By {}, {}</h4>\n{}<p>{}</p>\n",
            escaped(&groups.by),
            ranking::unit(ranking),
            grid(&ranking::groups(groups, ranking)),
            prose(&groups.verdict)
        );
    }
    out += &concluded("What was noticed", &ranking.findings).replace("h3>", "h4>");
    out + "</article>\n"
}

fn not_placed(ranking: &Ranking) -> String {
    if ranking.not_placed.is_empty() {
        return String::new();
    }
    let rows: String = ranking
        .not_placed
        .iter()
        .map(|(card, reason)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(card), prose(reason)))
        .collect();
    format!("<h4>Not placed</h4>\n<dl>\n{rows}</dl>\n")
}
