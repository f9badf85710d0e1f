//! Faults of simulated cards as the measuring code meets them, and cards that continue from a saved state.

use crate::common::{GIB, MIB, direct_plan, open_card, random_4k_speed, sequential_speed, slot_io};
use cardscope_engine::content::{ContentMatch, IoContent};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, ReadAnswer, split_extents};
use cardscope_engine::runner::{PassRecorder, RecorderError, RunnerSettings, StopRule, run_pass};
use cardscope_engine::target::{IoCompletion, IoRequest, LanePlan, Target, TargetError, TargetRegion};
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe;
use cardscope_model::result::LoopSample;
use cardscope_model::verify::{IoCounts, IoError};
use cardscope_simulator::{SimTarget, StateError, target_spec};
use std::time::Duration;

const STAMP: IoContent = IoContent::Stamp { salt: 99, generation: 3 };

/// Executes one I/O; returns its result.
fn run_one_io(card: &mut SimTarget, write: bool, offset: u64, len: u64) -> Result<(), TargetError> {
    card.plan(&LanePlan { own_buffers: true, ..direct_plan(1, len) })?;
    card.submit(&IoRequest { content: STAMP, ..slot_io(0, write, offset, len) })?;
    let mut done: Vec<IoCompletion> = Vec::new();
    let ended = card.complete(1, &mut done);
    done.pop().unwrap().result.and(ended)
}

fn holds_content(card: &mut SimTarget, offset: u64, len: u64, expected: IoContent) -> bool {
    run_one_io(card, false, offset, len).unwrap();
    card.compare(0, expected).unwrap() == ContentMatch::Same
}

#[test]
fn vanished_card_fails_every_call() {
    for fault in ["vanish_after_ios=3", "vanish_after_bytes=12KiB"] {
        let mut fading = open_card(&format!("sim:constant?{fault}"));
        for block in 0..3 {
            run_one_io(&mut fading, true, block * 4096, 4096).unwrap();
        }
        let gone = run_one_io(&mut fading, false, 0, 4096).unwrap_err();
        assert!(matches!(gone, TargetError::Gone { .. }), "{fault}: {gone}");
        assert!(matches!(fading.flush(), Err(TargetError::Gone { .. })));
        assert!(matches!(fading.reopen(), Err(TargetError::Gone { .. })));
        assert!(matches!(
            fading.discard(TargetRegion { start: 0, len: 4096 }),
            Err(TargetError::Gone { .. })
        ));
    }
}

#[test]
fn card_vanishes_during_command_or_rest() {
    let mut fading = open_card("sim:constant?vanish_after_s=0.0016");
    // 0.5 ms and 4 KiB at 50 MB/s are 0.58 ms, so the third command would end at 1.75 ms.
    run_one_io(&mut fading, true, 0, 4096).unwrap();
    run_one_io(&mut fading, true, 0, 4096).unwrap();
    assert!(matches!(run_one_io(&mut fading, true, 0, 4096), Err(TargetError::Gone { .. })));
    assert_eq!(fading.now(), 1_600_000);
    let mut resting = open_card("sim:constant?vanish_after_s=60");
    run_one_io(&mut resting, true, 0, 4096).unwrap();
    resting.idle(Duration::from_secs(61));
    assert!(matches!(run_one_io(&mut resting, false, 0, 4096), Err(TargetError::Gone { .. })));
}

#[test]
fn bad_units_fail_always_and_random_errors_once() {
    let errors = |card: &mut SimTarget| -> Vec<bool> {
        (0..200).map(|unit| run_one_io(card, false, unit * 4 * MIB, 4096).is_err()).collect()
    };
    let mut bad = open_card("sim:constant?failing_share=0.2&seed=5");
    let first = errors(&mut bad);
    let count = first.iter().filter(|failed| **failed).count();
    assert!((22..60).contains(&count), "40 of 200: {count}");
    assert_eq!(errors(&mut bad), first);
    let place = first.iter().position(|failed| *failed).unwrap() as u64 * 4 * MIB;
    assert!(matches!(run_one_io(&mut bad, true, place, 4096), Err(TargetError::Io { errno: 5, .. })));
    let mut unlucky = open_card("sim:constant?read_error_p=0.2&seed=5");
    assert_ne!(errors(&mut unlucky), errors(&mut unlucky));
    run_one_io(&mut unlucky, true, 0, 4096).unwrap();
    assert_eq!(
        errors(&mut open_card("sim:constant?read_error_p=0.2&seed=5")),
        errors(&mut open_card("sim:constant?read_error_p=0.2&seed=5"))
    );
}

#[test]
fn random_error_repeats_error_tries_times() {
    let mut twice = open_card("sim:constant?read_error_p=0.05&error_tries=2");
    let mut failures = 0;
    for block in 0..400 {
        if run_one_io(&mut twice, false, block * 4096, 4096).is_err() {
            failures += 1;
            assert!(run_one_io(&mut twice, false, block * 4096, 4096).is_err(), "the second try");
        }
    }
    assert!((8..40).contains(&failures), "20 of 400: {failures}");
}

#[test]
fn error_ranges_fail_their_commands() {
    let mut bad = open_card("sim:constant?error_ranges=1MiB+4096,2MiB+512:read,3MiB+512:write");
    for (write, offset, len, fails) in [
        (false, MIB, 512, true),
        (true, MIB + 3584, 1024, true),
        (false, MIB + 4096, 4096, false),
        (false, 0, 4 * MIB, true),
        (false, 2 * MIB, 4096, true),
        (true, 2 * MIB, 4096, false),
        (true, 3 * MIB - 512, 1024, true),
        (false, 3 * MIB, 4096, false),
    ] {
        let result = run_one_io(&mut bad, write, offset, len);
        assert_eq!(result.is_err(), fails, "{write} {offset} {len}: {result:?}");
    }
}

#[test]
fn stall_delays_one_io() {
    let mut slow = open_card("sim:constant?stall_every_ios=10&stall_s=7");
    let mut times = Vec::new();
    for block in 0..30 {
        let before = slow.now();
        run_one_io(&mut slow, false, block * 4096, 4096).unwrap();
        times.push(slow.now() - before);
    }
    let late: Vec<_> = (0..30).filter(|io| times[*io] > 7_000_000_000).collect();
    assert_eq!(late, [9, 19, 29]);
    assert!(times.iter().all(|time| *time < 7_001_000_000));
    assert_eq!(slow.truth().verdict, cardscope_model::verify::Verdict::Genuine);
}

#[test]
fn power_cut_tears_write_and_paired_pages() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state");
    let cut = format!("sim:lexar-16g-c10?vanish_after_ios=3&vanish_tears=on&save={}", file.display());
    let mut before = open_card(&cut);
    let page = before.spec().archetype.flash.page_bytes;
    run_one_io(&mut before, true, 0, 4 * MIB).unwrap();
    run_one_io(&mut before, true, 8 * MIB, MIB).unwrap();
    assert!(matches!(run_one_io(&mut before, true, MIB, MIB), Err(TargetError::Gone { .. })));
    before.close().unwrap();
    let mut after = open_card(&format!("sim:lexar-16g-c10?state={}", file.display()));
    let torn = MIB + MIB / 2;
    assert!(
        holds_content(&mut after, 0, torn - 7 * page, STAMP)
            && holds_content(&mut after, 8 * MIB, MIB, STAMP)
    );
    let garbled = |card: &mut SimTarget, at| !holds_content(card, at, 512, STAMP);
    assert!(garbled(&mut after, torn), "the page that was being programmed");
    assert!(garbled(&mut after, torn - 3 * page) && !garbled(&mut after, torn - page));
    assert!(holds_content(&mut after, torn + page, MIB, STAMP), "what stood there before");
}

#[test]
fn late_faults_begin_after_bytes_written() {
    let mut late = open_card("sim:constant?lost_share=0.5&begin_after_bytes=1GiB");
    let good = |card: &mut SimTarget| {
        (0..100).filter(|unit| holds_content(card, unit * 4 * MIB, MIB, STAMP)).count()
    };
    for unit in 0..100 {
        run_one_io(&mut late, true, unit * 4 * MIB, MIB).unwrap();
    }
    assert_eq!(good(&mut late), 100);
    sequential_speed(&mut late, true, MIB, 1, 4 * GIB, GIB);
    let left = good(&mut late);
    assert!((35..65).contains(&left), "about half: {left}");
    assert_eq!(late.truth().verdict, cardscope_model::verify::Verdict::Damaged);
}

#[test]
fn flipped_bit_shows_in_compare_and_buffer() {
    let mut weak = open_card("sim:constant?flip_p=0.01&seed=3");
    run_one_io(&mut weak, true, 0, MIB).unwrap();
    run_one_io(&mut weak, false, 0, MIB).unwrap();
    let ContentMatch::DiffersAt(at) = weak.compare(0, STAMP).unwrap() else {
        panic!("20 of 2048 sectors flip")
    };
    let read = weak.buffer(0).unwrap()[at as usize];
    let mut expected = vec![0; MIB as usize];
    cardscope_engine::content::fill_content(STAMP, 0, &mut expected);
    assert_eq!((read ^ expected[at as usize]).count_ones(), 1);
    assert_eq!(weak.truth().usable_bytes, at / 512 * 512, "the truth knows the first of them");
}

#[test]
fn lost_noise_differs_at_each_read_and_garbage_does_not() {
    for (lost, repeats) in [("noise", false), ("garbage", true)] {
        let mut card = open_card(&format!("sim:constant?fake=limbo&fake_bytes=1MiB&fake.lost={lost}"));
        let mut read = || {
            run_one_io(&mut card, false, 8 * MIB, 4096).unwrap();
            card.buffer(0).unwrap()[..4096].to_vec()
        };
        assert_eq!(read() == read(), repeats, "{lost}");
    }
}

#[test]
fn overcommitted_card_slows_or_dies_when_full() {
    let mut slow = open_card("sim:constant?fake=overcommitted&fake_bytes=1GiB&pool_full=slow");
    let before = sequential_speed(&mut slow, true, MIB, 1, 0, GIB);
    let after = sequential_speed(&mut slow, true, MIB, 1, GIB, 16 * MIB);
    assert!((95.0..105.0).contains(&(before / after)), "{before} and {after} MB/s");
    let reads = sequential_speed(&mut slow, false, MIB, 1, 0, 16 * MIB);
    assert!((reads / before - 1.0).abs() < 0.05, "reads are as before: {reads}");
    let mut dying = open_card("sim:constant?fake=overcommitted&fake_bytes=1GiB&pool_full=dies");
    sequential_speed(&mut dying, true, MIB, 1, 0, GIB);
    assert!(matches!(run_one_io(&mut dying, true, GIB, MIB), Err(TargetError::Gone { .. })));
    assert!(matches!(run_one_io(&mut dying, false, 0, MIB), Err(TargetError::Gone { .. })));
}

#[test]
fn saved_card_continues_to_the_nanosecond() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state");
    for name in ["sandian-1tb-52g?cache_bytes=2MiB&cache_kind=lru&", "lexar-16g-c10?", "lexar-1tb-express?"] {
        let mut first = open_card(&format!("sim:{name}save={}", file.display()));
        run_one_io(&mut first, true, 0, 4 * MIB).unwrap();
        run_one_io(&mut first, true, 10 * GIB, MIB).unwrap();
        first.plan(&LanePlan { own_buffers: true, ..direct_plan(1, 8192) }).unwrap();
        first.buffer(0).unwrap().iter_mut().zip(0u8..=250).for_each(|(b, n)| *b = n);
        first.submit(&IoRequest { content: IoContent::Buffer, ..slot_io(0, true, 4096, 8192) }).unwrap();
        first.complete(1, &mut Vec::new()).unwrap();
        random_4k_speed(&mut first, true, 1, 1 << 30, GIB, 300);
        let saved_at = first.now();
        first.save(&file).unwrap();
        let mut second = open_card(&format!("sim:{name}state={}", file.display()));
        assert_eq!(second.now(), saved_at, "{name}: the clock goes on");
        for card in [&mut first, &mut second] {
            assert!(holds_content(card, 10 * GIB, MIB, STAMP), "{name}");
            run_one_io(card, false, 4096, 8192).unwrap();
            assert_eq!(card.buffer(0).unwrap()[..251], (0u8..=250).collect::<Vec<_>>());
        }
        let on = random_4k_speed(&mut first, true, 1, 1 << 30, GIB, 300);
        let again = random_4k_speed(&mut second, true, 1, 1 << 30, GIB, 300);
        assert_eq!(on.to_bits(), again.to_bits(), "{name}: to the nanosecond");
    }
}

#[test]
fn state_is_saved_at_close_and_drop() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state");
    let mut closed = open_card(&format!("sim:constant?save={}", file.display()));
    run_one_io(&mut closed, true, 0, MIB).unwrap();
    closed.close().unwrap();
    assert!(holds_content(&mut open_card(&format!("sim:constant?state={}", file.display())), 0, MIB, STAMP));
    let mut dropped = open_card(&format!("sim:constant?state={0}&save={0}", file.display()));
    run_one_io(&mut dropped, true, MIB, MIB).unwrap();
    drop(dropped);
    assert!(holds_content(
        &mut open_card(&format!("sim:constant?state={}", file.display())),
        0,
        2 * MIB,
        STAMP
    ));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left");
}

#[test]
fn foreign_and_damaged_states_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state");
    let mut first = open_card(&format!("sim:constant?save={}", file.display()));
    run_one_io(&mut first, true, 0, MIB).unwrap();
    drop(first);
    let open = |name: &str| {
        SimTarget::open_named(&format!("sim:{name}state={}", file.display())).unwrap_err().to_string()
    };
    assert!(open("lexar-16g-c10?").contains("card constant"));
    assert!(open("constant?fake=limbo&fake_bytes=1G&").contains("not of"));
    let whole = std::fs::read(&file).unwrap();
    for (len, part) in [(whole.len() - 1, "ends too early"), (40, "ends too early"), (7, "not a state file")]
    {
        std::fs::write(&file, &whole[..len]).unwrap();
        assert!(open("constant?").contains(part), "{len}: {}", open("constant?"));
    }
    let mut wrong = whole.clone();
    let last = wrong.len() - 40;
    wrong[last] ^= 1;
    std::fs::write(&file, &wrong).unwrap();
    assert!(open("constant?").contains("damaged"), "{}", open("constant?"));
    wrong = whole.clone();
    wrong[16] = 99;
    std::fs::write(&file, &wrong).unwrap();
    assert!(open("constant?").contains("format 99"));
    std::fs::write(&file, whole.repeat(2)).unwrap();
    assert!(open("constant?").contains("data after its end"));
    std::fs::remove_file(&file).unwrap();
    assert!(open("constant?").contains("cannot be read"));
    let nowhere = SimTarget::open_named("sim:constant?save=/nonexistent/folder/state").unwrap_err();
    assert!(matches!(nowhere, target_spec::SpecError::State(StateError::Unwritable(..))), "{nowhere}");
}

#[test]
fn state_files_are_plain_files_only() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("letter"), "Dear aunt").unwrap();
    std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    for (key, name, word) in [
        ("state", "pipe", "that is a pipe"),
        ("save", "pipe", "that is a pipe"),
        ("state", "dangling", "that is a link"),
        ("save", "dangling", "that is a link"),
        ("save", "letter", "another file has that name"),
        ("save", "none/x", "No such file"),
    ] {
        let refused =
            SimTarget::open_named(&format!("sim:constant?{key}={}", at(name))).unwrap_err().to_string();
        assert!(refused.contains(word), "{refused}");
    }
    // A file that takes the name later is not overwritten, and a link is not followed.
    let file = folder.path().join("card");
    for plant in [true, false] {
        let mut used = open_card(&format!("sim:constant?save={}", file.display()));
        run_one_io(&mut used, true, 0, MIB).unwrap();
        match plant {
            true => std::os::unix::fs::symlink("letter", &file).unwrap(),
            false => std::fs::write(&file, "theirs").unwrap(),
        }
        assert!(used.close().is_err());
        std::fs::remove_file(&file).unwrap();
    }
    assert_eq!(std::fs::read_to_string(at("letter")).unwrap(), "Dear aunt");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "nothing half written is left");
}

#[test]
fn start_content_matches_state() {
    let mut filled = open_card("sim:constant?state=filled");
    let bytes = filled.info().bytes;
    assert!(holds_content(&mut filled, bytes - MIB, MIB, IoContent::Noise));
    let mut used = open_card("sim:lexar-16g-c10?state=used&used_share=0.25");
    let full =
        (0..400).filter(|unit| holds_content(&mut used, unit * 4 * MIB, 4 * MIB, IoContent::Noise)).count();
    assert!((70..130).contains(&full), "a quarter of 400 units: {full}");
    let mut fresh = open_card("sim:constant?unwritten=ones");
    assert!(holds_content(&mut fresh, 0, MIB, IoContent::Constant(0xff)));
}

#[test]
fn impossible_fakes_and_faults_are_refused() {
    for (overrides, part) in [
        ("fake=chain&fake_bytes=2G&wrap_bytes=1G", "fake.real_bytes"),
        ("fake=address-line&wrap_bytes=3G", "power of two"),
        ("fake=damaged", "damaged_share"),
        ("fake=damaged&damaged_share=1.5", "damaged_share"),
        ("fake=damaged&damaged_share=0.1&damaged_unit_bytes=512&announced_bytes=1TB", "damaged_unit_bytes"),
        ("fake=wraparound&wrap_bytes=1G&cache_bytes=1M", "cache_bytes"),
        ("fake=limbo&fake_bytes=1G&cache_bytes=1000KiB&cache_bytes=2KiB", "multiple of 4096"),
        ("fake=limbo&fake_bytes=1G&cache_bytes=0", "cache_bytes"),
        ("fake=overcommitted&fake_bytes=1G&slow_factor=0.5", "slow_factor"),
        ("fake=overcommitted", "fake_bytes"),
        ("flip_p=0.5", "flip_p"),
        ("read_error_p=2", "read_error_p"),
        ("vanish_after_s=-1", "vanish_after_s"),
        ("error_ranges=1MiB", "START+LEN"),
        ("error_tries=0", "error_tries"),
        ("stall_every_ios=5", "stall_s"),
        ("vanish_tears=on", "vanish_after_ios"),
        ("repeat_bytes=1000", "rig.repeat_bytes"),
        ("align_bytes=0", "rig.align_bytes"),
        ("stale_reads=often", "use none, backwards"),
        ("extra_sectors=4096", "rig.shown_bytes"),
        ("failing_share=1.01", "failing_share"),
        ("state=used&used_share=-1", "used_share"),
        ("memory=much", "memory"),
        ("save=", "save="),
    ] {
        let error = SimTarget::open_named(&format!("sim:constant?{overrides}")).unwrap_err().to_string();
        assert!(error.contains(part), "{overrides}: {error}");
    }
}

#[test]
fn truth_gives_verdict_and_usable_bytes() {
    for (overrides, verdict, usable) in [
        ("", "genuine", 8_000_634_880u64),
        ("fake=limbo&fake_bytes=1G", "limbo", 1 << 30),
        ("fake=limbo&fake_bytes=0", "dead", 0),
        ("fake=wraparound&wrap_bytes=3GB", "wraparound", 3_000_000_000),
        ("fake=chain&fake_bytes=1G&wrap_bytes=4G", "chain", 1 << 30),
        ("fake=address-line&wrap_bytes=2GiB", "wraparound", 2 << 30),
        ("fake=overcommitted&fake_bytes=1G", "overcommitted", 1 << 30),
        ("fake=read-only", "read-only", 0),
        ("read_flip_p=0.0001", "unstable", 8_000_634_880),
        ("error_ranges=1MiB+512", "damaged", MIB),
        ("stall_every_ios=100&stall_s=2", "genuine", 8_000_634_880),
        ("repeat_bytes=64KiB", "reader-suspect", 8_000_634_880),
        ("flip_read_every=100", "reader-suspect", 8_000_634_880),
        ("align_bytes=4KiB", "reader-suspect", 8_000_634_880),
        ("stale_reads=following", "reader-suspect", 8_000_634_880),
        ("extra_sectors=1", "reader-suspect", 8_000_634_880),
        ("shown_bytes=2GB", "reader-suspect", 2_000_000_000),
        ("end_bytes=4GiB", "reader-suspect", 4 * GIB),
        ("vanish_after_ios=1000", "genuine", 8_000_634_880),
    ] {
        let truth = *open_card(&format!("sim:constant?{overrides}")).truth();
        assert_eq!(serde_json::to_value(truth.verdict).unwrap(), verdict, "{overrides}");
        assert_eq!(truth.usable_bytes, usable, "{overrides}");
    }
    let line =
        open_card("sim:constant?announced_bytes=7GiB&fake=address-line&wrap_bytes=2GiB").truth().good_bytes;
    assert_eq!(line, 4 << 30, "0 to 2 and 4 to 6 GiB have places of their own");
    let damaged = *open_card("sim:constant?fake=damaged&damaged_share=0.16").truth();
    let share = damaged.good_bytes as f64 / 8_000_634_880.0;
    assert!((0.81..0.87).contains(&share) && damaged.usable_bytes < 200 * MIB, "{damaged:?}");
}

#[test]
fn ios_in_flight_end_before_next_plan() {
    let mut card = open_card("sim:constant");
    card.plan(&direct_plan(32, 4096)).unwrap();
    for slot in 0..32 {
        card.submit(&slot_io(slot, false, u64::from(slot) * 4096, 4096)).unwrap();
    }
    let began = card.now();
    card.plan(&direct_plan(1, 4096)).unwrap();
    let replanned = card.now();
    assert!(replanned > began, "the card works on them until they have ended");
    card.submit(&slot_io(0, false, MIB, 4096)).unwrap();
    let mut done = Vec::new();
    card.complete(1, &mut done).unwrap();
    assert_eq!((done.len(), done[0].slot), (1, 0), "and only the new one is answered");
    assert!(done[0].at > replanned);
}

/// Reads fail in a test with a deep queue; then a verb reads the card one I/O at a time, to restore its data.
#[test]
fn card_works_after_error_in_deep_queue() {
    let deep = "name = \"deep\"\ntitle = \"deep\"\nversion = 1\nsource = \"own\"\n[area]\nsize = \"16MiB\"\n\
                prepare = false\n[[test]]\ntest = \"RND4K Q32T1 read\"\npasses = 1\n";
    let deep = recipe::parse(deep, None).unwrap();
    let mut failed = 0;
    for seed in 1..=100 {
        let mut card =
            open_card(&format!("sim:constant?announced_bytes=64MiB&faults.read_error_p=0.01&seed={seed}"));
        let interrupt = InterruptFlag::default();
        let settings = RunnerSettings {
            label: "",
            seed,
            may_write: false,
            interrupt: &interrupt,
            deadline: None,
            more_follow: false,
        };
        let mut failures = FailureCount(0);
        run_pass(&mut card, &deep, &settings, &mut failures, &mut Silent).unwrap();
        failed += u32::from(failures.0 > 0);
        let mut driven = IoDriver::new(&mut card, &interrupt, 4096, 1).unwrap();
        let mut read = 0;
        let each = |_, _, _: ReadAnswer<'_>| {
            read += 1;
            Ok(())
        };
        driven.read(split_extents(0, MIB, 4096), IoContent::Buffer, each).unwrap();
        assert_eq!(read, 256, "seed {seed}");
    }
    assert!(failed > 90, "{failed} of 100 tests met an error");
}

/// Recorder that counts failed I/Os only.
struct FailureCount(u64);

impl PassRecorder for FailureCount {
    fn add_failures(&mut self, _test: Option<usize>, counts: IoCounts, _io_errors: &[IoError]) {
        self.0 += counts.failed();
    }
    fn sample(&mut self, _test: usize, _index: u32, _sample: LoopSample) -> Result<(), RecorderError> {
        Ok(())
    }
    fn not_measured(&mut self, _test: usize, _reason: String) {}
    fn add_caveat(&mut self, _test: usize, _caveat: Caveat) {}
    fn stop_rule(&mut self, _test: usize) -> Option<Box<dyn StopRule>> {
        None
    }
}
