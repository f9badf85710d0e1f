//! Comparison of columns with made-up runs.

use super::columns::{ComparedColumn, OtherDifferences, RunDivision, divide_runs, find_differences};
use super::findings::{ageing_findings, days_since_1970};
use super::summarise_printed;
use cardscope_model::archive_rows::StoredCard;
use cardscope_model::card::CardFacts;
use cardscope_model::comparison::{ChanceGrade, Comparison, PairVerdict};
use cardscope_model::condition::Condition;
use cardscope_model::finding::FindingWeight;
use cardscope_model::result::ToolPrints;
use cardscope_model::run::{CardRun, Run, TestFigure};
use cardscope_model::setting::Setting;
use cardscope_statistics::estimate::estimate_values;
use cardscope_statistics::priors::SpreadTable;

fn comparison(columns: Vec<ComparedColumn>) -> Comparison {
    divided(columns, &RunDivision::BySetting)
}

/// Document of columns that were divided this way.
fn divided(columns: Vec<ComparedColumn>, by: &RunDivision) -> Comparison {
    super::build_comparison(columns, by, SpreadTable::shipped())
}

fn card(name: &str) -> StoredCard {
    StoredCard::new(name.to_lowercase(), name.to_owned(), CardFacts::default())
}

/// Run of one test under one condition.
fn run(condition: &str, mb_s: f64) -> CardRun {
    let mut words = Condition::default();
    words.set_stated(condition).unwrap();
    CardRun {
        session: "01890a5d-ac96-774b-bcce-b302099a8057".into(),
        card_id: "a".into(),
        unit: None,
        setting: Setting { recipe: "cdm_fio".into(), size_bytes: Some(1 << 30), condition: words },
        measured_at: None,
        source: None,
        run: Run {
            run: 1,
            results: vec![TestFigure::from_speed("SEQ1M Q8T1 read".parse().unwrap(), mb_s)],
            ..Run::default()
        },
    }
}

fn names(columns: &[ComparedColumn]) -> Vec<&str> {
    columns.iter().map(|c| c.entry.name.as_str()).collect()
}

#[test]
fn two_coolings_make_two_columns() {
    let runs =
        vec![run("cooling=active", 800.0), run("cooling=passive", 500.0), run("cooling=active", 810.0)];
    let columns = divide_runs(&card("A"), runs, &RunDivision::BySetting);
    assert_eq!(names(&columns), ["A · cooling active", "A · cooling passive"]);
    assert_eq!(columns[0].tests[0].1.mb_s, [800.0, 810.0]);
}

#[test]
fn descriptive_words_do_not_divide_runs() {
    let runs = vec![run("room_c=20", 1.0), run("room_c=30", 2.0)];
    assert_eq!(divide_runs(&card("A"), runs, &RunDivision::BySetting).len(), 1);
    let runs = vec![run("cooling=active", 1.0), run("room_c=30", 2.0)];
    assert_eq!(
        names(&divide_runs(&card("A"), runs, &RunDivision::By(vec!["cooling"]))),
        ["A · cooling active", "A · cooling unknown"]
    );
}

#[test]
fn discarded_run_is_not_counted() {
    let mut discarded = run("cooling=active", 1.0);
    discarded.run.counted = false;
    let columns = divide_runs(&card("A"), vec![discarded, run("cooling=active", 2.0)], &RunDivision::Pooled);
    assert_eq!((columns[0].entry.runs, columns[0].tests[0].1.mb_s.as_slice()), (1, [2.0].as_slice()));
}

#[test]
fn age_divides_runs_by_month_in_order() {
    let at = |date: &str| CardRun { measured_at: Some(date.into()), ..run("cooling=active", 1.0) };
    let columns =
        divide_runs(&card("A"), vec![at("2026-03-04"), at("2024-01-02T10:00:00")], &RunDivision::ByAge);
    assert_eq!(names(&columns), ["A · 2024-01", "A · 2026-03"]);
}

#[test]
fn equal_words_are_omitted_and_missing_ones_unknown() {
    let of = |name: &str, conditions: &[&str]| {
        let runs = conditions.iter().map(|c| run(c, 1.0)).collect();
        divide_runs(&card(name), runs, &RunDivision::Pooled).swap_remove(0)
    };
    let both = [of("A", &["cooling=active", "cooling=active"]), of("B", &["room_c=20"])];
    let all = find_differences(&both);
    let words: Vec<_> = all.iter().map(|d| (d.what.as_str(), d.values.clone())).collect();
    assert_eq!(
        words,
        [
            ("cooling", vec![Some("active".into()), None]),
            ("room_c", vec![None, Some("20".into())]),
            ("runs", vec![Some("2".into()), Some("1".into())]),
        ]
    );
    let besides = OtherDifferences::new(&both, &all, (0, 1), &[]);
    assert_eq!(besides.difference_phrases()[0], "cooling: active against unknown");
    assert_eq!(besides.confounders().collect::<Vec<_>>(), ["cooling"], "a room confounds nothing here");
}

#[test]
fn few_runs_are_counted_by_test() {
    let mut runs: Vec<_> = (0..10).map(|i| run("cooling=active", 80.0 + f64::from(i))).collect();
    let mut other = runs[0].run.results[0].clone();
    other.test = "RND4K Q1T1".parse().unwrap();
    runs[..2].iter_mut().for_each(|run| run.run.results.push(other.clone()));
    let found = comparison(divide_runs(&card("A"), runs, &RunDivision::Pooled));
    let few = found.findings.iter().find(|f| f.claim == "few-runs").unwrap();
    assert_eq!(
        few.verdict,
        "Only 2 runs of A were measured in 1 of its 2 tests: intervals rest on how much such tests usually vary."
    );
}

fn column(name: &str, condition: &str, speeds: &[f64]) -> ComparedColumn {
    let runs = speeds.iter().map(|s| run(condition, *s)).collect();
    divide_runs(&card(name), runs, &RunDivision::Pooled).swap_remove(0)
}

#[test]
fn faster_card_wins_and_other_differences_are_listed() {
    let fast: Vec<f64> = (0..10).map(|i| 800.0 + f64::from(i)).collect();
    let slow: Vec<f64> = (0..10).map(|i| 400.0 + f64::from(i)).collect();
    let found = comparison(vec![column("A", "cooling=active", &fast), column("B", "cooling=passive", &slow)]);
    let pair = &found.tests[0].pairs[0];
    assert_eq!(pair.verdict, PairVerdict::FirstFaster);
    assert!((pair.factor - 0.5).abs() < 0.01 && (pair.percent + 50.0).abs() < 1.0, "{pair:?}");
    assert_eq!(pair.not_the_card_alone, ["cooling: active against passive"]);
    assert_eq!(pair.grade, ChanceGrade::Likely, "a fan may be the reason");
}

#[test]
fn cooling_of_one_card_is_compared_not_confounding() {
    let fast: Vec<f64> = (0..5).map(|i| 80.0 + 0.1 * f64::from(i)).collect();
    let slow: Vec<f64> = (0..5).map(|i| 40.0 + 0.1 * f64::from(i)).collect();
    let found = comparison(vec![column("A", "cooling=active", &fast), column("A", "cooling=passive", &slow)]);
    assert_eq!(found.tests[0].pairs[0].grade, ChanceGrade::AlmostCertain);
}

#[test]
fn overall_uses_common_tests_best_first() {
    let runs: Vec<CardRun> = (0..5).map(|i| run("cooling=active", 80.0 + 0.1 * f64::from(i))).collect();
    let mut other = runs[0].run.results[0].clone();
    other.test = "RND4K Q1T1".parse().unwrap();
    let of = |factor: f64, alone: bool| {
        let mut runs = runs.clone();
        for run in &mut runs {
            run.run.results[0].mb_s *= factor;
            if !alone {
                run.run.results.push(other.clone());
            }
        }
        runs
    };
    let of = |name: &str, factor: f64, alone: bool| {
        divide_runs(&card(name), of(factor, alone), &RunDivision::Pooled).swap_remove(0)
    };
    let found = comparison(vec![of("A", 1.0, false), of("B", 2.0, true), of("C", 0.5, false)]);
    let said: Vec<_> =
        found.overall.iter().map(|o| (o.name.as_str(), o.factor_to_best, o.wins, o.tests)).collect();
    assert_eq!(said.iter().map(|s| s.0).collect::<Vec<_>>(), ["B", "A", "C"]);
    assert!((said[1].1 - 0.5).abs() < 1e-9 && (said[2].1 - 0.25).abs() < 1e-9, "{said:?}");
    assert_eq!((said[0].2, said[0].3), (1, 1));
    assert!(found.overall[0].probability_best > 0.99, "{:?}", found.overall);
    assert!(comparison(vec![of("A", 1.0, false)]).overall.is_empty(), "one card is not the best of several");
}

#[test]
fn dividing_word_is_listed_but_not_confounding() {
    let mut small = run("cooling=active", 400.0);
    small.setting.size_bytes = Some(1 << 28);
    let runs = vec![run("cooling=active", 800.0), small];
    let by = RunDivision::By(vec!["size"]);
    let by_size = divided(divide_runs(&card("A"), runs, &by), &by);
    assert_eq!(by_size.entries.len(), 2);
    assert!(by_size.tests[0].pairs[0].not_the_card_alone.is_empty(), "{by_size:?}");
    assert!(by_size.findings.iter().all(|f| f.claim != "not-the-card-alone"), "{:?}", by_size.findings);
    assert!(by_size.differs.iter().any(|d| d.what == "test size"), "it is listed all the same");
}

/// Run on a board, with a raised clock if given.
fn on(board: &str, clock: Option<&str>, mb_s: f64) -> CardRun {
    let mut run = run(&format!("board={board}"), mb_s);
    clock.into_iter().for_each(|clock| run.setting.condition.set_stated(&format!("clock={clock}")).unwrap());
    run
}

#[test]
fn overclocked_runs_are_never_averaged_with_others() {
    let runs = || vec![on("Pi 3", None, 22.8), on("Pi 3", Some("100 MHz"), 39.5), on("Pi 4", None, 43.9)];
    let names = |by: Vec<&'static str>| {
        let columns = divide_runs(&card("A"), runs(), &RunDivision::By(by));
        columns.iter().map(|column| column.entry.name.clone()).collect::<Vec<_>>()
    };
    let three = |words: [&str; 3]| words.map(|words| format!("A · {words}")).to_vec();
    assert_eq!(
        names(vec!["board"]),
        three(["Pi 3 · clock unknown", "Pi 3 · clock 100 MHz", "Pi 4 · clock unknown"])
    );
    assert_eq!(names(vec!["board", "board_clock"]), names(vec!["board"]));
}

#[test]
fn word_implied_by_a_requested_one_is_not_named() {
    let with_bus = |mut run: CardRun, mode: &str| {
        run.setting.condition.set_stated(&format!("bus_mode={mode}")).unwrap();
        run
    };
    let runs = vec![with_bus(on("Pi 3", None, 22.8), "SDR25"), with_bus(on("Pi 4", None, 43.9), "DDR50")];
    let by = |runs| divide_runs(&card("A"), runs, &RunDivision::By(vec!["board"]));
    assert_eq!(names(&by(runs.clone())), ["A · Pi 3", "A · Pi 4"]);
    let three = [runs, vec![with_bus(on("Pi 4", None, 24.0), "SDR25")]].concat();
    assert_eq!(names(&by(three))[2], "A · Pi 4 · SDR25");
}

#[test]
fn change_of_board_is_computed_over_cards_measured_on_both() {
    let by = RunDivision::By(vec!["board", "board_clock"]);
    let of = |name: &str, speeds: [f64; 3]| {
        let [stock, over, four] = speeds;
        let runs = vec![on("Pi 4", None, four), on("Pi 3", None, stock), on("Pi 3", Some("100 MHz"), over)];
        divide_runs(&card(name), runs, &by)
    };
    let alone = divide_runs(&card("D"), vec![on("Pi 4", None, 80.0)], &by);
    let all = [of("A", [20.0, 40.0, 44.0]), of("B", [22.0, 33.0, 44.0]), of("C", [20.0, 20.2, 44.0]), alone];
    let found = divided(all.concat(), &by);
    assert_eq!(found.by.as_deref(), Some("board,board_clock"));
    let said: Vec<_> = found
        .changes
        .iter()
        .map(|change| {
            let test = &change.tests[0];
            (change.from.as_str(), change.to.as_str(), test.cards, test.faster)
        })
        .collect();
    let [stock, over, four] = ["Pi 3, clock unknown", "Pi 3, clock 100 MHz", "Pi 4, clock unknown"];
    assert_eq!(said, [(stock, four, 3, 3), (over, four, 3, 3), (stock, over, 3, 2)]);
    let test = &found.changes[0].tests[0];
    assert!((test.factor - (2.2f64 * 2.0 * 2.2).cbrt()).abs() < 1e-9, "{test:?}");
    assert!((test.lowest - 2.0).abs() < 1e-9 && (test.highest - 2.2).abs() < 1e-9, "{test:?}");
    let [low, high] = test.factor_ci95.unwrap();
    assert!(low < test.factor && test.factor < high, "{test:?}");
}

#[test]
fn change_needs_equal_confounding_words() {
    let by = RunDivision::By(vec!["board"]);
    let changed = |word: &str| {
        let mut other = on("Pi 4", None, 44.0);
        other.setting.condition.set_stated(word).unwrap();
        let columns = divide_runs(&card("A"), vec![on("Pi 3", None, 20.0), other], &by);
        divided(columns, &by).changes.len()
    };
    assert_eq!([changed("kernel=5.1"), changed("file_system=ext4"), changed("clock=100 MHz")], [1, 0, 0]);
}

#[test]
fn mean_speed_agrees_with_its_iops() {
    let found = comparison(vec![column("A", "cooling=active", &[41.0, 43.0])]);
    let (test, spread) = (&found.tests[0], found.tests[0].spreads[0].as_ref().unwrap());
    assert_eq!(test.block_bytes, 1 << 20);
    assert!((spread.iops.unwrap() * test.block_bytes as f64 - spread.mean * 1e6).abs() < 1e-6);
}

#[test]
fn drifting_runs_widen_the_interval() {
    let drift: Vec<f64> = (0..10).map(|i| 80.0 + f64::from(i)).collect();
    let found = comparison(vec![column("A", "cooling=active", &drift)]);
    let [low, high] = found.tests[0].spreads[0].as_ref().unwrap().ci95.unwrap();
    let [student_low, student_high] = estimate_values(&drift).unwrap().ci95.unwrap();
    assert!(high - low > 1.1 * (student_high - student_low), "{low} to {high}");
}

#[test]
fn single_runs_have_an_interval_but_no_significance() {
    let found =
        comparison(vec![column("A", "cooling=active", &[13.0]), column("B", "cooling=active", &[12.0])]);
    assert_eq!(found.tests[0].pairs[0].verdict, PairVerdict::CannotTell);
    let [low, high] = found.tests[0].spreads[0].as_ref().unwrap().ci95.unwrap();
    assert!(low < 13.0 && 13.0 < high, "{low} to {high}");
}

#[test]
fn printed_speeds_are_averaged_in_one_unit_only() {
    let prints = |value: f64, unit: &str| Some(ToolPrints { value, unit: unit.into() });
    let all = summarise_printed(&[prints(413.0, "MB/s"), prints(409.0, "MB/s")]).unwrap();
    assert_eq!((all.mean.value, all.worst.value, all.best.value), (411.0, 409.0, 413.0));
    assert_eq!(summarise_printed(&[prints(1.0, "MB/s"), prints(1.0, "GB/s")]), None);
    assert_eq!(summarise_printed(&[prints(1.0, "MB/s"), None]), None);
}

fn measured(at: &str, specimen: &str, mb_s: f64) -> CardRun {
    CardRun {
        measured_at: Some(at.to_owned()),
        unit: Some(specimen.to_owned()),
        ..run("cooling=active", mb_s)
    }
}

fn said(runs: Vec<CardRun>) -> Vec<(String, FindingWeight)> {
    let found = ageing_findings(&divide_runs(&card("A"), runs, &RunDivision::ByAge));
    found.into_iter().map(|f| (f.verdict, f.weight)).collect()
}

#[test]
fn card_that_slows_over_years_is_reported() {
    let runs = (0..8)
        .map(|i| measured(&format!("20{}-0{}-01", 18 + i, 1 + i), "a", 90.0 - 5.0 * f64::from(i)))
        .collect();
    let found = said(runs);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "One test of A became slower over 8 sessions in 7.6 years.");
    assert_eq!(found[0].1, FindingWeight::Hint);
}

#[test]
fn ageing_is_judged_for_each_unit() {
    // As one unit, the slow card that was bought later would pass for a fast one that wore out.
    let early = (0..6).map(|i| measured(&format!("2018-0{}-01", 1 + i), "a", 90.0 + f64::from(i % 2)));
    let late = (0..6).map(|i| measured(&format!("2024-0{}-01", 1 + i), "b", 50.0 + f64::from(i % 2)));
    let found = said(early.chain(late).collect());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|(claim, _)| claim.starts_with("Every test of ")), "{found:?}");
}

#[test]
fn ageing_needs_several_sessions() {
    assert!(said(vec![measured("2018-01-01", "a", 90.0), measured("2020-01-01", "a", 50.0)]).is_empty());
}

#[test]
fn dates_without_a_day_are_refused() {
    assert_eq!(days_since_1970("1970-01-03T12:00:00"), Some(2.5));
    assert_eq!(days_since_1970("1970-01-03T12:00:00Z"), Some(2.5));
    assert_eq!(days_since_1970("1970-01-03"), Some(2.0));
    assert_eq!([days_since_1970("1970-01"), days_since_1970("a while ago"), days_since_1970("")], [None; 3]);
}

/// Column over this area, with one value for each test.
fn sized(name: &str, area: u64, tests: &[(&str, f64)]) -> ComparedColumn {
    let mut one = run("cooling=active", 1.0);
    one.setting.size_bytes = Some(area);
    let figure = |(test, mb_s): &(&str, f64)| {
        let name: cardscope_model::test_name::TestName = test.parse().unwrap();
        TestFigure::from_speed(name, *mb_s)
    };
    one.run.results = tests.iter().map(figure).collect();
    divide_runs(&card(name), vec![one], &RunDivision::Pooled).swap_remove(0)
}

#[test]
fn remarks_on_area_queue_class_and_lead() {
    let old = [("RND4K Q1T1 read", 8.0), ("RND4K Q1T1 write", 0.58), ("RND4K Q32T1 write", 0.035)];
    let new = [("RND4K Q1T1 read", 8.5), ("RND4K Q1T1 write", 2.13), ("RND4K Q32T1 write", 4.2)];
    let found = comparison(vec![
        sized("Old", 1 << 26, &[("RND4K Q1T1 write", 2.32)]),
        sized("Old", 1 << 30, &old),
        sized("New", 1 << 30, &new),
    ]);
    let of = |name: &str| found.remarks.iter().find(|remark| remark.name == name).unwrap().words.join("; ");
    assert_eq!(
        of("Old"),
        "slows down over a large area: RND4K Q1T1 write falls by 75 % from 64 MiB to 1 GiB (2.32 MB/s to 0.580 \
         MB/s); its queue is fake: 32 writes at once drop from 0.580 MB/s to 0.0350 MB/s"
    );
    assert_eq!(
        of("New"),
        "queued writes are 2.0 × as fast as single ones; reaches the rates of A1 (2075 reads and 1025 writes a \
         second); the fastest at small reads, small writes"
    );
}

/// Remark on a single card with these marks.
fn remark(marks: &[&str], columns: &[(u64, &[(&str, f64)])]) -> String {
    let of = |(area, tests): &(u64, &[(&str, f64)])| {
        let mut column = sized("Card", *area, tests);
        column.entry.card.marks = marks.iter().map(|mark| (*mark).to_owned()).collect();
        column
    };
    let found = comparison(columns.iter().map(of).collect());
    found.remarks.first().map(|remark| remark.words.join("; ")).unwrap_or_default()
}

#[test]
fn missed_marks_are_remarked() {
    let small = [("RND4K Q1T1 read", 9.0), ("RND4K Q32T1 write", 4.2)];
    let a2 = "marked A2, but reaches the rates of A1 only (2197 reads and 1025 writes a second)";
    assert_eq!(remark(&["A2"], &[(1 << 30, &small)]), a2);
    // Reads may be in one setting and writes in another, as in a report that states only some figures.
    let (reads, writes) = ([("RND4K Q1T1 read", 9.0)], [("RND4K Q32T1 write", 4.2)]);
    assert_eq!(remark(&["A2"], &[(0, &reads), (1 << 30, &writes)]), a2);
    let slow = [("RND4K Q1T1 read", 5.0), ("RND4K Q1T1 write", 0.4), ("SEQ1M Q1T1 write", 8.13)];
    assert_eq!(
        remark(&["C10", "U1", "A1"], &[(1 << 30, &slow)]),
        "marked A1, but misses its rates (1221 reads and 98 writes a second); marked U1 (10 MB/s), but writes no \
         more than 8.13 MB/s in order"
    );
    // A card without the mark need not keep its promise.
    assert_eq!(remark(&[], &[(1 << 30, &slow)]), "");
}

#[test]
fn bus_limit_or_faster_setting_excuses_a_mark() {
    let marked = |mb_s, bus: &str| {
        let mut column = sized("Card", 1 << 30, &[("SEQ1M Q1T1 write", mb_s)]);
        column.entry.card.marks = vec!["U3".to_owned()];
        let condition = &mut column.entry.settings[0].condition;
        condition.set_stated(&format!("bus_mode={bus}")).unwrap();
        column
    };
    let said = |columns: Vec<ComparedColumn>| {
        comparison(columns).remarks.iter().flat_map(|remark| remark.words.clone()).collect::<String>()
    };
    let missed = "marked U3 (30 MB/s), but writes no more than 20.0 MB/s in order";
    assert_eq!(said(vec![marked(20.0, "SDR104")]), missed);
    assert_eq!(said(vec![marked(24.8, "25 MB/s")]), "", "the bus carries no more");
    assert_eq!(said(vec![marked(24.8, "25 MB/s"), marked(45.0, "SDR104")]), "", "it does elsewhere");
    assert_eq!(said(vec![marked(15.0, "25 MB/s"), marked(20.0, "SDR104")]), missed);
}

#[test]
fn remarks_on_buffer_stalls_and_512_kib_blocks() {
    let test = "RND4K Q1T1 write";
    assert_eq!(
        remark(&[], &[(1 << 26, &[(test, 1.5)]), (1 << 30, &[(test, 0.15)])]),
        "buffers, and writes collapse behind the buffer: RND4K Q1T1 write falls by 90 % from 64 MiB to 1 GiB (1.50 \
         MB/s to 0.150 MB/s)"
    );
    let hardly = [("RND4K Q1T1 read", 3.7), (test, 0.0042)];
    assert_eq!(remark(&[], &[(1 << 30, &hardly)]), "hardly writes small blocks: one a second (0.00420 MB/s)");
    let random = [("SEQ1M Q1T1 write", 9.26), ("RND512K Q1T1 write", 12.0)];
    assert_eq!(
        remark(&[], &[(1 << 30, &random)]),
        "writes 512 KiB blocks at random faster than data in order (12.0 MB/s against 9.26 MB/s)"
    );
    // Sequential blocks of 512 KiB are nothing special.
    assert_eq!(remark(&[], &[(1 << 30, &[("SEQ1M Q1T1 write", 9.0), ("SEQ512K Q1T1 write", 12.0)])]), "");
}

#[test]
fn small_area_is_not_ranked_and_its_effect_listed() {
    let test = "RND4K Q1T1 write";
    let both = |name: &str, small: f64, large: f64| {
        [sized(name, 1 << 26, &[(test, small)]), sized(name, 1 << 30, &[(test, large)])]
    };
    let columns = [both("Old", 2.32, 0.58), both("New", 2.21, 2.13), both("Slow", 0.004, 0.004)].concat();
    let found = comparison(columns.clone());
    let order: Vec<&str> = found.overall.iter().map(|all| all.name.as_str()).collect();
    assert_eq!(order, ["New", "Old", "Slow"]);
    let shares: Vec<(&str, f64)> =
        found.areas.iter().map(|e| (e.name.as_str(), e.large_area_share())).collect();
    assert_eq!(shares, [("Old", 0.58 / 2.32), ("New", 2.13 / 2.21), ("Slow", 1.0)]);
    let apart = &found.apart[0];
    assert_eq!((apart.fastest.as_str(), apart.slowest.as_str(), apart.cards), ("New", "Slow", 3));
    assert_eq!(apart.factor, 2.13 / 0.004);
    // Divided by size, all columns are ranked.
    assert_eq!(divided(columns, &RunDivision::By(vec!["size"])).overall.len(), 6);
}

#[test]
fn cards_without_common_settings_are_combined_by_test() {
    let of = |name: &str, mb_s: f64| {
        [
            sized(name, 1 << 26, &[("RND4K Q1T1 write", mb_s)]),
            sized(name, 1 << 30, &[("SEQ1M Q8T1 read", 9.0 * mb_s)]),
        ]
    };
    let found = comparison([of("Old", 2.0), of("New", 4.0)].concat());
    let said: Vec<_> = found.overall.iter().map(|all| (all.name.as_str(), all.tests)).collect();
    assert_eq!(said, [("New", 2), ("Old", 2)]);
}

#[test]
fn cooling_gain_of_one_card_has_an_interval() {
    let at = |condition: &str, mb_s: f64| {
        (0..6).map(|i| run(condition, mb_s + f64::from(i))).collect::<Vec<CardRun>>()
    };
    let of = |active: &str, passive: &str| {
        let runs = [at(active, 780.0), at(passive, 590.0)].concat();
        comparison(divide_runs(&card("A"), runs, &RunDivision::BySetting)).cooling
    };
    let found = of("cooling=active", "cooling=passive");
    assert_eq!((found.len(), found[0].name.as_str(), found[0].tests), (1, "A", 1));
    let gain = &found[0];
    assert!((1.25..1.4).contains(&gain.factor) && gain.probability_faster > 0.8, "{gain:?}");
    assert!(gain.ci95[0] <= gain.factor && gain.factor <= gain.ci95[1], "{gain:?}");
    let runs = [at("cooling=active", 590.0), at("cooling=passive", 780.0)].concat();
    let slower = &comparison(divide_runs(&card("A"), runs, &RunDivision::BySetting)).cooling[0];
    assert!(slower.factor < 0.8 && slower.probability_faster < 0.2, "{slower:?}");
    assert!(slower.ci95[0] <= slower.factor && slower.factor <= slower.ci95[1], "{slower:?}");
}

#[test]
fn cooling_gain_needs_equal_rig_and_a_cooled_card() {
    let of = |active: &[&str]| {
        let with = |words: &[&str], mb_s: f64| {
            let mut one = run(words[0], mb_s);
            words.iter().for_each(|word| one.setting.condition.set_stated(word).unwrap());
            one
        };
        let runs = vec![with(active, 780.0), with(&["cooling=passive"], 590.0)];
        comparison(divide_runs(&card("A"), runs, &RunDivision::BySetting)).cooling.len()
    };
    assert_eq!(of(&["cooling=active"]), 1);
    assert_eq!(of(&["cooling=active", "reader=slot"]), 0);
    assert_eq!(of(&["cooling=active", "cooling_of=reader"]), 0);
}
