//! Figures as they stand in a run's row: JSON without field names, since a million runs have ten million of them.

use crate::connection::{Outcome, unreadable};
use crate::write::json;
use cardscope_model::log::{LogFigure, LogRun};
use cardscope_model::result::{Run, ToolPrints};
use cardscope_model::session_file::Figure;
use cardscope_model::test_name::TestName;

/// Test, step, MB/s, I/Os per second, mean and longest latency in microseconds, as printed.
type Compact<'a> =
    (TestName, Option<&'a str>, f64, Option<f64>, Option<f64>, Option<f64>, Option<(f64, &'a str)>);
/// The same as it is read.
type Read = (TestName, Option<String>, f64, Option<f64>, Option<f64>, Option<f64>, Option<(f64, String)>);

/// The fastest that is taken for a speed, in MB/s (10^6): a petabyte a second, a thousand times what any memory does.
/// Squares of it summed over any number of runs stay numbers.
pub(crate) const MOST_MB_S: f64 = 1e9;

/// The text of figures.
pub(crate) fn to_text(figures: &[Figure]) -> Outcome<String> {
    let all: Vec<Compact<'_>> = figures
        .iter()
        .map(|f| {
            let printed = f.printed.as_ref().map(|p| (p.value, p.unit.as_str()));
            (f.test, f.step.as_deref(), f.mb_s, f.iops, f.latency_us, f.max_latency_us, printed)
        })
        .collect();
    json(&all)
}

/// The figures of a text.
pub(crate) fn of_text(text: &str) -> Outcome<Vec<Figure>> {
    let all: Vec<Read> = serde_json::from_str(text).map_err(|e| unreadable("figures", e.to_string()))?;
    Ok(all.into_iter().map(figure).collect())
}

fn figure((test, step, mb_s, iops, latency_us, max_latency_us, printed): Read) -> Figure {
    let printed = printed.map(|(value, unit)| ToolPrints { value, unit });
    Figure { test, step, mb_s, iops, latency_us, max_latency_us, printed }
}

/// The figures of a run that was measured here.
pub(crate) fn of_run(run: &Run) -> Vec<Figure> {
    let figures = run.results.iter().map(|r| Figure {
        test: r.name(),
        step: r.step.clone(),
        mb_s: r.mb_s,
        iops: countable(Some(r.iops)),
        latency_us: countable(Some(r.latency_us.mean)),
        max_latency_us: countable(Some(r.latency_us.max)),
        printed: r.tool_prints.clone().filter(|p| is_countable(p.value)),
    });
    figures.filter(|f| is_speed(f.mb_s)).collect()
}

/// The figures of a run in a log, in the shape that all runs share; what is no speed is left out.
#[must_use]
pub fn of_log(run: &LogRun) -> Vec<Figure> {
    run.results.iter().filter(|f| is_speed(f.mb_s)).map(of_log_figure).collect()
}

fn of_log_figure(f: &LogFigure) -> Figure {
    Figure {
        test: f.name(),
        step: f.step.clone(),
        mb_s: f.mb_s,
        iops: countable(f.iops),
        latency_us: countable(f.latency_us),
        max_latency_us: countable(f.max_latency_us),
        printed: Some(f.as_printed.clone()).filter(|p| is_countable(p.value)),
    }
}

/// False for what no card can have done: bad input has NaN, infinity, negative speeds and 1e308 MB/s.
pub(crate) fn is_speed(mb_s: f64) -> bool {
    (0.0..=MOST_MB_S).contains(&mb_s)
}

/// False for what cannot be summed up over many runs: no number, or one beyond the fastest speed in the least unit.
fn is_countable(number: f64) -> bool {
    number.abs() <= MOST_MB_S * 1e6
}

fn countable(number: Option<f64>) -> Option<f64> {
    number.filter(|n| is_countable(*n))
}

/// A figure as a log has it.
pub(crate) fn to_log(figure: Figure) -> LogFigure {
    LogFigure {
        test: figure.test.pattern,
        op: figure.test.op,
        step: figure.step,
        mb_s: figure.mb_s,
        iops: figure.iops,
        latency_us: figure.latency_us,
        max_latency_us: figure.max_latency_us,
        as_printed: figure.printed.unwrap_or(ToolPrints { value: figure.mb_s, unit: "MB/s".to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_figure() -> impl Strategy<Value = Figure> {
        let number = || prop::option::of(0.0..1e12f64);
        let printed = prop::option::of((0.0..1e12f64, ".{0,8}"));
        (prop::option::of(".{0,8}"), 0.0..1e6f64, number(), number(), number(), printed).prop_map(
            |(step, mb_s, iops, latency_us, max_latency_us, printed)| Figure {
                test: "RND4K Q32T1 mix70".parse().unwrap(),
                step,
                mb_s,
                iops,
                latency_us,
                max_latency_us,
                printed: printed.map(|(value, unit)| ToolPrints { value, unit }),
            },
        )
    }

    proptest! {
        #[test]
        fn figures_come_back_to_the_last_digit(figures in prop::collection::vec(any_figure(), 0..6)) {
            prop_assert_eq!(of_text(&to_text(&figures).unwrap()).unwrap(), figures);
        }

        #[test]
        fn no_text_makes_reading_panic(text in "\\PC{0,60}") {
            let _ = of_text(&text);
        }
    }

    #[test]
    fn a_speed_that_is_no_number_is_left_out() {
        let mut figure =
            to_log(of_text(r#"[["SEQ1M Q1T1 read",null,12.5,null,null,null,null]]"#).unwrap().remove(0));
        figure.iops = Some(f64::NAN);
        figure.latency_us = Some(-1e308);
        let mut run = LogRun { run: 1, results: vec![figure], ..LogRun::default() };
        assert_eq!((of_log(&run)[0].iops, of_log(&run)[0].latency_us), (None, None));
        for wrong in [f64::NAN, f64::INFINITY, -1.0, 1.1 * MOST_MB_S, 1.7e308] {
            run.results[0].mb_s = wrong;
            assert_eq!(of_log(&run), []);
        }
    }
}
