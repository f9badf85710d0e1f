//! Bar charts: a figure of each card, every run of one card (as in published comparisons), and places of a ranking.

use crate::page::comparison::sentences::{self, RunMeasure};
use crate::page::ranking;
use cardscope_model::comparison::{ComparedEntry, ComparedTest, Comparison, Spread};
use cardscope_model::ranking::{RankedBy, RankedCard, Ranking};
use cardscope_model::statistics::distinct_values;
use cardscope_model::test_name::IoOrder;
use cardscope_model::units::three_digits as speed;
use cardscope_page::chart::{
    BarGroup, BarGroups, Chart, ChartBar, ChartCaption, ChartKind, LimitLine, SCORE_UNIT, SPEED_UNIT,
    bar_chart,
};

/// Explains whiskers and ticks.
const CI95_LEGEND: &str = "whiskers: 95 % interval of the mean, ticks: single runs";

/// A bus limit is drawn if it is less than this many times the fastest run.
const MOST_BUS_RATIO: f64 = 2.0;

/// Bars of a figure of each card, for each test; `None` without measurements.
pub fn bars_by_card(comparison: &Comparison, measure: RunMeasure) -> Option<Chart> {
    let bar = |(of, spread): (usize, &Option<Spread>)| {
        let spread = spread.as_ref()?;
        let interval = spread.ci95.filter(|_| measure == RunMeasure::Average);
        let measures = Some(RunMeasure::ALL.map(|measure| measure.value_in(spread)));
        Some(ChartBar { of, value: measure.value_in(spread), interval, runs: spread.runs.clone(), measures })
    };
    let buses = bus_limits(comparison);
    let groups = comparison.tests.iter().map(|test| BarGroup {
        name: sentences::test_title(test),
        bars: test.spreads.iter().enumerate().filter_map(bar).collect(),
        limits: test_limits(&buses, test),
        ..BarGroup::default()
    });
    let interval = if measure == RunMeasure::Average { CI95_LEGEND } else { "ticks: single runs" };
    let names = comparison.entries.iter().map(|entry| entry.name.clone()).collect();
    let (runs, setting) = (sentences::run_range(comparison), sentences::common_setting(comparison));
    let (groups, are_rivals) = (groups.collect(), comparison.by.is_none());
    bar_chart(
        &format!("{} of the runs", measure.word()),
        ChartCaption::new(SPEED_UNIT, runs, interval, setting),
        BarGroups { unit: "MB/s".into(), names, groups, are_rivals },
    )
}

/// Bus limits of the entries, slowest first, each once. Empty if that of any entry is unknown, since a line of another bus
/// would cross its bar.
fn bus_limits(comparison: &Comparison) -> Vec<LimitLine> {
    let bus = |entry: &ComparedEntry| {
        let value = entry.bus_ceiling_mb_s()?;
        let mode = entry.settings.first()?.value("bus_mode")?;
        let mode = if mode.ends_with("MB/s") { "bus".to_owned() } else { mode };
        Some(LimitLine { value, name: format!("{mode}: {} MB/s", speed(value)) })
    };
    let known: Option<Vec<LimitLine>> = comparison.entries.iter().map(bus).collect();
    let mut buses = distinct_values(known.unwrap_or_default());
    buses.sort_by(|a, b| a.value.total_cmp(&b.value));
    buses
}

/// Limits for a sequential test that comes near them. A line far beyond all bars would only shorten these.
fn test_limits(buses: &[LimitLine], test: &ComparedTest) -> Vec<LimitLine> {
    let fastest = test.spreads.iter().flatten().map(|spread| spread.best).fold(0.0, f64::max);
    let near = |bus: &&LimitLine| bus.value < MOST_BUS_RATIO * fastest;
    let fills = test.test.pattern.order == IoOrder::Sequential;
    buses.iter().filter(|bus| fills && near(bus)).cloned().collect()
}

/// Averages of a single card, with tests of one pattern and operation grouped, by queue; `None` without measurements.
pub fn bars_by_queue(comparison: &Comparison) -> Option<Chart> {
    let Chart { title, caption, kind } = bars_by_card(comparison, RunMeasure::Average)?;
    let ChartKind::Bars(by_test) = kind else { return None };
    let mut bars = BarGroups { unit: by_test.unit, ..BarGroups::default() };
    for one in &by_test.groups {
        let test = comparison.tests.iter().find(|test| sentences::test_title(test) == one.name);
        let Some(test) = test else { continue };
        let pattern = test.test.pattern;
        let queue = pattern.parallelism_text();
        let queue = test.step.as_ref().map_or_else(|| queue.clone(), |step| format!("{queue} ({step})"));
        let of = find_or_push(&mut bars.names, |known| *known == queue, || queue.clone());
        let name = format!("{} {}", pattern.access_text(), test.test.op);
        let new = || BarGroup { name: name.clone(), limits: one.limits.clone(), ..BarGroup::default() };
        let group = find_or_push(&mut bars.groups, |known| known.name == name, new);
        bars.groups[group].bars.extend(one.bars.iter().map(|bar| ChartBar { of, ..bar.clone() }));
    }
    Some(Chart { title, caption, kind: ChartKind::Bars(bars) })
}

/// Index of the first match, which is added if there is none.
fn find_or_push<T>(all: &mut Vec<T>, is_it: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> usize {
    all.iter().position(is_it).unwrap_or_else(|| {
        all.push(new());
        all.len() - 1
    })
}

/// Every run of one card, for each test; `None` without measurements.
pub fn bars_by_run(comparison: &Comparison, entry: usize) -> Option<Chart> {
    let card = comparison.entries.get(entry)?;
    let group = |test: &ComparedTest| {
        let runs = test.spreads.get(entry)?.as_ref()?.runs.iter().enumerate();
        let bars = runs.map(|(of, value)| ChartBar { of, value: *value, ..ChartBar::default() }).collect();
        Some(BarGroup { name: sentences::test_title(test), bars, ..BarGroup::default() })
    };
    let groups: Vec<BarGroup> = comparison.tests.iter().filter_map(group).collect();
    let runs = groups.iter().map(|group| group.bars.len()).max().unwrap_or(0);
    let names = (1..=runs).map(|run| format!("Run {run}")).collect();
    let (amount, settings) = (sentences::measured_amount(card), sentences::setting_lines(card));
    bar_chart(
        &format!("Every run of {}", card.name),
        ChartCaption::new(SPEED_UNIT, amount, "no interval: single runs", settings),
        BarGroups { unit: "MB/s".into(), names, groups, ..BarGroups::default() },
    )
}

/// Most places in one chart; further ones are in the table.
const MOST_PLACES: usize = 60;

/// Places of a ranking, limited to the first ones.
pub fn bars_by_place(ranking: &Ranking) -> Option<Chart> {
    let places = &ranking.places[..ranking.places.len().min(MOST_PLACES)];
    let bar = |(of, place): (usize, &RankedCard)| ChartBar {
        of,
        value: place.value,
        interval: place.ci95,
        ..ChartBar::default()
    };
    let bars = places.iter().enumerate().map(bar).collect();
    let names = places.iter().map(|p| format!("{}  {}", p.placement.place, p.entry.name)).collect();
    let (unit, name) = match &ranking.by {
        RankedBy::Job(job) => (SCORE_UNIT, job.clone()),
        RankedBy::Test(test) => ("MB/s", test.to_string()),
    };
    let axis = if unit == SCORE_UNIT { "points of 100" } else { SPEED_UNIT };
    let runs = sentences::range_of_runs(places.iter().map(|p| p.entry.runs));
    let groups = vec![BarGroup { name, bars, ..BarGroup::default() }];
    bar_chart(
        &ranking::ranking_title(ranking),
        ChartCaption::new(axis, runs, "whiskers: 95 % interval", ranking_condition(ranking, places)),
        BarGroups { unit: unit.into(), names, groups, ..BarGroups::default() },
    )
}

/// Host, common conditions of all cards, and number of cards that are not drawn.
fn ranking_condition(ranking: &Ranking, places: &[RankedCard]) -> String {
    let entries: Vec<&ComparedEntry> = places.iter().map(|place| &place.entry).collect();
    let more = ranking.places.len() - places.len();
    let parts = [
        ranking.on.as_ref().map(|host| format!("on {host}")),
        Some(sentences::shared_conditions(&entries, false)),
        (more > 0).then(|| format!("{more} more not drawn")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::condition::ConditionOrigin;
    use cardscope_testkit::samples as sample;

    #[test]
    fn single_card_has_bars_by_queue() {
        let chart = bars_by_queue(&sample::comparison(1, 3, 4)).unwrap();
        let ChartKind::Bars(bars) = chart.kind else { panic!("bars") };
        assert_eq!(bars.groups.iter().map(|group| group.bars.len()).sum::<usize>(), 4, "{bars:?}");
        assert!(bars.names.iter().all(|name| name.starts_with('Q')), "{:?}", bars.names);
        assert!(bars.groups.iter().all(|group| group.bars.iter().all(|bar| bar.measures.is_some())));
    }

    #[test]
    fn bus_limit_is_drawn_near_the_bars_of_sequential_tests() {
        let lines = |mode: &str, share: f64| {
            let mut two = sample::comparison(2, 3, 12);
            let set = |entry: &mut ComparedEntry| {
                entry
                    .settings
                    .iter_mut()
                    .for_each(|s| s.condition.set("bus_mode", mode, ConditionOrigin::Stated));
            };
            two.entries.iter_mut().for_each(set);
            let is_sequential = |test: &ComparedTest| test.test.pattern.order == IoOrder::Sequential;
            for spread in
                two.tests.iter_mut().filter(|t| is_sequential(t)).flat_map(|t| t.spreads.iter_mut().flatten())
            {
                spread.best = share * 50.0;
            }
            let ChartKind::Bars(bars) = bars_by_card(&two, RunMeasure::Average).unwrap().kind else {
                panic!("bars")
            };
            let of = |sequential: bool| {
                let groups = bars
                    .groups
                    .iter()
                    .zip(&two.tests)
                    .filter(move |(_, test)| is_sequential(test) == sequential);
                groups.flat_map(|(group, _)| group.limits.iter().map(|l| l.name.clone())).collect::<Vec<_>>()
            };
            assert_eq!(of(false), [""; 0], "random tests never fill a bus");
            distinct_values(of(true))
        };
        assert_eq!(lines("SDR50", 0.9), ["SDR50: 50.0 MB/s"]);
        assert!(lines("SDR50", 0.4).is_empty() && lines("unheard of", 0.9).is_empty());
        let mut one_known = sample::comparison(2, 3, 12);
        one_known.entries[0].settings[0].condition.set("bus_mode", "SDR50", ConditionOrigin::Stated);
        one_known.entries[1].settings[0].condition.set("bus_mode", "unheard of", ConditionOrigin::Stated);
        assert!(bus_limits(&one_known).is_empty(), "a line of one bus is nothing to a card on another");
    }

    #[test]
    fn ranking_chart_states_conditions_and_omitted_cards() {
        let of = |cards: usize| bars_by_place(&sample::ranking(cards)).unwrap().caption.condition;
        assert_eq!(
            of(3),
            "on Raspberry Pi 4 · cdm8-default · 1 GiB · reader reader slot; other settings differ"
        );
        assert!(of(200).ends_with(" · 140 more not drawn"), "{}", of(200));
    }
}
