//! Hugo pages with Plotly charts between `{{< plotly >}}` and `{{< /plotly >}}`, in which results of `cdm_fio.sh` are published.
//!
//! Series named `Test N` are runs of the card in the heading above, under the condition in the line above. Series with the
//! name of a card show means or extremes, so they are stored as published figures and not as runs.

use super::chart::{self, BarSeries, PlotlyChart};
use super::described::{DescribedCard, parse_description};
use super::markdown::{front_matter, list_item_text, page_title, parse_heading, strip_markup};
use crate::readers::{
    LogText, MIB_S, ReaderOutcome, add_note, add_other, new_log, parse_cooling, parse_day, printed_figure,
    trimmed_text, true_mb_s,
};
use cardscope_model::card::CardFacts;
use cardscope_model::condition::{Condition, ConditionOrigin};
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::TestName;
use cardscope_model::units::parse_size;
use cardscope_model::untrusted_text::{shorten_message, shorten_text};
use serde_json::{Map, Value, json};

const OPEN: &str = "{{< plotly";
const CLOSE: &str = "{{< /plotly";

/// Longest heading or property of a card, in characters; more is a paragraph.
const LONGEST_TEXT: usize = 300;

/// Most published series of one page: pages compare dozens of cards in a dozen charts.
const MOST_PUBLISHED: usize = 1000;

/// Unreadable charts that are listed one by one.
const MOST_DOUBTS: usize = 50;

/// Script whose figures such pages print; its MB/s are MiB/s.
const SCRIPT: &str = "cdm_fio";

pub(crate) fn recognise(text: &LogText) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(OPEN))
}

/// Reads the page; each card and condition is a log.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let mut page = PlotlyPageReader::new(text.body());
    let mut lines = text.body().split_inclusive('\n');
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with(OPEN) {
            let chart = lines.by_ref().take_while(|line| !line.trim_start().starts_with(CLOSE));
            page.read_chart(&chart.collect::<String>());
        } else {
            page.read_line(line.trim_end_matches('\n'));
        }
    }
    page.finish()
}

/// State of the page up to the current line.
#[derive(Default)]
struct PlotlyPageReader {
    uses_script: bool,
    form: Option<String>,
    published_on: Option<String>,
    head: Run,
    file_system: Option<String>,
    card: CardFacts,
    nvme: Map<String, Value>,
    heading: String,
    level: usize,
    condition: Condition,
    logs: Vec<CardLog>,
    published: Vec<PublishedSeries>,
    doubts: Vec<String>,
}

/// A series of means or extremes.
struct PublishedSeries {
    heading: String,
    unit: String,
    series: BarSeries,
}

impl PlotlyPageReader {
    fn new(body: &str) -> Self {
        let express = page_title(body).to_lowercase().contains("microsd express");
        PlotlyPageReader {
            uses_script: body.contains(SCRIPT),
            form: express.then(|| "microSD Express".to_owned()),
            published_on: front_matter(body, "date").and_then(parse_day),
            ..PlotlyPageReader::default()
        }
    }

    fn read_line(&mut self, line: &str) {
        if let Some((level, text)) = parse_heading(line) {
            self.read_heading(level, text);
        } else if let Some(condition) = parse_cooling(line) {
            self.condition = condition;
        } else {
            let text = strip_markup(list_item_text(line).unwrap_or(line));
            if let Some((key, value)) = text.split_once('=') {
                self.read_setting(key.trim(), value.trim());
            } else if let Some((key, value)) = text.split_once(':') {
                self.read_property(key.trim(), value.trim().trim_end_matches('.'));
            } else if let Some((_, rest)) = text.split_once("formatted with the ") {
                self.file_system = rest.split_once(" filesystem").map(|(name, _)| shorten_line(name));
            }
        }
    }

    /// Begins a section. A heading of the same or a higher level than the card's ends that card.
    fn read_heading(&mut self, level: usize, text: &str) {
        self.condition = Condition::default();
        self.heading = shorten_line(&strip_markup(text));
        if level > self.level && !self.card.is_empty() {
            return;
        }
        let DescribedCard { mut card, brackets } = parse_description(&self.heading);
        self.nvme.clear();
        self.card = CardFacts::default();
        self.level = level;
        if card.capacity_label.is_some() {
            card.model = brackets.into_iter().find(|inside| !inside.contains(' '));
            card.form = card.form.or_else(|| self.form.clone());
            self.card = card;
        }
    }

    /// Sets an option of the script for all cards of the page.
    fn read_setting(&mut self, key: &str, value: &str) {
        match key {
            "Size" => self.head.size_bytes = parse_size(value).ok(),
            "Loops" => self.head.loops = value.parse().ok(),
            _ => {}
        }
    }

    /// Reads a property of the card, such as `Firmware revision: X1`.
    fn read_property(&mut self, key: &str, value: &str) {
        if self.card.is_empty() {
            return;
        }
        let limit = ["TMPTH", "TMT1", "TMT2"].iter().find(|name| key.contains(**name));
        if let (Some(name), Some(kelvin)) = (limit, parse_kelvin(value)) {
            self.nvme.insert(format!("{}_kelvin", name.to_lowercase()), json!(kelvin));
            // NVMe has whole degrees and a difference of 273 between the scales.
            self.nvme.insert(format!("{}_celsius", name.to_lowercase()), json!(kelvin - 273));
        } else if key.starts_with("Firmware") && !value.is_empty() {
            self.card.firmware = Some(shorten_line(value));
        }
    }

    fn read_chart(&mut self, json: &str) {
        match chart::parse_chart(json) {
            Ok(chart) => self.add_chart(chart),
            Err(why) if self.doubts.len() < MOST_DOUBTS => {
                let (heading, why) = (shorten_text(&self.heading), shorten_message(&why, &[]));
                self.doubts.push(format!("the chart under {heading:?} could not be read: {why}"));
            }
            Err(_) => {}
        }
        self.condition = Condition::default();
    }

    fn add_chart(&mut self, chart: PlotlyChart) {
        let PlotlyChart { series, unit } = chart;
        let (runs, others): (Vec<_>, _) = series.into_iter().partition(|one| one.run_number().is_some());
        for series in others {
            let (heading, unit) = (self.heading.clone(), unit.clone());
            self.published.push(PublishedSeries { heading, unit, series });
        }
        if !runs.is_empty() {
            self.add_runs(&unit, &runs);
        }
    }

    fn add_runs(&mut self, unit: &str, series: &[BarSeries]) {
        let mut log = CardLog::default();
        if self.uses_script {
            log.tool = new_log("cdm_fio.sh", None).tool;
            log.doubts.push("the page uses cdm_fio.sh, whose MB/s are MiB/s rounded down".to_owned());
        }
        log.part = trimmed_text(&self.heading);
        log.card = self.card.clone();
        log.condition = self.condition.clone();
        if let Some(file_system) = &self.file_system {
            log.condition.set("file_system", file_system.clone(), ConditionOrigin::Stated);
        }
        if let Some(date) = &self.published_on {
            add_note(&mut log.condition, &format!("published {date}"), ConditionOrigin::Stated);
        }
        add_other(&mut log, "nvme", Value::Object(self.nvme.clone()));
        for series in series {
            let results = self.series_figures(unit, series, &mut log.doubts);
            log.runs.push(Run { run: series.run_number().unwrap_or(1), results, ..self.head.clone() });
        }
        log.runs.sort_by_key(|run| run.run);
        self.logs.push(log);
    }

    fn series_figures(&self, unit: &str, series: &BarSeries, doubts: &mut Vec<String>) -> Vec<TestFigure> {
        let of = shorten_text(&series.name);
        // The printed unit is trusted if the page does not name the script.
        let mb_s = match unit {
            "MB/s" | "" if self.uses_script => Some(MIB_S),
            _ => true_mb_s(unit),
        };
        let Some(mb_s) = mb_s else {
            doubts.push(format!("{of}: skipped results with the unknown unit {:?}", shorten_text(unit)));
            return Vec::new();
        };
        let mut figures = Vec::new();
        for (name, value) in &series.values {
            match parse_test_name(name) {
                Some(test) => figures.push(printed_figure(test, *value, unit, mb_s)),
                None => doubts.push(format!("{of}: {:?} is not a test name", shorten_text(name))),
            }
        }
        figures
    }

    fn finish(mut self) -> ReaderOutcome {
        let published = std::mem::take(&mut self.published);
        let more = published.len().saturating_sub(MOST_PUBLISHED);
        self.doubts.extend((more > 0).then(|| format!("skipped {more} series: too many")));
        published.into_iter().take(MOST_PUBLISHED).for_each(|published| self.add_published(published));
        let lost = self.doubts.join("; ");
        if self.logs.is_empty() {
            return Err(if lost.is_empty() { "its charts are empty".to_owned() } else { lost });
        }
        self.logs[0].doubts.append(&mut self.doubts);
        Ok(self.logs)
    }

    /// Adds published figures to the first log of the card in their name, or to a new log.
    fn add_published(&mut self, published: PublishedSeries) {
        let PublishedSeries { heading, unit, series: BarSeries { name, values } } = published;
        let test = |name: String| parse_test_name(&name).map_or(name, |test| test.to_string());
        let values = values.into_iter().map(|(name, value)| (test(name), json!(value)));
        let values: Map<String, Value> = values.collect();
        let lower = name.to_lowercase();
        let of_card = |log: &CardLog| !name.is_empty() && log.card.title().to_lowercase().contains(&lower);
        let at = self.logs.iter().position(of_card).unwrap_or_else(|| {
            let card = parse_description(&name).card;
            self.logs.push(CardLog { part: Some(name.clone()), card, ..CardLog::default() });
            self.logs.len() - 1
        });
        let all = self.logs[at].other.entry("published").or_insert_with(|| json!({}));
        all[heading] = json!({ "unit": unit, "values": values });
    }
}

/// Shortens a text of the page, since every log of the page has it.
fn shorten_line(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}

/// Parses `SEQ1G Q1T1 Read`.
fn parse_test_name(text: &str) -> Option<TestName> {
    let (pattern, op) = text.trim().rsplit_once(' ')?;
    format!("{pattern} {}", op.to_lowercase()).parse().ok()
}

/// Kelvin in `83°C/181°F/356K`; the other two are rounded.
fn parse_kelvin(text: &str) -> Option<u16> {
    let mut parts = text.split('/').map(str::trim);
    parts.find_map(|part| part.strip_suffix('K')?.trim().parse().ok()).filter(|kelvin| *kelvin >= 273)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(series: &[(&str, &str)], unit: &str) -> String {
        let data: Vec<String> = series
            .iter()
            .map(|(name, x)| format!(r#"{{"x": [{x}], "name": "{name}", "type": "bar"}}"#))
            .collect();
        format!(
            "{{{{< plotly >}}}}\n{{\"common_data\": {{\"y\": [\"RND4K Q1T1 Write\", \"SEQ1G Q1T1 Read\"]}},\n\"data\": [{}],\n\
             \"layout\": {{\"xaxis\": {{\"ticksuffix\": \" {unit}\"}}}}}}\n{{{{< /plotly  >}}}}\n",
            data.join(",\n")
        )
    }

    fn logs(text: &str) -> Vec<CardLog> {
        read(&LogText::from_decoded(text)).unwrap()
    }

    #[test]
    fn shared_heading_is_shortened_in_every_log() {
        let heading = format!("64GB Example {}", "x".repeat(10_000));
        let one = chart(&[("Test 1", "3, 60")], "MB/s");
        let logs = logs(&format!("## {heading}\n{one}{one}"));
        assert!(logs.iter().all(|log| log.part.as_ref().unwrap().len() == 300), "{:?}", logs[1].part);
    }

    #[test]
    fn series_beyond_the_limit_are_counted() {
        let names: Vec<String> = (0..1200).map(|n| format!("Card {n}")).collect();
        let series: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1, 2")).collect();
        let logs = logs(&chart(&series, "MB/s"));
        assert_eq!(logs[0].doubts, ["skipped 200 series: too many"]);
    }
}
