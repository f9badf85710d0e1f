//! Hugo page with Plotly blocks between shortcodes, in the form of the published comparison of microSD Express cards:
//! `common_data.y` names the tests, each element of `data` is a run or a card, `layout` and `config` are as there. Plotly
//! draws upwards, so everything is written in reverse.

use super::{card, page};
use crate::page::bar_charts as bars;
use crate::page::comparison;
use crate::page::comparison::words;
use crate::page::comparison::words::RunMeasure;
use crate::page::details;
use crate::page::ranking;
use cardscope_model::outside;
use cardscope_model::publication::Publication;
use cardscope_page::chart::{BarGroup, BarGroups, Chart, ChartKind};
use cardscope_page::tree::markdown::{facts, plain, section};
use cardscope_page::tree::{Page, PageBlock, findings};
use serde_json::{Value, json};
use std::fmt::Write;

/// Height of a picture for each bar and each test, so that bars are as thick as in the published page.
const BAR_HEIGHT: usize = 4;
const TEST_HEIGHT: usize = 12;

/// Least height of a picture.
const LEAST_HEIGHT: usize = 300;

pub(super) fn plotly(publication: &Publication) -> String {
    let compared = &publication.comparison;
    let mut out = format!(
        "+++\ndate = {}\ntitle = {}\nShowToc = true\n+++\n",
        toml_text(&publication.made_on),
        toml_text(&publication.title)
    );
    let mut page = Page::default();
    comparison::add_compared(&mut page, compared);
    page.add("Findings", [PageBlock::Remarks(findings::of(&compared.findings))]);
    out += &render_sections(&page);
    out += "\n## Every run\n\nEach bar is one run, the first at the top; speeds in MB/s of 10^6 bytes.\n";
    for (number, entry) in compared.entries.iter().enumerate() {
        let _ = writeln!(out, "\n### {}\n", plain(&entry.name));
        let details = compared.details.get(&entry.card_id);
        publication
            .part(&entry.card_id)
            .into_iter()
            .for_each(|part| out += &facts(&card::known(part, details)));
        for heat in details.map(details::heat).unwrap_or_default() {
            let _ = writeln!(out, "\n{}", plain(&heat));
        }
        let settings: Vec<String> = entry.settings.iter().map(words::setting).collect();
        let _ = writeln!(
            out,
            "\n{}. Measured by: {}.",
            plain(&words::amount(entry)),
            plain(&settings.join(" | "))
        );
        bars::by_run(compared, number).into_iter().for_each(|chart| out += &plotly_block(&chart, false));
    }
    for (measure, head) in
        [(RunMeasure::Average, "averages"), (RunMeasure::Worst, "worsts"), (RunMeasure::Best, "bests")]
    {
        if let Some(chart) = bars::by_card(compared, measure) {
            let interval = if measure == RunMeasure::Average { ", with its 95 % interval" } else { "" };
            let _ = writeln!(
                out,
                "\n## Comparison of {head}\n\nFor every card and test {}{interval}.",
                measure.meaning()
            );
            out += &plotly_block(&chart, true);
        }
    }
    let mut page = Page::default();
    comparison::add_differences(&mut page, compared);
    for order in &publication.rankings {
        ranking::add(&mut page, &ranking::title(order), &ranking::what(order), order);
    }
    page::add_methods(&mut page, compared);
    out + &render_sections(&page) + &format!("\n{}\n", plain(&page::made(publication)))
}

/// Sections of a page.
fn render_sections(page: &Page) -> String {
    page.sections.iter().map(|part| section(part, 2)).collect()
}

/// Text as TOML, which is valid as JSON string if no character needs an escape of only one of both.
fn toml_text(text: &str) -> String {
    escape_markup(&Value::from(outside::line(text)).to_string())
}

/// JSON without the beginnings of shortcodes and tags in its texts.
fn escape_markup(json: &str) -> String {
    outside::json(json).replace('<', "\\u003c").replace("{{", "{\\u007b")
}

fn plotly_block(chart: &Chart, with_values: bool) -> String {
    let ChartKind::Bars(bars) = &chart.kind else { return String::new() };
    let figure = serde_json::to_string_pretty(&figure(bars, with_values)).unwrap_or_default();
    let figure = escape_markup(&figure);
    format!("\n{{{{< plotly >}}}}\n{figure}\n{{{{< /plotly >}}}}\n\n{}\n", plain(&chart.caption.words()))
}

/// Figure in the form of the published ones.
fn figure(bars: &BarGroups, with_values: bool) -> Value {
    let tests: Vec<&str> = bars.groups.iter().rev().map(|group| group.name.as_str()).collect();
    let mut common = json!({ "y": tests });
    if with_values {
        common["textposition"] = json!("outside");
        common["texttemplate"] = json!("%{x}");
        common["outsidetextfont"] = json!({ "weight": 1000 });
    }
    let trace = |(of, name): (usize, &String)| {
        let value = |group: &BarGroup| {
            let bar = group.bars.iter().find(|bar| bar.of == of);
            bar.map_or(Value::Null, |bar| json!(round_for_label(bar.value)))
        };
        let x: Vec<Value> = bars.groups.iter().rev().map(value).collect();
        let mut trace = json!({ "x": x, "name": name, "type": "bar", "orientation": "h" });
        if let Some(whiskers) = whiskers(bars, of) {
            trace["error_x"] = whiskers;
        }
        trace
    };
    let data: Vec<Value> = bars.names.iter().enumerate().rev().map(trace).collect();
    let all = bars.groups.iter().flat_map(|group| &group.bars);
    let all = all.map(|bar| bar.interval.map_or(bar.value, |[_, high]| high.max(bar.value)));
    let most = all.fold(0.0, f64::max);
    json!({
        "common_data": common,
        "data": data,
        "layout": {
            "margin": { "t": 0, "l": 140, "b": 60 },
            "xaxis": { "ticksuffix": format!(" {}", bars.unit), "range": [0, round_for_label(most * 1.08)] },
            "legend": { "traceorder": "reversed" },
            "autosize": true,
            "height": (tests.len() * (TEST_HEIGHT + BAR_HEIGHT * bars.names.len())).max(LEAST_HEIGHT),
        },
        "config": { "responsive": true },
    })
}

/// Lengths of the whiskers of one trace to both sides, as Plotly expects them; `None` without intervals.
fn whiskers(bars: &BarGroups, of: usize) -> Option<Value> {
    let interval = |group: &BarGroup| {
        let bar = group.bars.iter().find(|bar| bar.of == of)?;
        let [low, high] = bar.interval?;
        Some([(bar.value - low).max(0.0), (high - bar.value).max(0.0)])
    };
    let all: Vec<Option<[f64; 2]>> = bars.groups.iter().rev().map(interval).collect();
    let side = |end: usize| -> Vec<Value> {
        all.iter().map(|ends| ends.map_or(Value::Null, |ends| json!(round_for_label(ends[end])))).collect()
    };
    let any = all.iter().any(Option::is_some);
    any.then(|| json!({ "type": "data", "symmetric": false, "arrayminus": side(0), "array": side(1) }))
}

/// Rounds to the digits that are meaningful in a label.
fn round_for_label(value: f64) -> f64 {
    let grain = if value >= 100.0 { 10.0 } else { 1000.0 };
    (value * grain).round() / grain
}
