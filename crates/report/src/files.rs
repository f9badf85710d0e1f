//! What `verify --files` found, as people read it: speeds, counts, and the files that are not as they should be.

use crate::figure::{count, speed};
use crate::page::{Block, Page};
use crate::table::Table;
use cardscope_model::units::{Capacity, grouped};
use cardscope_model::verify::{FileResult, FilesReport, FirstError, Pace, SectorCounts};

/// So many files are listed one by one; the others are summed up.
const MOST_FILES: usize = 16;

/// Adds what was found of the files to a page.
pub(crate) fn add(page: &mut Page, report: &FilesReport) {
    let mut lines = vec![head(report), counts(&report.sectors)];
    lines.extend(report.first_error.as_ref().map(first_error));
    let paces = [("Writing", report.write), ("Reading", report.read)];
    lines.extend(paces.into_iter().filter_map(|(word, pace)| Some(format!("{word}: {}.", one_way(&pace?)))));
    page.add("", [Block::Lines(lines)]);
    let files = listed(report);
    let more = report.files.len() - files.len();
    let more = (more > 0).then(|| format!("… and {more} files more without losses or remarks."));
    page.add("", [Block::Table(table(&files)), Block::Lines(more.into_iter().chain(odd(report)).collect())]);
}

fn first_error(first: &FirstError) -> String {
    let found = first.found.map_or("nothing that could be read".into(), |word| format!("0x{word:016x}"));
    format!(
        "First error: byte {} of {} (offset 0x{:016x} of all): 0x{:016x} expected, {found} found.",
        grouped(first.offset_in_file),
        first.file,
        first.offset,
        first.expected
    )
}

fn head(report: &FilesReport) -> String {
    let files = count(report.files.len() as u32, "file");
    let by = if report.written { "written and read back" } else { "read" };
    let on = report.mounted_at.as_ref().map(|at| format!(" mounted on {at}")).unwrap_or_default();
    let share = match report.file_system_bytes {
        0 => String::new(),
        all => format!(", {:.0} % of it", 100.0 * report.tested_bytes as f64 / all as f64),
    };
    format!(
        "{files} {by} in {} ({}{on}): {}{share}.",
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
    let named: Vec<String> = there.map(|(word, count)| format!("{} {word}", grouped(*count))).collect();
    let aliased = match sectors.aliased {
        0 => String::new(),
        n => format!(
            " Of the overwritten ones {} hold what belongs to another place of these files.",
            grouped(n)
        ),
    };
    format!("Sectors of 512 bytes: {}.{aliased}", named.join(", "))
}

fn one_way(pace: &Pace) -> String {
    let slowest = pace.slowest_second_mb_s;
    let slowest = slowest.map(|s| format!(", in its slowest second {} MB/s", speed(s))).unwrap_or_default();
    format!("{} MB/s over {:.1} s{slowest}", speed(pace.mb_s), pace.seconds)
}

/// The files to list; those with losses or a remark come first where there are too many.
fn listed(report: &FilesReport) -> Vec<&FileResult> {
    let mut files: Vec<&FileResult> = report.files.iter().collect();
    if files.len() > MOST_FILES {
        files.sort_by_key(|file| (file.sectors.lost() == 0 && file.remark.is_none(), file.number));
        files.truncate(MOST_FILES);
    }
    files
}

fn table(files: &[&FileResult]) -> Table {
    let pace = |pace: Option<Pace>| pace.map(|p| speed(p.mb_s)).unwrap_or_default();
    Table::of(
        files.iter().copied(),
        &[
            ("file", &|file| file.name.clone()),
            ("bytes", &|file| grouped(file.bytes)),
            ("lost sectors", &|file| grouped(file.sectors.lost())),
            ("write MB/s", &|file| pace(file.write)),
            ("read MB/s", &|file| pace(file.read)),
            ("remark", &|file| file.remark.clone().unwrap_or_default()),
        ],
    )
}

fn odd(report: &FilesReport) -> Vec<String> {
    let missing = report.missing.iter().map(|(from, to)| match from == to {
        true => format!("Not there: {from}.h2w."),
        false => format!("Not there: {from}.h2w to {to}.h2w."),
    });
    let left_out = report.foreign.iter().map(|name| format!("Left out: {name}."));
    let again = (report.written && report.kept).then(|| {
        let again = format!("cardscope verify {} --files --read-only", report.directory);
        format!("The files are still there: `{again}` reads them again.")
    });
    missing.chain(left_out).chain(again).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h2testw::tests::lossy;

    #[test]
    fn losses_are_shown_with_their_kinds_and_the_first_one_with_its_address() {
        let mut page = Page::default();
        add(&mut page, &lossy());
        let text = page.text();
        for part in [
            "2 files read in /media/card (vfat mounted on /media/card)",
            "114 corrupted",
            "First error: byte 397 901 312 of 6.h2w (offset 0x0000000157b77e00",
            "Reading: 95.00 MB/s over 100.0 s, in its slowest second 12.00 MB/s.",
            "Not there: 1.h2w to 5.h2w.",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
