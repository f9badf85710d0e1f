//! A card test by test: its course over time as a line as small as a word, its temperatures, its latencies. The course
//! that falls most has a picture of its own.

use super::tables::figcaption;
use crate::chart::Chart;
use crate::chart::course::{Together, of_test, together};
use crate::figure::{speed, time_us};
use crate::markup::escaped;
use cardscope_model::publication::{CardPart, Course};
use cardscope_model::test_name::TestName;
use std::fmt::Write;

/// Points of a course as small as a word.
const POINTS: usize = 20;

/// Its width and height in units of the picture.
const SIZE: (f64, f64) = (120.0, 24.0);

/// The tests of a card in their order, courses and latencies together.
fn tests(part: &CardPart) -> Vec<TestName> {
    let mut names: Vec<TestName> = Vec::new();
    for name in part.courses.iter().map(|c| c.test).chain(part.latencies.iter().map(|l| l.test)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn of(part: &CardPart, test: TestName) -> Vec<&Course> {
    part.courses.iter().filter(|course| course.test == test).collect()
}

/// The course whose fastest second is furthest above its slowest.
pub(super) fn most_telling(part: &CardPart) -> Option<Chart> {
    let fall = |test: &TestName| together(&of(part, *test), POINTS).fall();
    let all = tests(part);
    let test = all.iter().filter(|t| !of(part, **t).is_empty()).max_by(|a, b| fall(a).total_cmp(&fall(b)))?;
    of_test(&of(part, *test))
}

/// The table; empty where the card has neither courses nor latencies.
pub(super) fn table(part: &CardPart) -> String {
    let tests = tests(part);
    if tests.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<h4>Test by test</h4>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th>test</th><th class=\"words\">speed over time</th>\
         <th>slowest second, MB/s</th><th>fastest second, MB/s</th><th>°C at most</th><th>median I/O</th><th>99 %</th><th>99.9 %</th><th>longest</th>\
         </tr></thead>\n<tbody>\n",
    );
    for test in tests {
        out += &row(part, test);
    }
    out += "</tbody>\n</table></div>\n";
    let condition =
        part.courses.first().map(|c| &c.condition).or(part.latencies.first().map(|l| &l.condition));
    let condition = condition.map(|c| format!(" · {c}")).unwrap_or_default();
    out + &figcaption(&format!(
        "line: median of the runs, from 0 MB/s up; shaded: slowest to fastest run; latencies over all runs{condition}"
    ))
}

fn row(part: &CardPart, test: TestName) -> String {
    let course = together(&of(part, test), POINTS);
    let hottest = course.celsius.iter().map(|(_, celsius)| *celsius).reduce(f64::max);
    let mut cells = vec![
        course.slowest().map(speed).unwrap_or_default(),
        course.fastest().map(speed).unwrap_or_default(),
        hottest.map(|celsius| format!("{celsius:.0}")).unwrap_or_default(),
    ];
    let histogram = part.latencies.iter().find(|l| l.test == test).map(|l| &l.histogram);
    let quantile = |q: f64| histogram.filter(|h| h.count() > 0).map(|h| time_us(h.quantile(q) as f64 / 1e3));
    cells.extend([0.5, 0.99, 0.999, 1.0].map(|q| quantile(q).unwrap_or_default()));
    let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
    format!(
        "<tr><th>{}</th><td class=\"words\">{}</td>{cells}</tr>\n",
        escaped(&test.to_string()),
        small(&course)
    )
}

/// The course as small as a word, from 0 up to its fastest second.
fn small(course: &Together) -> String {
    let (width, height) = SIZE;
    let last = course.median.last().map_or(0.0, |(at, _)| *at);
    let Some(most) = course.fastest().filter(|most| *most > 0.0 && last > 0.0) else { return String::new() };
    let place = |at: f64, mb_s: f64| {
        let down = height - 1.0 - mb_s / most * (height - 2.0);
        // Half a pixel is fine enough.
        format!("{:.0} {}", at / last * width, (down * 2.0).round() / 2.0)
    };
    let line: Vec<String> = course.median.iter().map(|(at, mb_s)| place(*at, *mb_s)).collect();
    let mut out =
        format!("<svg class=\"chart small\" viewBox=\"0 0 {width} {height}\" aria-hidden=\"true\">");
    if course.runs > 1 {
        let upper = course.band.iter().map(|(at, [_, high])| place(*at, *high));
        let lower = course.band.iter().rev().map(|(at, [low, _])| place(*at, *low));
        let around: Vec<String> = upper.chain(lower).collect();
        let _ = write!(out, "<path class=\"f1\" fill-opacity=\".22\" d=\"M{}Z\"/>", around.join("L"));
    }
    let _ = write!(out, "<path class=\"l1\" d=\"M{}\"/></svg>", line.join("L"));
    out
}
