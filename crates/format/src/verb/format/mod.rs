//! `format`: writes the SD Association's layout for a card's capacity.
//!
//! The distribution's own tool makes the file system in a sparse file in memory, and its bytes are then written to
//! the card. Devices, images and simulated cards are so formatted in one way, the result is checked before the card
//! is touched, and it is read back and compared byte by byte.

mod file_system_image;
mod limit;
mod mkfs;
mod read_back;
mod request;
mod writing;

pub use request::FormatRequest;

use cardscope_device::guard::{self, WriteClearance};
use cardscope_device::system::SystemRoots;
use cardscope_model::format::{FormatMode, FormatReport, FormatResult};
use cardscope_model::shell::shell_quote;
use cardscope_model::units::DecimalSize;
use cardscope_sd::layout::{self, CardLayout, FileSystem, LayoutOptions, SECTOR};
use cardscope_session::after_verdict::{ALL_DATA, next_step, repeat_description};
use cardscope_session::backups;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CardNeeds, CommonOptions, Procedure, VerbSession};
use cardscope_session::open_target::TargetType;

impl Procedure for FormatRequest {
    const VERB: &'static str = "format";
    type Body = FormatResult;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn needs(&self) -> CardNeeds {
        CardNeeds::Overwrite(None)
    }

    fn check(&self, target: TargetType) -> Result<()> {
        check_before_consent(self, target)
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut FormatReport) -> Result<()> {
        let clearance = session.opened.device().and_then(|device| device.clearance.as_ref());
        refuse_partition(&self.common.target, clearance)?;
        for caveat in &session.opened.caveats {
            session.events.report_note(&caveat.to_string());
        }
        let limited = limit::requested_limit(self, session.opened)?;
        let layout = plan_layout(self, limited.as_ref().map_or(session.bytes(), |l| l.real_bytes))?;
        let label = self.label.as_deref().map(|text| checked_label(text, layout.file_system)).transpose()?;
        let picture = mkfs::make_image(&layout, label.as_deref(), report.header.seed)?;
        let plan = writing::stage_plan(self.mode(), self.backup.is_some());
        session.events.announce_plan(plan.with_summary(plan_line(self, &layout)));
        if let Some(file) = &self.backup {
            // The image outlives a successful format: `restore` needs it to undo the format.
            let moved = &mut report.body.moved;
            backups::take_backup(file, session.opened, moved, session.interrupt, session.events)?;
        }
        report.body = FormatResult {
            mode: self.mode(),
            card_bytes: session.bytes(),
            layout,
            label,
            size_adjustment: self.size_adjustment,
            limited,
            file_system: limit::linux_driver_name(layout.file_system).to_owned(),
            backup: self.backup.as_ref().map(|path| path.display().to_string()),
            tool: picture.tool.clone(),
            moved: std::mem::take(&mut report.body.moved),
            ..FormatResult::default()
        };
        session.begin_row(report)?;
        session.store_report(report)?;
        writing::write_card(&picture, session, report)?;
        record_result(report);
        let known = || limit::earlier_verdict(self.common.archive.named_path(), session.opened);
        if let Some((known, limits)) = report.body.limited.is_none().then(known).flatten() {
            let command = format!("cardscope format {} --limit-to-real", shell_quote(&self.common.target));
            let what = repeat_description("return it, or format only what it holds", Some(ALL_DATA));
            report.header.next.extend(limits.then(|| next_step(what, Some(command))));
            report.header.findings.push(known);
        }
        // The kernel keeps the old partition table until it reads the table again.
        let held = session.opened.release();
        held.into_iter().for_each(cardscope_device::open::reread_partitions);
        Ok(())
    }
}

/// Refuses contradictory options and unsuitable targets before the user is asked for consent.
fn check_before_consent(request: &FormatRequest, target: TargetType) -> Result<()> {
    if request.real.is_some() && !request.limit_to_real {
        return Err(Failure::refused("--real needs --limit-to-real"));
    }
    let name = &request.common.target;
    match target {
        TargetType::Simulated => return Ok(()),
        TargetType::Directory => {
            return Err(Failure::refused(format!(
                "{name} is a directory; name the card itself, as `cardscope list` shows it, or an image file"
            )));
        }
        TargetType::Card => {}
    }
    let bytes = match std::fs::metadata(name) {
        Ok(about) if about.is_file() => about.len(),
        Ok(_) => device_bytes(name)?,
        // The error is reported when the target is opened.
        Err(_) => return Ok(()),
    };
    let layout = plan_layout(request, request.real.filter(|_| request.limit_to_real).unwrap_or(bytes))?;
    mkfs::find_mkfs(layout.file_system).map(drop)
}

fn device_bytes(name: &str) -> Result<u64> {
    let clearance = guard::check_device(&SystemRoots::host(), name).map_err(Failure::refused)?;
    refuse_partition(name, Some(&clearance)).map(|()| clearance.bytes)
}

/// Refuses a partition: only a whole card is formatted.
fn refuse_partition(name: &str, clearance: Option<&WriteClearance>) -> Result<()> {
    let Some(disk) = clearance.and_then(|seen| seen.partition_of.as_ref()) else { return Ok(()) };
    Err(Failure::refused(format!("{name} is a partition; name the whole card, /dev/{disk}")))
}

fn plan_layout(request: &FormatRequest, bytes: u64) -> Result<CardLayout> {
    let wish = LayoutOptions { boundary: request.boundary, size_adjustment: request.size_adjustment };
    let planned = layout::plan_layout(bytes / SECTOR, wish);
    planned.map_err(|e| Failure::refused_for(format!("{}: {e}", request.common.target), e))
}

fn plan_line(request: &FormatRequest, layout: &CardLayout) -> String {
    let first = match request.mode() {
        FormatMode::Quick => "",
        FormatMode::Overwrite => "overwrites every byte first; ",
        FormatMode::Discard => "discards every block first; ",
    };
    let sectors = [layout.cluster_sectors, layout.partition_start, layout.data_start];
    let [cluster, start, data] = sectors.map(|sectors| sectors * SECTOR);
    let (system, size) = (layout.file_system, DecimalSize(layout.data_bytes()));
    format!(
        "{first}{system} in clusters of {cluster} bytes, partition from byte {start}, files from byte {data}, {size} \
         for files"
    )
}

/// Records the state that later runs name as their condition, and the finding about a limited capacity.
fn record_result(report: &mut FormatReport) {
    report.body.state = match (report.body.mode, report.body.discarded) {
        (FormatMode::Overwrite, _) => Some("overwritten".to_owned()),
        (FormatMode::Discard, Some(true)) => Some("trimmed".to_owned()),
        _ => None,
    };
    if let Some(limited) = &report.body.limited {
        report.header.findings.push(limit::limit_finding(limited, &report.body.layout));
    }
}

/// Longest volume name of FAT and exFAT, in UTF-16 units.
const MAX_LABEL_UNITS: usize = 11;
/// Characters that a FAT label cannot have (Microsoft's FAT specification, section 6.1, and the dot).
const NOT_IN_FAT: &str = "\"*+,./:;<=>?[\\]|";

/// Volume name as written: in capitals on FAT.
fn checked_label(text: &str, file_system: FileSystem) -> Result<String> {
    let refuse = |why: &str| Failure::refused(format!("--label {text:?}: {why}"));
    let units = text.encode_utf16().count();
    if text.trim().is_empty() || units > MAX_LABEL_UNITS {
        return Err(refuse(&format!("a volume's name has 1 to {MAX_LABEL_UNITS} characters")));
    }
    if text.chars().any(char::is_control) {
        return Err(refuse("a volume name cannot have control characters"));
    }
    if file_system == FileSystem::Exfat {
        return Ok(text.to_owned());
    }
    if !text.is_ascii() || text.contains(|c| NOT_IN_FAT.contains(c)) {
        return Err(refuse(&format!("{file_system} volume names cannot have any of {NOT_IN_FAT}")));
    }
    Ok(text.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fat_labels_are_upper_case_and_exfat_labels_unchanged() {
        assert_eq!(checked_label("Camera 1", FileSystem::Fat32).unwrap(), "CAMERA 1");
        assert_eq!(checked_label("Kamera Öl", FileSystem::Exfat).unwrap(), "Kamera Öl");
    }

    #[test]
    fn invalid_labels_are_refused() {
        for (label, file_system) in [
            ("", FileSystem::Exfat),
            ("twelve chars", FileSystem::Exfat),
            ("a\nb", FileSystem::Exfat),
            ("a/b", FileSystem::Fat16),
            ("Öl", FileSystem::Fat32),
        ] {
            assert!(checked_label(label, file_system).is_err(), "{label:?}");
        }
    }
}
