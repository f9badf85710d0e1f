//! The runner does what a recipe says, in the target's own time.

mod common;

use cardscope_engine::content::IoContent;
use cardscope_engine::event::{Listener, Silent};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::runner::{RunError, RunnerSettings, StopChoice, StopRule, planned_stages, run_pass};
use cardscope_engine::target::{IoDirection, TargetError};
use cardscope_model::caveat::Caveat;
use cardscope_model::progress::{ProgressEvent, ProgressStep, SpeedFigure};
use cardscope_model::recipe::{self, Recipe};
use common::{Clockwork, Notebook};

const MIB: u64 = 1 << 20;
const MS: u64 = 1_000_000;

fn recipe(area: &str, tests: &str) -> Recipe {
    let text = format!("name='t'\ntitle='t'\nversion=1\nsource='t'\n{area}\n{tests}");
    recipe::parse(&text, None).expect("the test's recipe is right")
}

fn run(target: &mut Clockwork, recipe: &Recipe) -> (Notebook, Result<(), RunError>) {
    run_with(target, recipe, InterruptFlag::default(), None)
}

fn run_with(
    target: &mut Clockwork,
    recipe: &Recipe,
    interrupt: InterruptFlag,
    deadline: Option<u64>,
) -> (Notebook, Result<(), RunError>) {
    let mut notebook = Notebook::default();
    let settings = RunnerSettings {
        label: "",
        seed: 7,
        may_write: true,
        interrupt: &interrupt,
        deadline,
        more_follow: false,
    };
    let outcome = run_pass(target, recipe, &settings, &mut notebook, &mut Silent);
    (notebook, outcome)
}

const BARE: &str = "[area]\nsize='8MiB'\nprepare=false";

#[test]
fn pass_reads_each_block_once_at_expected_speed() {
    let mut card = Clockwork::new(64 * MIB, 2 * MS);
    let (notebook, outcome) = run(&mut card, &recipe(BARE, "[[test]]\ntest='RND4K Q4T1 read'\npasses=1"));
    outcome.expect("it runs");
    let mut offsets: Vec<u64> = card.ios.iter().map(|io| io.offset).collect();
    offsets.sort_unstable();
    offsets.dedup();
    assert_eq!(offsets.len(), 2048);
    assert_eq!(card.deepest, 4);
    let sample = &notebook.samples[0].2;
    assert_eq!((sample.bytes, sample.ios, sample.nanos), (8 * MIB, 2048, 2048 / 4 * 2 * MS));
    assert_eq!((sample.histogram.min(), sample.histogram.max()), (2 * MS, 2 * MS));
}

#[test]
fn threads_on_one_clock_keep_queues_and_slices() {
    let mut card = Clockwork::new(64 * MIB, MS);
    let tests = "[[test]]\ntest='SEQ64K Q2T4 write'\npasses=1\nsharing='slices'";
    let (notebook, outcome) = run(&mut card, &recipe(BARE, tests));
    outcome.expect("it runs");
    assert_eq!((card.deepest, card.plans[0].depth), (8, 8));
    assert_eq!(notebook.samples[0].2.bytes, 8 * MIB);
    let first: Vec<u64> = card.ios[..8].iter().map(|io| io.offset / (2 * MIB)).collect();
    assert_eq!(first, [0, 0, 1, 1, 2, 2, 3, 3]);
}

#[test]
fn threads_sharing_a_file_each_cover_it() {
    let mut card = Clockwork::new(64 * MIB, MS);
    let tests = "[[test]]\ntest='RND4K Q8T8 read'\npasses=1\nsharing='same'";
    let (notebook, _) = run(&mut card, &recipe(BARE, tests));
    assert_eq!(notebook.samples[0].2.bytes, 8 * 8 * MIB);
}

#[test]
fn area_is_prepared_and_rests_are_kept() {
    let mut card = Clockwork::new(64 * MIB, MS);
    let area = "[area]\nsize='3000KiB'\nprepare_block='1MiB'\nprepare_data='zero'\nrest_s=2";
    let tests = "[[test]]\ntest='SEQ1M Q1T1 read'\npasses=1\nloops=2\ndiscard_loops=1\ndrop_caches=true\nrest_s=5\n[[test]]\ntest='SEQ1M Q1T1 write'\nbytes='2MiB'";
    let (notebook, outcome) = run(&mut card, &recipe(area, tests));
    outcome.expect("it runs");
    let written: u64 = card.ios[..3].iter().map(|io| u64::from(io.len)).sum();
    assert_eq!(written, 3000 << 10);
    assert!(
        card.ios[..3]
            .iter()
            .all(|io| io.direction == IoDirection::Write && io.content == IoContent::Constant(0))
    );
    let counted: Vec<bool> = notebook.samples.iter().map(|s| s.2.counted).collect();
    assert_eq!(counted, [false, true, true, true]);
    assert_eq!((card.caches_dropped, card.idled.as_secs()), (3, 7));
}

#[test]
fn only_timed_flush_counts() {
    for (flush, expected) in [("timed", 8 * MS + 40 * MS), ("untimed", 8 * MS), ("none", 8 * MS)] {
        let mut card = Clockwork::new(64 * MIB, MS);
        card.flush = 40 * MS;
        let tests = format!("[[test]]\ntest='SEQ1M Q1T1 write'\npasses=1\nflush='{flush}'");
        let (notebook, _) = run(&mut card, &recipe(BARE, &tests));
        assert_eq!(notebook.samples[0].2.nanos, expected, "{flush}");
    }
}

#[test]
fn time_limit_excludes_warm_up() {
    let mut card = Clockwork::new(64 * MIB, 10 * MS);
    let tests = "[[test]]\ntest='RND4K Q1T1 read'\nseconds=1.0\nwarmup_s=0.5";
    let (notebook, _) = run(&mut card, &recipe(BARE, tests));
    let sample = &notebook.samples[0].2;
    assert_eq!((sample.ios, sample.nanos, card.ios.len()), (100, 1000 * MS, 150));
}

#[test]
fn whole_pass_test_finishes_its_pass() {
    let mut card = Clockwork::new(64 * MIB, 100 * MS);
    let tests = "[[test]]\ntest='SEQ1M Q1T1 read'\nseconds=1.0\nwhole_passes=true";
    let (notebook, _) = run(&mut card, &recipe(BARE, tests));
    assert_eq!(notebook.samples[0].2.ios, 16);
}

#[test]
fn removed_card_keeps_earlier_samples() {
    let mut card = Clockwork::new(64 * MIB, MS);
    card.fails_at = Some(12);
    let tests = "[[test]]\ntest='SEQ1M Q1T1 read'\npasses=1\n[[test]]\ntest='RND4K Q1T1 read'\npasses=1";
    let (notebook, outcome) = run(&mut card, &recipe(BARE, tests));
    assert!(matches!(outcome, Err(RunError::Target(TargetError::Gone { .. }))), "{outcome:?}");
    assert_eq!(notebook.samples.len(), 1);
}

#[test]
fn interrupt_ends_every_phase() {
    let area = "[area]\nsize='8MiB'\nrest_s=3600";
    for at in [3, 8, 9] {
        let mut card = Clockwork::new(64 * MIB, MS);
        let interrupt = InterruptFlag::default();
        card.interrupt_at = Some((at, interrupt.clone()));
        let recipe = recipe(area, "[[test]]\ntest='RND4K Q1T1 read'\nseconds=3600");
        let (_, outcome) = run_with(&mut card, &recipe, interrupt, None);
        assert!(matches!(outcome, Err(RunError::Target(TargetError::Interrupted))), "{at}: {outcome:?}");
        assert!(card.ios.len() <= at + 1);
    }
}

#[test]
fn failed_sample_storage_ends_pass() {
    let mut card = Clockwork::new(64 * MIB, MS);
    let mut notebook = Notebook { refuses_samples: true, ..Notebook::default() };
    let interrupt = InterruptFlag::default();
    let settings = RunnerSettings {
        label: "",
        seed: 7,
        may_write: true,
        interrupt: &interrupt,
        deadline: None,
        more_follow: false,
    };
    let recipe = recipe(BARE, "[[test]]\ntest='SEQ1M Q1T1 read'\npasses=1\nloops=3");
    let outcome = run_pass(&mut card, &recipe, &settings, &mut notebook, &mut Silent);
    assert!(matches!(outcome, Err(RunError::Recorder(_))));
    assert_eq!(card.ios.len(), 8);
}

#[test]
fn read_only_pass_writes_nothing() {
    let mut card = Clockwork::new(64 * MIB, MS);
    let interrupt = InterruptFlag::default();
    let settings = RunnerSettings {
        label: "",
        seed: 7,
        may_write: false,
        interrupt: &interrupt,
        deadline: None,
        more_follow: false,
    };
    let prepared = recipe("[area]\nsize='8MiB'", "[[test]]\ntest='SEQ1M Q1T1 read'\npasses=1");
    run_pass(&mut card, &prepared, &settings, &mut Notebook::default(), &mut Silent)
        .expect("reading is allowed");
    assert!(card.ios.iter().all(|io| io.direction == IoDirection::Read));
    let writing = recipe(BARE, "[[test]]\ntest='SEQ1M Q1T1 mix70'\npasses=1");
    let outcome = run_pass(&mut card, &writing, &settings, &mut Notebook::default(), &mut Silent);
    assert!(matches!(outcome, Err(RunError::ReadOnly(_))));
}

#[test]
fn unmeasurable_test_is_reported_with_reason() {
    let tests = "[[test]]\ntest='SEQ1M Q1T1 write'\nstep='ext4'\npasses=1\nfilesystem='ext4'\n[[test]]\ntest='RND4K Q1T1 read'\nbytes='64KiB'\nspan='device'";
    let recipe = recipe(BARE, tests);
    let (bare, _) = run(&mut Clockwork::new(64 * MIB, MS), &recipe);
    assert_eq!(bare.not_measured[0].0, 0);
    assert!(bare.not_measured[0].1.contains("ext4"), "{:?}", bare.not_measured);
    let (dir, _) = run(&mut Clockwork::new(64 * MIB, MS).on("ext4"), &recipe);
    assert_eq!(dir.not_measured.iter().map(|n| n.0).collect::<Vec<_>>(), [1]);
}

#[test]
fn budget_ends_test_with_caveat() {
    let mut card = Clockwork::new(64 * MIB, 10 * MS);
    let tests = "[[test]]\ntest='RND4K Q1T1 read'\nseconds=5\n[[test]]\ntest='RND4K Q1T1 write'\nseconds=5";
    let (notebook, outcome) =
        run_with(&mut card, &recipe(BARE, tests), InterruptFlag::default(), Some(1000 * MS));
    outcome.expect("it ends well");
    assert_eq!(notebook.samples[0].2.nanos, 1000 * MS);
    assert!(matches!(&notebook.caveats[0], (0, Caveat::Other { text }) if text.contains("budget")));
    assert!(notebook.not_measured[0].1.contains("budget"));
}

#[test]
fn stop_rule_ends_test() {
    struct After(u32);
    impl StopRule for After {
        fn add_work(&mut self, seconds: f64, ios: u64) -> StopChoice {
            assert!((seconds - 0.016).abs() < 1e-9 && ios == 16, "{seconds} {ios}");
            self.0 -= 1;
            if self.0 == 0 { StopChoice::Stop } else { StopChoice::Continue }
        }
    }
    let mut card = Clockwork::new(64 * MIB, MS);
    let tests = "[[test]]\ntest='RND4K Q1T1 read'\nuntil={ci95_percent=2,min_s=1,max_s=100}";
    let mut notebook = Notebook { pace: Some(Box::new(After(10))), ..Notebook::default() };
    let interrupt = InterruptFlag::default();
    let settings = RunnerSettings {
        label: "",
        seed: 7,
        may_write: true,
        interrupt: &interrupt,
        deadline: None,
        more_follow: false,
    };
    run_pass(&mut card, &recipe(BARE, tests), &settings, &mut notebook, &mut Silent).expect("it runs");
    assert_eq!(notebook.samples[0].2.ios, 160);
}

#[test]
fn same_seed_repeats_positions() {
    let places = |seed| {
        let mut card = Clockwork::new(64 * MIB, MS);
        let interrupt = InterruptFlag::default();
        let settings = RunnerSettings {
            label: "",
            seed,
            may_write: true,
            interrupt: &interrupt,
            deadline: None,
            more_follow: false,
        };
        let recipe = recipe(BARE, "[[test]]\ntest='RND4K Q1T1 mix50'\nbytes='256KiB'\nrandom='uniform'");
        run_pass(&mut card, &recipe, &settings, &mut Notebook::default(), &mut Silent).expect("it runs");
        card.ios
    };
    assert_eq!(places(7), places(7));
    assert_ne!(places(7), places(8));
}

#[test]
fn area_larger_than_card_is_refused_before_writing() {
    let mut card = Clockwork::new(4 * MIB, MS);
    let (_, outcome) =
        run(&mut card, &recipe("[area]\nsize='8MiB'", "[[test]]\ntest='SEQ1M Q1T1 write'\npasses=1"));
    assert!(matches!(outcome, Err(RunError::Target(TargetError::NoSpace { .. }))));
    assert!(card.ios.is_empty());
}

/// What a listener hears, without how far it is.
#[derive(Default)]
struct Heard(Vec<ProgressEvent>);

impl Listener for Heard {
    fn event(&mut self, event: &ProgressEvent) {
        let reported = (!matches!(event, ProgressEvent::Bytes(_))).then(|| event.clone());
        self.0.extend(reported);
    }
}

#[test]
fn each_test_is_a_planned_stage_with_one_figure() {
    let mut card = Clockwork::new(64 * MIB, MS);
    let interrupt = InterruptFlag::default();
    let settings = RunnerSettings {
        label: ", run 2 of 3",
        seed: 7,
        may_write: true,
        interrupt: &interrupt,
        deadline: None,
        more_follow: false,
    };
    let tests = "[[test]]\ntest='SEQ1M Q1T1 read'\nstep='cold'\npasses=1\nloops=1\ndiscard_loops=1\nrest_s=2\n[[test]]\ntest='SEQ1M Q1T1 read'\npasses=1";
    let mut heard = Heard::default();
    let recipe = recipe("[area]\nsize='8MiB'", tests);
    run_pass(&mut card, &recipe, &settings, &mut Notebook::default(), &mut heard).expect("it runs");
    let named = |what: &str| format!("{what}, run 2 of 3");
    let step =
        |name: &str, bytes, seconds| ProgressStep { name: name.to_owned(), bytes, seconds, restores: false };
    let stage = |what: &str, bytes| ProgressEvent::Stage(step(&named(what), bytes, None));
    let phase =
        |what: &str, part, bytes, seconds| ProgressEvent::Phase { step: step(what, bytes, seconds), part };
    let (cold, second) = ("measuring SEQ1M Q1T1 read (cold)", "measuring SEQ1M Q1T1 read");
    let figure =
        |what: &str| ProgressEvent::Figure(SpeedFigure { what: named(what), mb_s: MIB as f64 / 1e3 });
    let all = Some(8 * MIB);
    assert_eq!(
        heard.0,
        [
            stage("writing the test area", all),
            stage(cold, None),
            phase("loop 1 of 2", 0.0..0.5, all, None),
            phase("loop 2 of 2", 0.5..1.0, all, None),
            figure("SEQ1M Q1T1 read (cold)"),
            ProgressEvent::Wait(2.0),
            stage(second, None),
            phase("", 0.0..1.0, all, None),
            figure("SEQ1M Q1T1 read"),
        ]
    );
    let heard = heard.0.into_iter().filter_map(|event| match event {
        ProgressEvent::Stage(step) => Some(step.name),
        _ => None,
    });
    assert!(heard.eq(planned_stages(&recipe, settings.label, true).into_iter().map(|(name, _)| name)));
}
