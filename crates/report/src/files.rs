//! What `verify --files` found, as people read it: speeds, counts, and the files that are not as they should be.

use crate::figure::speed;
use crate::table::Table;
use cardscope_model::units::{Capacity, grouped};
use cardscope_model::verify::{FileResult, FilesReport, Pace, SectorCounts};
use std::fmt::Write;

/// So many files are listed one by one; the others are summed up.
const MOST_FILES: usize = 16;

/// The section of the report on the files.
#[must_use]
pub fn files_section(report: &FilesReport) -> String {
    let mut out = head(report);
    out.push_str(&counts(&report.sectors));
    if let Some(first) = &report.first_error {
        let found = first.found.map_or("nothing that could be read".into(), |word| format!("0x{word:016x}"));
        let _ = writeln!(
            out,
            "First error: byte {} of {} (offset 0x{:016x} of all): 0x{:016x} expected, {found} found.",
            grouped(first.offset_in_file),
            first.file,
            first.offset,
            first.expected
        );
    }
    for (word, pace) in [("Writing", report.write), ("Reading", report.read)] {
        if let Some(pace) = pace {
            let _ = writeln!(out, "{word}: {}.", one_way(&pace));
        }
    }
    let table = table(report);
    if !table.is_empty() {
        let _ = write!(out, "\n{table}");
    }
    out.push_str(&odd(report));
    out
}

fn head(report: &FilesReport) -> String {
    let number = report.files.len();
    let plural = if number == 1 { "file" } else { "files" };
    let by = if report.written { "written and read back" } else { "read" };
    let on = report.mounted_at.as_ref().map(|at| format!(" mounted on {at}")).unwrap_or_default();
    let share = match report.file_system_bytes {
        0 => String::new(),
        all => format!(", {:.0} % of it", 100.0 * report.tested_bytes as f64 / all as f64),
    };
    format!(
        "{number} {plural} {by} in {} ({}{on}): {}{share}.\n",
        report.directory,
        report.file_system,
        Capacity(report.tested_bytes)
    )
}

/// The words of f3read, in order of harm.
fn counts(sectors: &SectorCounts) -> String {
    let rows = [
        ("whole", sectors.ok),
        ("slightly changed (1 to 7 bits)", sectors.changed),
        ("overwritten by another place's", sectors.overwritten),
        ("corrupted", sectors.corrupted),
        ("not readable", sectors.unreadable),
    ];
    let there = rows.iter().filter(|(word, count)| *count > 0 || *word == "whole");
    let told: Vec<String> = there.map(|(word, count)| format!("{} {word}", grouped(*count))).collect();
    let aliased = match sectors.aliased {
        0 => String::new(),
        n => format!(
            " Of the overwritten ones {} hold what belongs to another place of these files.",
            grouped(n)
        ),
    };
    format!("Sectors of 512 bytes: {}.{aliased}\n", told.join(", "))
}

fn one_way(pace: &Pace) -> String {
    let slowest = pace.slowest_second_mb_s;
    let slowest = slowest.map(|s| format!(", in its slowest second {} MB/s", speed(s))).unwrap_or_default();
    format!("{} MB/s over {:.1} s{slowest}", speed(pace.mb_s), pace.seconds)
}

/// Files with losses or a remark come first where there are too many to list.
fn table(report: &FilesReport) -> String {
    let mut files: Vec<&FileResult> = report.files.iter().collect();
    if files.len() > MOST_FILES {
        files.sort_by_key(|file| (file.sectors.lost() == 0 && file.remark.is_none(), file.number));
        files.truncate(MOST_FILES);
    }
    if files.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["file", "bytes", "lost sectors", "write MB/s", "read MB/s", "remark"]);
    for file in &files {
        let pace = |pace: Option<Pace>| pace.map(|p| speed(p.mb_s)).unwrap_or_default();
        table.row([
            file.name.clone(),
            grouped(file.bytes),
            grouped(file.sectors.lost()),
            pace(file.write),
            pace(file.read),
            file.remark.clone().unwrap_or_default(),
        ]);
    }
    table.drop_blank_columns();
    let more = report.files.len() - files.len();
    let rest = if more > 0 {
        format!("… and {more} files more without losses or remarks.\n")
    } else {
        String::new()
    };
    format!("{table}{rest}")
}

fn odd(report: &FilesReport) -> String {
    let mut out = String::new();
    for (from, to) in &report.missing {
        let names = if from == to { format!("{from}.h2w") } else { format!("{from}.h2w to {to}.h2w") };
        let _ = writeln!(out, "Not there: {names}.");
    }
    for name in &report.foreign {
        let _ = writeln!(out, "Left out: {name}.");
    }
    if report.written && report.kept {
        let _ = writeln!(
            out,
            "The files are still there: `cardscope verify {} --files --read-only` reads them again.",
            report.directory
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h2testw::tests::lossy;

    #[test]
    fn losses_are_told_with_their_kinds_and_the_first_one_with_its_place() {
        let text = files_section(&lossy());
        assert!(text.contains("2 files read in /media/card (vfat mounted on /media/card)"), "{text}");
        assert!(text.contains("114 corrupted"), "{text}");
        assert!(text.contains("First error: byte 397 901 312 of 6.h2w (offset 0x0000000157b77e00"), "{text}");
        assert!(
            text.contains("Reading: 95.00 MB/s over 100.0 s, in its slowest second 12.00 MB/s."),
            "{text}"
        );
        assert!(text.contains("Not there: 1.h2w to 5.h2w."), "{text}");
    }
}
