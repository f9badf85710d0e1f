//! Unreadable and unwritable ranges, from a sector to half a card, under every verb that moves data, in virtual time. No
//! verb may end clean if an I/O failed twice; rare single errors must not accuse a good card.

use cardscope_bench::verb as bench;
use cardscope_capacity::verb as verify;
use cardscope_check::verb as check;
use cardscope_endurance::verb::endure;
use cardscope_endurance::verb::sustain;
use cardscope_endurance::verb::sustain::NoManualReading;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_flash::verb as map;
use cardscope_journal::{Journal, folder};
use cardscope_model::random::SeededRandom;
use cardscope_model::report::{ExitStatus, ReportDocument};
use cardscope_session::consent::GivenBeforehand;
use cardscope_session::frame::{Procedure, VerbOutcome, execute_verb};
use cardscope_testkit::cards::unique_sim_card;
use clap::{Args, Parser};
use serde_json::Value;

const MIB: u64 = 1 << 20;
const CARD: u64 = 192 * MIB;

/// Command lines without their target.
const COMMANDS: [&str; 13] = [
    "verify",
    "verify --erase",
    "verify --budget 20s",
    "verify --full",
    "bench --recipe short --size 16M",
    "map --budget 10s",
    "map --read-only --budget 5s",
    "sustain --duration 3s",
    "sustain --read --duration 3s",
    "endure --rounds 1",
    "check --budget 30s --label C10_U1_A1",
    "check --budget 30s --erase",
    "check --budget 20s --read-only",
];

/// Number of random ranges for each command, in addition to the fixed ones.
const FEW: u64 = 1;
const MANY: u64 = 20;

#[derive(Debug, Parser)]
struct Line<R: Args> {
    #[command(flatten)]
    request: R,
}

/// Result of a command.
#[derive(Debug)]
struct Ended {
    document: Value,
    exit: ExitStatus,
    failure: Option<String>,
}

impl Ended {
    fn count(&self, field: &str) -> u64 {
        self.document[field].as_u64().unwrap_or_else(|| panic!("{field} is in the document"))
    }

    fn outcomes(&self) -> impl Iterator<Item = &str> {
        let judged = self.document["marks"]["judged"].as_array().into_iter().flatten();
        judged.filter_map(|judged| judged["outcome"].as_str())
    }
}

fn typed<R: Args>(words: &[String]) -> R {
    Line::try_parse_from(words).unwrap_or_else(|error| panic!("{words:?}: {error}")).request
}

fn performed<P: Procedure>(procedure: &P, target: &str) -> Ended {
    let mut consent = GivenBeforehand(Some(target.to_owned()));
    let VerbOutcome { report, failure } =
        execute_verb(procedure, &mut consent, &InterruptFlag::default(), &mut Silent).unwrap();
    let document = serde_json::to_value(&report).unwrap();
    Ended { document, exit: report.exit_status(), failure: failure.map(|failure| failure.to_string()) }
}

fn drop_journals(target: &str) {
    for file in folder::pending_journals().unwrap() {
        if Journal::peek(&file).is_some_and(|(about, _)| about.target == target) {
            std::fs::remove_file(file).unwrap();
        }
    }
}

fn run(command: &str, faults: &str, seed: u64) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let target = unique_sim_card(&format!("announced_bytes={CARD}&state=filled&seed={seed}&{faults}"));
    let (verb, options) = command.split_once(' ').unwrap_or((command, ""));
    let archive = folder.path().join("archive.db").to_str().unwrap().to_owned();
    let own =
        [verb.to_owned(), target.clone(), "--seed".into(), seed.to_string(), "--archive".into(), archive];
    let words: Vec<String> = own.into_iter().chain(options.split_whitespace().map(str::to_owned)).collect();
    let ended = match verb {
        "verify" => performed(&typed::<verify::VerifyRequest>(&words), &target),
        "bench" => performed(&typed::<bench::BenchRequest>(&words), &target),
        "map" => performed(&typed::<map::MapRequest>(&words), &target),
        "endure" => performed(&typed::<endure::EndureRequest>(&words), &target),
        "check" => performed(&typed::<check::CheckRequest>(&words), &target),
        "sustain" => {
            let request: sustain::SustainRequest = typed(&words);
            performed(&request.with_manual_readings(&mut NoManualReading).unwrap(), &target)
        }
        other => panic!("{other} is not a verb of this test"),
    };
    drop_journals(&target);
    ended
}

/// `START+LEN`, for reads, writes or both.
fn places(seed: u64, drawn: u64) -> Vec<String> {
    let mut random = SeededRandom::new(seed);
    let sector = |random: &mut SeededRandom, below: u64| random.below(below / 512) * 512;
    let fixed = [
        (0, 512),
        (0, MIB),
        (50_000_000 / 512 * 512, 100_352),
        (CARD - 512, 512),
        (CARD - 64 * 512, 64 * 512),
    ];
    let mut all: Vec<String> = fixed.iter().map(|(start, len)| format!("{start}+{len}")).collect();
    for _ in 0..drawn {
        let longest = [512, 4096, 64 << 10, 4 * MIB, CARD / 2][random.below(5) as usize];
        let start = sector(&mut random, CARD);
        let len = (512 + sector(&mut random, longest)).min(CARD - start);
        let only = ["", ":read", ":write"][random.below(3) as usize];
        all.push(format!("{start}+{len}{only}"));
    }
    all
}

fn is_long() -> bool {
    std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty())
}

#[test]
fn repeated_io_failure_never_ends_clean() {
    let drawn = if is_long() { MANY } else { FEW };
    let mut touched = 0;
    for (command, seed) in COMMANDS.iter().zip(1..) {
        for place in places(seed, drawn) {
            let ended = run(command, &format!("faults.error_ranges={place}"), seed);
            let told = format!(
                "{command} at {place}: {:?} {:?} {}",
                ended.exit, ended.failure, ended.document["findings"]
            );
            let twice = ended.count("failed_twice");
            touched += usize::from(twice > 0);
            assert!(twice == 0 || ended.exit != ExitStatus::Good || ended.failure.is_some(), "{told}");
            assert!(twice == 0 || ended.document["verdict"] != "genuine", "{told}");
            let last = place == format!("{}+512", CARD - 512);
            assert!(twice == 0 || last || ended.exit != ExitStatus::NotProven, "{told}");
            if *command == "verify --full" {
                assert!(twice > 0, "every place is looked at: {told}");
            }
        }
    }
    assert!(touched > COMMANDS.len() * 2, "{touched} only, or this tests nothing");
}

#[test]
fn unreadable_start_is_damaged_in_quick_test() {
    for seed in 1..=3 {
        for place in ["0+512", "0+1MiB"] {
            let ended = run("verify", &format!("faults.error_ranges={place}"), seed);
            assert_eq!(ended.document["verdict"], "damaged", "{place} {}", ended.document["findings"]);
        }
    }
}

#[test]
fn rare_errors_pass_with_caveat() {
    let mut failed = 0;
    for seed in 1..=if is_long() { 6 } else { 3 } {
        for command in ["verify", "verify --full", "map --budget 10s", "bench --recipe short --size 16M"] {
            let ended = run(command, "faults.read_error_p=0.0001&faults.write_error_p=0.0001", seed);
            failed += ended.count("failed_once");
            assert_eq!(ended.count("failed_twice"), 0, "{command} {seed}");
            assert_eq!(ended.exit, ExitStatus::Good, "{command} {seed}: {}", ended.document["findings"]);
        }
    }
    assert!(failed > 0, "none failed, or this tests nothing");
}

#[test]
fn frequent_errors_do_not_pass() {
    for command in ["verify", "verify --full", "map --budget 10s", "check --budget 30s"] {
        let ended = run(command, "faults.read_error_p=0.02", 3);
        assert_ne!(ended.exit, ExitStatus::Good, "{command} {}", ended.document["findings"]);
    }
}

#[test]
fn marks_are_not_met_on_failed_ios() {
    let clean = run("check --budget 60s --label C10_U1_A1", "", 1);
    assert!(clean.outcomes().any(|outcome| outcome == "met"), "{:?}", clean.outcomes().collect::<Vec<_>>());
    let failed = run(
        "check --budget 60s --label C10_U1_A1",
        "faults.read_error_p=0.003&faults.write_error_p=0.003",
        1,
    );
    assert!(failed.count("failed_once") > 0);
    assert!(failed.outcomes().all(|outcome| outcome != "met"), "{:?}", failed.outcomes().collect::<Vec<_>>());
}

#[test]
fn failure_beyond_card_is_blamed_on_reader_with_cause() {
    let found = run("verify --erase", "extra_sectors=1", 1);
    let told = format!("{:?} {}", found.exit, found.document["findings"]);
    assert!(found.count("failed_twice") > 0, "{told}");
    assert_eq!(found.document["cause"]["kind"], "extra-sectors", "{told}");
    assert_eq!(
        (found.document["verdict"].as_str(), found.exit),
        (Some("reader-suspect"), ExitStatus::NotProven)
    );
}
