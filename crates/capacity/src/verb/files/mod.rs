//! `verify DIR --files`: fills the free space of a mounted card with files identical to those of h2testw and
//! f3write, reads them back and reports losses. Files of the user and existing test files stay untouched.

mod created_files;
mod mounted_folder;
#[cfg(test)]
mod race_tests;

use super::VerifyRequest;
use crate::probe::files::{self, FilesError};
use cardscope_device::claimed::ClaimedTarget;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::progress::StagePlan;
use cardscope_model::units::DecimalSize;
use cardscope_model::verify::{FilesReport, VerifyReport};
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::VerbSession;
use cardscope_session::open_target::OpenTarget;
use cardscope_session::opening;
use cardscope_session::recorder::SessionRecorder;
use created_files::CreatedFiles;
use mounted_folder::{MountedFolder, short_list};

type Pass<'a> = files::FilesPass<'a, CreatedFiles>;

impl From<FilesError> for Failure {
    fn from(error: FilesError) -> Self {
        match error {
            FilesError::Stop(stop) => stop.into(),
            FilesError::File(why) => Failure::Io(why),
            FilesError::ReadOnly(_) => Failure::io(error),
        }
    }
}

/// Opens the directory, or uses `there` if the calling verb holds it open.
pub fn open_directory(
    request: &VerifyRequest,
    there: Option<&ClaimedTarget>,
    interrupt: &InterruptFlag,
) -> Result<OpenTarget> {
    let folder = MountedFolder::open(&request.common.target, there)?;
    let directory = folder.held.reopen_readable().map_err(Failure::refused)?;
    let mut opened = opening::open_mounted(directory, &folder.path, interrupt)?;
    opened.limit_writes(request.limits.max_write());
    Ok(opened)
}

impl VerifyRequest {
    pub(super) fn run_files(&self, session: &mut VerbSession<'_>, report: &mut VerifyReport) -> Result<()> {
        let folder = MountedFolder::open(&self.common.target, session.opened.open_object.as_deref())?;
        let total = self.bytes_to_write(&folder, session.opened)?;
        // Seed 0 since the content of the files is the same on every card.
        report.header.seed = 0;
        report.header.caveats.extend(folder.caveats());
        session.begin_row(report)?;
        let Some(mut recorder) = session.recorder.take() else { return Ok(()) };
        let own = CreatedFiles::new(folder, session.opened.files.clone().unwrap_or_default());
        let mut pass = Pass::new(own, session.interrupt.clone(), session.events, self.limits.budget);
        let limit = session.opened.limit.warning_text().map(|words| format!("; {words}")).unwrap_or_default();
        let ended = self.write_and_read(&mut pass, (total, &limit), &mut recorder, report);
        let stayed = self.remove_test_files(&mut pass);
        fill_report(report, &pass, ended.is_err());
        report.header.findings.extend(stayed);
        session.recorder = Some(recorder);
        ended
    }
}

impl VerifyRequest {
    /// Bytes to write. Refuses unsuitable directories before anything is done.
    fn bytes_to_write(&self, folder: &MountedFolder, opened: &OpenTarget) -> Result<u64> {
        if !self.read_only {
            return folder.writable_bytes(opened.limit.bytes_left());
        }
        if !folder.test_files.is_empty() {
            return Ok(0);
        }
        let path = folder.path.display();
        Err(Failure::refused(format!(
            "{path} has no files 1.h2w, 2.h2w … to verify; leave out --read-only to write them"
        )))
    }
}

impl VerifyRequest {
    fn write_and_read(
        &self,
        pass: &mut Pass<'_>,
        (total, limit): (u64, &str),
        recorder: &mut SessionRecorder,
        report: &mut VerifyReport,
    ) -> Result<()> {
        let writing = (!self.read_only).then_some((files::WRITING, 1.0));
        let stages = writing.into_iter().chain([(files::READING, 1.0)]);
        let (size, target) = (DecimalSize(total), &self.common.target);
        let line = match self.read_only {
            true => String::new(),
            false => format!(
                "writes {size} to {target} in files of 1 GiB and reads them back; other files stay{limit}"
            ),
        };
        let plan = StagePlan::from_stages(stages).with_budget(self.limits.budget);
        pass.events.announce_plan(plan.with_summary(line));
        if self.read_only {
            let folder = &pass.folder.folder;
            let (there, alike) = (folder.test_files.clone(), folder.similar_names.clone());
            pass.add_existing(&there, &alike);
        } else {
            let outcome = pass.write_all(total);
            fill_report(report, pass, outcome.is_err());
            recorder.update(report)?;
            outcome?;
        }
        pass.read_all()?;
        let folder = &pass.folder.folder;
        if !folder.held.is_at(&folder.path) {
            let path = folder.path.display();
            let text = format!("{path} was replaced during the test, which used the original directory");
            pass.add_caveat(text);
        }
        Ok(())
    }
}

impl VerifyRequest {
    /// Removes the files of this run unless they are to stay. Returns a finding with those that could not be removed.
    fn remove_test_files(&self, pass: &mut Pass<'_>) -> Option<Finding> {
        if self.keep_files || self.read_only {
            return None;
        }
        let stayed = pass.folder.remove_all();
        let text = format!("The test could not remove its files: {}.", short_list(&stayed));
        let finding = Finding::new("files-left", FindingWeight::Note, 1.0, text);
        (!stayed.is_empty()).then(|| finding.with_advice("Remove these files."))
    }
}

fn fill_report(report: &mut VerifyReport, pass: &Pass<'_>, ended_early: bool) {
    let folder = &pass.folder.folder;
    let known = FilesReport {
        directory: folder.path.display().to_string(),
        file_system: folder.system.name.clone(),
        mounted_at: folder.system.mounted_at.clone(),
        file_system_bytes: folder.room.total,
        free_bytes: folder.free_bytes(),
        kept: !pass.folder.is_empty(),
        ..FilesReport::default()
    };
    pass.fill_report(report, known, ended_early);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_is_recognized_after_other_files_were_opened() {
        let folder = tempfile::tempdir().unwrap();
        let common = cardscope_session::frame::CommonOptions {
            target: folder.path().to_str().unwrap().to_owned(),
            ..cardscope_session::frame::CommonOptions::default()
        };
        let request = VerifyRequest { common, ..VerifyRequest::default() };
        let opened = open_directory(&request, None, &InterruptFlag::default()).unwrap();
        let others: Vec<_> = (0..64).map(|_| tempfile::tempfile().unwrap()).collect();
        opened.open_object.unwrap().check_after_consent().unwrap();
        drop(others);
    }
}
