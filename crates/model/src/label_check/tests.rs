//! Labels of genuine and fake cards.

use super::*;
use crate::mark_result::MarkOutcome;
use cardscope_sd::label::parse;
use cardscope_sd::registers::Ssr;

const FAKE: &str = "1TB U3 A2 V30 633x 'up to 95 MB/s' 4K SDXC UHS-I C10";

fn read(text: &str) -> CardLabel {
    parse(text).unwrap()
}

fn found<'a>(findings: &'a [Finding], claim: &str) -> Vec<&'a Finding> {
    findings.iter().filter(|f| f.claim == claim).collect()
}

fn alone(text: &str) -> Vec<Finding> {
    judge_label(&read(text), &LabelEvidence::default())
}

fn claims(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|f| f.claim.as_str()).collect()
}

#[test]
fn nonexistent_mark_finding_lists_valid_marks() {
    for (text, word) in [(FAKE, "4K"), ("U2 64GB", "U2"), ("V31", "V31"), ("A3", "A3"), ("4K UHD", "UHD")] {
        let findings = alone(text);
        let of = found(&findings, "label-mark-unknown");
        assert!(
            of.iter().any(|f| f.verdict.contains(&format!(" {word} ")) && f.evidence[1].1.contains("V90")),
            "{findings:?}"
        );
    }
    assert!(found(&alone("64GB U3 V30 A2 C10 UHS-I SDXC"), "label-mark-unknown").is_empty());
}

/// Labels with a contradiction.
#[rstest::rstest]
#[case("label-family", &["64GB SDHC", "16GB SDXC", "1TB SDHC", "4TB SDXC", "SDHC SDXC"])]
#[case("label-mark-combination", &["U1 U3", "V60 UHS-I U3", "C4 U1", "U1 V30", "E600 UHS-I"])]
fn contradictory_labels_get_one_finding(#[case] claim: &str, #[case] labels: &[&str]) {
    for text in labels {
        assert_eq!(found(&alone(text), claim).len(), 1, "{text}");
    }
}

#[rstest::rstest]
#[case("label-family", &["32GB SDHC", "64GB SDXC", "1TB SDXC", "4TB SDUC", "2TB SDXC"])]
#[case("label-mark-combination", &["C10 V90 UHS-II U3", "V90 UHS-I UHS-II U3", "C10 U1", "U1 V10", "U3 V90",
    "E600 SD Express UHS-I", "C10 U3 V30 A2 UHS-I"])]
fn consistent_labels_get_no_finding(#[case] claim: &str, #[case] labels: &[&str]) {
    for text in labels {
        assert!(found(&alone(text), claim).is_empty(), "{text}");
    }
}

/// Worst finding about the printed capacity.
fn capacity(text: &str, announced: u64, usable: Option<u64>) -> (FindingWeight, String) {
    let seen = LabelEvidence {
        announced_bytes: Some(announced),
        usable_bytes: usable,
        usable_confidence: 0.999,
        ..LabelEvidence::default()
    };
    let findings = judge_label(&read(text), &seen);
    let worst = found(&findings, "label-capacity").into_iter().max_by_key(|f| f.weight).unwrap();
    (worst.weight, worst.verdict.clone())
}

#[test]
fn uncertain_usable_size_is_only_a_hint() {
    let of = |usable_confidence| {
        let (announced_bytes, usable_bytes) = (Some(64_000_000_000), Some(8_000_000_000));
        let seen =
            LabelEvidence { announced_bytes, usable_bytes, usable_confidence, ..LabelEvidence::default() };
        let findings = judge_label(&read("64 GB"), &seen);
        let of_usable = |f: &&Finding| f.verdict.contains("really holds");
        findings.iter().find(of_usable).unwrap().weight
    };
    assert_eq!((of(0.999), of(0.8)), (FindingWeight::Bad, FindingWeight::Hint));
}

#[test]
fn capacity_deviation_is_reported_in_percent() {
    // docs/reference/reports.md#sd-card-round-up: smallest and largest of the 32 GB cards, and the 128 GB one.
    for (text, bytes) in [("32GB", 31_393_316_864), ("32GB", 32_107_397_120), ("128GB", 125_342_580_736)] {
        let (weight, verdict) = capacity(text, bytes, None);
        assert_eq!(weight, FindingWeight::Note, "{verdict}");
        assert!(verdict.ends_with("as usual."), "{verdict}");
    }
    let (_, verdict) = capacity("32GB", 31_393_316_864, None);
    assert!(verdict.contains("31.4 GB, 1.9 % less than the printed 32GB"), "{verdict}");
    let (weight, verdict) = capacity("1TB", 52_000_000_000, None);
    assert_eq!(weight, FindingWeight::Bad);
    assert!(verdict.contains("94.8 % less"), "{verdict}");
}

#[test]
fn usable_size_below_label_is_bad() {
    let (weight, verdict) = capacity("1TB", 1_000_000_000_000, Some(52_000_000_000));
    assert_eq!(weight, FindingWeight::Bad);
    assert!(verdict.contains("really holds 52 GB"), "{verdict}");
    let whole = capacity("64GB", 63_864_569_856, Some(63_864_569_856));
    assert_eq!(whole.0, FindingWeight::Note);
}

fn speed(text: &str, read_mb_s: &[f64], ceiling_mb_s: Option<f64>) -> (FindingWeight, String) {
    let measured =
        MeasuredSpeeds { read_mb_s: read_mb_s.to_vec(), ceiling_mb_s, ..MeasuredSpeeds::default() };
    let findings = judge_label(&read(text), &LabelEvidence { measured, ..LabelEvidence::default() });
    let found = found(&findings, "label-speed");
    (found[0].weight, found[0].verdict.clone())
}

#[test]
fn printed_speed_is_bad_only_far_below_in_every_run() {
    for (runs, ceiling, weight, why) in [
        (&[80.0, 85.0, 82.0][..], Some(104.0), FindingWeight::Note, "reached"),
        (&[60.0, 61.0, 60.0], Some(104.0), FindingWeight::Hint, "below, not far below"),
        (&[20.0, 21.0, 20.0], Some(104.0), FindingWeight::Bad, "far below in every run"),
        (&[20.0], Some(104.0), FindingWeight::Hint, "one run proves nothing"),
        (&[20.0, 20.0, 90.0], Some(104.0), FindingWeight::Note, "one run reached it"),
        (&[20.0, 21.0, 20.0], None, FindingWeight::Hint, "who knows the reader"),
    ] {
        assert_eq!(speed("95 MB/s", runs, ceiling).0, weight, "{why}");
    }
}

#[test]
fn single_slow_run_is_a_hint() {
    let (weight, verdict) = speed("64GB 'up to 300 MB/s'", &[117.0], Some(500.0));
    assert_eq!(weight, FindingWeight::Hint);
    assert!(verdict.contains("reading reached 117 MB/s (39 %)"), "{verdict}");
    let (weight, verdict) = speed("95 MB/s", &[93.0], Some(104.0));
    assert!(
        weight == FindingWeight::Note && verdict.starts_with("The card reaches its printed 95"),
        "{verdict}"
    );
}

#[test]
fn slow_bus_makes_printed_speed_not_testable() {
    let (weight, verdict) = speed("170MB/s", &[38.0, 38.0, 38.0], Some(53.2));
    assert_eq!(weight, FindingWeight::Note);
    assert!(
        verdict.contains("needs a faster bus: the bus carries 53.2 MB/s, and reading reached 38.0 MB/s"),
        "{verdict}"
    );
}

#[test]
fn judged_speed_has_outcome_and_limit() {
    let of = |runs: &[f64], ceiling_mb_s| {
        let measured = MeasuredSpeeds {
            read_mb_s: runs.to_vec(),
            bus: Some("SDR104".to_owned()),
            ceiling_mb_s,
            ..MeasuredSpeeds::default()
        };
        let judged = judge_speeds(&read("'up to 300 MB/s'"), &measured).remove(0);
        (judged.outcome, judged.because)
    };
    let (outcome, why) = of(&[92.0, 91.0, 92.0], Some(104.0));
    assert_eq!((outcome, why.as_str()), (MarkOutcome::NotTestable, "the bus (SDR104) carries 104 MB/s"));
    assert_eq!(of(&[92.0; 3], Some(985.0)).0, MarkOutcome::Missed);
    assert_eq!(of(&[92.0], Some(985.0)).0, MarkOutcome::Borderline, "one run proves nothing");
    assert_eq!(of(&[200.0; 3], Some(985.0)).0, MarkOutcome::Borderline, "not far below");
    assert_eq!(of(&[92.0; 3], None).0, MarkOutcome::NotTestable, "who knows the reader");
    assert_eq!(of(&[260.0], None).0, MarkOutcome::Met);
}

#[test]
fn x_rating_must_agree_with_printed_speed() {
    assert!(found(&alone(FAKE), "label-speed").is_empty(), "633x means 95 MB/s");
    let findings = alone("633x 'up to 200 MB/s'");
    assert!(found(&findings, "label-speed")[0].verdict.starts_with("633x means 95 MB/s"), "{findings:?}");
    assert!(claims(&alone("170MB/s UHS-I")).contains(&"label-speed"), "UHS-I carries 104 MB/s");
}

#[test]
fn printed_mark_above_ssr_claim_is_reported() {
    let mut identity = Identity {
        ssr: Ssr::from_hex(&format!("{:0<128}", "8000000003000000020290000b0500")).ok(),
        ..Identity::default()
    };
    identity.derive_fields();
    let seen = LabelEvidence { identity: Some(&identity), ..LabelEvidence::default() };
    let findings = judge_label(&read("C10 U3"), &seen);
    let verdicts: Vec<&str> =
        found(&findings, "label-mark-against-card").iter().map(|f| f.verdict.as_str()).collect();
    assert_eq!(
        verdicts,
        [
            "The label says C10, but the card itself reports C4 only.",
            "The label says U3, but the card itself reports no U mark."
        ]
    );
    assert!(found(&judge_label(&read("C4"), &seen), "label-mark-against-card").is_empty());
    assert!(
        found(&alone("C10 U3"), "label-mark-against-card").is_empty(),
        "a reader that hides the register says nothing"
    );
}

#[test]
fn speed_below_mark_is_a_hint() {
    let measured = MeasuredSpeeds { write_mb_s: vec![9.0, 12.0], ..MeasuredSpeeds::default() };
    let findings = judge_label(&read("U3 C10"), &LabelEvidence { measured, ..LabelEvidence::default() });
    let told = found(&findings, "label-mark-speed");
    assert_eq!(told.len(), 1);
    assert!(
        told[0].weight == FindingWeight::Hint && told[0].verdict.starts_with("U3 promises 30 MB/s writes"),
        "{told:?}"
    );
}

proptest::proptest! {
    #[test]
    fn label_judge_never_panics(text: String, announced: Option<u64>, usable: Option<u64>, speeds: Vec<f64>) {
        let measured = MeasuredSpeeds { read_mb_s: speeds.clone(), write_mb_s: speeds, ..MeasuredSpeeds::default() };
        let seen = LabelEvidence { announced_bytes: announced, usable_bytes: usable, measured, ..LabelEvidence::default() };
        if let Ok(label) = parse(&text) {
            let _ = judge_label(&label, &seen);
        }
    }

    #[test]
    fn label_judge_never_panics_on_label_words(words in proptest::collection::vec("(up to|[0-9.]{1,4}|gb|tb|mb/s|x|[cuvae][0-9]{1,3}|uhs-?(i|ii|iii)?|class|sd[hxu]c|micro|express|read|w|r|'|/|4k|video speed class|é)", 0..20)) {
        let text = words.join(" ");
        if let Ok(label) = parse(&text) {
            let _ = judge_label(&label, &LabelEvidence { announced_bytes: Some(64_000_000_000), ..LabelEvidence::default() });
            let json = serde_json::to_string(&label).unwrap();
            proptest::prop_assert!(serde_json::from_str::<CardLabel>(&json).is_ok());
        }
    }
}
