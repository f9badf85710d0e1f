//! Summary of `verify --files` in the words and units of h2testw 1.4, comparable with its logs: KByte, MByte and
//! GByte are powers of 1024 (docs/reference/tools.md#f3-and-h2testw-files).

use crate::page::{self as verify, verdict};
use cardscope_model::verify::{FilesReport, SectorCounts, TransferPace, VerifyReport};
use cardscope_page::tree::{Page, PageBlock};
use std::fmt::Write;

const SECTOR: u64 = 512;
const MBYTE: u64 = 1 << 20;

/// Page of `verify` with h2testw's summary in place of our own.
pub fn page(report: &VerifyReport) -> Page {
    let Some(files) = &report.body.files else { return verify::page(report) };
    let (tone, answer) = verdict::headline(&report.body, &report.header.findings, None);
    let mut page = Page::new("", tone, answer);
    page.add_section("", [PageBlock::Verbatim(summary(files, report.header.error.as_deref()))]);
    page
}

/// Lines as h2testw prints them, followed by the reason of an early end, for which it has no wording.
pub fn summary(files: &FilesReport, error: Option<&str>) -> String {
    let mut out = String::new();
    let (tested, all) = (files.tested_bytes / MBYTE, files.file_system_bytes / MBYTE);
    if tested < all {
        let _ = writeln!(out, "Warning: Only {tested} of {all} MByte tested.");
    }
    match files.sectors.lost_sectors() {
        0 if error.is_some() => {}
        0 => {
            let _ = writeln!(out, "Test finished without errors.");
            if files.kept {
                let _ = writeln!(out, "You can now delete the test files *.h2w or verify them again.");
            }
        }
        _ => out.push_str(&loss_lines(files)),
    }
    for (word, pace) in [("Writing", files.write), ("Reading", files.read)] {
        if let Some(pace) = pace {
            let _ = writeln!(out, "{word} speed: {} MByte/s", format_speed(&pace));
        }
    }
    out.push_str("H2testw v1.4\n");
    if let Some(error) = error {
        let _ = writeln!(out, "Ended early: {error}");
    }
    out
}

fn loss_lines(files: &FilesReport) -> String {
    let SectorCounts { ok, changed, overwritten, corrupted, aliased, unreadable } = files.sectors;
    let mut out = String::from("The media is likely to be defective.\n");
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("{} OK ({ok} sectors)", format_amount(ok)));
    let lost = files.sectors.lost_sectors();
    line(format!("{} DATA LOST ({lost} sectors)", format_amount(lost)));
    line(format!("Details:{} overwritten ({overwritten} sectors)", format_amount(overwritten)));
    line(format!("{} slightly changed (< 8 bit/sector, {changed} sectors)", format_amount(changed)));
    // h2testw stops at an unreadable sector; here such sectors count as lost.
    let corrupted = corrupted + unreadable;
    line(format!("{} corrupted ({corrupted} sectors)", format_amount(corrupted)));
    line(format!("{} aliased memory ({aliased} sectors)", format_amount(aliased)));
    if let Some(first) = &files.first_error {
        line(format!("First error at offset: 0x{:016x}", first.offset));
        line(format!("Expected: 0x{:016x}", first.expected));
        line(first.found.map_or("Found: (not readable)".into(), |word| format!("Found: 0x{word:016x}")));
    }
    out
}

/// Sectors in the largest filled unit: whole KByte and MByte, tenths of a GByte, rounded down.
fn format_amount(sectors: u64) -> String {
    let bytes = sectors * SECTOR;
    match bytes {
        0..0x10_0000 => format!("{} KByte", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MByte", bytes >> 20),
        _ => {
            let tenths = (u128::from(bytes) * 10) >> 30;
            format!("{}.{} GByte", tenths / 10, tenths % 10)
        }
    }
}

/// Speed with three digits, as h2testw prints it.
fn format_speed(pace: &TransferPace) -> String {
    let speed = if pace.seconds > 0.0 { pace.bytes as f64 / MBYTE as f64 / pace.seconds } else { 0.0 };
    match speed {
        s if s < 10.0 => format!("{s:.2}"),
        s if s < 100.0 => format!("{s:.1}"),
        s => format!("{s:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_testkit::samples::lossy_files_report;

    #[test]
    fn loss_summary_matches_h2testw() {
        let expected = "Warning: Only 31982 of 31983 MByte tested.
The media is likely to be defective.
58.5 GByte OK (122845070 sectors)
57 KByte DATA LOST (114 sectors)
Details:0 KByte overwritten (0 sectors)
0 KByte slightly changed (< 8 bit/sector, 0 sectors)
57 KByte corrupted (114 sectors)
0 KByte aliased memory (0 sectors)
First error at offset: 0x0000000157b77e00
Expected: 0x0000000157b77e00
Found: 0xcea8a293915717a4
Reading speed: 90.6 MByte/s
H2testw v1.4
";
        assert_eq!(summary(&lossy_files_report(), None), expected);
    }

    #[test]
    fn success_summary_matches_h2testw() {
        let mut files = lossy_files_report();
        files.sectors = SectorCounts { ok: 62_464 * 2048, ..SectorCounts::default() };
        let speed = |seconds| {
            Some(TransferPace { bytes: 641 * MBYTE, seconds, mb_s: 0.0, slowest_second_mb_s: None })
        };
        (files.write, files.read, files.tested_bytes) = (speed(100.0), speed(10.0), files.file_system_bytes);
        assert_eq!(
            summary(&files, None),
            "Test finished without errors.\nYou can now delete the test files *.h2w or verify them again.\n\
             Writing speed: 6.41 MByte/s\nReading speed: 64.1 MByte/s\nH2testw v1.4\n"
        );
    }
}
