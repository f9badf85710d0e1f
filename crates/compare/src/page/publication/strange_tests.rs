//! Unusual publications: cards under several settings, rankings with groups, very many cards, charts as pictures; and any
//! numbers and names, with which every format must stay valid.

use super::tests::{rows, small_publication};
use super::*;
use cardscope_model::comparison::Spread;
use cardscope_testkit::samples as sample;
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
            let mut spread = sample::spread_of_runs(runs, None);
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
    fn any_numbers_and_names_keep_every_format_valid(
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
        for (_, chart) in all_charts(&publication) {
            for medium in [SvgMedium::Wide, SvgMedium::Narrow, SvgMedium::File, SvgMedium::Fixed] {
                let drawn = cardscope_page::svg::render_svg(&chart, medium);
                if !drawn.is_empty() {
                    let read = roxmltree::Document::parse(&drawn);
                    prop_assert!(read.is_ok(), "{:?}\n{}", read, drawn);
                    prop_assert!(!drawn.contains("NaN") && !drawn.contains("inf\""), "{}", drawn);
                }
            }
        }
    }
}

#[test]
fn entries_of_one_card_do_not_shift_latencies_and_facts() {
    let mut publication = sample::publication_of_two_settings(2, 3, 1);
    publication.cards[1].latencies.clear();
    publication.cards[0].card.note = Some("note of the first".into());
    publication.cards[1].card.note = Some("note of the second".into());
    // Three entries: two of the first card, of which only the first was timed.
    for text in [crystaldiskmark(&publication), kdiskmark(&publication)] {
        let timed: Vec<bool> =
            text.lines().filter(|l| l.contains("IOPS]")).map(|l| l.contains(" us>")).collect();
        assert_eq!(timed, [true, false, false], "{text}");
    }
    let page = plotly_page(&publication);
    let parts: Vec<&str> = page.split("\n### ").skip(1).collect();
    let notes: Vec<bool> = parts.iter().take(3).map(|part| part.contains("note of the second")).collect();
    assert_eq!(notes, [false, false, true], "{page}");
}

#[test]
fn disk_mark_layouts_refuse_a_ranking_only() {
    let mut publication = sample::publication(3, 2, 1);
    publication.comparison.entries.clear();
    publication.comparison.tests.clear();
    publication.cards.clear();
    for format in FORMATS {
        let written = (format.write)(&publication);
        let refused = matches!(&written, Err(PublishError::NoFigures(_)));
        assert_eq!(
            refused,
            ["crystaldiskmark", "kdiskmark"].contains(&format.name),
            "{}: {written:?}",
            format.name
        );
    }
}

#[test]
fn plotly_averages_have_whiskers() {
    let page = plotly_page(&small_publication());
    let averages = page.split("## Comparison of averages").nth(1).unwrap();
    let block = averages.split("{{< plotly >}}").nth(1).and_then(|b| b.split("{{< /plotly").next()).unwrap();
    let chart: serde_json::Value = serde_json::from_str(block).unwrap();
    let spread = small_publication().comparison.tests[0].spreads[1].clone().unwrap();
    // Plotly draws upwards, so the second card comes first.
    let trace = &chart["data"][0];
    let end = |name: &str| trace["error_x"][name][0].as_f64().unwrap();
    let [low, high] = spread.ci95.unwrap();
    assert!((end("arrayminus") - (spread.mean - low)).abs() < 0.001, "{trace}");
    assert!((end("array") - (high - spread.mean)).abs() < 0.001, "{trace}");
    let worsts = page.split("## Comparison of worsts").nth(1).unwrap();
    assert!(!worsts.split("## Comparison of bests").next().unwrap().contains("error_x"));
}

#[test]
fn csv_has_rows_for_places_and_groups() {
    let publication = sample::publication(3, 2, 1);
    let rows = rows(&publication);
    let of = |what: &str| rows.iter().filter(|row| row["figure"] == what).collect::<Vec<_>>();
    let places: Vec<[&str; 4]> = of("place")
        .into_iter()
        .map(|row| ["card", "place", "tier", "order_value"].map(|name| row[name].as_str()))
        .collect();
    assert_eq!(places[0], ["Alder Swift 64GB", "1", "1", "91.5"]);
    assert_eq!((places[2][1], places[2][2], places.len()), ("3", "2", 3));
    let groups = of("group_median");
    assert_eq!(groups.len(), 1);
    assert_eq!(
        ["group", "cards", "order_value", "ordered_by"].map(|n| groups[0][n].as_str()),
        ["A2", "2", "81", "pi-boot"]
    );
}

#[test]
fn every_chart_is_a_picture_with_a_unique_name() {
    let publication = sample::publication_of_two_settings(3, 2, 2);
    let all = draw_all(&publication, PictureFormat::Svg).unwrap();
    let names: std::collections::BTreeSet<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), all.len(), "{names:?}");
    for name in [
        "average.svg",
        "card-1-course-seq1m-q8t1-read.svg",
        "card-1-flash.svg",
        "card-1-addresses.svg",
        "card-1-size.svg",
        "order-1.svg",
    ] {
        assert!(names.contains(name), "{name} of {names:?}");
    }
    assert!(all.iter().all(|(_, picture)| picture.starts_with(b"<svg")));
    let pixels = draw_all(&sample::publication(1, 1, 1), PictureFormat::Png).unwrap();
    assert!(pixels.iter().all(|(name, bytes)| name.ends_with(".png") && bytes.starts_with(b"\x89PNG")));
    assert!(draw_all(&sample::publication(0, 0, 0), PictureFormat::Svg).is_err());
}

#[test]
fn ranking_of_many_cards_has_no_comparison() {
    let mut publication = sample::publication(0, 0, 0);
    publication.rankings = vec![sample::ranking(200)];
    let page = publication_page(&publication);
    let html = html::render_document(&page).replace('\u{a0}', " ");
    assert!(html.contains("200</dd>") && html.contains("140 more not drawn"), "{html}");
    let text = render_markdown(&page);
    assert!(!text.contains("Compared") && text.contains("| 199 |"), "{text}");
}
