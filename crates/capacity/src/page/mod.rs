//! Page of `verify`: verdict, reason, cost and advice; for `verify --files` also speeds, sector counts and damaged
//! files.

pub mod h2testw;
pub mod verdict;

use crate::page::verdict::tested_capacity;
use cardscope_model::identity::Identity;
use cardscope_model::report::{NewsTone, ReportHeader};
use cardscope_model::shell::shell_quote;
use cardscope_model::units::{DecimalSize, ExactCapacity, group_digits, mb_per_s, three_digits as speed};
use cardscope_model::verify::{
    AddressDisproof, FileResult, FilesReport, FirstError, SectorCounts, SectorFound, TestMethod,
    TransferPace, Verification, VerifyReport,
};
use cardscope_page::chart::card_bars;
use cardscope_page::chart::card_map::{TERMINAL_COLUMNS, address_chart};
use cardscope_page::figure::{duration, percent, pluralize, to_sentence};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{
    AnswerReason, Page, PageBlock, PageFact, fact, failed_io_reason, io_error_list, io_summary, limited_list,
};
use cardscope_sd::registers::Cid;

pub fn page(report: &VerifyReport) -> Page {
    let (header, body) = (&report.header, &report.body);
    let (tone, answer) = verdict::headline(body, &header.findings, None);
    let mut page = Page::new(&header.target, tone, answer);
    page.reasons.extend(failed_io_reason(&body.moved));
    page.reasons.extend(verdict::verdict_reason(body).map(|(tone, text)| AnswerReason { tone, text }));
    page.add_reason(NewsTone::Plain, to_sentence(&io_summary(&body.moved)));
    page.figures = size_facts(report);
    if let Some(found) = &body.files {
        add_files(&mut page, found);
    }
    page.add_section("Capacity", card_bars::capacity_chart(body).map(PageBlock::from_chart));
    let map = body.map.as_ref().and_then(|map| address_chart(map, &header.condition, TERMINAL_COLUMNS));
    page.add_section("", map.map(PageBlock::from_chart));
    page.add_detail("Failed I/Os", [io_error_list(&body.moved.io_errors)]);
    if let Some(stated) = &body.stated {
        let sizes = stated.rows().chain(body.usable_bytes.map(|bytes| ("usable", bytes)));
        let facts = sizes.map(|(name, n)| fact(name, ExactCapacity(n))).collect();
        page.add_detail("Capacity by source", [PageBlock::Facts(facts)]);
    }
    let cost = PageBlock::Lines(cost_lines(report).collect());
    page.add_detail("Exact sizes", [PageBlock::Facts(exact_sizes(report)), cost]);
    add_evidence(&mut page, header, body, None);
    page.mark_printed(&["Capacity", ""]);
    page.with_frame(header)
}

fn size_facts(report: &VerifyReport) -> Vec<PageFact> {
    let body = &report.body;
    let size = |bytes: Option<u64>| bytes.map_or("unknown".to_owned(), |n| DecimalSize(n).to_string());
    let tested = if body.files.is_some() { "free space" } else { "announced" };
    let mut facts = vec![
        fact(tested, DecimalSize(tested_capacity(body))),
        fact("usable capacity", size(body.usable_bytes)),
        fact("verified capacity", DecimalSize(body.proven_bytes)),
    ];
    // Omitted if it repeats the usable or verified size, or if a quick test found no bad sample.
    let fair = body.method != TestMethod::Quick || body.share.as_ref().is_none_or(|share| share.bad > 0);
    let verified = |good: &u64| body.usable_bytes.is_none() && body.proven_bytes == *good;
    let good = body.good_bytes.filter(|good| body.usable_bytes != Some(*good) && !verified(good) && fair);
    facts.extend(good.map(|bytes| fact("working (estimate)", DecimalSize(bytes))));
    let cache = body.cache_bytes.map(|bytes| format!("up to {}", DecimalSize(bytes)));
    facts.extend(cache.map(|size| fact("hidden by a cache", size)));
    facts
}

fn exact_sizes(report: &VerifyReport) -> Vec<PageFact> {
    let body = &report.body;
    let wrap = if body.dead_address_line { "dead address line at" } else { "addresses repeat every" };
    let all = [
        ("announced", Some(body.announced_bytes)),
        ("usable", body.usable_bytes),
        ("verified", Some(body.proven_bytes)),
        ("working (estimate)", body.good_bytes),
        (wrap, body.wrap_bytes),
        ("cache up to", body.cache_bytes),
    ];
    all.into_iter().filter_map(|(name, bytes)| Some(fact(name, ExactCapacity(bytes?)))).collect()
}

fn cost_lines(report: &VerifyReport) -> impl Iterator<Item = String> {
    let cost = &report.body.moved;
    let all = cost.bytes_written + cost.bytes_restored + cost.bytes_read;
    let share = report.body.share.as_ref().map(|share| {
        let bound = share.excluded_above * 100.0;
        let (bad, all) = (group_digits(share.bad), group_digits(share.samples));
        format!("{bad} of {all} samples are bad: would detect ≥ {bound:.2} % bad blocks (95 % confidence).")
    });
    let mean = || format!("All I/O together: {} MB/s.", speed(mb_per_s(all, cost.seconds)));
    [(cost.seconds > 0.0).then(mean), share].into_iter().flatten()
}

const MAX_LISTED_FILES: usize = 16;

fn add_files(page: &mut Page, report: &FilesReport) {
    let mut lines = vec![files_line(report), sector_counts_line(&report.sectors)];
    lines.extend(report.first_error.as_ref().map(first_error_line));
    let pace = |(word, pace): (&str, Option<TransferPace>)| Some(format!("{word}: {}.", format_pace(&pace?)));
    lines.extend([("Writing", report.write), ("Reading", report.read)].into_iter().filter_map(pace));
    page.add_section("", [PageBlock::Lines(lines)]);
    let files = listed_files(report);
    let more = report.files.len() - files.len();
    let more = (more > 0).then(|| format!("… and {more} files more without losses or remarks."));
    let remarks = more.into_iter().chain(missing_and_excluded(report)).collect();
    page.add_section("", [PageBlock::Table(file_table(&files)), PageBlock::Lines(remarks)]);
    let again = format!("cardscope verify {} --files --read-only", shell_quote(&report.directory));
    if report.written && report.kept {
        page.add_step("Read the files again, which are still there.", Some(again));
    }
}

fn first_error_line(first: &FirstError) -> String {
    let found = first.found.map_or("nothing that could be read".into(), |word| format!("0x{word:016x}"));
    let FirstError { file, offset, expected, .. } = first;
    let at = group_digits(first.offset_in_file);
    format!(
        "First error: byte {at} of {file} (offset 0x{offset:016x} of all): 0x{expected:016x} expected, {found} found."
    )
}

fn files_line(report: &FilesReport) -> String {
    let files = pluralize(report.files.len() as u32, "file");
    let by = if report.written { "written and read back" } else { "read" };
    let on = report.mounted_at.as_ref().map(|at| format!(" mounted on {at}")).unwrap_or_default();
    let (tested, free) = (DecimalSize(report.tested_bytes), DecimalSize(report.free_bytes));
    let (directory, system) = (&report.directory, &report.file_system);
    format!("{files} {by} in {directory} ({system}{on}): {tested} of {free} free.")
}

/// Sector counts in f3read's categories, by severity.
fn sector_counts_line(sectors: &SectorCounts) -> String {
    let rows = [
        ("whole", sectors.ok),
        ("slightly changed (1 to 7 bits)", sectors.changed),
        ("overwritten by another place's", sectors.overwritten),
        ("corrupted", sectors.corrupted),
        ("not readable", sectors.unreadable),
    ];
    let there = rows.iter().filter(|(word, count)| *count > 0 || *word == "whole");
    let named: Vec<String> = there.map(|(word, count)| format!("{} {word}", group_digits(*count))).collect();
    let mut text = format!("Sectors of 512 bytes: {}.", named.join(", "));
    if sectors.aliased > 0 {
        let aliased = group_digits(sectors.aliased);
        text +=
            &format!(" Of the overwritten ones {aliased} hold what belongs to another place of these files.");
    }
    text
}

fn format_pace(pace: &TransferPace) -> String {
    let slowest = pace.slowest_second_mb_s;
    let slowest = slowest.map(|s| format!(", in its slowest second {} MB/s", speed(s))).unwrap_or_default();
    format!("{} MB/s over {}{slowest}", speed(pace.mb_s), duration(pace.seconds))
}

/// Files to list. If there are too many, those with losses or a remark come first.
fn listed_files(report: &FilesReport) -> Vec<&FileResult> {
    let mut files: Vec<&FileResult> = report.files.iter().collect();
    if files.len() > MAX_LISTED_FILES {
        files.sort_by_key(|file| (file.sectors.lost_sectors() == 0 && file.remark.is_none(), file.number));
        files.truncate(MAX_LISTED_FILES);
    }
    files
}

fn file_table(files: &[&FileResult]) -> Table {
    let pace = |pace: Option<TransferPace>| pace.map(|p| speed(p.mb_s)).unwrap_or_default();
    Table::from_items(
        files.iter().copied(),
        &[
            ("file", &|file| file.name.clone()),
            ("bytes", &|file| group_digits(file.bytes)),
            ("lost sectors", &|file| group_digits(file.sectors.lost_sectors())),
            ("write MB/s", &|file| pace(file.write)),
            ("read MB/s", &|file| pace(file.read)),
            ("remark", &|file| file.remark.clone().unwrap_or_default()),
        ],
    )
}

fn missing_and_excluded(report: &FilesReport) -> Vec<String> {
    let missing = report.missing.iter().map(|(from, to)| match from == to {
        true => format!("Not there: {from}.h2w."),
        false => format!("Not there: {from}.h2w to {to}.h2w."),
    });
    let left_out = report.foreign.iter().map(|name| format!("Left out: {name}."));
    missing.chain(left_out).collect()
}

const ADDRESSES: usize = 8;

/// Adds the evidence as a folded section that is printed.
pub fn add_evidence(page: &mut Page, header: &ReportHeader, body: &Verification, card: Option<&Identity>) {
    let cid = card.and_then(|identity| identity.cid.as_ref());
    let nvme = card.and_then(|identity| identity.nvme.as_ref()?.identify.as_ref());
    let maker = |cid: &Cid| cid.maker.clone().unwrap_or("unknown maker".to_owned());
    let cid_words = |cid: &Cid| format!("{} {}", maker(cid), cid.pnm.trim());
    let all = [
        ("card", cid.map(cid_words).or(nvme.map(|it| it.mn.trim().to_owned()))),
        ("serial number", cid.map(|cid| cid.psn_hex.clone()).or(nvme.map(|it| it.sn.trim().to_owned()))),
        ("made", cid.map(|cid| cid.mdt.to_string())),
        ("CID", cid.map(|cid| cid.raw.to_string())),
        ("announced", Some(ExactCapacity(body.announced_bytes).to_string())),
        ("usable", body.usable_bytes.map(|bytes| ExactCapacity(bytes).to_string())),
        ("verified", Some(ExactCapacity(body.proven_bytes).to_string())),
        ("method", Some(describe_method(body))),
        ("confidence", Some(percent(body.confidence))),
        ("tested on", Some(header.target.clone())),
        ("reader", header.condition.get("reader").map(ToString::to_string)),
        ("seed", Some(header.seed.to_string())),
    ];
    let facts = all.into_iter().filter_map(|(name, value)| Some(fact(name, value?))).collect();
    let proofs = limited_list(&body.disproofs, ADDRESSES, describe_disproof);
    page.add_detail("Evidence", [PageBlock::Facts(facts), proofs]);
    page.mark_printed(&["Evidence"]);
}

fn describe_method(body: &Verification) -> String {
    let restored = if body.moved.bytes_restored > 0 { ", then restored" } else { "" };
    match body.method {
        TestMethod::Quick => {
            format!("quick test: samples over all addresses, written and read back{restored}")
        }
        TestMethod::Full => "full test: every block written and read back".to_owned(),
        TestMethod::Files => "files: the free space filled, and read back".to_owned(),
    }
}

fn describe_disproof(proof: &AddressDisproof) -> String {
    let times = if proof.seen == 2 { "twice".to_owned() } else { pluralize(proof.seen, "time") };
    let (address, found) = (group_digits(proof.address), describe_sector(proof.found));
    format!("byte {address}: read {found}, not what was written there ({times})")
}

fn describe_sector(found: SectorFound) -> String {
    match found {
        SectorFound::Expected => "the same".to_owned(),
        SectorFound::Flipped { bits } => format!("the same with {bits} bits wrong"),
        SectorFound::Elsewhere { address } => format!("what belongs to byte {}", group_digits(address)),
        SectorFound::Stale { generation } => format!("what stood there after write {generation}"),
        SectorFound::Foreign { address: at, .. } => {
            format!("another run's stamp of byte {}", group_digits(at))
        }
        SectorFound::Constant { byte } => format!("0x{byte:02x} throughout"),
        SectorFound::Other => "something older".to_owned(),
        SectorFound::Error => "an error".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_testkit::samples::lossy_files_report;

    #[test]
    fn page_lists_losses_and_the_first_error() {
        let mut page = Page::default();
        add_files(&mut page, &lossy_files_report());
        let text = page.to_text();
        for part in [
            "2 files read in /media/card",
            "114 corrupted",
            "First error: byte 397 901 312 of 6.h2w (offset 0x0000000157b77e00",
            "Reading: 95.0 MB/s over 1 min 40 s, in its slowest second 12.0 MB/s.",
            "Not there: 1.h2w to 5.h2w.",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
