//! A card test by test: its speed over time as a line as small as a word, its temperatures, its latencies. The
//! test whose speed falls most has a picture of its own.

use super::super::charts::by_test;
use crate::chart::Chart;
use crate::chart::over_time::{Together, of_test, together};
use crate::figure::{speed, test_of, time_us};
use crate::markup::{escaped, figcaption};
use cardscope_model::publication::{CardPart, Latencies, TestSeries};
use cardscope_model::test_name::TestName;
use std::fmt::Write;

/// Points of a line as small as a word.
const POINTS: usize = 20;

/// Its width and height in units of the picture.
const SIZE: (f64, f64) = (120.0, 24.0);

/// One test of one entry, with its step where a recipe has it twice.
type Key<'a> = (TestName, Option<&'a str>, &'a str);

fn of_series(series: &TestSeries) -> Key<'_> {
    (series.test, series.step.as_deref(), &series.entry)
}

fn of_latencies(latencies: &Latencies) -> Key<'_> {
    (latencies.test, latencies.step.as_deref(), &latencies.entry)
}

/// The tests of a card in their order, series and latencies together, each with its condition.
fn tests(part: &CardPart) -> Vec<(Key<'_>, &str)> {
    let mut all: Vec<(Key<'_>, &str)> = Vec::new();
    let series = part.courses.iter().map(|s| (of_series(s), s.condition.as_str()));
    let latencies = part.latencies.iter().map(|l| (of_latencies(l), l.condition.as_str()));
    for (key, condition) in series.chain(latencies) {
        if all.iter().all(|(known, _)| *known != key) {
            all.push((key, condition));
        }
    }
    all
}

/// The series of the test whose fastest second is furthest above its slowest.
pub(super) fn most_telling(part: &CardPart) -> Option<Chart> {
    let fall = |series: &Vec<&TestSeries>| together(series, POINTS).fall();
    let all = by_test(&part.courses);
    of_test(all.iter().max_by(|a, b| fall(a).total_cmp(&fall(b)))?)
}

/// The table; empty where the card has neither series nor latencies. Tests under several conditions name theirs.
pub(super) fn table(part: &CardPart) -> String {
    let tests = tests(part);
    let Some((_, first)) = tests.first() else { return String::new() };
    let mut out = String::from(
        "<h4>Test by test</h4>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th>test</th><th class=\"words\">speed over time</th>\
         <th>runs</th><th>slowest second, MB/s</th><th>fastest second, MB/s</th><th>°C at most</th><th>median I/O</th><th>99 %</th><th>99.9 %</th><th>longest</th>\
         </tr></thead>\n<tbody>\n",
    );
    let alike = tests.iter().all(|(_, condition)| condition == first);
    for (key, condition) in &tests {
        out += &row(part, key, if alike { "" } else { condition });
    }
    out += "</tbody>\n</table></div>\n";
    let condition = if alike && !first.is_empty() { format!(" · {first}") } else { String::new() };
    out + &figcaption(&format!(
        "line: median of the runs, from 0 MB/s up; shaded: slowest to fastest run; latencies over all runs{condition}"
    ))
}

fn row(part: &CardPart, key: &Key<'_>, condition: &str) -> String {
    let series: Vec<&TestSeries> = part.courses.iter().filter(|s| of_series(s) == *key).collect();
    let latencies = part.latencies.iter().find(|l| of_latencies(l) == *key);
    let runs = together(&series, POINTS);
    let hottest = runs.celsius.iter().map(|(_, celsius)| *celsius).reduce(f64::max);
    let mut cells = vec![
        latencies.map_or(runs.runs, |l| l.runs).to_string(),
        runs.slowest().map(speed).unwrap_or_default(),
        runs.fastest().map(speed).unwrap_or_default(),
        hottest.map(|celsius| format!("{celsius:.0}")).unwrap_or_default(),
    ];
    let histogram = latencies.map(|l| &l.histogram);
    let quantile = |q: f64| histogram.filter(|h| h.count() > 0).map(|h| time_us(h.quantile(q) as f64 / 1e3));
    cells.extend([0.5, 0.99, 0.999, 1.0].map(|q| quantile(q).unwrap_or_default()));
    let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
    let under = if condition.is_empty() { String::new() } else { format!(" · {condition}") };
    format!(
        "<tr><th>{}</th><td class=\"words\">{}</td>{cells}</tr>\n",
        escaped(&format!("{}{under}", test_of(key.0, key.1))),
        small(&runs)
    )
}

/// The speed over time as small as a word, from 0 up to its fastest second.
fn small(runs: &Together) -> String {
    let (width, height) = SIZE;
    let last = runs.median.last().map_or(0.0, |(at, _)| *at);
    let Some(most) = runs.fastest().filter(|most| *most > 0.0 && last > 0.0) else { return String::new() };
    let place = |at: f64, mb_s: f64| {
        let down = height - 1.0 - mb_s / most * (height - 2.0);
        // Half a pixel is fine enough.
        format!("{:.0} {}", at / last * width, (down * 2.0).round() / 2.0)
    };
    let line: Vec<String> = runs.median.iter().map(|(at, mb_s)| place(*at, *mb_s)).collect();
    let mut out =
        format!("<svg class=\"chart small\" viewBox=\"0 0 {width} {height}\" aria-hidden=\"true\">");
    if runs.runs > 1 {
        let upper = runs.band.iter().map(|(at, [_, high])| place(*at, *high));
        let lower = runs.band.iter().rev().map(|(at, [low, _])| place(*at, *low));
        let around: Vec<String> = upper.chain(lower).collect();
        let _ = write!(out, "<path class=\"f1\" fill-opacity=\".22\" d=\"M{}Z\"/>", around.join("L"));
    }
    let _ = write!(out, "<path class=\"l1\" d=\"M{}\"/></svg>", line.join("L"));
    out
}
