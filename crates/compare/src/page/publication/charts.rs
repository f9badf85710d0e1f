//! Charts of a publication: all charts with names for files, and the main chart.

use crate::page::comparison::sentences::RunMeasure;
use crate::page::{bar_charts as bars, latency_chart as latency, time_chart as over_time};
use cardscope_model::publication::{CardPart, Publication, TestLatencies, TestSeries};
use cardscope_page::chart::{Chart, ChartCaption, card_map};
use cardscope_page::figure::condition_line;

/// Averages of all cards, else the first ranking; `None` without either.
pub(super) fn main_chart(publication: &Publication) -> Option<Chart> {
    let averages = bars::bars_by_card(&publication.comparison, RunMeasure::Average);
    let averages = averages.map(|chart| with_owner(chart, &publication.title));
    averages.or_else(|| publication.rankings.iter().find_map(bars::bars_by_place))
}

/// Every chart of a publication, with a name for its file.
pub(super) fn all_charts(publication: &Publication) -> Vec<(String, Chart)> {
    let comparison = &publication.comparison;
    let of_all =
        |m: &RunMeasure| bars::bars_by_card(comparison, *m).map(|c| with_owner(c, &publication.title));
    let measures = RunMeasure::ALL.iter().map(|measure| (measure.word().to_lowercase(), of_all(measure)));
    let mut all: Vec<(String, Option<Chart>)> = measures.collect();
    let entries = 0..comparison.entries.len();
    all.extend(entries.map(|n| (format!("card-{}-runs", n + 1), bars::bars_by_run(comparison, n))));
    let places = publication.rankings.iter().enumerate();
    all.extend(places.map(|(n, ranking)| (format!("order-{}", n + 1), bars::bars_by_place(ranking))));
    for (number, part) in publication.cards.iter().enumerate() {
        let named = |(name, chart): (String, Option<Chart>)| {
            (format!("card-{}-{name}", number + 1), chart.map(|chart| with_owner(chart, &part.title)))
        };
        all.extend(card_charts(part).into_iter().map(named));
    }
    all.into_iter().filter_map(|(name, chart)| Some((name, chart?))).collect()
}

/// Puts the name of the card or publication into the title, for a picture without context.
fn with_owner(chart: Chart, whose: &str) -> Chart {
    Chart { title: format!("{whose}: {}", lower_first(&chart.title)), ..chart }
}

/// Title for the middle of a line; acronyms keep their capitals.
fn lower_first(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => title.to_owned(),
    }
}

fn card_charts(part: &CardPart) -> Vec<(String, Option<Chart>)> {
    let mut all: Vec<(String, Option<Chart>)> = Vec::new();
    for series in group_by_test(&part.courses) {
        let name = format!("course-{}", file_name_part(&series[0].test.to_string()));
        // A repeated test has another step, or another setting.
        let before = all.iter().filter(|(known, _)| known.starts_with(&name)).count();
        let name = if before == 0 { name } else { format!("{name}-{}", before + 1) };
        all.push((name, over_time::test_chart(&series)));
    }
    all.extend(flash_charts(part).into_iter().map(|(name, chart)| (name.to_owned(), chart)));
    if let Some(map) = &part.map {
        let caption = ChartCaption::new("", "1 map", "", condition_line(&map.header.condition));
        let evidence = cardscope_flash::page::charts(&map.body.measured).into_iter();
        all.extend(evidence.map(|chart| {
            let name = format!("map-{}", file_name_part(&chart.title));
            (name, Some(Chart { caption: caption.clone(), ..chart }))
        }));
    }
    all
}

/// Text as part of a file name.
fn file_name_part(text: &str) -> String {
    text.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// Series of one test, step and entry, which can share a chart, in the order of appearance.
pub(super) fn group_by_test(series: &[TestSeries]) -> Vec<Vec<&TestSeries>> {
    let mut all: Vec<Vec<&TestSeries>> = Vec::new();
    for one in series {
        let key = |series: &TestSeries| (series.test, series.step.clone(), series.entry.clone());
        match all.iter_mut().find(|of| key(of[0]) == key(one)) {
            Some(of) => of.push(one),
            None => all.push(vec![one]),
        }
    }
    all
}

/// Charts of one card that do not belong to a single test.
pub(super) fn flash_charts(part: &CardPart) -> [(&'static str, Option<Chart>); 6] {
    let latencies = |writes: bool| -> Vec<&TestLatencies> {
        part.latencies.iter().filter(|l| l.test.op.writes() == writes).collect()
    };
    let axis = part.map.as_ref().and_then(|m| Some((m.body.measured.axis.as_ref()?, &m.header.condition)));
    let proof = part.verify.as_ref().and_then(|v| Some((v.body.map.as_ref()?, &v.header.condition)));
    let addresses = proof.or(axis);
    let addresses =
        addresses.and_then(|(map, of)| card_map::address_chart(map, of, card_map::PICTURE_COLUMNS));
    [
        ("long-run", part.sustain.as_ref().and_then(cardscope_endurance::page::sustain::combined_chart)),
        ("latency-of-reads", latency::latency_chart("How long reads took", &latencies(false))),
        ("latency-of-writes", latency::latency_chart("How long writes took", &latencies(true))),
        ("size", part.map.as_ref().and_then(card_map::speed_by_size_chart)),
        ("flash", part.map.as_ref().and_then(card_map::flash_chart)),
        ("addresses", addresses),
    ]
}
