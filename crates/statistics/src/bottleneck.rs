//! Bottleneck of a figure: card, bus, reader, heat, other load or host, with its probability.
//!
//! Each fact in favour of another cause than the card multiplies the odds of that cause. The factors are measured shares,
//! not arbitrary weights: the reliability of a named cause, the chance that a card is just as fast as a bus, the share of a
//! read's time that is spent in transit.

use crate::bus_ceiling;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::units::SpeedMbS;

/// Limit of confidence in a result from few figures.
const MAX_PROBABILITY: f64 = 0.99;

/// Least ratio of two speeds that count as equal.
const SAME_RATIO: f64 = 0.9;

/// Odds of a cause that a series names: right in 95 of 100 cases (`docs/accuracy.md`, causes in a time series).
const NAMED_CAUSE_ODDS: f64 = 19.0;

const EVEN_ODDS: f64 = 1.0;

/// Odds of an unlisted cause, which equal those of a named cause that is wrong.
const UNLISTED_CAUSE_ODDS: f64 = 1.0 / NAMED_CAUSE_ODDS;

/// Share of time waiting for a processor that is normal on any computer.
const MIN_STARVED_SHARE: f64 = 0.1;

/// Odds against a card that equals another speed by chance. Cards of one bus differ tenfold, evenly on a logarithmic scale
/// (docs/reference/reports.md#sd-card-round-up), so 1 in 22 is within 10 %.
fn odds_against_chance() -> f64 {
    10.0_f64.ln() / (1.0 / SAME_RATIO).ln()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureLimit {
    Card,
    Bus,
    Reader,
    Heat,
    Load,
    Host,
}

impl FigureLimit {
    /// Name, and advice where there is any.
    fn name_and_advice(self) -> (&'static str, &'static str) {
        use FigureLimit::{Bus, Card, Heat, Host, Load, Reader};
        match self {
            Card => ("the card", ""),
            Bus => ("the bus", "Use a reader or slot with a faster bus before you judge the card."),
            Reader => ("the reader", "Use another reader or port before you judge the card."),
            Heat => ("heat", "Cool the card with a fan or a heat sink and measure again."),
            Load => ("other load", "Stop other programs on the card or its bus and measure again."),
            Host => ("this computer", "Run `cardscope doctor` and measure again."),
        }
    }
}

/// Result of the same test in another reader or computer, with the same unit or another of its model.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherRig {
    pub rig_name: String,
    pub mb_s: f64,
    /// True for the same physical card.
    pub same_unit: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct LimitFacts<'a> {
    pub test_name: String,
    pub mb_s: f64,
    /// Mark or label that promises more, and its speed in MB/s.
    pub promised: Option<(String, f64)>,
    pub bus_mb_s: Option<f64>,
    /// Share of a small read's time that a command without flash access takes.
    pub path_share: Option<f64>,
    pub is_hot: bool,
    pub is_reader_hot: bool,
    pub is_disturbed: bool,
    /// State that slows this computer: throttling, under-voltage, a low clock.
    pub host: Option<&'a str>,
    pub starved_share: Option<f64>,
    /// Results elsewhere. Reads only, because writes depend on what was written before.
    pub elsewhere: &'a [OtherRig],
}

#[derive(Debug, Clone, PartialEq)]
pub struct LimitedFigure {
    pub limit: FigureLimit,
    pub probability: f64,
    pub evidence: Vec<(String, String)>,
}

impl LimitFacts<'_> {
    fn bus_share(&self) -> Option<f64> {
        bus_ceiling::ceiling_share(self.mb_s, self.bus_mb_s?).filter(|share| *share >= SAME_RATIO)
    }

    fn large_path_share(&self) -> Option<f64> {
        self.path_share.filter(|share| *share >= 0.5)
    }

    fn faster_elsewhere(&self) -> Option<&OtherRig> {
        let faster = self.elsewhere.iter().filter(|there| self.mb_s < SAME_RATIO * there.mb_s);
        faster.max_by(|a, b| a.same_unit.cmp(&b.same_unit).then(a.mb_s.total_cmp(&b.mb_s)))
    }

    fn same_elsewhere(&self) -> Option<&OtherRig> {
        let same = SAME_RATIO..=1.0 / SAME_RATIO;
        self.elsewhere.iter().find(|there| same.contains(&(self.mb_s / there.mb_s)))
    }

    /// Factor by which the figure could be faster, None if there is nothing to explain.
    fn shortfall(&self) -> Option<f64> {
        let promised = self.promised.as_ref().map(|(_, mb_s)| mb_s / self.mb_s).filter(|times| *times > 1.0);
        let bus = self.bus_share().map(|_| 1.0);
        let path = self.large_path_share().map(|share| 1.0 / (1.0 - share).max(1e-3));
        let elsewhere = self.faster_elsewhere().map(|there| there.mb_s / self.mb_s);
        [promised, bus, path, elsewhere].into_iter().flatten().reduce(f64::max)
    }

    fn shortfall_text(&self) -> String {
        let promised = self.promised.clone().filter(|(_, mb_s)| self.mb_s < *mb_s);
        let elsewhere = || self.faster_elsewhere().map(|there| ("elsewhere".to_owned(), there.mb_s));
        let of = promised.or_else(elsewhere);
        let of_all = of.map_or(String::new(), |(by, mb_s)| format!(" of {} ({by})", SpeedMbS(mb_s)));
        format!("{} reaches {}{of_all}", self.test_name, SpeedMbS(self.mb_s))
    }

    /// Causes with their odds against an average card, and the evidence.
    fn weighted_causes(&self) -> Vec<(FigureLimit, f64, String, String)> {
        let mut all = Vec::new();
        let mut add =
            |limit, odds, what: &str, value: String| all.push((limit, odds, what.to_owned(), value));
        let speed = |there: &OtherRig| format!("{} ({})", SpeedMbS(there.mb_s), there.rig_name);
        match self.same_elsewhere() {
            Some(there) => add(FigureLimit::Card, odds_against_chance(), "as fast elsewhere", speed(there)),
            None => add(FigureLimit::Card, EVEN_ODDS, "", String::new()),
        }
        if let (Some(share), Some(carries)) = (self.bus_share(), self.bus_mb_s) {
            let text = format!("{:.0} % of {}", share * 100.0, SpeedMbS(carries));
            add(FigureLimit::Bus, odds_against_chance(), "share of the bus", text);
        }
        if let Some(share) = self.large_path_share() {
            let said = format!("{:.0} % of a read", share * 100.0);
            add(FigureLimit::Reader, share / (1.0 - share).max(1e-3), "command without flash access", said);
        }
        if let Some(there) = self.faster_elsewhere() {
            // Another unit may contain other flash, so its evidence counts half in logarithms.
            let odds = if there.same_unit { odds_against_chance() } else { odds_against_chance().sqrt() };
            let whose = if there.same_unit { "this unit elsewhere" } else { "another unit elsewhere" };
            // On a full bus no other part of the reader needs to be slow.
            let limit = if self.bus_share().is_some() { FigureLimit::Bus } else { FigureLimit::Reader };
            add(limit, odds, whose, speed(there));
        }
        let named = [
            (self.is_hot, FigureLimit::Heat, "heat", "slowed the card"),
            (self.is_reader_hot, FigureLimit::Reader, "reader or host controller", "overheats"),
            (self.is_disturbed, FigureLimit::Load, "other load", "slowed the test"),
        ];
        for (_, limit, what, value) in named.into_iter().filter(|(is_so, ..)| *is_so) {
            add(limit, NAMED_CAUSE_ODDS, what, value.to_owned());
        }
        if let Some(share) = self.starved_share.filter(|share| *share >= MIN_STARVED_SHARE) {
            let said = format!("{:.0} % of the last ten seconds", share * 100.0);
            add(FigureLimit::Load, share / (1.0 - share).max(1e-3), "tasks waited for a processor", said);
        }
        if let Some(state) = self.host {
            add(FigureLimit::Host, EVEN_ODDS, "this computer", state.to_owned());
        }
        all
    }
}

/// Finds the bottleneck, None if the figure falls short of nothing.
pub fn find_bottleneck(facts: &LimitFacts<'_>) -> Option<LimitedFigure> {
    facts.shortfall()?;
    let causes = facts.weighted_causes();
    // Facts for one cause multiply.
    let odds = |limit: FigureLimit| -> f64 {
        let of = causes.iter().filter(|cause| cause.0 == limit).map(|cause| cause.1);
        of.reduce(|a, b| a * b).unwrap_or(0.0)
    };
    use FigureLimit::{Bus, Card, Heat, Host, Load, Reader};
    let each = [Card, Bus, Reader, Heat, Load, Host];
    // A cause that is not listed always keeps a small probability.
    let sum: f64 = each.into_iter().map(odds).sum::<f64>() + UNLISTED_CAUSE_ODDS;
    let first = each.into_iter().reduce(|a, b| if odds(b) > odds(a) { b } else { a })?;
    let evidence = causes.iter().filter(|cause| cause.0 == first && !cause.2.is_empty());
    Some(LimitedFigure {
        limit: first,
        probability: (odds(first) / sum).min(MAX_PROBABILITY),
        evidence: evidence.map(|cause| (cause.2.clone(), cause.3.clone())).collect(),
    })
}

/// A finding for each bottleneck, about the figure that falls short most. Others are listed as evidence.
pub fn bottleneck_findings(figures: &[LimitFacts<'_>]) -> Vec<Finding> {
    let limited = |facts| Some((facts, LimitFacts::shortfall(facts)?, find_bottleneck(facts)?));
    let mut all: Vec<(&LimitFacts<'_>, f64, LimitedFigure)> = figures.iter().filter_map(limited).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut found: Vec<Finding> = Vec::new();
    while let Some(&(_, _, LimitedFigure { limit, .. })) = all.first() {
        let (same, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, _, found)| found.limit == limit);
        found.extend(shared_finding(&same));
        all = others;
    }
    found
}

fn shared_finding(same: &[(&LimitFacts<'_>, f64, LimitedFigure)]) -> Option<Finding> {
    let ((facts, _, found), others) = same.split_first()?;
    let (limits, advice) = found.limit.name_and_advice();
    let also = others.iter().map(|(facts, _, found)| {
        let value = format!("{} ({:.0} % sure)", SpeedMbS(facts.mb_s), found.probability * 100.0);
        (format!("also {}", facts.test_name), value)
    });
    let evidence: Vec<(String, String)> = found.evidence.iter().cloned().chain(also).collect();
    let (text, sure) = (facts.shortfall_text(), found.probability);
    let verdict = format!("{text}; {limits} limits it ({:.0} % sure).", sure * 100.0);
    let finding = Finding::new("limited-by", FindingWeight::Note, sure, verdict).because_all(&evidence);
    Some(if advice.is_empty() { finding } else { finding.with_advice(advice) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mb_s: f64) -> LimitFacts<'static> {
        LimitFacts { test_name: "SEQ1M Q8T1 read".into(), mb_s, ..LimitFacts::default() }
    }

    fn named(facts: &LimitFacts<'_>) -> Option<(FigureLimit, f64)> {
        find_bottleneck(facts).map(|found| (found.limit, (found.probability * 100.0).round()))
    }

    #[test]
    fn full_bus_is_the_bottleneck() {
        assert_eq!(named(&LimitFacts { bus_mb_s: Some(90.0), ..read(88.0) }), Some((FigureLimit::Bus, 95.0)));
        assert_eq!(named(&LimitFacts { bus_mb_s: Some(104.0), ..read(60.0) }), None);
    }

    #[test]
    fn same_speed_in_another_reader_blames_the_card() {
        let below = LimitFacts { promised: Some(("V30".into(), 30.0)), ..read(12.0) };
        assert_eq!(named(&below), Some((FigureLimit::Card, 95.0)));
        let same = [OtherRig { rig_name: "another reader".into(), mb_s: 12.4, same_unit: true }];
        let throttled = LimitFacts { host: Some("throttled now"), ..below };
        assert_eq!(
            named(&throttled),
            Some((FigureLimit::Card, 49.0)),
            "a slow computer is as likely as the card"
        );
        assert_eq!(named(&LimitFacts { elsewhere: &same, ..throttled }), Some((FigureLimit::Card, 95.0)));
    }

    #[test]
    fn faster_elsewhere_blames_the_reader() {
        let faster = |same_unit| [OtherRig { rig_name: "USB 5000 Mbit/s".into(), mb_s: 170.0, same_unit }];
        assert_eq!(
            named(&LimitFacts { elsewhere: &faster(true), ..read(88.0) }),
            Some((FigureLimit::Reader, 95.0))
        );
        assert_eq!(
            named(&LimitFacts { elsewhere: &faster(false), ..read(88.0) }),
            Some((FigureLimit::Reader, 82.0))
        );
        let on_a_full_bus = LimitFacts { bus_mb_s: Some(90.0), elsewhere: &faster(true), ..read(88.0) };
        assert_eq!(named(&on_a_full_bus), Some((FigureLimit::Bus, 99.0)), "nothing else need be slow there");
    }

    #[test]
    fn time_in_transit_blames_the_reader() {
        assert_eq!(
            named(&LimitFacts { path_share: Some(0.8), ..read(4.0) }),
            Some((FigureLimit::Reader, 79.0))
        );
        assert_eq!(named(&LimitFacts { path_share: Some(0.2), ..read(4.0) }), None);
    }

    #[test]
    fn figures_with_one_bottleneck_share_a_finding() {
        let of = |what: &str, facts: LimitFacts<'static>| LimitFacts { test_name: what.into(), ..facts };
        let small = of("RND4K Q1T1 read", LimitFacts { path_share: Some(0.9), ..read(0.2) });
        let full = of("SEQ1M Q1T1 read", LimitFacts { bus_mb_s: Some(90.0), ..read(88.0) });
        let writes = of("SEQ1M Q1T1 write", LimitFacts { bus_mb_s: Some(90.0), ..read(84.0) });
        let found = bottleneck_findings(&[full, writes, small]);
        let said: Vec<&str> = found.iter().map(|finding| finding.verdict.as_str()).collect();
        assert_eq!(
            said,
            [
                "RND4K Q1T1 read reaches 0.200 MB/s; the reader limits it (90 % sure).",
                "SEQ1M Q1T1 read reaches 88.0 MB/s; the bus limits it (95 % sure)."
            ]
        );
        let also = ("also SEQ1M Q1T1 write".to_owned(), "84.0 MB/s (95 % sure)".to_owned());
        assert!(found[1].evidence.contains(&also), "{:?}", found[1].evidence);
    }

    #[test]
    fn processor_waits_blame_the_load() {
        let below = LimitFacts { promised: Some(("V30".into(), 30.0)), ..read(12.0) };
        let starved = |share| named(&LimitFacts { starved_share: Some(share), ..below.clone() });
        assert_eq!(starved(0.9), Some((FigureLimit::Load, 90.0)));
        assert_eq!(starved(0.3).map(|found| found.0), Some(FigureLimit::Card));
        assert_eq!(starved(0.05), named(&below));
    }

    #[test]
    fn heat_and_load_outweigh_a_slow_card() {
        let below = LimitFacts { promised: Some(("V30".into(), 30.0)), ..read(12.0) };
        assert_eq!(named(&LimitFacts { is_hot: true, ..below.clone() }), Some((FigureLimit::Heat, 95.0)));
        assert_eq!(named(&LimitFacts { is_disturbed: true, ..below }), Some((FigureLimit::Load, 95.0)));
    }

    #[test]
    fn bottleneck_finding_names_figure_promise_and_probability() {
        let hot = || LimitFacts { is_hot: true, promised: Some(("V30".into(), 30.0)), ..read(12.0) };
        let found = bottleneck_findings(&[read(80.0), hot()]).swap_remove(0);
        assert_eq!(
            found.verdict,
            "SEQ1M Q8T1 read reaches 12.0 MB/s of 30.0 MB/s (V30); heat limits it (95 % sure)."
        );
        assert_eq!(bottleneck_findings(&[read(80.0)]), []);
    }
}
