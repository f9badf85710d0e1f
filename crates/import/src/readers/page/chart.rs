//! Plotly charts in pages: names of tests on one axis, and a series of numbers for each run or card.

use crate::readers::json;
use serde_json::Value;

/// Longest name of a test and longest unit, in bytes, since each series of a chart has them.
const LONGEST_NAME: usize = 200;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlotlyChart {
    /// Unit on the axis, such as `MB/s`; empty without one.
    pub(super) unit: String,
    pub(super) series: Vec<BarSeries>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct BarSeries {
    pub(super) name: String,
    /// Names of tests with their numbers.
    pub(super) values: Vec<(String, f64)>,
}

impl BarSeries {
    /// Number of the run in the name: 3 for `Test 3`. `None` for a series of another kind.
    pub(super) fn run_number(&self) -> Option<u32> {
        let (word, number) = self.name.trim().rsplit_once([' ', '#'])?;
        let counted = ["test", "run", "#", "lauf", "pass"].contains(&word.trim().to_lowercase().as_str());
        counted.then(|| number.trim().parse().ok()).flatten()
    }
}

/// Parses a chart's JSON; fails with the reason.
pub(super) fn parse_chart(text: &str) -> Result<PlotlyChart, String> {
    let chart = json::parse_whole(text).map_err(|error| error.to_string())?;
    let data = chart.get("data").and_then(Value::as_array).ok_or("no data")?;
    let common = chart.get("common_data").unwrap_or(&Value::Null);
    let series: Vec<BarSeries> = data.iter().filter_map(|trace| read_series(trace, common)).collect();
    if series.is_empty() {
        return Err("its series have no numbers".to_owned());
    }
    let suffix = |axis: &&str| chart.get("layout")?.get(axis)?.get("ticksuffix")?.as_str();
    let unit = ["xaxis", "yaxis"].iter().find_map(suffix).unwrap_or_default().trim();
    Ok(PlotlyChart { unit: unit.chars().take(LONGEST_NAME).collect(), series })
}

/// Reads a series. Names may be on either axis; fields that a trace lacks are in `common`.
fn read_series(trace: &Value, common: &Value) -> Option<BarSeries> {
    let axis = |name: &str| trace.get(name).or_else(|| common.get(name)).and_then(Value::as_array);
    let (x, y) = (axis("x")?, axis("y")?);
    let (names, numbers) = if x.iter().all(Value::is_string) { (x, y) } else { (y, x) };
    let pairs = names.iter().zip(numbers).filter_map(|(name, number)| {
        let number = number.as_f64().filter(|number| number.is_finite() && *number >= 0.0)?;
        Some((name.as_str().filter(|name| name.len() <= LONGEST_NAME)?.to_owned(), number))
    });
    let values: Vec<_> = pairs.collect();
    let name = trace.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    (!values.is_empty()).then_some(BarSeries { name, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_on_either_axis_and_bad_numbers_are_skipped() {
        let lying = r#"{"common_data": {"y": ["a", "b", "c"]}, "data": [{"x": [1, null, 2.5, 9], "name": "Test 2"}],
            "layout": {"xaxis": {"ticksuffix": " MB/s"}}}"#;
        let standing = r#"{"data": [{"x": ["a", "b", "c"], "y": [1, "?", 2.5], "name": "Test 2"}]}"#;
        let lying = parse_chart(lying).unwrap();
        assert_eq!(lying.series, parse_chart(standing).unwrap().series);
        assert_eq!(lying.series[0].values, [("a".to_owned(), 1.0), ("c".to_owned(), 2.5)]);
        assert_eq!((lying.unit.as_str(), lying.series[0].run_number()), ("MB/s", Some(2)));
    }

    #[test]
    fn series_with_a_card_name_is_not_a_run() {
        for name in ["Lexar", "Card 7", "", "Test", "Test x"] {
            assert_eq!(BarSeries { name: name.to_owned(), values: Vec::new() }.run_number(), None, "{name}");
        }
    }

    #[test]
    fn broken_or_empty_chart_is_refused() {
        for (json, why) in [("{", "EOF"), ("{}", "no data"), (r#"{"data": [{}]}"#, "numbers")] {
            assert!(parse_chart(json).unwrap_err().contains(why), "{json}");
        }
    }
}
