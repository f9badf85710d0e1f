//! Prints timings in flashbench's own layout, for scripts and people that know its output. Numbers have three
//! digits, and each is cut to seven bytes, unit included: a negative difference loses its `s`, and 999.6 µs becomes
//! `1e+03µ`. These oddities are reproduced, since parsers of such logs expect them.

use cardscope_model::card_map::FlashbenchTable;
use cardscope_model::units::decimal_places;
use cardscope_page::figure::without_trailing_zeros;
use std::fmt::Write;

const MAX_NUMBER_BYTES: usize = 7;

/// Widths of a column of `-f` and of `-O`, trailing blanks included.
const COLUMN_WIDTHS: (usize, usize) = (9, 8);

/// Prints the tables, each after a comment with the flashbench command that would print it.
pub fn render_tables(tables: &[FlashbenchTable]) -> String {
    tables.iter().map(render_table).collect::<Vec<_>>().join("\n")
}

fn render_table(table: &FlashbenchTable) -> String {
    let mut out = format!("# flashbench {}\n", flashbench_arguments(table));
    for (size, values) in &table.rows {
        match table.kind.as_str() {
            "align" => out += &align_row(*size, values),
            "scatter" => out += &scatter_row(*size, values),
            "find-fat" => out += &speed_row(*size, values, COLUMN_WIDTHS.0),
            _ => out += &speed_row(*size, values, COLUMN_WIDTHS.1),
        }
    }
    out
}

fn flashbench_arguments(table: &FlashbenchTable) -> String {
    let mut out = match table.kind.as_str() {
        "align" => "-a",
        "find-fat" => "-f",
        "scatter" => "-s",
        "open-au-random" => "-O --random",
        _ => "-O",
    }
    .to_owned();
    for (name, value) in &table.parameters {
        let _ = write!(out, " --{name}={value}");
    }
    out
}

/// `align 4194304`, then `pre 741µs`, `on 1.08ms`, `post 788µs` and `diff 317µs`, each behind a tab.
fn align_row(unit: u64, values: &[f64]) -> String {
    let names = ["pre", "on", "post", "diff"];
    let cells = names.iter().zip(values).map(|(name, ns)| format!("\t{name} {}", format_time(*ns)));
    format!("align {unit}{}\n", cells.collect::<String>())
}

/// `64KiB   6.38M/s  6.37M/s  …`, with the blanks at the end.
fn speed_row(size: u64, values: &[f64], column: usize) -> String {
    let cells = values.iter().map(|v| format!("{:<column$}", format_speed(*v)));
    format!("{:<8}{}\n", format_binary(size), cells.collect::<String>())
}

/// Position in MiB and time in ms, for gnuplot.
fn scatter_row(position: u64, values: &[f64]) -> String {
    let times: String = values.iter().map(|ns| format!("\t{:.6}", ns / 1e6)).collect();
    format!("{:.6}{times}\n", position as f64 / 1_048_576.0)
}

fn format_time(ns: f64) -> String {
    format_scaled(ns, ["ns", "µs", "ms", "s"])
}

fn format_speed(bytes_per_s: f64) -> String {
    format_scaled(bytes_per_s, ["B/s", "K/s", "M/s", "G/s"])
}

/// A value with three digits in the largest unit below it. Values below 1000 are not scaled, negative ones
/// included.
fn format_scaled(value: f64, [one, thousand, million, billion]: [&str; 4]) -> String {
    cut_to_width(match value.trunc() {
        whole if whole < 1e3 => format!("{whole:.0}{one}"),
        whole if whole < 1e6 => format!("{}{thousand}", three_significant(whole / 1e3)),
        whole if whole < 1e9 => format!("{}{million}", three_significant(whole / 1e6)),
        whole => format!("{}{billion}", three_significant(whole / 1e9)),
    })
}

fn format_binary(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 => format!("{}GiB", three_significant(b as f64 / f64::from(1 << 30))),
        b if b >= 1 << 20 => format!("{}MiB", three_significant(b as f64 / f64::from(1 << 20))),
        b if b >= 1 << 10 => format!("{}KiB", three_significant(b as f64 / 1024.0)),
        b => format!("{b}B"),
    }
}

/// C's `%.3g` for values of at least 1.
fn three_significant(value: f64) -> String {
    if value >= 999.5 {
        let exponent = value.log10().floor().max(3.0);
        return format!("{}e+{exponent:02}", without_trailing_zeros(value / 10f64.powf(exponent), 2));
    }
    without_trailing_zeros(value, decimal_places(value))
}

fn cut_to_width(text: String) -> String {
    let mut end = MAX_NUMBER_BYTES.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_the_public_logs() {
        // All of these are from logs of real cards.
        for (ns, shown) in [
            (1_480_000.0, "1.48ms"),
            (1_500_000.0, "1.5ms"),
            (373_000.0, "373µs"),
            (50_600.0, "50.6µs"),
            (2_050.0, "2.05µs"),
            (-13_700.4, "-13700n"),
            (-4_756.0, "-4756ns"),
            (57.0, "57ns"),
            (999_600.0, "1e+03µ"),
        ] {
            assert_eq!(format_time(ns), shown);
        }
        for (bytes_per_s, shown) in
            [(2e6, "2M/s"), (6.38e6, "6.38M/s"), (12.8e6, "12.8M/s"), (94_000.0, "94K/s")]
        {
            assert_eq!(format_speed(bytes_per_s), shown);
        }
        assert_eq!(
            [format_binary(4 << 20), format_binary(512 << 10), format_binary(1024)],
            ["4MiB", "512KiB", "1KiB"]
        );
    }

    fn table(kind: &str, rows: Vec<(u64, Vec<f64>)>) -> String {
        render_tables(&[FlashbenchTable { kind: kind.to_owned(), rows, ..FlashbenchTable::default() }])
    }

    #[test]
    fn rows_match_flashbench_byte_for_byte() {
        // Lines from a log of a real card, and from a run of flashbench.
        let align = table("align", vec![(4_194_304, vec![1.49e6, 1.91e6, 1.39e6, 470_000.0])]);
        assert_eq!(
            align.lines().nth(1).unwrap(),
            "align 4194304\tpre 1.49ms\ton 1.91ms\tpost 1.39ms\tdiff 470µs"
        );
        let fat = table("find-fat", vec![(2 << 20, vec![4.59e6, 2e6, 4.62e6])]);
        assert_eq!(fat.lines().nth(1).unwrap(), "2MiB    4.59M/s  2M/s     4.62M/s  ");
        let open = table("open-au-linear", vec![(64 << 10, vec![13.9e6])]);
        assert_eq!(open, "# flashbench -O\n64KiB   13.9M/s \n");
        let scatter = table("scatter", vec![(16_384, vec![17_189.0])]);
        assert_eq!(scatter.lines().nth(1).unwrap(), "0.015625\t0.017189");
    }
}
