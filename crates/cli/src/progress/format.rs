//! Formats figures of a progress line with three significant digits.

use cardscope_model::units::{MB, decimal_places};
pub(crate) use cardscope_page::tree::display_width as columns;

/// Characters of a bar chart, by height.
pub(crate) const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// `132 of 540 MB`, with one unit for both.
pub(crate) fn bytes_of_total(done: u64, all: u64) -> String {
    let (unit, name) = match all {
        0..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (MB, "MB"),
        1_000_000_000..1_000_000_000_000 => (1e9, "GB"),
        _ => (1e12, "TB"),
    };
    let (done, all) = (done as f64 / unit, all as f64 / unit);
    let decimals = decimal_places(all);
    format!("{done:.decimals$} of {all:.decimals$} {name}")
}

/// `2 of 30 s`, or `72 s of 18 min 35 s`.
pub(crate) fn time_of_total(done: f64, all: f64) -> String {
    let (done, all) = (format_time(done.floor()), format_time(all));
    match (done.strip_suffix(" s"), all.matches(' ').count()) {
        (Some(seconds), 1) if all.ends_with(" s") => format!("{seconds} of {all}"),
        _ => format!("{done} of {all}"),
    }
}

/// Remaining time with two units: `48 s`, `1 min 40 s`, `2 h 5 min`, `3 days 4 h`.
pub(crate) fn format_time(seconds: f64) -> String {
    // Caps at about 30 years; longer estimates are meaningless.
    let whole = seconds.clamp(0.0, 1e9).ceil() as u64;
    let two = |large: &str, of: u64, small: &str, each: u64| match whole % of / each {
        0 => format!("{} {large}", whole / of),
        rest => format!("{} {large} {rest} {small}", whole / of),
    };
    match whole {
        0..90 => format!("{whole} s"),
        90..3600 => two("min", 60, "s", 1),
        3600..172_800 => two("h", 3600, "min", 60),
        _ => two("days", 86_400, "h", 3600),
    }
}

/// Cuts a text to a width and marks the cut with `…`.
pub(crate) fn cut_to_width(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(end, _)| &text[..end]);
    let begun = ends.take_while(|begun| columns(begun) < most).last();
    begun.map_or_else(String::new, |begun| format!("{}…", begun.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_times_two_units() {
        assert_eq!(bytes_of_total(132_000_000, 540_000_000), "132 of 540 MB");
        assert_eq!(bytes_of_total(0, 12_345_678), "0.0 of 12.3 MB");
        assert_eq!(bytes_of_total(1_500_000_000, 256_000_000_000), "2 of 256 GB");
        assert_eq!(
            (time_of_total(2.9, 30.0), time_of_total(72.0, 1115.0)),
            ("2 of 30 s".into(), "72 s of 18 min 35 s".into())
        );
        let times = [0.2, 89.0, 100.0, 120.0, 7500.0, 274_000.0, f64::INFINITY];
        let said = ["1 s", "89 s", "1 min 40 s", "2 min", "2 h 5 min", "3 days 4 h", "11574 days 1 h"];
        assert_eq!(times.map(format_time), said);
    }

    #[test]
    fn text_is_cut_to_width() {
        assert_eq!(cut_to_width("reading back", 20), "reading back");
        assert_eq!(cut_to_width("reading back", 9), "reading…");
        assert_eq!(
            (cut_to_width("卡卡卡", 5), cut_to_width("abc", 1), cut_to_width("abc", 0)),
            ("卡卡…".into(), "…".into(), String::new())
        );
    }
}
