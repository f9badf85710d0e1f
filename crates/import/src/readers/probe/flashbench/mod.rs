//! flashbench: `-a` (boundaries), `-f` (first allocation units), `-O` (open ones), from terminals and from the result files of
//! a script that adds the card's identity, fdisk, fsck, dd and hdparm.
//!
//! flashbench.c cuts each number to seven bytes, and `M/s` is 10^6 bytes a second. The script reads the identity in the
//! built-in slot, even if the tested card is in a USB reader, so the identity counts only if the capacities agree.

mod parts;
mod script;
mod tables;

use crate::readers::{LogText, ReaderOutcome, new_log};
use cardscope_model::flashbench::{FlashbenchTables, TABLES};
use cardscope_model::log::CardLog;
use cardscope_model::untrusted_text::shorten_text;
use parts::LogPart;
use serde_json::json;
use std::collections::HashSet;
use tables::TableReader;

/// Empty sections that a doubt names.
const MOST_NAMED_SECTIONS: usize = 3;

/// True if the text has a row of flashbench, or two headings of the script.
pub(crate) fn recognise(text: &LogText) -> bool {
    let headings = text.head().lines().filter(|line| parts::is_script_heading(line)).take(2).count();
    headings == 2
        || text.head().lines().any(tables::is_align_row)
        || TableReader::from_lines(text.head().lines()).tables.rows() > 1
}

pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let parts = parts::split_parts(text);
    let mut log = new_log("flashbench", None);
    let tested = script::find_device(&parts);
    script::add_identity(&tested, &parts, &mut log);
    script::add_runs(&parts, &tested, &mut log);
    let tables = read_tables(&parts);
    log.other.extend((tables.rows() > 0).then(|| (TABLES.to_owned(), json!(tables))));
    doubt_empty_sections(&parts, &mut log);
    Ok(vec![log])
}

fn read_tables(parts: &[LogPart<'_>]) -> FlashbenchTables {
    let mut reader = TableReader::default();
    for part in parts {
        reader.begin_section(part.heading.clone());
        if part.heading.holds_rows() {
            part.lines.iter().for_each(|line| reader.read_line(line));
        }
    }
    reader.tables
}

/// Doubts headings without content: their tests failed or never ran.
fn doubt_empty_sections(parts: &[LogPart<'_>], log: &mut CardLog) {
    let empty = parts.iter().filter(|part| part.heading.holds_results() && part.lines.is_empty());
    let mut titles: Vec<&str> = empty.filter_map(|part| part.title).collect();
    titles.dedup();
    // A heading that only groups others (`Align test` above `Align test: 1`) has no lines of its test.
    let parents: HashSet<&str> = parts.iter().filter_map(|part| part.parent).collect();
    titles.retain(|title| !parents.contains(title));
    if !titles.is_empty() {
        let mut named: Vec<_> = titles.iter().take(MOST_NAMED_SECTIONS).map(|t| shorten_text(t)).collect();
        let more = titles.len() - named.len();
        named.extend((more > 0).then(|| format!("and {more} more").into()));
        log.doubts.push(format!("nothing to import under: {}", named.join("; ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_times_are_parsed_unless_the_unit_is_lost() {
        for (text, us) in [
            ("741µs", Some(741.0)),
            ("1.08ms", Some(1080.0)),
            ("-924ns", Some(-0.924)),
            ("-13790n", Some(-13.79)),
            ("-123456", Some(-123.456)),
            ("1e+03µ", Some(1000.0)),
            ("1e+03us", Some(1000.0)),
            ("2.5s", Some(2.5e6)),
            ("741", None),
            ("", None),
            ("ms", None),
            ("1.0.0.x", None),
            ("-", None),
        ] {
            let found = tables::parse_micros(text);
            assert_eq!(found.is_some(), us.is_some(), "{text}");
            assert!((found.unwrap_or(0.0) - us.unwrap_or(0.0)).abs() < 1e-9, "{text}: {found:?}");
        }
    }
}
