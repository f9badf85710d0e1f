//! Charts of a `map` report: speed by I/O size, flash geometry, speed over the addresses.

use super::{AddressChart, AddressStrip, Chart, ChartCaption, ChartKind, FlashChart, SPEED_UNIT};
use crate::figure::{condition_line, percent};
use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis, PlotSeries};
use cardscope_model::card_map::property::Property;
use cardscope_model::card_map::{MapReport, SizePoint};
use cardscope_model::condition::Condition;
use cardscope_model::units::{DecimalSize, three_digits as speed};
use cardscope_model::verify::{MapCell, SpeedMap};

/// Columns of the address chart in a picture.
pub const PICTURE_COLUMNS: usize = 100;

/// Columns of the address chart on a terminal.
pub const TERMINAL_COLUMNS: usize = 72;

/// Speed by I/O size, or None if no sizes were tried.
pub fn speed_by_size_chart(map: &MapReport) -> Option<Chart> {
    let curves = &map.body.measured.curves;
    let series = |name: &str, points: &[SizePoint]| PlotSeries {
        name: name.to_owned(),
        points: points.iter().map(|p| (p.bytes as f64, p.mb_s)).collect(),
    };
    let all = [
        series("read in order", &curves.sequential_read),
        series("read at random", &curves.random_read),
        series("write in order", &curves.sequential_write),
        series("write at random", &curves.random_write),
    ];
    let series: Vec<PlotSeries> = all.into_iter().filter(|s| s.points.len() > 1).collect();
    let marks = map.body.measured.page_bytes.value.map(|bytes| (bytes as f64, "page".to_owned()));
    let condition = condition_line(&map.header.condition);
    let caption = ChartCaption::new(SPEED_UNIT, "1 map", "no interval: each size once", condition);
    let plot = Plot {
        title: "Speed by size of an I/O".into(),
        x: PlotAxis::new("size of an I/O", "bytes", AxisScale::Log2),
        y: PlotAxis::new("speed", "MB/s", AxisScale::Log10),
        series,
        marks: marks.into_iter().collect(),
    };
    (!plot.series.is_empty()).then(|| Chart::from_lines(plot.into(), caption))
}

/// Pages, erase blocks and open blocks, or None if none could be measured.
pub fn flash_chart(map: &MapReport) -> Option<Chart> {
    let measured = &map.body.measured;
    let open = |blocks: &Property<u32>| match (blocks.value, blocks.bound) {
        (Some(n), _) => Some((n, false)),
        (None, Some(n)) => Some((n, true)),
        _ => None,
    };
    let flash = FlashChart {
        page_bytes: measured.page_bytes.value,
        erase_block_bytes: measured.erase_block_bytes.value,
        open_in_order: open(&measured.open_blocks.linear),
        open_at_random: open(&measured.open_blocks.random),
        special_bytes: measured.fat_region_bytes.value,
    };
    let found = |property: &Property<u64>| property.value.map(|_| property.confidence);
    let sure = [found(&measured.page_bytes), found(&measured.erase_block_bytes)];
    let sure = sure.into_iter().flatten().reduce(f64::min);
    let sure = sure.map(|sure| format!("page and block at least {} sure", percent(sure)));
    let (sure, condition) = (sure.as_deref().unwrap_or("no interval"), condition_line(&map.header.condition));
    (flash != FlashChart::default()).then(|| Chart {
        title: "What timing shows of the flash".into(),
        caption: ChartCaption::new("sizes in powers of 1024", "1 map", sure, condition),
        kind: ChartKind::Flash(flash),
    })
}

/// Speed over the addresses in at most `columns` columns, or None if nothing was measured along them.
pub fn address_chart(map: &SpeedMap, of: &Condition, columns: usize) -> Option<Chart> {
    let total = |all: &[MapCell], of: fn(&MapCell) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
    let bytes = total(&map.cells, |c| c.bytes);
    let parts: Vec<&[MapCell]> = map.cells.chunks(map.cells.len().div_ceil(columns).max(1)).collect();
    let column_bytes = parts.first().map_or(0, |part| part.iter().map(|c| c.bytes).sum());
    // A column shows its slowest cell, because a mean would hide it.
    let column = |of: fn(&MapCell) -> Option<f64>| -> Vec<Option<f64>> {
        let known = |cell: &MapCell| of(cell).filter(|v| v.is_finite() && *v >= 0.0);
        parts.iter().map(|part| part.iter().filter_map(known).reduce(f64::min)).collect()
    };
    let mut strips = Vec::new();
    let (write, read) = (column(|c| c.write_mb_s), column(|c| c.read_mb_s));
    for (name, whole, columns) in [("write", map.write, write), ("read", map.read, read)] {
        let speeds = whole.map_or(String::new(), |w| {
            format!("{} … {} by part, mean {} MB/s", speed(w.min_mb_s), speed(w.max_mb_s), speed(w.mean_mb_s))
        });
        let slowest = whole.and_then(|whole| whole.slowest_second).map_or_else(String::new, |second| {
            format!(", slowest second {} MB/s at {}", speed(second.mb_s), DecimalSize(second.address))
        });
        if columns.iter().any(Option::is_some) {
            strips.push(AddressStrip { name: name.to_owned(), speeds, slowest, columns });
        }
    }
    let share = |part: &&[MapCell]| {
        let (lost, all) = (total(part, |c| c.bad_bytes), total(part, |c| c.bytes));
        let failed = part.iter().any(|c| c.errors > 0);
        if failed { 1.0 } else { (lost as f64 / all.max(1) as f64).min(1.0) }
    };
    let lost: Vec<f64> = parts.iter().map(share).collect();
    let lost = if lost.iter().any(|l| *l > 0.0) { lost } else { Vec::new() };
    (!strips.is_empty() || !lost.is_empty()).then(|| Chart {
        title: "Speed over the addresses".into(),
        caption: ChartCaption::new(
            SPEED_UNIT,
            "1 pass",
            "each column shows its slowest part",
            condition_line(of),
        ),
        kind: ChartKind::Addresses(AddressChart { bytes, column_bytes, strips, lost }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::verify::{MapSpeed, SlowestSecond};

    #[test]
    fn address_chart_shows_slowest_cell_and_lost_bytes() {
        let cell = |(n, write_mb_s, bad_bytes): (u64, f64, u64)| MapCell {
            start: n << 20,
            bytes: 1 << 20,
            write_mb_s: Some(write_mb_s),
            bad_bytes,
            ..MapCell::default()
        };
        let cells = [(0, 20.0, 0), (1, 20.0, 512), (2, 5.0, 0), (3, 20.0, 1 << 20)].map(cell).to_vec();
        let whole = MapSpeed {
            min_mb_s: 5.0,
            mean_mb_s: 11.43,
            max_mb_s: 20.0,
            slowest_second: Some(SlowestSecond { mb_s: 3.2, address: 3 << 20 }),
        };
        let map = SpeedMap { cell_bytes: 1 << 20, cells, write: Some(whole), read: None };
        let chart = address_chart(&map, &Condition::default(), TERMINAL_COLUMNS).unwrap();
        insta::assert_snapshot!(crate::text_chart::render_text_chart(&chart), @r#"
        Speed over the addresses
        write ██▂█
              5.00 … 20.0 by part, mean 11.4 MB/s, slowest second 3.20 MB/s at 3.15 MB
        bad    . #
              . below 1 % of the column's bytes, : below 10 %, # more, or an I/O failed
              a column is 1.05 MB of 4.19 MB
        "#);
    }
}
