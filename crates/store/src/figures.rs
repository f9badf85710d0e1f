//! Figures as they stand in a run's row: JSON without field names, since a million runs have ten million of them.

use crate::connection::{Outcome, json, unreadable};
use cardscope_model::result::ToolPrints;
use cardscope_model::run::Figure;
use cardscope_model::test_name::TestName;
use std::borrow::Cow;

/// Test, step, MB/s, I/Os per second, mean and longest latency in microseconds, as printed.
type Compact<'a> =
    (TestName, Option<Cow<'a, str>>, f64, Option<f64>, Option<f64>, Option<f64>, Option<(f64, Cow<'a, str>)>);

/// The text of figures.
pub(crate) fn to_text(figures: &[Figure]) -> Outcome<String> {
    fn compact(f: &Figure) -> Compact<'_> {
        let printed = f.as_printed.as_ref().map(|p| (p.value, p.unit.as_str().into()));
        let step = f.step.as_deref().map(Cow::from);
        (f.name(), step, f.mb_s, f.iops, f.latency_us, f.max_latency_us, printed)
    }
    json(&figures.iter().map(compact).collect::<Vec<_>>())
}

/// The figures of a text.
pub(crate) fn of_text(text: &str) -> Outcome<Vec<Figure>> {
    let all: Vec<Compact<'_>> =
        serde_json::from_str(text).map_err(|e| unreadable("figures", e.to_string()))?;
    let figure = |(test, step, mb_s, iops, latency_us, max_latency_us, printed): Compact<'_>| Figure {
        step: step.map(Cow::into_owned),
        iops,
        latency_us,
        max_latency_us,
        as_printed: printed.map(|(value, unit)| ToolPrints { value, unit: unit.into_owned() }),
        ..Figure::of(test, mb_s)
    };
    Ok(all.into_iter().map(figure).collect())
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
                step,
                iops,
                latency_us,
                max_latency_us,
                as_printed: printed.map(|(value, unit)| ToolPrints { value, unit }),
                ..Figure::of("RND4K Q32T1 mix70".parse().unwrap(), mb_s)
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
}
