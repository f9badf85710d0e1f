//! Bar charts of one card: capacity, speed of each test against marks and bus, score for each job.

use super::{
    BarGroup, BarGroups, CAPACITY_UNIT, Chart, ChartBar, ChartCaption, GB, LimitLine, SCORE_UNIT, SPEED_UNIT,
    bar_chart,
};
use crate::figure::{condition_line, without_trailing_zeros};
use cardscope_model::condition::Condition;
use cardscope_model::job::JobScore;
use cardscope_model::result::TestResult;
use cardscope_model::test_name::IoOrder;
use cardscope_model::units::{DecimalSize, KIB, MB, three_digits as speed};
use cardscope_model::verify::Verification;
use cardscope_sd::mark::Mark;

/// Working capacity against the announced capacity, or None if the card announces nothing.
pub fn capacity_chart(found: &Verification) -> Option<Chart> {
    let announced = found.announced_bytes as f64 / GB;
    let all = [
        ("usable", found.usable_bytes),
        ("works (estimate)", found.good_bytes.filter(|good| found.usable_bytes != Some(*good))),
        ("verified", Some(found.proven_bytes)),
    ];
    let known: Vec<(&str, u64)> = all.into_iter().filter_map(|(name, bytes)| Some((name, bytes?))).collect();
    let bars = known.iter().enumerate().map(|(of, (_, bytes))| plain_bar(of, *bytes as f64 / GB));
    let group = BarGroup {
        name: format!("{} announced", DecimalSize(found.announced_bytes)),
        bars: bars.collect(),
        end: Some(announced),
        ..BarGroup::default()
    };
    let names = known.iter().map(|(name, _)| (*name).to_owned()).collect();
    let bars = BarGroups { unit: CAPACITY_UNIT.into(), names, groups: vec![group], ..BarGroups::default() };
    (announced > 0.0).then(|| bar_chart("Capacity", ChartCaption::default(), bars)).flatten()
}

/// Speed of each test, grouped by pattern and direction, or None if nothing was measured.
pub fn speed_chart(results: &[TestResult], marks: &[Mark], condition: &Condition) -> Option<Chart> {
    // Results carry their share of the bus, from which the speed of the bus follows.
    let bus = results.iter().find_map(|r| Some(r.mb_s / r.bus_share.filter(|share| *share > 0.0)?));
    let mut groups: Vec<BarGroup> = Vec::new();
    let mut names = Vec::new();
    for result in results {
        let name = format!("{} {}", result.test.access_text(), result.op);
        let number = groups.iter().position(|group| group.name == name).unwrap_or_else(|| {
            groups.push(BarGroup { name, limits: limit_lines(result, marks, bus), ..BarGroup::default() });
            groups.len() - 1
        });
        let half = result.precision.as_ref().and_then(|p| p.ci95_percent).map(|percent| percent / 100.0);
        let precise = half.map(|half| [result.mb_s * (1.0 - half), result.mb_s * (1.0 + half)]);
        groups[number].bars.push(ChartBar { interval: precise, ..plain_bar(names.len(), result.mb_s) });
        names.push(result.step.clone().unwrap_or_else(|| result.test.parallelism_text()));
    }
    let precise = groups.iter().flat_map(|g| &g.bars).any(|b| b.interval.is_some());
    let interval = if precise { "whiskers: 95 % interval" } else { "" };
    let caption = ChartCaption::new(SPEED_UNIT, "", interval, condition_line(condition));
    let bars = BarGroups { unit: "MB/s".into(), names, groups, ..BarGroups::default() };
    bar_chart("Speed by test", caption, bars)
}

/// Limits of a test: the strictest mark that demands such I/Os, and the bus for sequential tests.
fn limit_lines(result: &TestResult, marks: &[Mark], bus: Option<f64>) -> Vec<LimitLine> {
    let random = result.test.order == IoOrder::Random;
    let writes = result.op.writes();
    let of_pages = random && result.test.block == 4 * KIB;
    let demanded = |mark: &Mark| {
        let demand = mark.demand();
        let iops = |rate: f64| (rate * 4096.0 / MB, format!("{} IOPS", without_trailing_zeros(rate, 0)));
        let mb_s = |speed: f64| (speed, format!("{} MB/s", without_trailing_zeros(speed, 1)));
        match (random, writes) {
            (true, true) => demand.random_write_iops.map(iops).filter(|_| of_pages),
            (true, false) => demand.random_read_iops.map(iops).filter(|_| of_pages),
            (false, true) => Some(mb_s(demand.write_mb_s)),
            (false, false) => demand.read_mb_s.map(mb_s),
        }
    };
    let known = || marks.iter().filter_map(|mark| Some((mark, demanded(mark)?)));
    let most = known().map(|(_, (value, _))| value).fold(0.0, f64::max);
    let strictest = || known().filter(|(_, (value, _))| *value == most);
    let marks: Vec<String> = strictest().map(|(mark, _)| mark.to_string()).collect();
    let words = strictest().next().map(|(_, (_, words))| words);
    let mark = words.map(|words| LimitLine { value: most, name: format!("{}: {words}", marks.join(" ")) });
    let bus = bus.filter(|_| !random);
    let bus = bus.map(|mb_s| LimitLine { value: mb_s, name: format!("bus: {} MB/s", speed(mb_s)) });
    mark.into_iter().chain(bus).collect()
}

/// Score of 100 points for each job in the given order, or None if no score could be computed.
pub fn job_chart(jobs: &[&JobScore]) -> Option<Chart> {
    let scored = jobs.iter().filter_map(|job| Some((job.job.as_str(), job.score?)));
    let scored: Vec<(&str, f64)> = scored.collect();
    let bars = scored.iter().enumerate().map(|(of, (_, score))| plain_bar(of, *score)).collect();
    let names = scored.iter().map(|(name, _)| (*name).to_owned()).collect();
    let group = BarGroup { name: "Score".into(), bars, ..BarGroup::default() };
    let bars = BarGroups { unit: SCORE_UNIT.into(), names, groups: vec![group], ..BarGroups::default() };
    bar_chart("Points of 100", ChartCaption::default(), bars)
}

fn plain_bar(of: usize, value: f64) -> ChartBar {
    ChartBar { of, value, ..ChartBar::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::ChartKind;

    fn result(name: &str, mb_s: f64, bus_share: Option<f64>) -> TestResult {
        TestResult { bus_share, ..TestResult::from_speed(name.parse().unwrap(), mb_s) }
    }

    #[test]
    fn speed_chart_has_limits_of_strictest_mark_and_bus() {
        let results = [
            result("SEQ1M Q8T1 read", 44.0, Some(0.995)),
            result("SEQ1M Q8T1 write", 38.8, None),
            result("SEQ1M Q1T1 write", 38.7, None),
            result("RND4K Q32T1 read", 9.8, None),
        ];
        let marks: Vec<Mark> = ["C10", "U3", "V30", "A1"].iter().map(|mark| mark.parse().unwrap()).collect();
        let chart = speed_chart(&results, &marks, &Condition::default()).unwrap();
        let ChartKind::Bars(bars) = chart.kind else { panic!("bars") };
        let said: Vec<String> = bars
            .groups
            .iter()
            .map(|g| {
                let limits: Vec<&str> = g.limits.iter().map(|limit| limit.name.as_str()).collect();
                format!("{} {} {}", g.name, g.bars.len(), limits.join(", "))
            })
            .collect();
        insta::assert_snapshot!(said.join("\n"), @r"
        SEQ1M read 1 bus: 44.2 MB/s
        SEQ1M write 2 U3 V30: 30 MB/s, bus: 44.2 MB/s
        RND4K read 1 A1: 1500 IOPS
        ");
        assert!(!bars.is_coloured(), "each bar has a name of its own");
    }

    #[test]
    fn capacity_chart_is_scaled_to_announced_capacity() {
        let found = Verification {
            announced_bytes: 1_000_000_000_000,
            usable_bytes: Some(52_000_000_000),
            proven_bytes: 600_000_000,
            ..Verification::default()
        };
        let ChartKind::Bars(bars) = capacity_chart(&found).unwrap().kind else { panic!("bars") };
        assert_eq!((bars.scale_end(&bars.groups[0]), bars.names.len()), (1000.0, 2));
        assert_eq!(capacity_chart(&Verification::default()), None);
    }
}
