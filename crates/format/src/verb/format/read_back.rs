//! Reads the written ranges back and compares them. A sector is lost only if two reads agree; if one of them
//! returns the right data, the reader is suspect.

use super::file_system_image::FileSystemImage;
use cardscope_device::contents;
use cardscope_engine::content::IoContent;
use cardscope_engine::event::{ByteProgress, Listener};
use cardscope_engine::io_driver::{CardExtent, IoDriver, ReadAnswer, split_extents};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::format::FormatReport;
use cardscope_model::present_layout::AllocationUnit;
use cardscope_model::suspect_reader::{ReadDifference, ReadRequest, ReadStage, SuspectReader};
use cardscope_sd::layout::SECTOR;
use cardscope_session::card_bytes::CardBytes;
use cardscope_session::error::Result;
use cardscope_session::file_system_tool::ByteRange;
use std::collections::BTreeMap;

/// Bytes of one I/O. Larger ones make no card faster.
pub(super) const BLOCK: u32 = 1 << 20;

pub(super) const STAGE: &str = "reading back";

/// Offsets of sectors that differ from what was written, with the request that read them; `None` where the read
/// failed.
type WrongSectors = BTreeMap<u64, Option<ReadRequest>>;

/// Reads back all written ranges without the host's cache. Returns true if nothing is lost.
pub(super) fn compare_written(
    card: &mut IoDriver<'_>,
    picture: &FileSystemImage,
    ranges: &[ByteRange],
    events: &mut dyn Listener,
    report: &mut FormatReport,
) -> Result<bool> {
    let all: Vec<CardExtent> = ranges.iter().flat_map(|r| split_extents(r.start, r.end, BLOCK)).collect();
    let total = all.iter().map(|extent| u64::from(extent.len)).sum();
    events.begin_stage(STAGE, Some(total), None);
    let first = read_wrong_sectors(card, picture, &all, events)?;
    let is_wrong = |extent: &&CardExtent| first.range(extent.offset..extent.end()).next().is_some();
    let again: Vec<CardExtent> = all.iter().filter(is_wrong).copied().collect();
    let second = read_wrong_sectors(card, picture, &again, events)?;
    let once = |one: &WrongSectors, other: &WrongSectors| -> Vec<ReadDifference> {
        let answered = one.iter().filter_map(|(at, request)| Some((*at, (*request)?)));
        let once = answered.filter(|(at, _)| !other.contains_key(at));
        once.map(|(offset, request)| ReadDifference { offset, first: request, second: request }).collect()
    };
    let mut differences = [once(&first, &second), once(&second, &first)].concat();
    differences.dedup_by_key(|difference| difference.first);
    report_suspect_reader(report, (differences.len() as u64, all.len() as u64), differences);
    let lost: Vec<u64> = first.into_keys().filter(|sector| second.contains_key(sector)).collect();
    let bytes = lost.len() as u64 * SECTOR;
    report.header.findings.extend(lost.first().map(|first| loss_finding(*first, bytes, total)));
    Ok(lost.is_empty())
}

/// Reopens the card and returns the sectors of `wanted` that differ.
fn read_wrong_sectors(
    card: &mut IoDriver<'_>,
    picture: &FileSystemImage,
    wanted: &[CardExtent],
    events: &mut dyn Listener,
) -> Result<WrongSectors> {
    let mut wrong = WrongSectors::new();
    if wanted.is_empty() {
        return Ok(wrong);
    }
    card.reopen()?;
    let mut progress = ByteProgress::default();
    let mut right = Vec::new();
    for extent in wanted {
        right.resize(extent.len as usize, 0);
        picture.read(extent.offset, &mut right)?;
        let sectors = || (extent.offset..extent.end()).step_by(SECTOR as usize);
        card.read([*extent], IoContent::Buffer, |_, _, answer| {
            if let ReadAnswer::Differs { bytes, .. } = answer {
                let request = ReadRequest { offset: extent.offset, len: extent.len.into() };
                let pairs = bytes.chunks(SECTOR as usize).zip(right.chunks(SECTOR as usize));
                let unequal = sectors().zip(pairs).filter(|(_, (found, right))| found != right);
                wrong.extend(unequal.map(|(at, _)| (at, Some(request))));
            } else {
                wrong.extend(sectors().map(|at| (at, None)));
            }
            Ok(())
        })?;
        progress.add(u64::from(extent.len), events);
    }
    Ok(wrong)
}

/// Reports a suspect reader, unless an earlier stage did.
fn report_suspect_reader(
    report: &mut FormatReport,
    (differing_reads, reads): (u64, u64),
    mut differences: Vec<ReadDifference>,
) {
    if differing_reads > 0 && report.header.suspect_reader.is_none() {
        differences.truncate(SuspectReader::MAX_LISTED);
        let (stage, ended_test) = (ReadStage::ReadingBack, false);
        report.header.suspect_reader =
            Some(SuspectReader { stage, reads, differing_reads, differences, ended_test });
    }
}

fn loss_finding(first: u64, lost: u64, total: u64) -> Finding {
    let said = format!("The card lost {lost} of {total} bytes written to it, the first at byte {first}.");
    Finding::new("format-not-kept", FindingWeight::Bad, 0.99, said)
        .because("first_bad_byte", first)
        .because("bad_bytes", lost)
        .with_advice("Run `cardscope verify`.")
}

/// Checks the layout on the card with our own parser. One wrong read accuses the reader, two the card.
pub(super) fn check_layout(card: &mut IoDriver<'_>, unit: Option<AllocationUnit>, report: &mut FormatReport) {
    let failed = card.counts().failed();
    if has_layout(card, unit, report) {
        return;
    }
    if has_layout(card, unit, report) {
        if card.counts().failed() == failed {
            report_suspect_reader(report, (1, 2), Vec::new());
        }
    } else if std::mem::take(&mut report.body.checked) {
        let text = "The card does not return the partition table and boot sector as written.";
        let finding = Finding::new("format-not-as-planned", FindingWeight::Bad, 0.99, text);
        report.header.findings.push(finding);
    }
}

fn has_layout(card: &mut IoDriver<'_>, unit: Option<AllocationUnit>, report: &mut FormatReport) -> bool {
    report.body.present = contents::read_layout(&CardBytes::new(card), unit);
    let seen = report.body.present.as_ref().and_then(|present| present.partitions.first());
    let planned = &report.body.layout;
    seen.is_some_and(|seen| {
        seen.start_bytes == planned.partition_start * SECTOR
            && seen.bytes == planned.partition_sectors * SECTOR
            && seen.data_start_bytes == planned.data_start * SECTOR
            && seen.volume.as_ref() == Some(&planned.volume())
    })
}
