//! Rounds on simulated cards that wear out, in virtual time, compared with their parameters.

use super::{CardEnd, RoundSettings, projection, run_round};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_engine::target::TargetError;
use cardscope_model::endure::EndureRound;
use cardscope_probing::io_size::{PASS_BLOCK as BLOCK, PASS_DEPTH as DEPTH};
use cardscope_simulator::SimTarget;

const MIB: u64 = 1 << 20;
const SPAN: u64 = 64 * MIB;

/// Card of 64 MiB in blocks of 1 MiB with an endurance of 30 cycles.
const WORN_CARD: &str = "sim:constant?announced_bytes=64MiB&flash.au_bytes=1048576&wear.endurance_cycles=30&wear.endurance_sigma=0.2";

fn settings(number: u32) -> RoundSettings {
    RoundSettings { salt: 3, number, span: SPAN, budget_s: f64::INFINITY, seed: 9 }
}

/// Runs rounds until half is bad, the card has ended, or the limit is reached.
fn wear_card(name: &str, most: u32) -> (Vec<EndureRound>, Option<CardEnd>) {
    let mut target = SimTarget::open_named(name).unwrap();
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), BLOCK, DEPTH).unwrap();
    let mut rounds = Vec::new();
    for number in 1..=most {
        let (result, ended) = run_round(&mut card, &settings(number), &mut Silent).unwrap();
        // If the card stops accepting writes during a round, only the next round shows it completely.
        let half = result.bad_share >= 0.5 && result.bad.stale == 0;
        rounds.push(result);
        if ended.is_some() || half {
            return (rounds, ended);
        }
    }
    (rounds, None)
}

#[test]
fn card_without_wear_loses_nothing() {
    let (rounds, ended) = wear_card("sim:constant?announced_bytes=64MiB", 5);
    assert_eq!((rounds.len(), ended), (5, None));
    assert!(rounds.iter().all(|r| r.bad.total_sectors() == 0 && r.written == SPAN && r.read == SPAN));
    let seeds: std::collections::BTreeSet<u64> = rounds.iter().map(|r| r.seed).collect();
    assert_eq!(seeds.len(), 5, "each round has an order of its own");
}

#[test]
fn half_is_bad_after_the_endurance() {
    let (rounds, _) = wear_card(&format!("{WORN_CARD}&wear.spare_blocks=0&wear.end=loses-blocks"), 120);
    let first = rounds.iter().find(|r| r.bad.total_sectors() > 0).unwrap();
    // 1 of 64 blocks is a probit of -2.15: exp(-0.43) of 30 cycles.
    assert!((17..=23).contains(&first.round), "first loss in round {}", first.round);
    assert!(rounds.windows(2).all(|r| r[1].bad_share >= r[0].bad_share), "what is lost stays lost");
    let projected = projection::project_cycles(&rounds, SPAN).unwrap();
    let last = rounds.last().unwrap();
    assert!(last.bad_share > 0.3, "{last:?}");
    assert!(
        (projected.cycles / f64::from(last.round) - 1.0).abs() < 0.35,
        "{projected:?} after {} rounds",
        last.round
    );
}

#[test]
fn refused_and_discarded_writes_end_the_run() {
    let end = |end: &str| wear_card(&format!("{WORN_CARD}&wear.spare_blocks=2&wear.end={end}"), 120);
    let (rounds, ended) = end("read-only");
    assert_eq!(ended, Some(CardEnd::RefusesWrites), "{:?}", rounds.last());
    let (rounds, ended) = end("swallows-writes");
    assert_eq!(ended, Some(CardEnd::DiscardsWrites), "{:?}", rounds.last());
    let last = rounds.last().unwrap();
    assert_eq!(last.bad.total_sectors(), last.bad.stale, "what stood there stays");
    // More than 2 of 64 blocks: a probit of -1.68, so exp(-0.34) of 30 cycles.
    assert!((20..=24).contains(&last.round), "round {}", last.round);
}

#[test]
fn removed_card_fails_the_round() {
    for fault in
        ["wear.endurance_cycles=5&wear.spare_blocks=0&wear.end=dead", "faults.vanish_after_bytes=100MiB"]
    {
        let name = format!("sim:constant?announced_bytes=64MiB&flash.au_bytes=65536&{fault}");
        let mut target = SimTarget::open_named(&name).unwrap();
        let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), BLOCK, DEPTH).unwrap();
        let stop = (1..100).find_map(|number| run_round(&mut card, &settings(number), &mut Silent).err());
        assert!(matches!(stop, Some(ProbeStop::Target(TargetError::Gone { .. }))), "{fault}: {stop:?}");
    }
}

#[test]
fn bad_sectors_are_classified() {
    let (rounds, _) = wear_card("sim:constant?announced_bytes=64MiB&fake=wraparound&wrap_bytes=32MiB", 1);
    // Of two addresses that share a place, the one written last is good.
    assert_eq!((rounds[0].bad.misdirected, rounds[0].bad.total_sectors()), (SPAN / 2 / 512, SPAN / 2 / 512));
    let (rounds, _) = wear_card("sim:constant?announced_bytes=64MiB&faults.flip_p=0.0001", 1);
    assert!(
        rounds[0].bad.flipped > 0 && rounds[0].bad.flipped == rounds[0].bad.total_sectors(),
        "{:?}",
        rounds[0].bad
    );
    let (rounds, _) = wear_card("sim:constant?announced_bytes=64MiB&fake=limbo&fake_bytes=48MiB", 1);
    assert_eq!(rounds[0].bad.lost, 16 * MIB / 512);
}

#[test]
fn single_bad_reading_is_no_loss() {
    let flips = wear_card("sim:constant?announced_bytes=64MiB&flip_read_every=8", 3).0;
    let of = |round: &EndureRound| (round.bad.total_sectors(), round.passing_sectors > 0);
    assert_eq!(flips.iter().map(of).collect::<Vec<_>>(), [(0, true); 3]);
}
