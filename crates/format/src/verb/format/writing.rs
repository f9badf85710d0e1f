//! Writes the card: first the pass that the mode requires, then the file system, and the partition table last. All
//! of it is read back afterwards (`reading_back`).
//!
//! `--overwrite` writes incompressible data. Some controllers store constant or repeated blocks without programming
//! flash, so only such data leaves a card in the state of one that was written full.

use super::file_system_image::FileSystemImage;
use super::read_back::{self, BLOCK};
use cardscope_engine::content::{IoContent, constant_byte};
use cardscope_engine::event::{ByteProgress, Listener};
use cardscope_engine::io_driver::{CardExtent, IoDriver, ReadAnswer, split_extents};
use cardscope_journal::backup;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::format::{FormatMode, FormatReport};
use cardscope_model::identity::Identity;
use cardscope_model::progress::StagePlan;
use cardscope_model::verify::IoError;
use cardscope_sd::layout::SECTOR;
use cardscope_session::error::{Failure, Result};
use cardscope_session::file_system_tool::ByteRange;
use cardscope_session::frame::VerbSession;
use std::collections::BTreeMap;

const DEPTH: u32 = 4;
/// Bytes between two checks for failed writes.
const CHECK_INTERVAL: u64 = 64 << 20;

const OVERWRITING: &str = "overwriting every byte";
const DISCARDING: &str = "discarding every block";
const WRITING: &str = "writing the partition table and the file system";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiscardOutcome {
    Done,
    /// The card or its reader refuses the command.
    NotSupported,
    /// The command succeeds, and the old data is still there.
    NoEffect,
}

impl DiscardOutcome {
    fn finding(self) -> Option<Finding> {
        let why = match self {
            DiscardOutcome::Done => return None,
            DiscardOutcome::NotSupported => "the card or its reader does not support it",
            DiscardOutcome::NoEffect => "the card or its reader accepted it, but the old data is still there",
        };
        let said = format!("Nothing was discarded: {why}.");
        let finding = Finding::new("discard-not-taken", FindingWeight::Note, 1.0, said);
        let advice = "Use a built-in slot, or --overwrite: many readers do not pass on discards.";
        Some(finding.with_advice(advice))
    }
}

/// Stages of a format and their weights, with the backup before them.
pub(super) fn stage_plan(mode: FormatMode, backs_up: bool) -> StagePlan {
    let first = match mode {
        FormatMode::Quick => None,
        FormatMode::Overwrite => Some((OVERWRITING, 100.0)),
        FormatMode::Discard => Some((DISCARDING, 1.0)),
    };
    let image = backs_up.then_some((backup::SAVING, 100.0));
    StagePlan::from_stages(image.into_iter().chain(first).chain([(WRITING, 1.0), (read_back::STAGE, 1.0)]))
}

/// Writes and checks the card. Counters and failures go into the report even if an error is returned.
pub(super) fn write_card(
    picture: &FileSystemImage,
    session: &mut VerbSession<'_>,
    report: &mut FormatReport,
) -> Result<()> {
    let unit = session.opened.identity.as_ref().and_then(Identity::allocation_unit);
    let mut moved = std::mem::take(&mut report.body.moved);
    let done = session.run_probe((BLOCK, DEPTH), &mut moved, |card, _, events| {
        if u64::from(card.sector()) > SECTOR {
            return Err(Failure::refused(format!(
                "the card or its reader uses sectors of {} bytes instead of 512; use another reader",
                card.sector()
            )));
        }
        write_and_compare(picture, card, events, report)?;
        read_back::check_layout(card, unit, report);
        Ok(())
    });
    report.body.moved = moved;
    done
}

fn write_and_compare(
    picture: &FileSystemImage,
    card: &mut IoDriver<'_>,
    events: &mut dyn Listener,
    report: &mut FormatReport,
) -> Result<()> {
    match report.body.mode {
        FormatMode::Quick => {}
        FormatMode::Overwrite => overwrite_card(card, picture.bytes(), report.header.seed, events)?,
        FormatMode::Discard => {
            let discard = discard_card(card, events)?;
            report.body.discarded = Some(discard == DiscardOutcome::Done);
            report.header.findings.extend(discard.finding());
        }
    }
    let ranges = picture.ranges_to_write()?;
    let total = ranges.iter().map(|range| range.end - range.start).sum();
    events.begin_stage(WRITING, Some(total), None);
    let mut progress = ByteProgress::default();
    // A card pulled during the format then has no partition table, instead of one that points to half a file
    // system.
    let table = ByteRange { start: 0, end: SECTOR };
    let io_errors = card.write_bytes(table.start, &[0; SECTOR as usize])?;
    fail_on_error(card, io_errors)?;
    for range in &ranges {
        let after_table = ByteRange { start: range.start.max(table.end), end: range.end };
        write_range(card, picture, after_table, events, &mut progress)?;
    }
    // Flushed first, so that the partition table never points to a file system that is not on the card yet.
    flush_or_fail(card)?;
    write_range(card, picture, table, events, &mut progress)?;
    flush_or_fail(card)?;
    report.body.checked = read_back::compare_written(card, picture, &ranges, events, report)?;
    Ok(())
}

/// Ends the format at a write that failed twice, so nothing more is written to such a card.
fn fail_on_error(card: &IoDriver<'_>, io_errors: Vec<IoError>) -> Result<()> {
    let Some(IoError { len, offset, reason, .. }) = io_errors.into_iter().next() else { return Ok(()) };
    let written = card.tally().written;
    Err(Failure::io(format!(
        "writing {len} bytes at {offset} failed twice ({reason}), after {written} bytes: the card has no usable file \
         system now; run `cardscope verify`"
    )))
}

fn flush_or_fail(card: &mut IoDriver<'_>) -> Result<()> {
    let before = card.counts().failed_twice;
    card.flush()?;
    if card.counts().failed_twice == before {
        return Ok(());
    }
    let failed = card.io_errors().last().cloned();
    fail_on_error(card, failed.into_iter().collect())
}

fn write_range(
    card: &mut IoDriver<'_>,
    picture: &FileSystemImage,
    range: ByteRange,
    events: &mut dyn Listener,
    progress: &mut ByteProgress,
) -> Result<()> {
    let mut bytes = Vec::new();
    for extent in split_extents(range.start, range.end, BLOCK) {
        card.check_interrupt()?;
        bytes.resize(extent.len as usize, 0);
        picture.read(extent.offset, &mut bytes)?;
        let mut io_errors = Vec::new();
        if constant_byte(&bytes) == Some(0) {
            let zeros = IoContent::Constant(0);
            card.write([extent], zeros, |_, _, io_error| io_errors.extend(io_error.cloned()))?;
        } else {
            io_errors = card.write_bytes(extent.offset, &bytes)?;
        }
        fail_on_error(card, io_errors)?;
        progress.add(u64::from(extent.len), events);
    }
    Ok(())
}

fn overwrite_card(card: &mut IoDriver<'_>, bytes: u64, seed: u64, events: &mut dyn Listener) -> Result<()> {
    events.begin_stage(OVERWRITING, Some(bytes), None);
    let mut progress = ByteProgress::default();
    let mut start = 0;
    while start < bytes {
        let end = bytes.min(start + CHECK_INTERVAL);
        let mut io_errors = Vec::new();
        card.write(split_extents(start, end, BLOCK), IoContent::Stream { seed }, |_, _, io_error| {
            io_errors.extend(io_error.cloned());
        })?;
        fail_on_error(card, io_errors)?;
        progress.add(end - start, events);
        start = end;
    }
    flush_or_fail(card)
}

/// Number and bytes of the samples that are read before and after a discard.
const DISCARD_PLACES: u64 = 16;
const DISCARD_SAMPLE: u32 = 4096;

fn discard_card(card: &mut IoDriver<'_>, events: &mut dyn Listener) -> Result<DiscardOutcome> {
    let bytes = card.bytes();
    events.begin_stage(DISCARDING, Some(bytes), None);
    let before = sample_data(card)?;
    if !card.discard(0, bytes)? {
        events.report_note("the card or its reader does not support discard; old blocks keep their data");
        return Ok(DiscardOutcome::NotSupported);
    }
    card.reopen()?;
    let after = if before.is_empty() { BTreeMap::new() } else { sample_data(card)? };
    // Most samples must be unchanged: a single wrong read does not prove that the discard worked.
    let stay = before.iter().filter(|(at, data)| after.get(at) == Some(data)).count();
    let unchanged = 2 * stay > before.len();
    Ok(if unchanged { DiscardOutcome::NoEffect } else { DiscardOutcome::Done })
}

/// Reads samples spread over the card, by offset. Samples of one repeated byte are left out, as a discard may not
/// change them.
fn sample_data(card: &mut IoDriver<'_>) -> Result<BTreeMap<u64, Vec<u8>>> {
    let step = (card.bytes() / DISCARD_PLACES).next_multiple_of(DISCARD_SAMPLE.into());
    let len = u64::from(DISCARD_SAMPLE);
    let places = (0..DISCARD_PLACES).map(|n| n * step).filter(|at| at + len <= card.bytes());
    let places: Vec<CardExtent> = places.map(|offset| CardExtent { offset, len: DISCARD_SAMPLE }).collect();
    let mut data = BTreeMap::new();
    card.read(places, IoContent::Buffer, |extent, _, answer| {
        if let ReadAnswer::Differs { bytes, .. } = answer
            && bytes.windows(2).any(|pair| pair[0] != pair[1])
        {
            data.insert(extent.offset, bytes.to_vec());
        }
        Ok(())
    })?;
    Ok(data)
}
