//! Findings on what limits the measured speed: the bus, the class on the card, the cost of a command without flash
//! access, the state of the host, and the same card in other readers, from the archive.

use cardscope_device::system::SystemRoots;
use cardscope_device::vitals;
use cardscope_model::condition::Condition;
use cardscope_model::finding::Finding;
use cardscope_model::result::{BenchReport, Summary};
use cardscope_model::run::CardRun;
use cardscope_model::statistics::{distinct_values, median};
use cardscope_model::supply::SupplyState;
use cardscope_model::test_name::{IoOrder, TestName, TestOp};
use cardscope_model::units::{KIB, MB, MIB, nanos_to_seconds};
use cardscope_sd::mark::SpeedDemand;
use cardscope_session::card_key::card_unit;
use cardscope_session::frame::VerbSession;
use cardscope_statistics::bottleneck::{self, LimitFacts, OtherRig};

/// Words of a condition that describe the rig.
const RIG: [&str; 4] = ["reader", "usb_host", "bus_mode", "board"];

/// Timed commands without flash access.
const PINGS: usize = 9;

pub(super) fn limit_findings(report: &BenchReport, session: &mut VerbSession<'_>) -> Vec<Finding> {
    let has = |claim: &str| report.header.findings.iter().any(|finding| finding.claim == claim);
    let condition = &report.header.condition;
    let host = condition.get("supply").filter(|_| condition.supply().is_some_and(SupplyState::has_fault_now));
    let starved_share = starved_share(session);
    let all = &report.body.summary;
    let in_order = |op: TestOp| {
        let whole = all.iter().filter(|s| s.op == op && s.step.is_none());
        let large = whole.filter(|s| s.test.order == IoOrder::Sequential && s.test.block >= MIB);
        large.max_by(|a, b| a.median.total_cmp(&b.median))
    };
    let small = |op: TestOp| {
        let alone = |s: &&Summary| s.test.queue * s.test.threads == 1 && s.test.block == 4 * KIB;
        all.iter().filter(alone).find(|s| s.op == op && s.test.order == IoOrder::Random)
    };
    let (read, write) = (in_order(TestOp::Read), in_order(TestOp::Write));
    let name = read.map(|s| TestName { pattern: s.test, op: s.op });
    let elsewhere = name.map(|test| speeds_elsewhere(test, condition, session)).unwrap_or_default();
    let of = |summary: &Summary| LimitFacts {
        test_name: format!("{} {}", summary.test, summary.op),
        mb_s: summary.median,
        is_hot: has("hot-runs"),
        is_reader_hot: has("hot-usb-host"),
        host,
        starved_share,
        ..LimitFacts::default()
    };
    let bus_mb_s = report.body.bus_ceiling_mb_s;
    let read = read.map(|read| LimitFacts { bus_mb_s, elsewhere: &elsewhere, ..of(read) });
    let promised = session.opened.fastest_mark();
    let write = write.map(|write| LimitFacts { bus_mb_s, promised, ..of(write) });
    // A processor at a low clock is slow to submit I/Os, which shows in small reads alone.
    let host = host.or_else(|| condition.get("cpu_governor").filter(|governor| *governor == "powersave"));
    let small_read = small(TestOp::Read).map(|small| {
        let promised = promised_speed(session, |demand| demand.random_read_iops);
        LimitFacts { promised, path_share: command_share(small, session), host, ..of(small) }
    });
    let small_write = small(TestOp::Write).map(|small| LimitFacts {
        promised: promised_speed(session, |demand| demand.random_write_iops),
        ..of(small)
    });
    let all = [read, write, small_read, small_write].into_iter().flatten();
    bottleneck::bottleneck_findings(&all.collect::<Vec<_>>())
}

/// Share of the last ten seconds in which tasks waited for a processor; `None` for simulated cards.
fn starved_share(session: &VerbSession<'_>) -> Option<f64> {
    let is_real = !session.opened.is_simulated();
    let pressure = is_real.then(|| vitals::read_pressure(&SystemRoots::host(), "cpu")).flatten()?;
    Some(pressure.some.avg10 / 100.0)
}

/// Speed that A1 promises for single small I/Os. A2 promises more, but only with the card's command queue.
fn promised_speed(session: &VerbSession<'_>, iops: fn(&SpeedDemand) -> Option<f64>) -> Option<(String, f64)> {
    let demands = &session.opened.identity.as_ref()?.mark_demands;
    let a1 = demands.iter().find(|demand| (demand.mark.letter(), demand.mark.number()) == ('A', 1))?;
    Some((a1.mark.to_string(), iops(a1)? * (4 * KIB) as f64 / MB))
}

/// Share of a small read's time that a command without flash access takes.
fn command_share(small: &Summary, session: &mut VerbSession<'_>) -> Option<f64> {
    let target = &mut session.opened.target;
    let pings = (0..PINGS).map_while(|_| target.ping().ok().flatten());
    let times: Vec<f64> = pings.map(nanos_to_seconds).collect();
    let read_s = small.test.block as f64 / (small.median * 1e6);
    median(&times).filter(|_| read_s.is_finite()).map(|ping_s| (ping_s / read_s).min(1.0))
}

/// Archived speeds of this test in other rigs, of the same card and of others of its model.
fn speeds_elsewhere(test: TestName, here: &Condition, session: &mut VerbSession<'_>) -> Vec<OtherRig> {
    let unit = session.opened.identity.as_ref().and_then(card_unit).map(|unit| unit.id);
    let Some((unit, recorder)) = unit.zip(session.recorder.as_mut()) else { return Vec::new() };
    let archive = &mut recorder.archive;
    let card = archive.unit_sessions(&unit).ok().and_then(|all| all.into_iter().find_map(|s| s.card_id));
    // An unreadable archive must not cost the session, so it counts as empty.
    let runs = card.and_then(|card| archive.measurements(&[card]).ok()).unwrap_or_default();
    in_other_rigs(&runs, test, here, &unit)
}

fn in_other_rigs(runs: &[CardRun], test: TestName, here: &Condition, unit: &str) -> Vec<OtherRig> {
    let rig = |condition: &Condition| {
        RIG.into_iter().filter_map(|word| condition.get(word)).collect::<Vec<_>>().join(", ")
    };
    let here = rig(here);
    let group = |run: &CardRun| (rig(&run.setting.condition), run.unit.as_deref() == Some(unit));
    let groups = distinct_values(runs.iter().map(group).filter(|(rig, _)| !rig.is_empty() && *rig != here));
    let of_group = |(rig, same_unit): (String, bool)| {
        let runs = runs.iter().filter(|run| group(run) == (rig.clone(), same_unit));
        let same = runs
            .flat_map(|run| &run.run.results)
            .filter(|f| (f.test, f.op) == (test.pattern, test.op) && f.step.is_none());
        let mb_s = median(&same.map(|figure| figure.mb_s).collect::<Vec<_>>())?;
        Some(OtherRig { rig_name: rig, mb_s, same_unit })
    };
    groups.into_iter().filter_map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::run::{Run, TestFigure};
    use cardscope_model::setting::Setting;

    fn run(reader: &str, unit: &str, mb_s: f64) -> CardRun {
        let mut condition = Condition::default();
        condition.set_stated(&format!("reader={reader}")).unwrap();
        let figure = TestFigure::from_speed("SEQ1M Q8T1 read".parse().unwrap(), mb_s);
        CardRun {
            session: "s".into(),
            card_id: "c".into(),
            unit: Some(unit.into()),
            setting: Setting { condition, ..Setting::default() },
            measured_at: None,
            source: None,
            run: Run { results: vec![figure], ..Run::default() },
        }
    }

    #[test]
    fn speeds_elsewhere_separate_same_card_from_same_model() {
        let runs = [
            run("old", "mine", 40.0),
            run("new", "mine", 88.0),
            run("new", "mine", 90.0),
            run("new", "other", 70.0),
        ];
        let here = run("old", "mine", 0.0).setting.condition;
        let found = in_other_rigs(&runs, "SEQ1M Q8T1 read".parse().unwrap(), &here, "mine");
        let of = |mb_s, same_unit| OtherRig { rig_name: "new".into(), mb_s, same_unit };
        assert_eq!(found, [of(89.0, true), of(70.0, false)]);
    }
}
