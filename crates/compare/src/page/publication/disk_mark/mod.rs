//! Text layouts of CrystalDiskMark 8 and 3, and KDiskMark 3, one report a card, for collections of such logs and for tools that
//! read them. Widths and words are those of the programs' reports (docs/reference/tools.md#crystaldiskmark,
//! docs/reference/tools.md#kdiskmark); the head names Cardscope.
//!
//! CrystalDiskMark prints the fastest run in MB of 10^6 bytes; KDiskMark prints the mean, in units of 1 024 000 bytes that
//! it calls MB. Latencies are printed if they were measured.

mod version_3;

use crate::page::comparison::sentences::RunMeasure;
use cardscope_model::comparison::{ComparedEntry, ComparedTest, Comparison};
use cardscope_model::publication::{CardPart, Publication, TestLatencies};
use cardscope_model::recipe::{self, RECIPES};
use cardscope_model::statistics::distinct_values;
use cardscope_model::test_name::{IoOrder, TestName, TestOp};
use cardscope_model::units::{BinarySize, KIB, MB, MIB};
use cardscope_model::untrusted_text;
use std::fmt::Write;

/// Bytes of KDiskMark's MB: it divides KiB by 1000.
const KDISKMARK_MB: f64 = 1_024_000.0;

/// Widths of CrystalDiskMark's and of KDiskMark's rules, in columns.
const CDM_WIDTH: usize = 78;
const KDM_WIDTH: usize = 80;

struct DiskMarkLine<'a> {
    test: &'a ComparedTest,
    runs: u32,
    mb_s: f64,
    latency_us: Option<f64>,
}

impl DiskMarkLine<'_> {
    fn line_iops(&self) -> f64 {
        self.mb_s * MB / self.test.test.pattern.block.max(1) as f64
    }
}

/// CrystalDiskMark's layout: that of version 3 if the tests are those of that version.
pub(super) fn crystaldiskmark(publication: &Publication) -> String {
    join_reports(publication, RunMeasure::Best, |entry, lines| {
        let measured: Vec<(TestName, f64)> = lines.iter().map(|line| (line.test.test, line.mb_s)).collect();
        match version_3::format_lines(&measured) {
            Some(old) => crystaldiskmark_3(publication, entry, lines, &old),
            None => crystaldiskmark_8(publication, entry, lines),
        }
    })
}

/// Head with rules, the program's name, and the meaning of its speeds.
fn report_head(publication: &Publication, version: u32, width: usize) -> String {
    let rule = "-".repeat(width);
    format!(
        "{rule}\nCardscope {}, in the layout of CrystalDiskMark {version}\n{:>width$}\n{rule}\n",
        untrusted_text::escape_line(&publication.tool_version),
        "MB/s are true: 10^6 bytes a second; the fastest run counts",
    )
}

fn crystaldiskmark_8(publication: &Publication, entry: &ComparedEntry, lines: &[DiskMarkLine<'_>]) -> String {
    let head = report_head(publication, 8, CDM_WIDTH)
        + "* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]\n* KB = 1000 bytes, KiB = 1024 bytes\n";
    let foot = format!(
        "Profile: {}\n   Test: {} (x{}) [{}]\n   Mode:\n   Date: {}\n     OS: {}\n",
        recipe_names(entry),
        test_sizes(entry),
        total_loops(entry, lines),
        untrusted_text::escape_line(&entry.name),
        report_date(publication, entry).replace('-', "/"),
        kernel_name(entry),
    );
    format!("{head}{}\n{foot}", format_sections(lines, crystaldiskmark_line))
}

fn crystaldiskmark_3(
    publication: &Publication,
    entry: &ComparedEntry,
    lines: &[DiskMarkLine<'_>],
    old: &str,
) -> String {
    let head = report_head(publication, 3, version_3::WIDTH)
        + "* MB/s = 1,000,000 byte/s [SATA/300 = 300,000,000 byte/s]\n\n";
    let foot = format!(
        "  Test : {} [{}] (x{})\n  Date : {}\n    OS : {}\n",
        // MB of a size are 2^20 bytes in version 3.
        test_sizes(entry).replace("iB", "B"),
        untrusted_text::escape_line(&entry.name),
        total_loops(entry, lines),
        report_date(publication, entry).replace('-', "/"),
        kernel_name(entry),
    );
    format!("{head}{old}\n{foot}")
}

/// KDiskMark's layout and units.
pub(super) fn kdiskmark(publication: &Publication) -> String {
    let made = format!(
        "Cardscope ({}), in the layout and units of KDiskMark 3.3.0",
        untrusted_text::escape_line(&publication.tool_version)
    );
    let head = format!(
        "{made:>KDM_WIDTH$}\n{:>KDM_WIDTH$}\n{}\n\
         * MB/s = 1,024,000 bytes/s, as KDiskMark counts them\n* KB = 1000 bytes, KiB = 1024 bytes\n",
        "The mean of all runs counts",
        "-".repeat(KDM_WIDTH),
    );
    join_reports(publication, RunMeasure::Average, |entry, lines| {
        let foot = format!(
            "Profile: {}\n   Test: {} (x{})\n   Date: {}\n     OS: {}\n Target: {}\n",
            recipe_names(entry),
            test_sizes(entry),
            total_loops(entry, lines),
            report_date(publication, entry),
            kernel_name(entry),
            untrusted_text::escape_line(&entry.name),
        );
        format!("{head}{}\n{foot}", format_sections(lines, kdiskmark_line))
    })
}

/// A report for each card with measurements.
fn join_reports(
    publication: &Publication,
    measure: RunMeasure,
    report: impl Fn(&ComparedEntry, &[DiskMarkLine<'_>]) -> String,
) -> String {
    let all = &publication.comparison;
    let each = all.entries.iter().enumerate().filter_map(|(number, entry)| {
        let lines = entry_lines(all, number, publication.card_part(&entry.card_id), measure);
        (!lines.is_empty()).then(|| report(entry, &lines))
    });
    each.collect::<Vec<_>>().join("\n")
}

/// Tests of one entry that have a speed. Latencies are those of its own runs, not of the card under other settings.
fn entry_lines<'a>(
    all: &'a Comparison,
    entry: usize,
    part: Option<&CardPart>,
    measure: RunMeasure,
) -> Vec<DiskMarkLine<'a>> {
    let name = &all.entries[entry].name;
    let is_crystaldiskmark = all.entries[entry].settings.iter().all(|setting| {
        let recipe = setting.recipe.to_lowercase();
        recipe.starts_with("crystaldiskmark")
            || RECIPES.find_text(&recipe).is_ok() && recipe.starts_with("cdm") && recipe != "cdm-fio"
    });
    let line = |test: &'a ComparedTest| {
        let spread = test.spreads.get(entry)?.as_ref()?;
        // The best of several loops is not the mean of a run; it is known only if CrystalDiskMark's recipe was run.
        let best = spread.as_printed.as_ref().filter(|_| measure == RunMeasure::Best && is_crystaldiskmark);
        let best = best.map(|own| &own.best).filter(|own| own.unit == "MB/s").map(|own| own.value);
        let mb_s = best.unwrap_or_else(|| measure.value_in(spread));
        let same = |l: &&TestLatencies| l.test == test.test && l.step == test.step && l.entry == *name;
        let timed = part.and_then(|part| part.latencies.iter().find(same));
        let latency_us = timed.map(|l| l.histogram.mean() / 1e3).filter(|us| *us > 0.0);
        (mb_s.is_finite() && mb_s >= 0.0).then_some(DiskMarkLine { test, runs: spread.n, mb_s, latency_us })
    };
    all.tests.iter().filter_map(line).collect()
}

/// Reads, writes, and mixes by their share of reads.
fn format_sections(lines: &[DiskMarkLine<'_>], write: impl Fn(&DiskMarkLine<'_>) -> String) -> String {
    let measured = lines.iter().map(|line| line.test.test.op);
    let ops = distinct_values([TestOp::Read, TestOp::Write].into_iter().chain(measured));
    let mut out = String::new();
    for op in ops {
        let of: String = lines.iter().filter(|line| line.test.test.op == op).map(&write).collect();
        if of.is_empty() {
            continue;
        }
        let head = match op {
            TestOp::Read => "[Read]".to_owned(),
            TestOp::Write => "[Write]".to_owned(),
            TestOp::Mix(reads) => format!("[Mix] Read {reads}%/Write {}%", 100 - reads),
        };
        let _ = write!(out, "\n{head}\n{of}");
    }
    out
}

/// Block in the largest unit of these tools that fits.
fn block_in_units(bytes: u64) -> (u64, &'static str) {
    match bytes {
        n if n >= MIB && n % MIB == 0 => (n / MIB, "MiB"),
        n if n >= KIB && n % KIB == 0 => (n / KIB, "KiB"),
        n => (n, "B"),
    }
}

fn crystaldiskmark_line(line: &DiskMarkLine<'_>) -> String {
    let pattern = line.test.test.pattern;
    let order = if pattern.order == IoOrder::Sequential { "SEQ" } else { "RND" };
    let (size, unit) = block_in_units(pattern.block);
    let latency = line.latency_us.map(|us| format!(" <{us:>9.2} us>")).unwrap_or_default();
    format!(
        "  {order} {size:>4}{unit} (Q={:>3}, T={:>2}): {:>9.3} MB/s [{:>9.1} IOPS]{latency}\n",
        pattern.queue,
        pattern.threads,
        line.mb_s,
        line.line_iops()
    )
}

fn kdiskmark_line(line: &DiskMarkLine<'_>) -> String {
    let pattern = line.test.test.pattern;
    let order = if pattern.order == IoOrder::Sequential { "Sequential" } else { "Random" };
    let (size, unit) = block_in_units(pattern.block);
    // Blanks in place of a missing latency keep the columns aligned.
    let latency = line.latency_us.map_or(" ".repeat(15), |us| format!(" <{us:>9.2} us>"));
    let text = format!(
        "{order} {size:>3} {unit} (Q={:>3}, T={:>2}): {:>9.3} MB/s [{:>9.1} IOPS]{latency}",
        pattern.queue,
        pattern.threads,
        line.mb_s * MB / KDISKMARK_MB,
        line.line_iops()
    );
    format!("{:>KDM_WIDTH$}", text).trim_end().to_owned() + "\n"
}

fn recipe_names(entry: &ComparedEntry) -> String {
    let mut recipes: Vec<&str> = entry.settings.iter().map(|setting| setting.recipe.as_str()).collect();
    recipes.dedup();
    untrusted_text::escape_line(&recipes.join(", ")).into_owned()
}

fn test_sizes(entry: &ComparedEntry) -> String {
    let sizes = entry.settings.iter().filter_map(|setting| Some(BinarySize(setting.size_bytes?).to_string()));
    let mut sizes: Vec<String> = sizes.collect();
    sizes.dedup();
    if sizes.is_empty() { "size unknown".to_owned() } else { sizes.join(", ") }
}

/// Loops behind the figures: runs times the loops of the recipe.
fn total_loops(entry: &ComparedEntry, lines: &[DiskMarkLine<'_>]) -> u32 {
    let runs = lines.iter().map(|line| line.runs).max().unwrap_or(0);
    let recipe = entry.settings.first().and_then(|setting| RECIPES.find_text(&setting.recipe).ok());
    let of_recipe = recipe.and_then(|text| recipe::parse(text, None).ok());
    let each = of_recipe.and_then(|recipe| recipe.tests.iter().map(|test| test.loops).max());
    runs.saturating_mul(each.unwrap_or(1))
}

fn report_date(publication: &Publication, entry: &ComparedEntry) -> String {
    let date = entry.measured.as_ref().map_or(&publication.made_on, |[_, last]| last);
    untrusted_text::escape_line(date).into_owned()
}

fn kernel_name(entry: &ComparedEntry) -> String {
    let kernel = entry.settings.iter().find_map(|setting| setting.condition.get("kernel"));
    untrusted_text::escape_line(kernel.unwrap_or("unknown")).into_owned()
}
