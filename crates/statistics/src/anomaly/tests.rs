//! Figures of docs/reference/reports.md, and similar ones without an anomaly.

use super::*;
use cardscope_model::condition::{Condition, ConditionOrigin};
use cardscope_model::finding::FindingWeight;
use cardscope_model::result::{RunResult, TestResult};
use cardscope_model::series::SeriesBucket;

fn result(name: &str, mb_s: f64) -> TestResult {
    TestResult { seconds: 20.0, ..TestResult::from_speed(name.parse().unwrap(), mb_s) }
}

/// Runs from the name of a test and its speed in each.
fn runs(tests: &[(&str, &[f64])]) -> Vec<RunResult> {
    let count = tests.iter().map(|(_, speeds)| speeds.len()).max().unwrap_or(0);
    let run = |n: usize| RunResult {
        run: n as u32 + 1,
        counted: true,
        results: tests.iter().filter_map(|(name, speeds)| Some(result(name, *speeds.get(n)?))).collect(),
        ..RunResult::default()
    };
    (0..count).map(run).collect()
}

fn find_anomalies(runs: &[RunResult], ceiling_mb_s: Option<f64>) -> Vec<Finding> {
    session_anomalies(&AnomalySession { runs, condition: &Condition::default(), ceiling_mb_s })
}

fn claims(found: &[Finding]) -> Vec<&str> {
    found.iter().map(|f| f.claim.as_str()).collect()
}

fn evidence(found: &Finding) -> String {
    found.evidence.iter().map(|(what, value)| format!("{what}: {value}; ")).collect()
}

#[test]
fn adata_with_fan_has_two_write_levels() {
    let found = find_anomalies(
        &runs(&[
            ("SEQ1G Q1T1 read", &[750.0, 749.0, 758.0, 757.0, 763.0, 768.0, 676.0, 772.0, 768.0, 771.0]),
            ("SEQ512K Q1T1 read", &[512.0, 529.0, 530.0, 531.0, 526.0, 523.0, 515.0, 514.0, 516.0, 513.0]),
            ("SEQ32M Q32T1 read", &[768.0, 765.0, 761.0, 774.0, 764.0, 777.0, 772.0, 763.0, 770.0, 761.0]),
            ("SEQ1G Q1T1 write", &[614.0, 598.0, 610.0, 611.0, 337.0, 383.0, 424.0, 287.0, 372.0, 288.0]),
            ("RND4K Q1T1 read", &[38.0, 34.0, 33.0, 33.0, 10.0, 12.0, 14.0, 10.0, 12.0, 19.0]),
        ]),
        None,
    );
    let write = found.iter().find(|f| f.claim == "bimodal-runs" && f.verdict.contains("write")).unwrap();
    assert!(write.verdict.contains("SEQ1G Q1T1 write alternates between"), "{}", write.verdict);
    let text = evidence(write);
    assert!(text.contains("40 % of the runs (1 2 3 4)") && text.contains("4 KiB read time"), "{text}");
    assert!(!found.iter().any(|f| f.claim == "hot-runs"), "{found:?}");
    assert!(!found.iter().any(|f| f.verdict.contains("SEQ1G Q1T1 read alternates")), "{found:?}");
    let behind = found.iter().find(|f| f.claim == "runs-behind-cache").unwrap();
    assert!(behind.verdict.starts_with("6 of 10"), "{}", behind.verdict);
}

#[test]
fn sandisk_reads_far_below_its_class() {
    let sandisk = find_anomalies(
        &runs(&[
            ("SEQ1G Q1T1 read", &[834.0, 803.0]),
            ("SEQ1G Q1T1 write", &[648.0, 650.0]),
            ("RND4K Q1T1 read", &[13.0, 13.0]),
            ("RND4K Q32T1 read", &[413.0, 409.0]),
        ]),
        None,
    );
    assert_eq!(claims(&sandisk), ["read-below-class"]);
    assert!(sandisk[0].verdict.contains("13.0 MB/s"), "{}", sandisk[0].verdict);
    // 411 / 13 = 31.6, above the 13 to 23 of the others.
    assert!(evidence(&sandisk[0]).contains("31.6 times"), "{}", evidence(&sandisk[0]));
    assert!((sandisk[0].confidence - 0.9).abs() < 1e-9);
    for (write, single, deep) in
        [(614.0, 38.0, 465.0), (288.0, 10.0, 251.0), (597.0, 33.0, 463.0), (280.0, 20.0, 398.0)]
    {
        let found = find_anomalies(
            &runs(&[
                ("SEQ1G Q1T1 read", &[750.0]),
                ("SEQ1G Q1T1 write", &[write]),
                ("RND4K Q1T1 read", &[single]),
                ("RND4K Q32T1 read", &[deep]),
            ]),
            None,
        );
        assert!(found.is_empty(), "{single}: {found:?}");
    }
}

#[test]
fn reads_are_compared_within_the_class_only() {
    let slow =
        runs(&[("SEQ1G Q1T1 read", &[350.0]), ("SEQ1G Q1T1 write", &[340.0]), ("RND4K Q1T1 read", &[2.0])]);
    let on = |mode: &str| {
        let mut condition = Condition::default();
        condition.set("bus_mode", mode, ConditionOrigin::Read);
        let found =
            session_anomalies(&AnomalySession { runs: &slow, condition: &condition, ceiling_mb_s: None });
        found.into_iter().find(|f| f.claim == "read-below-class")
    };
    assert_eq!(on("USB 5000 Mbit/s UAS"), None);
    assert!(evidence(&on("PCIe 3.0 x1").unwrap()).contains("SD Express"));
    assert!(evidence(&on("UHS-II range A").unwrap()).contains("UHS-I:"));
}

#[test]
fn sony_reads_far_below_other_uhs_cards() {
    // hdparm and 4K random read on a Raspberry Pi 4.
    let found = find_anomalies(&runs(&[("SEQ1M Q1T1 read", &[40.78]), ("RND4K Q1T1 read", &[1.58])]), None);
    assert_eq!(claims(&found), ["read-below-class"]);
    let found = find_anomalies(&runs(&[("SEQ1M Q1T1 read", &[43.92]), ("RND4K Q1T1 read", &[10.80])]), None);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn half_mib_writes_faster_than_sequential_are_found() {
    // The report says that the SanDisk Ultra 64 GB stayed below 10 MB/s in order while 512K was "unusually fast"; its
    // figures are in a picture, so these are made up.
    let odd = runs(&[("SEQ1M Q1T1 write", &[9.5]), ("RND512K Q1T1 write", &[19.0])]);
    let found = find_anomalies(&odd, None);
    assert_eq!(claims(&found), ["half-mib-faster"]);
    assert!(found[0].verdict.contains("2.00 × as fast"), "{}", found[0].verdict);
    let plain = runs(&[("SEQ1M Q1T1 write", &[20.0]), ("RND512K Q1T1 write", &[12.0])]);
    assert!(find_anomalies(&plain, None).is_empty());
}

#[test]
fn evo_plus_has_a_fake_queue() {
    // docs/reference/flash.md#queues: 4.2 MB/s at Q1, 0.03 at Q32.
    let found = find_anomalies(&runs(&[("RND4K Q1T1 write", &[4.2]), ("RND4K Q32T1 write", &[0.03])]), None);
    assert_eq!(claims(&found), ["fake-queue"]);
    // PRO Plus 128: 2.21 at Q1, 4.0 at Q32; reads 8.5 and 9.5.
    let plain = runs(&[
        ("RND4K Q1T1 write", &[2.21]),
        ("RND4K Q32T1 write", &[4.0]),
        ("RND4K Q1T1 read", &[8.5]),
        ("RND4K Q32T1 read", &[9.5]),
    ]);
    assert!(find_anomalies(&plain, None).is_empty());
    let slower = runs(&[("RND4K Q1T1 write", &[2.0]), ("RND4K Q32T1 write", &[1.5])]);
    assert_eq!(claims(&find_anomalies(&slower, None)), ["queue-slower"]);
}

#[test]
fn small_test_of_the_pro_is_optimistic() {
    let over = |mib: u64, mb_s: f64| SizedTest {
        test: "RND4K Q1T1 write".parse().unwrap(),
        area_bytes: mib << 20,
        mb_s,
    };
    let found = optimistic_small_tests(&[over(64, 2.32), over(1024, 0.58)]);
    assert_eq!(claims(&found), ["small-test-flatters"]);
    assert!(
        found[0].verdict.contains("25 %") && evidence(&found[0]).contains("over 1 GiB: 0.580 MB/s"),
        "{found:?}"
    );
    assert!(optimistic_small_tests(&[over(64, 2.21), over(1024, 2.13)]).is_empty());
    assert!(optimistic_small_tests(&[over(64, 2.32), over(128, 0.58)]).is_empty());
    let whole = SizedTest { area_bytes: u64::MAX, ..over(1, 1.0) };
    assert!(optimistic_small_tests(&[whole]).is_empty(), "one size says nothing, however large");
}

#[test]
fn speed_above_the_bus_is_attributed_to_the_host() {
    let found =
        find_anomalies(&runs(&[("SEQ1M Q8T1 read", &[1818.0]), ("SEQ1M Q8T1 write", &[88.0])]), Some(104.0));
    assert_eq!(claims(&found), ["above-bus-ceiling"]);
    assert!(found[0].verdict.starts_with("1 of 2 tests"), "{}", found[0].verdict);
    assert!(find_anomalies(&runs(&[("SEQ1M Q8T1 read", &[96.0])]), Some(104.0)).is_empty());
}

#[test]
fn slowing_usb_reads_blame_the_hot_controller() {
    // "over 300 MB/s" with a fan, "sometimes 2-3x slower" without.
    let load = UsbLoad { seconds: 180.0, first_mb_s: 310.0, last_mb_s: 125.0, ..UsbLoad::default() };
    let found = hot_host_finding(&load).unwrap();
    assert!(
        found.verdict.contains("2.5 × slower") && found.weight == FindingWeight::Hint,
        "{}",
        found.verdict
    );
    assert!((found.confidence - 0.5).abs() < 1e-9);
    let sure = hot_host_finding(&UsbLoad { null_rise: Some(0.4), host_rise_k: Some(25.0), ..load }).unwrap();
    assert!(sure.confidence > 0.9);
    // A card at 82 °C explains it by itself; a short load and a steady one say nothing.
    assert_eq!(hot_host_finding(&UsbLoad { card_c: Some(82.0), ..load }), None);
    assert_eq!(hot_host_finding(&UsbLoad { seconds: 10.0, ..load }), None);
    assert_eq!(hot_host_finding(&UsbLoad { last_mb_s: 300.0, ..load }), None);
}

#[test]
fn hot_host_is_searched_on_usb_only() {
    let mut falling = runs(&[("SEQ1M Q8T1 read", &[200.0])]);
    let second = |at: u32| SeriesBucket {
        at_s: at,
        bytes: if at < 60 { 310_000_000 } else { 120_000_000 },
        ..SeriesBucket::default()
    };
    falling[0].results[0].series = (0..120).map(second).collect();
    falling[0].results[0].seconds = 120.0;
    let mut usb = Condition::default();
    usb.set("bus_mode", "USB 5000 Mbit/s UAS", ConditionOrigin::Read);
    let of = |condition: &Condition| {
        session_anomalies(&AnomalySession { runs: &falling, condition, ceiling_mb_s: None })
    };
    assert_eq!(claims(&of(&usb)), ["hot-usb-host"]);
    assert!(of(&Condition::default()).is_empty());
}
