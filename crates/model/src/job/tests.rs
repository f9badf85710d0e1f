//! Scores: the reports' arithmetic, and rules that hold for any card.

use super::{Figure, Figures, JOBS, JobFit, find_job, parse_job, score_job, score_with_upper_bounds};
use proptest::prelude::*;

/// Figures of a good card.
fn good() -> Figures {
    Figures {
        read_mb_s: Some(600.0),
        write_mb_s: Some(300.0),
        sustained_write_mb_s: Some(200.0),
        random_read_iops: Some(6000.0),
        random_write_iops: Some(4000.0),
        longest_write_s: Some(0.05),
        capacity_gb: Some(256.0),
    }
}

#[test]
fn load_seconds_match_the_report() {
    let job = find_job("game-load").unwrap();
    for (mb_s, seconds, said) in [(600.0, 16.667, "load 10 GB: 16.7 s"), (800.0, 12.5, "load 10 GB: 12.5 s")]
    {
        let found = score_job(&job, &Figures { read_mb_s: Some(mb_s), ..good() });
        assert!((found.seconds[0].1 - seconds).abs() < 0.001, "{found:?}");
        assert_eq!(found.meaning[0], said);
    }
}

#[test]
fn builtin_jobs_rate_a_good_card_fair_or_better() {
    let jobs = JOBS.parse_all(parse_job).unwrap();
    assert_eq!(jobs.len(), 9);
    for job in jobs {
        let found = score_job(&job, &good());
        assert!(found.fit >= JobFit::Fair && found.missed.is_empty(), "{found:?}");
    }
}

#[test]
fn other_side_limits_sequential_work() {
    let mut job = find_job("game-move").unwrap();
    job.work[0].other_side_mb_s = Some(30.0);
    let found = score_job(&job, &good());
    assert!((found.seconds[0].1 - 2000.0).abs() < 1e-9, "{found:?}");
}

#[test]
fn missed_capacity_demand_makes_card_unfit() {
    let found = score_job(&find_job("game-move").unwrap(), &Figures { capacity_gb: Some(32.0), ..good() });
    assert_eq!(found.fit, JobFit::Unfit);
    assert!(found.missed[0].contains("capacity: 32.0 GB"), "{found:?}");
}

#[test]
fn long_stall_makes_fast_card_unfit_for_camera() {
    let found = score_job(&find_job("camera-4k").unwrap(), &Figures { longest_write_s: Some(1.4), ..good() });
    assert_eq!(found.fit, JobFit::Unfit);
    assert!(found.score.unwrap() <= 20.0 && found.missed[0].contains("1.40 s"), "{found:?}");
}

#[test]
fn unmeasured_figure_gives_no_score() {
    let found = score_job(&find_job("game-move").unwrap(), &Figures { sustained_write_mb_s: None, ..good() });
    assert_eq!((found.score, found.fit), (None, JobFit::Unknown));
    assert_eq!(found.missing, ["sustained write"]);
    let odd = Figures { read_mb_s: Some(f64::NAN), random_read_iops: Some(0.0), ..Figures::default() };
    assert_eq!(score_job(&find_job("game-load").unwrap(), &odd).fit, JobFit::Unknown);
}

#[test]
fn unmeasured_demand_limits_fit_to_fair() {
    // With reads only, the copy of a film is fast, but recording is unknown.
    let reads = Figures { read_mb_s: Some(90.0), random_read_iops: Some(3000.0), ..Figures::default() };
    let found = score_job(&find_job("camera-4k").unwrap(), &reads);
    assert_eq!((found.score, found.fit), (None, JobFit::Unknown), "{found:?}");
    assert!(!found.meaning.is_empty() && found.missing.contains(&"longest write".to_owned()), "{found:?}");
    let unasked = score_job(&find_job("camera-4k").unwrap(), &Figures { longest_write_s: None, ..good() });
    assert_eq!(unasked.fit, JobFit::Fair, "{unasked:?}");
}

#[test]
fn upper_bound_speed_limits_fit_to_fair() {
    let job = find_job("camera-4k").unwrap();
    assert_eq!(score_job(&job, &good()).fit, JobFit::Good);
    let at_best = [Figure::SustainedWriteMbS];
    let found = score_with_upper_bounds(&job, &good(), &at_best);
    assert_eq!((found.fit, found.score), (JobFit::Fair, score_job(&job, &good()).score));
    let slow = Figures { sustained_write_mb_s: Some(8.0), ..good() };
    assert_eq!(score_with_upper_bounds(&job, &slow, &at_best).fit, JobFit::Unfit);
    // The job has no demand on it, but its work depends on it.
    assert_eq!(score_with_upper_bounds(&find_job("game-move").unwrap(), &good(), &at_best).fit, JobFit::Fair);
    assert_eq!(score_with_upper_bounds(&find_job("game-load").unwrap(), &good(), &at_best).fit, JobFit::Good);
}

#[test]
fn invalid_jobs_are_refused_with_reason() {
    let job = |work: &str| format!("name = \"x\"\ntitle = \"x\"\nsource = \"x\"\n{work}");
    let work = "[[work]]\nwhat = \"w\"\nread_mb = 1\ngood_s = 1\npoor_s = 2\nnotice_s = 1\nweight = 1\nfrom = \"ours\"\n";
    assert!(parse_job(&job(work)).is_ok());
    for (text, says) in [
        (job("work = []\n"), "at least one [[work]]"),
        (job(&work.replace("read_mb = 1", "")), "amounts above 0"),
        (job(&work.replace("poor_s = 2", "poor_s = 1")), "poor_s above good_s"),
        (job(&work.replace("read_mb", "reed_mb")), "reed_mb"),
        (job(&work.replace("notice_s = 1", "notice_s = 0")), "notice_s above 0"),
        (job(&work.replace("ours", "")), "from where its weight is"),
        (job(&format!("{work}[[demand]]\nfigure = \"read-mb-s\"\nwhy = \"y\"\n")), "`least` or `most`"),
    ] {
        let error = parse_job(&text).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    assert!(find_job("pi-bot").unwrap_err().to_string().contains("pi-boot"));
}

proptest! {
    #[test]
    fn better_figure_never_lowers_score(
        base in prop::array::uniform7(0.01f64..2000.0), which in 0usize..7, factor in 1.0f64..50.0
    ) {
        let figures = |v: [f64; 7]| Figures {
            read_mb_s: Some(v[0]), write_mb_s: Some(v[1]), sustained_write_mb_s: Some(v[2]),
            random_read_iops: Some(v[3]), random_write_iops: Some(v[4]), longest_write_s: Some(v[5]), capacity_gb: Some(v[6]),
        };
        let mut better = base;
        better[which] = if which == 5 { base[5] / factor } else { base[which] * factor };
        for job in JOBS.parse_all(parse_job).unwrap() {
            let (before, after) = (score_job(&job, &figures(base)), score_job(&job, &figures(better)));
            prop_assert!(after.score.unwrap() >= before.score.unwrap() - 1e-9, "{before:?} {after:?}");
        }
    }
}
