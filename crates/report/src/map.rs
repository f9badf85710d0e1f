//! The map over the address axis in block characters: one column a part of the card, its height the speed, and marks
//! below for what was lost.

use crate::figure::speed;
use cardscope_model::units::{Capacity, grouped};
use cardscope_model::verify::{MapCell, MapSpeed, SpeedMap};

/// Columns at most, so that a line fits a terminal.
const COLUMNS: usize = 72;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The map as lines; none where nothing was measured.
pub(crate) fn lines(map: &SpeedMap) -> Vec<String> {
    let groups: Vec<&[MapCell]> = map.cells.chunks(map.cells.len().div_ceil(COLUMNS).max(1)).collect();
    let mut out = Vec::new();
    for (what, whole, of) in [
        ("write", map.write, (|c| c.write_mb_s) as fn(&MapCell) -> Option<f64>),
        ("read", map.read, |c| c.read_mb_s),
    ] {
        let Some(whole) = whole else { continue };
        out.extend([format!("{what:5} {}", bars(&groups, whole.max_mb_s, of)), summary(&whole)]);
    }
    if map.cells.iter().any(|c| c.bad_bytes > 0 || c.errors > 0) {
        out.push(format!("bad   {}", groups.iter().map(|g| badness(g)).collect::<String>()));
        out.push("      . below 1 % of the column's bytes, : below 10 %, # more, E an I/O failed".to_owned());
    }
    if !out.is_empty() {
        let bytes: u64 = map.cells.iter().map(|c| c.bytes).sum();
        let column = groups.first().map_or(0, |g| g.iter().map(|c| c.bytes).sum());
        out.push(format!("      a column is {} of {}", Capacity(column), Capacity(bytes)));
    }
    out
}

fn bars(groups: &[&[MapCell]], most: f64, of: fn(&MapCell) -> Option<f64>) -> String {
    let column = |group: &&[MapCell]| {
        // The slowest cell of a column: a mean would hide it.
        match group.iter().filter_map(of).reduce(f64::min) {
            Some(mb_s) if most > 0.0 => BARS[((mb_s / most * 8.0).ceil() as usize).clamp(1, 8) - 1],
            Some(_) => BARS[0],
            None => ' ',
        }
    };
    groups.iter().map(column).collect()
}

fn summary(whole: &MapSpeed) -> String {
    let slowest = whole.slowest_second.map_or_else(String::new, |second| {
        format!(", slowest second {} MB/s at byte {}", speed(second.mb_s), grouped(second.address))
    });
    format!(
        "      min {} MB/s, mean {} MB/s, max {} MB/s{slowest}",
        speed(whole.min_mb_s),
        speed(whole.mean_mb_s),
        speed(whole.max_mb_s)
    )
}

fn badness(group: &[MapCell]) -> char {
    let bytes: u64 = group.iter().map(|c| c.bytes).sum();
    let bad: u64 = group.iter().map(|c| c.bad_bytes).sum();
    match bad as f64 / bytes.max(1) as f64 {
        _ if group.iter().any(|c| c.errors > 0) => 'E',
        0.0 => ' ',
        share if share < 0.01 => '.',
        share if share < 0.1 => ':',
        _ => '#',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::verify::SlowestSecond;

    fn cell(n: u64, write_mb_s: f64, bad_bytes: u64) -> MapCell {
        MapCell {
            start: n << 20,
            bytes: 1 << 20,
            write_mb_s: Some(write_mb_s),
            bad_bytes,
            ..MapCell::default()
        }
    }

    #[test]
    fn a_slow_part_and_a_hole_stand_out() {
        let cells = vec![cell(0, 20.0, 0), cell(1, 20.0, 512), cell(2, 5.0, 0), cell(3, 20.0, 1 << 20)];
        let whole = MapSpeed {
            min_mb_s: 5.0,
            mean_mb_s: 11.43,
            max_mb_s: 20.0,
            slowest_second: Some(SlowestSecond { mb_s: 3.2, address: 3 << 20 }),
        };
        let map = SpeedMap { cell_bytes: 1 << 20, cells, write: Some(whole), read: None };
        insta::assert_snapshot!(lines(&map).join("\n"), @r"
        write ██▂█
              min 5.000 MB/s, mean 11.43 MB/s, max 20.00 MB/s, slowest second 3.200 MB/s at byte 3 145 728
        bad    . #
              . below 1 % of the column's bytes, : below 10 %, # more, E an I/O failed
              a column is 1 048 576 bytes (0.00 GB, 0.00 GiB) of 4 194 304 bytes (0.00 GB, 0.00 GiB)
        ");
    }
}
