//! Numbers of a chart as comma-separated values. Bars have none, since the page holds their numbers in attributes.

use super::{AddressChart, Chart, ChartKind, FlashChart, LineChart};
use cardscope_model::card_map::plot::PlotAxis;

/// Significant digits of a number, more than any measurement here has.
const DIGITS: usize = 5;

impl Chart {
    /// Returns a header and the rows, or None for bars and for charts without data.
    pub(crate) fn csv(&self) -> Option<String> {
        let rows = match &self.kind {
            ChartKind::Bars(_) => return None,
            ChartKind::Lines(lines) => line_rows(lines),
            ChartKind::Addresses(addresses) => address_rows(addresses),
            ChartKind::Flash(flash) => flash_rows(flash),
        };
        (rows.len() > 1).then(|| rows.join("\n"))
    }
}

fn line_rows(lines: &LineChart) -> Vec<String> {
    let head = |axis: &PlotAxis| text_cell(&format!("{} {}", axis.label, axis.unit));
    let mut rows = vec![format!("series,{},{}", head(&lines.plot.x), head(&lines.plot.y))];
    let mut add = |name: &str, points: &mut dyn Iterator<Item = (f64, f64)>| {
        let row = |(x, y)| format!("{},{},{}", text_cell(name), csv_number(x), csv_number(y));
        rows.extend(points.map(row));
    };
    lines.plot.series.iter().for_each(|series| add(&series.name, &mut series.points.iter().copied()));
    for (name, end) in [("slowest run", 0), ("fastest run", 1)] {
        add(name, &mut lines.band.iter().map(|(x, ends)| (*x, ends[end])));
    }
    let second = lines.second.iter().flat_map(|(_, all)| all);
    second.for_each(|series| add(&series.name, &mut series.points.iter().copied()));
    rows
}

fn address_rows(map: &AddressChart) -> Vec<String> {
    let names = map.strips.iter().map(|strip| format!(",{} MB/s", text_cell(&strip.name)));
    let lost = if map.lost.is_empty() { "" } else { ",share lost" };

    let row = |column: usize| {
        let speeds = map.strips.iter().map(|strip| {
            let speed = strip.columns.get(column).copied().flatten();
            format!(",{}", speed.map(csv_number).unwrap_or_default())
        });
        let lost = map.lost.get(column).map(|share| format!(",{}", csv_number(*share))).unwrap_or_default();
        format!("{}{}{lost}", column as u64 * map.column_bytes, speeds.collect::<String>())
    };
    [format!("byte{}{lost}", names.collect::<String>())]
        .into_iter()
        .chain((0..map.column_count()).map(row))
        .collect()
}

fn flash_rows(flash: &FlashChart) -> Vec<String> {
    let open = |blocks: Option<(u32, bool)>| blocks.map(|(n, _)| u64::from(n));
    let all = [
        ("page bytes", flash.page_bytes),
        ("erase block bytes", flash.erase_block_bytes),
        ("open blocks in order", open(flash.open_in_order)),
        ("open blocks at random", open(flash.open_at_random)),
        ("special bytes at the start", flash.special_bytes),
    ];
    let known = all.into_iter().filter_map(|(name, value)| Some(format!("{name},{}", value?)));
    ["property,value".to_owned()].into_iter().chain(known).collect()
}

/// Quotes a text as one cell. An apostrophe before `=`, `+`, `-` or `@` stops spreadsheets from running it as a formula.
fn text_cell(text: &str) -> String {
    let text = text.trim();
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    format!("\"{}{}\"", if formula { "'" } else { "" }, text.replace('"', "\"\""))
}

/// A number with five significant digits, blank if it is not finite.
pub(crate) fn csv_number(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => String::new(),
        0.0 => "0".to_owned(),
        v if !(1e-6..1e9).contains(&v) => format!("{value:.*e}", DIGITS - 1),
        v => {
            let whole = v.log10().floor() as i32 + 1;
            crate::figure::without_trailing_zeros(value, (DIGITS as i32 - whole).max(0) as usize)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::card_map::plot::{AxisScale, Plot};

    #[test]
    fn csv_has_a_row_per_point_and_quotes_formulas() {
        let plot = Plot::new("t", ("time", "s", AxisScale::Linear), ("speed", "MB/s", AxisScale::Linear))
            .with_line("=a\"b", [(0.5, 123_456.7), (1.0, f64::NAN)]);
        insta::assert_snapshot!(Chart::from(&plot).csv().unwrap(), @r#"
        series,"time s","speed MB/s"
        "'=a""b",0.5,123457
        "'=a""b",1,
        "#);
        assert_eq!(Chart::from(&Plot::default()).csv(), None);
    }

    #[test]
    fn csv_numbers_keep_five_digits() {
        let written = [301.234_56, 0.003_319_67, 123_456.0, 0.0, 1e-9].map(csv_number);
        assert_eq!(written, ["301.23", "0.0033197", "123456", "0", "1.0000e-9"]);
    }
}
