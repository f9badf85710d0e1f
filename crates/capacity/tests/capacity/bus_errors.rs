//! False accusations of good cards with occasional bus errors, by the tolerated rate: genuine cards whose I/Os fail
//! randomly, in virtual time. `UPDATE_DOCS=1 CARDSCOPE_LONG=1 cargo test --profile long -p cardscope-capacity
//! --test capacity bus_errors -- --nocapture` writes the table in `docs/accuracy.md`, the basis of
//! `TOLERATED_PER_MILLION`.

use crate::common::{ProbedCard, options, probe_erasing};
use cardscope_engine::content::IoContent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, split_extents};
use cardscope_model::verify::{IoCounts, TOLERATED_PER_MILLION, Verdict, failures_at_rate};
use cardscope_simulator::{SimTarget, target_spec};
use cardscope_testkit::measured_tables::update_table;
use std::fmt::Write;

/// Seeds per rate in the quick run and in the long one.
const FEW: u64 = 4;
const MANY: u64 = 100;

/// Failures per million I/Os: none, one bit in 10^12 (8 to 80 at 1 to 10 MiB per I/O), a worn cable, bad contacts.
const RATES: [f64; 6] = [0.0, 1.0, 10.0, 100.0, 1000.0, 10_000.0];

/// Candidates for the tolerated rate.
const CHOICES: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];

/// Capacities; smaller ones need fewer I/Os.
const SIZES: [&str; 4] = ["1GiB", "8GiB", "64GB", "512GB"];

fn probe_with_errors(per_million: f64, seed: u64) -> ProbedCard {
    let size = SIZES[(seed % SIZES.len() as u64) as usize];
    let p = per_million / 1e6;
    let name = format!(
        "sim:constant?announced_bytes={size}&faults.read_error_p={p}&faults.write_error_p={p}&seed={seed}"
    );
    probe_erasing(&name, &options(false, seed))
}

fn is_accused(counts: IoCounts, tolerated: f64) -> bool {
    counts.failed_twice > 0 || counts.failed_once > failures_at_rate(counts.ios, tolerated)
}

#[test]
fn rare_errors_accuse_no_good_card_and_many_do() {
    let seeds = if cardscope_testkit::is_long() { MANY } else { FEW };
    let mut table =
        String::from("| failures in a million I/Os | cards | I/Os, median | failed once | twice |");
    for tolerated in CHOICES {
        let _ = write!(table, " accused at N = {tolerated} |");
    }
    table += &format!("\n| ---: | ---: | ---: | ---: | ---: |{}\n", " ---: |".repeat(CHOICES.len()));
    for rate in RATES {
        let cards: Vec<ProbedCard> = (1..=seeds).map(|seed| probe_with_errors(rate, seed)).collect();
        let sum = |of: fn(&IoCounts) -> u64| cards.iter().map(|card| of(&card.counts)).sum::<u64>();
        let mut ios: Vec<u64> = cards.iter().map(|card| card.counts.ios).collect();
        ios.sort_unstable();
        let _ = write!(
            table,
            "| {rate} | {seeds} | {} | {} | {} |",
            ios[ios.len() / 2],
            sum(|counts| counts.failed_once),
            sum(|counts| counts.failed_twice)
        );
        for tolerated in CHOICES {
            let accused = cards.iter().filter(|card| is_accused(card.counts, tolerated)).count();
            let _ = write!(table, " {:.1} % |", accused as f64 / seeds as f64 * 100.0);
        }
        table.push('\n');
        for card in &cards {
            let accused = is_accused(card.counts, TOLERATED_PER_MILLION);
            let said = card.outcome.verdict;
            // Failures at the very end that succeed sector by sector are no fault.
            assert!(accused || said == Verdict::Genuine, "{}", card.summary());
            assert!(
                card.counts.failed_twice == 0 || [Verdict::Damaged, Verdict::Unstable].contains(&said),
                "{}",
                card.summary()
            );
        }
        let wrong = cards.iter().filter(|card| card.outcome.verdict != Verdict::Genuine).count() as f64;
        let most = if rate <= TOLERATED_PER_MILLION { (seeds as f64 * 0.01).max(1.0) } else { f64::MAX };
        assert!(wrong <= most, "{wrong} of {seeds} good cards accused at {rate} in a million");
        assert!(rate < 10_000.0 || wrong == seeds as f64, "{wrong} of {seeds} at {rate} in a million");
    }
    update_table("accuracy", "bus-errors", &table);
}

/// A request that failed twice counts as such at every size, even if a third attempt transfers its data.
#[test]
fn requests_failing_twice_are_counted_at_every_size() {
    for block in [4 << 10, 64 << 10, 1 << 20] {
        let name = "sim:constant?announced_bytes=4GiB&faults.read_error_p=0.02&faults.error_tries=2";
        let mut target = SimTarget::open(target_spec::parse(name).unwrap()).unwrap();
        let interrupt = InterruptFlag::default();
        let mut card = IoDriver::new(&mut target, &interrupt, block, 4).unwrap();
        card.read(split_extents(0, 1000 * u64::from(block), block), IoContent::Buffer, |_, _, _| Ok(()))
            .unwrap();
        let IoCounts { failed_once, failed_twice, .. } = card.counts();
        assert!(failed_once == 0 && failed_twice > 0, "{block}: {failed_once} once, {failed_twice} twice");
    }
}
