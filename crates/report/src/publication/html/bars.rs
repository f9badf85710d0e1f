//! Bars as rows of HTML: a name, a bar, a figure. They take any width, text stays text, and the script finds all it
//! needs in their attributes.

use crate::chart::{Bar, Bars, Chart, Group, Kind, bars};
use crate::comparison::words::{self, Measure};
use crate::figure::{interval, trimmed};
use crate::markup::{escaped, figcaption};
use crate::svg::palette;
use cardscope_model::comparison::{Comparison, Spread};
use std::fmt::Write;

/// Units of a bar's whole length; whole numbers of them are fine enough for any screen.
const LENGTH: f64 = 1000.0;

/// What can be chosen, shown by the script alone: without it nothing would come of it.
const CHOICES: &str = "<form id=\"choices\" hidden>\n\
<label>Figure <select id=\"measure\"><option value=\"0\">Average</option><option value=\"1\">Worst</option>\
<option value=\"2\">Best</option><option value=\"3\">Median</option><option value=\"4\">All runs</option></select></label>\n\
<label>Order <select id=\"order\"><option value=\"given\">As compared</option><option value=\"fastest\">Fastest first</option>\
<option value=\"name\">By name</option></select></label>\n\
<label>Tests <input id=\"filter\" type=\"search\" placeholder=\"e.g. RND4K write\" size=\"14\"></label>\n\
<label><input id=\"same\" type=\"checkbox\"> One scale for all</label>\n</form>\n";

/// The cards test by test.
pub(super) fn speed(comparison: &Comparison) -> String {
    let Some(Chart { caption, kind: Kind::Bars(bars), .. }) = bars::by_card(comparison, Measure::Average)
    else {
        return String::new();
    };
    let tests = comparison.tests.iter().map(|test| (words::test(test), &test.spreads));
    let mut out = String::from(CHOICES);
    out += &legend(&bars.names);
    let class = if bars.names.len() <= palette::SERIES { "bars coloured" } else { "bars" };
    out += &format!("<div class=\"{class}\" id=\"bars\">\n");
    for group in &bars.groups {
        let spreads =
            tests.clone().find(|(name, _)| *name == group.name).map(|(_, spreads)| spreads.as_slice());
        out += &group_of(group, &bars, |bar| attributes(spreads.and_then(|s| s.get(bar.of)?.as_ref())));
    }
    out += "</div>\n";
    let scale = "each test has a scale of its own, from 0 to the figure at its head";
    out += &figcaption(&[caption.words(), scale.to_owned()].join(" · "));
    out
}

/// Which cards are shown; pressing a name takes its card out and back.
fn legend(names: &[String]) -> String {
    if names.len() < 2 {
        return String::new();
    }
    let button = |(of, name): (usize, &String)| {
        format!(
            "<li><button type=\"button\" aria-pressed=\"true\" data-of=\"{of}\">{}</button></li>",
            escaped(name)
        )
    };
    let buttons: String = names.iter().enumerate().map(button).collect();
    let few = if names.len() <= palette::SERIES { " few" } else { "" };
    format!("<ul class=\"legend{few}\" id=\"legend\" hidden aria-label=\"Cards shown\">{buttons}</ul>\n")
}

/// What the script needs of a bar: the four figures, the interval, the runs.
fn attributes(spread: Option<&Spread>) -> String {
    let Some(spread) = spread else { return String::new() };
    let number = |value: f64| if value.is_finite() { short(value) } else { String::new() };
    let four: Vec<String> = Measure::ALL.iter().map(|measure| number(measure.of(spread))).collect();
    let ends = spread.ci95.map(|ends| ends.map(number).join(" ")).unwrap_or_default();
    let runs: Vec<String> = spread.runs.iter().map(|run| number(*run)).collect();
    format!(" data-v=\"{}\" data-ci=\"{ends}\" data-r=\"{}\"", four.join(" "), runs.join(" "))
}

/// Five digits that mean something, for the script.
fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 1e9 => format!("{value:e}"),
        v if v >= 1000.0 => trimmed(value, 1),
        v if v >= 10.0 => trimmed(value, 2),
        _ => trimmed(value, 4),
    }
}

/// One test with its bars.
pub(super) fn group_of(group: &Group, bars: &Bars, attributes: impl Fn(&Bar) -> String) -> String {
    let end = bars.scale_end(group);
    let mut out = format!(
        "<figure class=\"group\" data-name=\"{0}\" data-unit=\"{2}\">\n<figcaption><b>{0}</b> <span>{1}</span></figcaption>\n<ol>\n",
        escaped(&group.name),
        escaped(&bars.scale(group)),
        escaped(&bars.unit)
    );
    for bar in &group.bars {
        let name = bars.names.get(bar.of).map_or("", String::as_str);
        let _ = writeln!(
            out,
            "<li tabindex=\"0\" data-of=\"{}\"{}><span>{}</span>{}<b>{}</b></li>",
            bar.of,
            attributes(bar),
            escaped(name),
            drawn(bar, end),
            value(bars, bar)
        );
    }
    out.push_str("</ol>\n</figure>\n");
    out
}

fn value(bars: &Bars, bar: &Bar) -> String {
    let ends = bar.interval.map(|ends| format!(" <small>{}</small>", interval(ends, |v| bars.write(v))));
    format!("{}{}", bars.write(bar.value), ends.unwrap_or_default())
}

/// The bar with its whisker and the ticks of its runs; stretched to whatever width there is.
fn drawn(bar: &Bar, end: f64) -> String {
    let along = |value: f64| (LENGTH * (value / end).clamp(0.0, 1.0)).round();
    let runs: String = bar.runs.iter().map(|run| format!("M{} 11v3", along(*run))).collect();
    let whisker = bar.interval.map(|ends| {
        let [low, high] = ends.map(along);
        format!("<path class=\"whisker\" d=\"M{low} 3v4M{low} 5H{high}M{high} 3v4\"/>")
    });
    format!(
        "<svg viewBox=\"0 0 {LENGTH} 14\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect width=\"{}\" height=\"10\"/>{}<path class=\"runs\" d=\"{runs}\"/></svg>",
        along(bar.value),
        whisker.unwrap_or_default()
    )
}
