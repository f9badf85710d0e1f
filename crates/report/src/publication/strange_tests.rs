//! Whatever was measured and whatever cards are called: every format holds together and shows no number that is none.

use super::*;
use crate::sample;
use cardscope_model::comparison::Spread;
use proptest::prelude::*;

fn strange_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(0.0),
        Just(-3.0),
        Just(1e300),
        Just(1e-300),
        0.001..2000.0f64
    ]
}

fn strange_spread() -> impl Strategy<Value = Option<Spread>> {
    let numbers = (strange_number(), strange_number(), strange_number(), strange_number(), strange_number());
    let spread = (numbers, proptest::collection::vec(strange_number(), 0..5), any::<bool>()).prop_map(
        |(n, runs, two)| {
            let mut spread = sample::of_runs(runs, None);
            (spread.mean, spread.median, spread.best, spread.worst) = (n.0, n.1, n.2, n.3);
            spread.ci95 = two.then_some([n.3, n.4]);
            if let Some(own) = &mut spread.as_printed {
                own.mean.value = n.4;
            }
            spread
        },
    );
    proptest::option::of(spread)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_was_measured_and_whatever_cards_are_called_every_format_is_sound(
        spreads in proptest::collection::vec(strange_spread(), 3),
        name in ".{0,40}",
        percent in strange_number(),
    ) {
        let mut publication = sample::publication(3, 2, 2);
        publication.title = name.clone();
        publication.comparison.entries[0].name = name.clone();
        publication.rankings[0].places[0].entry.name = name.clone();
        publication.rankings[0].places[0].value = percent;
        publication.rankings[0].places[1].ci95 = Some([percent, 3.0]);
        publication.cards[0].title = name;
        publication.comparison.tests[0].spreads = spreads;
        for pair in &mut publication.comparison.tests[0].pairs {
            (pair.percent, pair.factor_ci95, pair.p) = (percent, Some([percent, 1.0]), Some(percent));
        }
        publication.cards[0].courses[0].seconds[0].temperature_c = Some(percent);
        for format in FORMATS.iter().filter(|format| format.name != "png") {
            let Ok(written) = (format.write)(&publication) else { continue };
            let text = String::from_utf8(written).unwrap();
            let figures = text.split_whitespace().filter(|word| matches!(*word, "NaN" | "inf" | "-inf"));
            prop_assert_eq!(figures.count(), 0, "{}", format.name);
        }
        for (_, chart) in charts(&publication) {
            for medium in [Medium::Page, Medium::File, Medium::Fixed] {
                let drawn = crate::svg::of(&chart, medium);
                if !drawn.is_empty() {
                    let read = roxmltree::Document::parse(&drawn);
                    prop_assert!(read.is_ok(), "{:?}\n{}", read, drawn);
                    prop_assert!(!drawn.contains("NaN") && !drawn.contains("inf\""), "{}", drawn);
                }
            }
        }
    }
}
