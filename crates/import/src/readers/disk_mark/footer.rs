//! Footer of a report: test size and loops, drive and its fill level, date, system, comment.

use super::line::binary_size;
use crate::readers::{add_doubts, add_note, parse_date, parse_number, set_word, text_between, trimmed_text};
use cardscope_model::condition::ConditionOrigin;
use cardscope_model::log::CardLog;
use cardscope_model::run::Run;

/// Parses one footer line into log and run; returns false if the line does not belong to a footer.
pub(super) fn read_line(line: &str, log: &mut CardLog, run: &mut Run) -> bool {
    let line = line.trim_start_matches(['>', ' ', '\t']);
    let Some((key, value)) = line.split_once(':') else { return false };
    let value = value.trim();
    match key.trim() {
        "Test" => read_test(value, log, run),
        "Date" => log.date = parse_date(value).or(log.date.take()),
        "OS" => {
            set_word(log, "kernel", trimmed_text(&value.split_whitespace().collect::<Vec<_>>().join(" ")))
        }
        "Target" => read_drive(value, log),
        "Profile" | "Mode" | "Time" | "Mix Ratio" => note_setting(key.trim(), value, log),
        "Comment" => add_note(&mut log.condition, value, ConditionOrigin::Stated),
        "Volume" => {
            set_full_percent(value, log);
            // `Macintosh HD: 93% used (432/465 GiB)`.
            add_note(&mut log.condition, &format!("volume {value}"), ConditionOrigin::Read);
        }
        "Device" => log.card.model = trimmed_text(value),
        "CPU" => log.condition.set("board", value, ConditionOrigin::Read),
        _ => return false,
    }
    true
}

/// `1000 MB [C: 33.0% (39.3/119.1 GB)] (x5)`, `1 GiB (x5) [Interval: 5 sec]`.
fn read_test(value: &str, log: &mut CardLog, run: &mut Run) {
    let amount: String = value.split_whitespace().take(2).collect::<String>().to_lowercase();
    run.size_bytes = binary_size(&amount);
    run.loops = text_between(value, "(x", ")").and_then(|loops| loops.trim().parse().ok());
    let brackets = value.split('[').skip(1).filter_map(|part| part.split_once(']'));
    brackets.filter(|(inside, _)| inside.contains('%')).for_each(|(inside, _)| read_drive(inside, log));
    let zeroes = ["0Fill", "0 Fill", "0x00"].iter().any(|zeroes| value.contains(zeroes));
    add_doubts(log, [(zeroes, "it wrote zeroes, which some controllers do not store")]);
}

/// `C: 33.0% (39.3/119.1 GB)`, `/media/card 12% (3/29 GiB) [SD16G]`.
fn read_drive(value: &str, log: &mut CardLog) {
    set_full_percent(value, log);
    let (place, model) = value.split_once('[').unwrap_or((value, ""));
    log.card.model = trimmed_text(model.trim_end_matches(']')).or(log.card.model.take());
    add_note(&mut log.condition, &format!("drive {}", place.trim()), ConditionOrigin::Read);
}

/// Sets the fill level from the number before the percent sign.
fn set_full_percent(value: &str, log: &mut CardLog) {
    let percent = value.split_once('%').and_then(|(before, _)| before.split_whitespace().next_back());
    if let Some(percent) = percent.and_then(parse_number).filter(|percent| (0.0..=100.0).contains(percent)) {
        log.condition.set("full_percent", percent.to_string(), ConditionOrigin::Read);
    }
}

/// Notes a setting unless it is the program's default.
fn note_setting(key: &str, value: &str, log: &mut CardLog) {
    if !["", "Default", "Measure 5 sec / Interval 5 sec"].contains(&value) && key != "Mix Ratio" {
        add_note(&mut log.condition, &format!("{} {value}", key.to_lowercase()), ConditionOrigin::Read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn footer(lines: &[&str]) -> (CardLog, Run) {
        let (mut log, mut run) = (CardLog::new("test"), Run::default());
        for line in lines {
            assert!(read_line(line, &mut log, &mut run), "{line}");
        }
        (log, run)
    }

    #[test]
    fn size_loops_and_fill_level_are_read() {
        let (log, run) = footer(&["  Test : 100 MB [G: 12.5% (3.7/29.7 GB)] (x9)"]);
        assert_eq!((run.size_bytes, run.loops), (Some(100 << 20), Some(9)));
        assert_eq!(log.condition.get("full_percent"), Some("12.5"));
        assert_eq!(log.condition.get("note"), Some("drive G: 12.5% (3.7/29.7 GB)"));
        let (_, run) = footer(&["   Test: 1 GiB (x5) [Measure: 5 sec / Interval: 5 sec]"]);
        assert_eq!((run.size_bytes, run.loops), (Some(1 << 30), Some(5)));
    }

    #[test]
    fn target_names_the_drive() {
        let (log, _) = footer(&[" Target: /media/card 40% (12/29 GiB) [SD Card Reader]"]);
        assert_eq!(log.card.model.as_deref(), Some("SD Card Reader"));
        assert_eq!(log.condition.get("note"), Some("drive /media/card 40% (12/29 GiB)"));
    }

    #[test]
    fn default_settings_are_not_noted() {
        let (log, _) = footer(&["Profile: Default", "   Mode:", "Comment: reader on the left port"]);
        assert_eq!(log.condition.get("note"), Some("reader on the left port"));
        let (log, _) = footer(&["Profile: Real World", "   Mode: [Admin]"]);
        assert_eq!(log.condition.get("note"), Some("profile Real World; mode [Admin]"));
    }

    #[test]
    fn malformed_footer_sets_nothing() {
        let (log, run) = footer(&["Test : many MB (xx) [%]", "Date : soon", "OS :", "Device :"]);
        assert_eq!((run.size_bytes, run.loops, log.date, log.card.model), (None, None, None, None));
    }
}
