//! Fault injection in virtual time: a command runs on a small card, and at a call on the target that the seed chooses a
//! fault strikes. Whatever happens, no promised data is lost, and no claim rests on evidence that the fault spoiled.
//!
//! A schedule is a card, a command, a fault and its call, all drawn from the seed. From 4294967296 on each command meets
//! each kind of fault twenty times, including readers that misread from a call on. A kill is real: each worker is a
//! process, and the next worker continues with the card, the disks and the schedule.
//!
//!     cargo test -p cardscope-verbs --test verbs schedules                  # 400; CARDSCOPE_LONG=1: 100 600 others
//!     SCHEDULE=123 cargo test -p cardscope-verbs --test verbs schedules     # one; 100..=199 for some

mod cards;
mod case;
mod commands;
mod disks;
mod fault;
mod faulty;
mod judge;
mod random;
mod run;
mod scenario;
mod workers;
mod workspace;

use commands::COMMANDS;
use fault::Fault;
use std::ops::Range;

/// Command and kind of fault, for the schedules that try every pair.
#[derive(Debug, Clone, Copy)]
struct CommandFaultPair {
    command: u64,
    fault: u64,
}

/// First seed of these schedules, and number of schedules for each pair.
const FIRST_PAIR_SEED: u64 = 1 << 32;
const SCHEDULES_PER_PAIR: u64 = 20;

impl CommandFaultPair {
    const COUNT: u64 = COMMANDS.len() as u64 * Fault::KINDS;

    /// Pair of a schedule; `None` if the schedule draws command and fault.
    fn from_seed(seed: u64) -> Option<CommandFaultPair> {
        let number = seed.checked_sub(FIRST_PAIR_SEED)? / SCHEDULES_PER_PAIR;
        Some(CommandFaultPair { command: number / Fault::KINDS, fault: number % Fault::KINDS })
    }

    fn is_sampled(self) -> bool {
        Fault::is_lasting(self.fault) && (self.command + self.fault).is_multiple_of(2)
    }

    /// Seeds of the schedules for all pairs, or of a sample unless CARDSCOPE_LONG is set.
    fn schedules() -> Vec<u64> {
        let last = FIRST_PAIR_SEED + CommandFaultPair::COUNT * SCHEDULES_PER_PAIR;
        match std::env::var_os("CARDSCOPE_LONG") {
            Some(_) => (FIRST_PAIR_SEED..last).collect(),
            // Half of the pairs with a lasting fault. Striking faults are covered by the drawn schedules.
            None => (FIRST_PAIR_SEED..last)
                .step_by(SCHEDULES_PER_PAIR as usize)
                .map(|first| first + first / SCHEDULES_PER_PAIR % SCHEDULES_PER_PAIR)
                .filter(|seed| CommandFaultPair::from_seed(*seed).is_some_and(CommandFaultPair::is_sampled))
                .collect(),
        }
    }
}

/// Seeds of the drawn schedules, or those in SCHEDULE.
fn seeds() -> Range<u64> {
    match std::env::var("SCHEDULE") {
        Ok(asked) => {
            let (first, last) = asked.split_once("..=").unwrap_or((&asked, &asked));
            first.parse().unwrap()..last.parse::<u64>().unwrap() + 1
        }
        Err(_) if std::env::var_os("CARDSCOPE_LONG").is_some() => 400..101_000,
        Err(_) => 0..400,
    }
}

/// Regression seeds, in the order of the bugs: a wrong read saved in a later part of a test; I/Os that failed while an
/// image was restored; a long search; half of a write lost while a run grew; remains of a failed write counted against
/// `--max-write`; endless attempts to save an unreadable block; a loss forgotten after the block was rewritten; reads of
/// a later `restore` counted against the test before; a read of 4 KiB that failed twice counted as one that failed once;
/// a failed read of the partition table after the restoring not counted; the only block with two answers passed.
const REGRESSION_SEEDS: [u64; 15] = [
    4_597,
    2_089,
    7_549,
    55_281,
    56_471,
    56_473,
    57_029,
    55_030,
    50_989,
    102_218,
    104_518,
    9_919,
    4_294_967_791,
    4_294_968_241,
    4_294_970_282,
];

/// Seeds that behaved differently alone and in a group, when the first of a process met a card that had been read.
const ORDER_SENSITIVE_SEEDS: Range<u64> = 55_262..55_292;

fn assert_no_failures(failures: &[String]) {
    assert!(failures.is_empty(), "{} schedules failed:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn regression_seeds_pass() {
    let failures: Vec<_> =
        REGRESSION_SEEDS.iter().flat_map(|seed| workers::play_all(*seed..seed + 1).failures).collect();
    assert_no_failures(&failures);
}

/// A schedule must behave alone as it does in a group.
#[test]
fn schedule_depends_only_on_seed() {
    let among_others = workers::play_all(ORDER_SENSITIVE_SEEDS);
    assert_no_failures(&among_others.failures);
    for (seed, calls) in among_others.calls {
        let alone = workers::play_all(seed..seed + 1);
        assert_eq!(alone.calls.get(&seed), Some(&calls), "schedule {seed} makes other calls alone");
    }
}

#[test]
fn random_faults_lose_no_promised_data_and_give_no_unfounded_verdict() {
    assert_no_failures(&workers::play_all(seeds()).failures);
}

#[test]
fn every_command_survives_every_fault_without_silent_loss() {
    if std::env::var_os("SCHEDULE").is_none() {
        assert_no_failures(&workers::play_all(CommandFaultPair::schedules()).failures);
    }
}
