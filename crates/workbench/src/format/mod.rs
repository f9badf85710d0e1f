//! `format`: brings a card into a recorded state, with the SD Association's layout for its capacity.
//!
//! The file system is made by the tool that distributions ship, on a sparse picture of the partition in memory, and
//! its bytes are then written to the card by us. So devices, images and simulated cards are formatted in one way, the
//! result is known before the card is touched, and it is read back and compared byte by byte.

mod label;
mod limit;
mod mkfs;
mod picture;
mod state;
mod writing;

pub(crate) use mkfs::{find, run, sparse};
pub(crate) use state::name_state;
pub use state::{LastState, last_state};
pub(crate) use writing::CardBytes;

use crate::backup::Backup;
use crate::consent::Consent;
use crate::error::Failure;
use crate::opening::{self, Opened};
use crate::recording::Recording;
use cardscope_device::guard::{self, Clearance};
use cardscope_device::system::System;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::condition::Condition;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::format::Formatting;
use cardscope_model::format::{FormatReport, Limited, Mode};
use cardscope_model::layout::{self, Layout, SECTOR, Wish};
use cardscope_model::report::{Moved, Report};
use cardscope_model::units::Capacity;
use std::path::{Path, PathBuf};

/// A format as asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Device, file or `sim:NAME`.
    pub target: String,
    /// What is done beside the file system.
    pub mode: Mode,
    /// Name of the volume.
    pub label: Option<String>,
    /// Ends the partition on a whole cylinder.
    pub size_adjustment: bool,
    /// Boundary in bytes instead of the capacity's own.
    pub boundary: Option<u64>,
    /// Lays out only what the card really has.
    pub limit_to_real: bool,
    /// Bytes that it really has, where the archive is not asked.
    pub real: Option<u64>,
    /// An image of the card is saved to this file first.
    pub backup: Option<PathBuf>,
    /// `KEY=VALUE` each.
    pub conditions: Vec<String>,
    /// Seed; `None` draws one.
    pub seed: Option<u64>,
    /// The archive's file; `None` is the user's own.
    pub archive: Option<PathBuf>,
}

/// What became of it: always a document, and what ended it early.
#[derive(Debug)]
pub struct Outcome {
    /// The document, partial where `failure` is set.
    pub report: FormatReport,
    /// What ended it early.
    pub failure: Option<Failure>,
}

/// Formats a card.
///
/// # Errors
/// A refusal: the request is wrong, a tool is missing, the target is not safe to write to, or consent was not given.
/// Nothing was written.
pub fn format(
    request: &Request,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    let mut stated = Condition::default();
    request.conditions.iter().try_for_each(|text| stated.state(text)).map_err(Failure::refused)?;
    look_before_asking(request)?;
    let mut opened = opening::open(&request.target, true, consent, interrupt)?;
    whole(&request.target, opened.device().and_then(|device| device.clearance.as_ref()))?;
    opened.condition.overlay(&stated);
    opened.caveats.iter().for_each(|caveat| listener.note(&caveat.to_string()));
    let limited = limit::limit(request, &opened)?;
    let card_bytes = opened.target.info().bytes;
    let layout = layout_of(request, limited.as_ref().map_or(card_bytes, |l| l.real_bytes))?;
    let seed = request.seed.unwrap_or_else(crate::bench::fresh_seed);
    let label = request.label.as_deref().map(|text| label::checked(text, layout.file_system)).transpose()?;
    let picture = mkfs::make(&layout, label.as_deref(), seed)?;
    listener.note(&plan_line(request, &layout));
    if let Some(file) = &request.backup {
        Backup::take(file, &mut opened, interrupt, listener)?;
    }
    let mut report = empty(request, &opened, layout, limited, seed);
    report.body.label = label;
    report.body.tool.clone_from(&picture.tool);
    let mut recording =
        Recording::begin(request.archive.as_deref(), "format", &request.target, seed, &opened)?;
    report.header.session = Some(recording.name());
    recording.update(&report)?;
    let failure = writing::write(&picture, &mut opened, interrupt, listener, &mut report).err();
    let written = failure.is_none();
    if written {
        conclude(&mut report);
    }
    let failure = recording.close(&mut report, |report| &mut report.header.error, failure);
    let held = opened.held.clone();
    drop(opened);
    if let Some(held) = held.filter(|_| written) {
        cardscope_device::open::read_partitions_again(held);
    }
    Ok(Outcome { report, failure })
}

/// Refuses what can be refused without opening anything, so that nobody is asked in vain.
fn look_before_asking(request: &Request) -> Result<(), Failure> {
    if request.real.is_some() && !request.limit_to_real {
        return Err(Failure::refused("--real says what --limit-to-real is to keep to: give both"));
    }
    if request.target.starts_with("sim:") {
        return Ok(());
    }
    let path = Path::new(&request.target);
    let bytes = match std::fs::metadata(path) {
        Ok(about) if about.is_dir() => {
            return Err(Failure::Refused(format!(
                "{} is a directory; name the card itself, as `cardscope list` shows it, or an image file",
                request.target
            )));
        }
        Ok(about) if about.is_file() => about.len(),
        Ok(_) => whole_device(&request.target)?,
        // Opening says what is wrong with it.
        Err(_) => return Ok(()),
    };
    let layout = layout_of(request, request.real.filter(|_| request.limit_to_real).unwrap_or(bytes))?;
    mkfs::tool(layout.file_system).map(drop)
}

/// The bytes of a device that may be formatted.
fn whole_device(name: &str) -> Result<u64, Failure> {
    let clearance = guard::check(&System::host(), name).map_err(Failure::refused)?;
    whole(name, Some(&clearance)).map(|()| clearance.bytes)
}

/// A card is formatted as a whole.
fn whole(name: &str, clearance: Option<&Clearance>) -> Result<(), Failure> {
    match clearance.and_then(|seen| seen.partition_of.as_ref()) {
        None => Ok(()),
        Some(disk) => Err(Failure::Refused(format!(
            "{name} is a partition, and a card is formatted as a whole: name /dev/{disk}"
        ))),
    }
}

/// The layout of so many bytes.
fn layout_of(request: &Request, bytes: u64) -> Result<Layout, Failure> {
    let wish = Wish { boundary: request.boundary, size_adjustment: request.size_adjustment };
    layout::plan(bytes / SECTOR, wish).map_err(|e| Failure::Refused(format!("{}: {e}", request.target)))
}

fn plan_line(request: &Request, layout: &Layout) -> String {
    let first = match request.mode {
        Mode::Quick => "",
        Mode::Overwrite => "every byte is overwritten first; ",
        Mode::Discard => "the card is told first that nothing on it is of value; ",
    };
    format!(
        "{first}{} in clusters of {} bytes, partition from byte {}, files from byte {}, {} for files",
        layout.file_system,
        layout.cluster_sectors * SECTOR,
        layout.partition_start * SECTOR,
        layout.data_start * SECTOR,
        Capacity(layout.data_bytes())
    )
}

fn empty(
    request: &Request,
    opened: &Opened,
    layout: Layout,
    limited: Option<Limited>,
    seed: u64,
) -> FormatReport {
    let info = opened.target.info();
    Report {
        header: opened.header(&request.target, seed),
        body: Formatting {
            mode: request.mode,
            card_bytes: info.bytes,
            layout,
            present: None,
            checked: false,
            label: None,
            size_adjustment: request.size_adjustment,
            limited,
            discarded: None,
            state: None,
            file_system: state::file_system_word(layout.file_system).to_owned(),
            backup: request.backup.as_ref().map(|path| path.display().to_string()),
            tool: String::new(),
            moved: Moved::default(),
        },
    }
}

/// What is to be said of it when all is written.
fn conclude(report: &mut FormatReport) {
    report.body.state = match (report.body.mode, report.body.discarded) {
        (Mode::Overwrite, _) => Some("overwritten".to_owned()),
        (Mode::Discard, Some(true)) => Some("trimmed".to_owned()),
        _ => None,
    };
    if report.body.discarded == Some(false) {
        let said = "the card or its reader takes no discard: its blocks were left as they were, only the file system is new";
        report.header.findings.push(
            Finding::new("discard-not-taken", Weight::Note, 1.0, said)
                .advise("many readers pass no discard on; try a slot of the computer's own, or --overwrite"),
        );
    }
    if let Some(limited) = &report.body.limited {
        report.header.findings.push(limit::told(limited, &report.body.layout));
    }
}
