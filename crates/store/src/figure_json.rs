//! Figures of a run as compact JSON without field names: a million runs have ten million figures.

use crate::connection::{SqlResult, json_text, unreadable};
use cardscope_model::result::ToolPrints;
use cardscope_model::run::{LatencyPercentiles, TestFigure};
use cardscope_model::test_name::TestName;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Test, step, MB/s, I/Os per second, mean latency in µs, other latencies, value as printed.
type Compact<'a> = (
    TestName,
    Option<Cow<'a, str>>,
    f64,
    Option<f64>,
    Option<f64>,
    LongestLatency,
    Option<(f64, Cow<'a, str>)>,
);

/// Longest latency in µs, with the percentiles if there are any. Rows of earlier versions and of many tools have only
/// the longest.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum LongestLatency {
    MaxOnly(Option<f64>),
    MaxAndPercentiles(Option<f64>, Option<f64>, Option<f64>, Option<f64>),
}

impl LongestLatency {
    fn from_figure(f: &TestFigure) -> Self {
        let LatencyPercentiles { p50, p99, p999 } = f.percentiles_us;
        match f.percentiles_us.is_unknown() {
            true => LongestLatency::MaxOnly(f.max_latency_us),
            false => LongestLatency::MaxAndPercentiles(f.max_latency_us, p50, p99, p999),
        }
    }

    fn into_parts(self) -> (Option<f64>, LatencyPercentiles) {
        match self {
            LongestLatency::MaxOnly(max) => (max, LatencyPercentiles::default()),
            LongestLatency::MaxAndPercentiles(max, p50, p99, p999) => {
                (max, LatencyPercentiles { p50, p99, p999 })
            }
        }
    }
}

pub(crate) fn figures_to_json(figures: &[TestFigure]) -> SqlResult<String> {
    fn compact(f: &TestFigure) -> Compact<'_> {
        let printed = f.as_printed.as_ref().map(|p| (p.value, p.unit.as_str().into()));
        let step = f.step.as_deref().map(Cow::from);
        (f.name(), step, f.mb_s, f.iops, f.latency_us, LongestLatency::from_figure(f), printed)
    }
    json_text(&figures.iter().map(compact).collect::<Vec<_>>())
}

pub(crate) fn figures_from_json(text: &str) -> SqlResult<Vec<TestFigure>> {
    let all: Vec<Compact<'_>> =
        serde_json::from_str(text).map_err(|e| unreadable("figures", e.to_string()))?;
    let figure = |(test, step, mb_s, iops, latency_us, longest, printed): Compact<'_>| {
        let (max_latency_us, percentiles_us) = longest.into_parts();
        TestFigure {
            step: step.map(Cow::into_owned),
            iops,
            latency_us,
            max_latency_us,
            percentiles_us,
            as_printed: printed.map(|(value, unit)| ToolPrints { value, unit: unit.into_owned() }),
            ..TestFigure::from_speed(test, mb_s)
        }
    };
    Ok(all.into_iter().map(figure).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_figure() -> impl Strategy<Value = TestFigure> {
        let number = || prop::option::of(0.0..1e12f64);
        let printed = prop::option::of((0.0..1e12f64, ".{0,8}"));
        let percentiles =
            (number(), number(), number()).prop_map(|(p50, p99, p999)| LatencyPercentiles { p50, p99, p999 });
        (prop::option::of(".{0,8}"), 0.0..1e6f64, number(), number(), number(), percentiles, printed)
            .prop_map(|(step, mb_s, iops, latency_us, max_latency_us, percentiles_us, printed)| TestFigure {
                step,
                iops,
                latency_us,
                max_latency_us,
                percentiles_us,
                as_printed: printed.map(|(value, unit)| ToolPrints { value, unit }),
                ..TestFigure::from_speed("RND4K Q32T1 mix70".parse().unwrap(), mb_s)
            })
    }

    proptest! {
        #[test]
        fn figures_round_trip_exactly(figures in prop::collection::vec(any_figure(), 0..6)) {
            prop_assert_eq!(figures_from_json(&figures_to_json(&figures).unwrap()).unwrap(), figures);
        }

        #[test]
        fn row_without_percentiles_is_read(max in prop::option::of(0.0..1e12f64)) {
            let row = format!(r#"[["RND4K Q1T1 read",null,9.5,2300.0,430.0,{},null]]"#, json_text(&max).unwrap());
            let figures = figures_from_json(&row).unwrap();
            prop_assert_eq!((figures[0].max_latency_us, figures[0].percentiles_us), (max, LatencyPercentiles::default()));
        }

        #[test]
        fn arbitrary_text_never_panics(text in "\\PC{0,60}") {
            let _ = figures_from_json(&text);
        }
    }
}
