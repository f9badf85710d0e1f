//! Built-in recipes against the published methods.

use cardscope_model::recipe::{
    FlushMode, KernelPath, LoopAggregate, RECIPES, RandomDraw, Recipe, RecipeTest, SpanSharing, TestSpan,
    WriteData, parse,
};
use cardscope_model::test_name::TestOp;
use rstest::rstest;

const GIB: f64 = (1u64 << 30) as f64;

fn recipe(name: &str) -> Recipe {
    sized(name, None)
}

fn sized(name: &str, size: Option<u64>) -> Recipe {
    parse(RECIPES.find_text(name).expect("it comes with the program"), size).expect("it reads")
}

fn names(recipe: &Recipe) -> Vec<String> {
    recipe.tests.iter().map(|t| t.name.to_string()).collect()
}

fn test_of<'a>(recipe: &'a Recipe, key: &str) -> &'a RecipeTest {
    recipe.tests.iter().find(|t| t.key() == key).unwrap_or_else(|| panic!("{key}"))
}

/// Bytes that a test moves at a speed at which no time limit applies.
fn moved(recipe: &Recipe, key: &str) -> f64 {
    let mut alone = recipe.clone();
    alone.tests.retain(|t| t.key() == key);
    alone.prepare = None;
    alone.tests[0].prepare = None;
    let planned = alone.estimate_run(1e6, 1 << 40);
    planned.bytes_read + planned.bytes_written
}

#[test]
fn builtin_recipes_are_valid_and_named_like_their_files() {
    for (name, text) in RECIPES.files {
        let recipe = parse(text, None).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(recipe.name, *name);
        assert!(!recipe.source.is_empty() && !recipe.title.is_empty() && recipe.version > 0, "{name}");
        assert!(!recipe.fingerprint.contains("size="), "{name}");
    }
}

#[test]
fn the_page_on_recipes_explains_every_key() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/recipes.md")).unwrap();
    let unknown = "name = \"x\"\n[area]\nsize = 512\n[[test]]\nnonsense = 1\n";
    let message = parse(unknown, None).unwrap_err().to_string();
    let keys: Vec<&str> =
        message.split("expected one of ").nth(1).unwrap().split('`').skip(1).step_by(2).collect();
    assert!(keys.len() > 20, "{message}");
    for key in keys {
        assert!(page.contains(&format!("| `{key}` |")), "docs/recipes.md does not explain {key}");
    }
}

#[test]
fn cdm3_alternates_and_takes_the_best_of_five_loops() {
    let cdm3 = recipe("cdm3");
    assert_eq!(cdm3.area, 1000 << 20);
    assert_eq!(
        names(&cdm3),
        [
            "SEQ1M Q1T1 read",
            "SEQ1M Q1T1 write",
            "RND512K Q1T1 read",
            "RND512K Q1T1 write",
            "RND4K Q1T1 read",
            "RND4K Q1T1 write",
            "RND4K Q32T1 read",
            "RND4K Q32T1 write",
        ]
    );
    for test in &cdm3.tests {
        assert_eq!((test.loops, test.discard_loops, test.aggregate), (5, 1, LoopAggregate::Max));
        assert_eq!(
            (test.random, test.flush, test.data),
            (RandomDraw::Uniform, FlushMode::Timed, WriteData::Random)
        );
        assert_eq!(test.limit.whole_passes, test.name.to_string().starts_with("SEQ"));
    }
    // Even a slow card must complete one pass of 1000 MiB in each of the six runs, for reads and writes.
    let slow = cdm3.estimate_run(1.0, 1 << 40);
    assert!(slow.bytes_read >= 6.0 * 1000.0 * 1_048_576.0, "{slow:?}");
}

#[rstest]
#[case("cdm8-default", &["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"], 5.0, 5.0)]
#[case("cdm8-nvme", &["SEQ1M Q8T1", "SEQ128K Q32T1", "RND4K Q32T16", "RND4K Q1T1"], 5.0, 5.0)]
#[case("cdm8-peak", &["SEQ1M Q8T1", "RND4K Q32T1"], 5.0, 5.0)]
#[case("cdm8-real", &["SEQ1M Q1T1", "RND4K Q1T1"], 5.0, 5.0)]
#[case("cdm9-flash", &["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"], 1.0, 30.0)]
fn cdm8_reads_all_patterns_then_writes_all(
    #[case] name: &str,
    #[case] patterns: &[&str],
    #[case] seconds: f64,
    #[case] rest: f64,
) {
    let cdm = recipe(name);
    let expected: Vec<String> =
        ["read", "write"].iter().flat_map(|op| patterns.iter().map(move |p| format!("{p} {op}"))).collect();
    assert_eq!((names(&cdm), cdm.area), (expected, 1 << 30));
    for test in &cdm.tests {
        assert_eq!((test.limit.seconds, test.limit.passes, test.rest_s), (Some(seconds), None, rest));
        assert_eq!((test.loops, test.discard_loops, test.aggregate), (5, 1, LoopAggregate::Max));
        assert_eq!(
            (test.flush, test.random, test.sharing),
            (FlushMode::None, RandomDraw::Uniform, SpanSharing::Same)
        );
    }
}

#[test]
fn mixed_profile_ends_with_mix70() {
    let ops: Vec<TestOp> = recipe("cdm8-default-mix").tests.iter().map(|t| t.name.op).collect();
    assert_eq!(ops, [[TestOp::Read; 4], [TestOp::Write; 4], [TestOp::Mix(70); 4]].concat());
}

#[test]
fn kdiskmark_loop_ends_by_size_or_time() {
    let kdm = recipe("kdiskmark");
    let test = test_of(&kdm, "RND4K Q32T1 write");
    assert_eq!((test.limit.passes, test.limit.seconds), (Some(1), Some(5.0)));
    assert_eq!((test.loops, test.discard_loops, test.aggregate), (5, 0, LoopAggregate::Mean));
    assert!(test.drop_caches && test.flush == FlushMode::Timed && test.rest_s == 5.0);
    // Five loops of 1 GiB on a fast card; five times 5 s on one of 20 MB/s.
    assert_eq!(moved(&kdm, "SEQ1M Q8T1 read"), 5.0 * GIB);
    let mut alone = kdm.clone();
    alone.tests.retain(|t| t.key() == "SEQ1M Q8T1 read");
    assert_eq!(alone.estimate_run(20.0, 1 << 40).bytes_read, 5.0 * 5.0 * 20e6);
}

#[test]
fn cdm_fio_moves_five_times_the_size_per_job() {
    let cdm_fio = recipe("cdm-fio");
    assert_eq!(
        names(&cdm_fio),
        [
            "SEQ1G Q1T1 read",
            "SEQ1G Q1T1 write",
            "SEQ512K Q1T1 read",
            "SEQ512K Q1T1 write",
            "SEQ32M Q32T1 read",
            "SEQ32M Q32T1 write",
            "RND4K Q1T1 read",
            "RND4K Q1T1 write",
            "RND4K Q32T1 read",
            "RND4K Q32T1 write",
            "RND4K Q8T8 read",
            "RND4K Q8T8 write",
        ]
    );
    for test in &cdm_fio.tests {
        let gib = if test.name.pattern.threads == 8 { 40.0 } else { 5.0 };
        assert_eq!(moved(&cdm_fio, &test.key()), gib * GIB, "{}", test.key());
        assert_eq!(
            (test.aggregate, test.flush, test.random),
            (LoopAggregate::Total, FlushMode::None, RandomDraw::Permutation)
        );
        assert_eq!(test.limit.seconds, None);
    }
}

#[test]
fn ten_runs_of_cdm_fio_are_262_million_small_ios() {
    let cdm_fio = recipe("cdm-fio");
    let small = cdm_fio.tests.iter().filter(|t| t.name.pattern.block == 4096);
    let ios: f64 = small.map(|t| moved(&cdm_fio, &t.key()) / 4096.0).sum();
    assert_eq!((10.0 * ios / 1e6).round(), 262.0);
    // 1.4 TB in ten runs, including the preparation of 1 GiB each.
    let planned = cdm_fio.estimate_run(500.0, 1 << 40);
    assert_eq!((planned.bytes_read + planned.bytes_written) / GIB, 131.0);
}

#[test]
fn the_large_blocks_of_cdm_fio_follow_the_size() {
    let small = sized("cdm-fio", Some(256 << 20));
    assert_eq!(
        names(&small)[..6],
        [
            "SEQ256M Q1T1 read",
            "SEQ256M Q1T1 write",
            "SEQ512K Q1T1 read",
            "SEQ512K Q1T1 write",
            "SEQ8M Q32T1 read",
            "SEQ8M Q32T1 write",
        ]
    );
    assert!(small.fingerprint.ends_with(" size=268435456"), "{}", small.fingerprint);
    assert_eq!(sized("cdm-fio", Some(1 << 30)).fingerprint, recipe("cdm-fio").fingerprint);
}

#[test]
fn as_ssd_settings_match_the_tool() {
    let as_ssd = recipe("as-ssd");
    let threads = test_of(&as_ssd, "4K-64Thrd read");
    assert_eq!(
        (threads.name.to_string().as_str(), threads.sharing),
        ("RND4K Q1T64 read", SpanSharing::Slices)
    );
    assert_eq!(moved(&as_ssd, "4K-64Thrd read"), GIB);
    let access = test_of(&as_ssd, "Acc.time read");
    assert_eq!((access.span, access.size), (TestSpan::Device, u64::MAX));
    assert_eq!(as_ssd.scores.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["read", "write"]);
    // About 5 GB are written in a run.
    let written = as_ssd.estimate_run(20.0, 1 << 40).bytes_written / GIB;
    assert!((5.0..5.1).contains(&written), "{written}");
}

#[test]
fn geerling_2020_has_the_steps_of_the_script() {
    let pi = recipe("geerling-2020");
    let steps: Vec<&str> = pi.tests.iter().filter_map(|t| t.step.as_deref()).collect();
    assert_eq!(
        steps,
        [
            "hdparm -t",
            "dd",
            "iozone write",
            "iozone rewrite",
            "iozone read",
            "iozone reread",
            "iozone random read",
            "iozone random write",
        ]
    );
    let (hdparm, dd) = (&pi.tests[0], &pi.tests[1]);
    assert_eq!(
        (hdparm.span, hdparm.path, hdparm.limit.seconds),
        (TestSpan::Device, KernelPath::Buffered, Some(3.0))
    );
    assert_eq!((dd.path, dd.data, dd.flush), (KernelPath::Buffered, WriteData::Zero, FlushMode::Timed));
    assert_eq!(moved(&pi, "dd"), 50.0 * 1024.0 * 8192.0);
    assert!(steps[2..].iter().all(|step| moved(&pi, step) == 102_400.0 * 1024.0));
}

#[test]
fn geerling_2024_prints_six_of_twelve_steps() {
    let pi = recipe("geerling-2024");
    assert_eq!(pi.tests.len(), 12);
    let printed: Vec<String> = pi.tests.iter().filter(|t| t.prints.is_some()).map(RecipeTest::key).collect();
    assert_eq!(
        printed,
        [
            "4k random read",
            "4k random write",
            "1024k rewrite",
            "1024k reread",
            "1024k random read",
            "1024k random write",
        ]
    );
    assert!(
        pi.tests
            .iter()
            .all(|t| t.flush == FlushMode::Timed && t.path == KernelPath::Direct && t.size == 1 << 30)
    );
}

#[test]
fn pibenchmarks_trims_first_and_writes_545_mb_with_dd() {
    let pi = recipe("pibenchmarks");
    assert!(pi.discard);
    assert_eq!(moved(&pi, "DD Disk Write"), 545_259_520.0);
    assert_eq!(test_of(&pi, "FIO 4k random write").name.to_string(), "RND4K Q64T1 write");
    assert_eq!(moved(&pi, "FIO 4k random read"), 80.0 * 1_048_576.0);
    let cached = test_of(&pi, "HDParm Cached Disk Read");
    assert_eq!((cached.size, cached.span, cached.limit.passes), (2 << 20, TestSpan::Device, None));
    let weights: Vec<f64> = pi.scores[0].terms.iter().map(|t| t.weight).collect();
    assert_eq!(weights, [1024.0, 4.0, 10.0, 1.0, 1.0, 4.0, 10.0]);
}

#[test]
fn agnostics_demands_match_the_script() {
    let a1 = recipe("agnostics-a1");
    assert_eq!((a1.tries, a1.area, a1.prepare.unwrap().block), (3, 256 << 20, 512 << 10));
    let demands: Vec<_> = a1.demands.iter().map(|d| (d.step.as_str(), d.bytes_per_s, d.iops)).collect();
    assert_eq!(
        demands,
        [
            ("seq-write", Some(10_000.0 * 1024.0), None),
            ("rand-4k-write", None, Some(500.0)),
            ("rand-4k-read", None, Some(1500.0)),
        ]
    );
    assert!(a1.tests.iter().all(|t| t.name.pattern.queue == 32 && t.limit.passes == Some(1)));
    assert_eq!(test_of(&a1, "rand-4k-write").limit.seconds, Some(10.0));
}

#[test]
fn the_dd_sweep_doubles_from_4_kib_to_4_mib_and_writes_a_gib_each() {
    let sweep = recipe("dd-sweep");
    let steps: Vec<&RecipeTest> = sweep.tests.iter().filter(|t| t.step.is_none()).collect();
    let blocks: Vec<u64> = steps.iter().map(|t| t.name.pattern.block).collect();
    assert_eq!(blocks, (12..=22).map(|bits| 1u64 << bits).collect::<Vec<_>>());
    for test in steps {
        assert_eq!(
            (test.path, test.name.op, test.name.pattern.queue),
            (KernelPath::Direct, TestOp::Write, 1)
        );
        assert_eq!(moved(&sweep, &test.key()), GIB);
    }
    assert_eq!(test_of(&sweep, "Seq. write, ext4").filesystem.as_deref(), Some("ext4"));
    assert_eq!(test_of(&sweep, "Seq. write, cache").path, KernelPath::Buffered);
}

#[test]
fn quick_takes_a_minute_on_slow_cards() {
    let quick = recipe("quick");
    assert!(quick.estimate_run(20.0, 1 << 34).seconds <= 50.0, "10 s are left for flushes");
    assert!(quick.estimate_run(10.0, 1 << 34).seconds <= 60.0);
    assert_eq!(
        names(&quick),
        [
            "SEQ1M Q8T1 read",
            "SEQ1M Q1T1 read",
            "RND4K Q32T1 read",
            "RND4K Q1T1 read",
            "SEQ1M Q8T1 write",
            "SEQ1M Q1T1 write",
            "RND4K Q32T1 write",
            "RND4K Q1T1 write",
        ]
    );
}

#[test]
fn precise_repeats_quick_tests_to_two_percent() {
    let precise = recipe("precise");
    assert_eq!(names(&precise), names(&recipe("quick")));
    assert!(precise.tests.iter().all(|t| t.until.is_some_and(|u| u.ci95_percent == 2.0 && u.max_s == 120.0)));
}

#[test]
fn fingerprint_follows_the_recipe_text() {
    let text = RECIPES.find_text("quick").unwrap();
    let changed = parse(&text.replace("seconds = 4", "seconds = 5"), None).unwrap();
    assert_ne!(changed.fingerprint, recipe("quick").fingerprint);
    assert!(changed.fingerprint.starts_with("1-") && changed.fingerprint.len() == 14);
}
