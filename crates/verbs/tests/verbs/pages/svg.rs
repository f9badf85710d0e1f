//! SVG charts: content, and validity for any input.

use cardscope_compare::page::comparison::sentences::RunMeasure;
use cardscope_compare::page::{bar_charts as bars, time_chart as over_time};
use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis, PlotSeries};
use cardscope_page::chart::Chart;
use cardscope_page::svg::{SvgMedium, render_svg};
use cardscope_testkit::samples as sample;

fn plot(points: Vec<(f64, f64)>) -> Plot {
    Plot {
        title: "speed <by> size".into(),
        x: PlotAxis::new("size", "bytes", AxisScale::Log2),
        y: PlotAxis::new("speed", "MB/s", AxisScale::Linear),
        series: vec![PlotSeries { name: "write".into(), points }],
        marks: vec![(65536.0, "half".into())],
    }
}

/// SVG of a plot as in a page.
fn drawn(plot: &Plot) -> String {
    render_svg(&Chart::from(plot), SvgMedium::Wide)
}

fn well_formed(text: &str) {
    roxmltree::Document::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
}

#[test]
fn svg_has_axis_units_and_is_well_formed() {
    let text = drawn(&plot(vec![(4096.0, 1.0), (65536.0, 8.0), (4_194_304.0, 12.0)]));
    assert!(text.contains("speed, MB/s") && text.contains("<title>speed &lt;by&gt; size"), "{text}");
    well_formed(&text);
}

#[test]
fn empty_plot_gives_no_svg_and_invalid_numbers_are_dropped() {
    assert_eq!(drawn(&plot(vec![])), "");
    well_formed(&drawn(&plot(vec![(4096.0, f64::NAN), (4096.0, 2.0), (8192.0, f64::INFINITY)])));
}

#[test]
fn few_cards_have_colours_and_many_have_labels() {
    let few = render_svg(
        &bars::bars_by_card(&sample::comparison(3, 5, 4), RunMeasure::Average).unwrap(),
        SvgMedium::File,
    );
    assert!(few.contains("class=\"f3\"") && few.contains("class=\"hatch\""), "{few}");
    assert!(few.contains("whiskers: 95 % interval of the mean") && few.contains("5 runs each"), "{few}");
    well_formed(&few);
    let many = render_svg(
        &bars::bars_by_card(&sample::comparison(20, 5, 2), RunMeasure::Best).unwrap(),
        SvgMedium::File,
    );
    assert!(!many.contains("class=\"f2\"") && many.matches("Elm A2 64GB").count() == 7, "{many}");
    well_formed(&many);
}

#[test]
fn standalone_svg_states_unit_runs_interval_and_condition() {
    let chart = bars::bars_by_run(&sample::comparison(2, 4, 2), 0).unwrap();
    let text = render_svg(&chart, SvgMedium::Fixed);
    for words in ["10^6 bytes a second", "4 runs in 2 sessions", "no interval", "cooling passive"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(!text.contains("var("), "{text}");
}

#[test]
fn long_run_chart_marks_cache_end_and_temperature() {
    let text = render_svg(
        &cardscope_endurance::page::sustain::combined_chart(&sample::sustain_report()).unwrap(),
        SvgMedium::File,
    );
    assert!(text.contains("the cache is full") && text.contains("card, °C"), "{text}");
    well_formed(&text);
}

#[test]
fn speed_and_temperature_share_the_axis_of_time() {
    let series = sample::test_series(0, 0, 4);
    let all: Vec<_> = series.iter().collect();
    let text = render_svg(&over_time::test_chart(&all).unwrap(), SvgMedium::Wide);
    assert!(text.contains("temperature, °C") && text.contains("fill-opacity=\".2\""), "{text}");
    assert!(text.contains("data-z=\"°C|linear|"), "{text}");
    well_formed(&text);
}
