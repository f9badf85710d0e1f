//! Hugo page with Plotly blocks between shortcodes, in the form of the published comparison of microSD Express cards:
//! `common_data.y` names the tests, each element of `data` is a run or a card, `layout` and `config` are as there. Plotly
//! draws upwards, so everything is written in reverse.

use super::{card, page};
use crate::page::comparison::sentences::{self, RunMeasure};
use crate::page::comparison::{self};
use crate::page::{bar_charts as bars, details, ranking};
use cardscope_model::publication::Publication;
use cardscope_model::untrusted_text;
use cardscope_page::chart::{BarGroup, BarGroups, Chart, ChartKind};
use cardscope_page::tree::markdown::{escape_text, render_facts, render_section};
use cardscope_page::tree::{Page, PageBlock, findings};
use serde_json::{Value, json};
use std::fmt::Write;

/// Height of a picture for each bar and each test, so that bars are as thick as in the published page.
const BAR_HEIGHT: usize = 4;
const TEST_HEIGHT: usize = 12;

/// Least height of a picture.
const LEAST_HEIGHT: usize = 300;

pub(super) fn plotly_page(publication: &Publication) -> String {
    let compared = &publication.comparison;
    let mut out = format!(
        "+++\ndate = {}\ntitle = {}\nShowToc = true\n+++\n",
        toml_text(&publication.made_on),
        toml_text(&publication.title)
    );
    let mut page = Page::default();
    comparison::add_compared(&mut page, compared);
    page.add_section("Findings", [PageBlock::Remarks(findings::merge_findings(&compared.findings))]);
    out += &render_sections(&page);
    out += "\n## Every run\n\nEach bar is one run, the first at the top; speeds in MB/s of 10^6 bytes.\n";
    for (number, entry) in compared.entries.iter().enumerate() {
        let _ = writeln!(out, "\n### {}\n", escape_text(&entry.name));
        let details = compared.details.get(&entry.card_id);
        if let Some(part) = publication.card_part(&entry.card_id) {
            out += &render_facts(&card::card_facts(part, details));
        }
        for heat in details.map(details::heat_sentences).unwrap_or_default() {
            let _ = writeln!(out, "\n{}", escape_text(&heat));
        }
        let amount = escape_text(&sentences::measured_amount(entry));
        let _ = writeln!(out, "\n{amount}. Measured by: {}.", escape_text(&sentences::setting_lines(entry)));
        bars::bars_by_run(compared, number).into_iter().for_each(|chart| out += &plotly_block(&chart, false));
    }
    for (measure, head, interval) in [
        (RunMeasure::Average, "averages", ", with its 95 % interval"),
        (RunMeasure::Worst, "worsts", ""),
        (RunMeasure::Best, "bests", ""),
    ] {
        if let Some(chart) = bars::bars_by_card(compared, measure) {
            let figures = format!("For every card and test {}{interval}.", measure.meaning());
            let _ = writeln!(out, "\n## Comparison of {head}\n\n{figures}");
            out += &plotly_block(&chart, true);
        }
    }
    let mut page = Page::default();
    comparison::add_differences(&mut page, compared);
    for order in &publication.rankings {
        let title = ranking::ranking_title(order);
        ranking::add_ranking(&mut page, &title, &ranking::criterion_phrase(order), order);
    }
    page::add_methods(&mut page, compared);
    out + &render_sections(&page) + &format!("\n{}\n", escape_text(&page::signature_line(publication)))
}

/// Sections of a page.
fn render_sections(page: &Page) -> String {
    page.sections.iter().map(|part| render_section(part, 2)).collect()
}

/// Text as TOML, which is valid as JSON string if no character needs an escape of only one of both.
fn toml_text(text: &str) -> String {
    escape_markup(&Value::from(untrusted_text::escape_line(text)).to_string())
}

/// JSON without the beginnings of shortcodes and tags in its texts.
fn escape_markup(json: &str) -> String {
    untrusted_text::escape_json(json).replace('<', "\\u003c").replace("{{", "{\\u007b")
}

fn plotly_block(chart: &Chart, with_values: bool) -> String {
    let ChartKind::Bars(bars) = &chart.kind else { return String::new() };
    let figure = serde_json::to_string_pretty(&plotly_figure(bars, with_values)).unwrap_or_default();
    let (figure, caption) = (escape_markup(&figure), escape_text(&chart.caption.joined_parts()));
    format!("\n{{{{< plotly >}}}}\n{figure}\n{{{{< /plotly >}}}}\n\n{caption}\n")
}

/// Figure in the form of the published ones.
fn plotly_figure(bars: &BarGroups, with_values: bool) -> Value {
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
        if let Some(whiskers) = error_bars(bars, of) {
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
fn error_bars(bars: &BarGroups, of: usize) -> Option<Value> {
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
