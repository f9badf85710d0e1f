//! Figures of a run as compact JSON without field names: a million runs have ten million figures.

use crate::connection::{SqlResult, json_text, parse_json};
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

/// Longest latency in µs, with the percentiles 50, 99 and 99.9 if there are any. Rows of earlier versions and of many
/// tools have only the longest.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum LongestLatency {
    MaxOnly(Option<f64>),
    MaxAndPercentiles([Option<f64>; 4]),
}

pub(crate) fn figures_to_json(figures: &[TestFigure]) -> SqlResult<String> {
    fn compact(f: &TestFigure) -> Compact<'_> {
        let LatencyPercentiles { p50, p99, p999 } = f.percentiles_us;
        let longest = match f.percentiles_us.is_unknown() {
            true => LongestLatency::MaxOnly(f.max_latency_us),
            false => LongestLatency::MaxAndPercentiles([f.max_latency_us, p50, p99, p999]),
        };
        let printed = f.as_printed.as_ref().map(|p| (p.value, p.unit.as_str().into()));
        (f.name(), f.step.as_deref().map(Cow::from), f.mb_s, f.iops, f.latency_us, longest, printed)
    }
    json_text(&figures.iter().map(compact).collect::<Vec<_>>())
}

pub(crate) fn figures_from_json(text: &str) -> SqlResult<Vec<TestFigure>> {
    let figure = |(test, step, mb_s, iops, latency_us, longest, printed): Compact<'_>| {
        let (max_latency_us, percentiles_us) = match longest {
            LongestLatency::MaxOnly(max) => (max, LatencyPercentiles::default()),
            LongestLatency::MaxAndPercentiles([max, p50, p99, p999]) => {
                (max, LatencyPercentiles { p50, p99, p999 })
            }
        };
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
    Ok(parse_json::<Vec<Compact<'_>>>(text, "figures")?.into_iter().map(figure).collect())
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
