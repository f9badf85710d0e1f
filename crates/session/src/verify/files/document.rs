//! The document of `verify --files`, whole or partial, and the end of the files that this run made.

use super::pass::Pass;
use super::verdict::{self, Tested};
use super::{Work, names};
use crate::error::Failure;
use cardscope_model::caveat;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::report::Moved;
use cardscope_model::units::Capacity;
use cardscope_model::verify::{FilesReport, Method, Verdict, Verification, VerifyReport};

impl Work<'_> {
    /// Removes this run's files, unless they are to stay; a finding names those that would not go.
    pub(super) fn tidy(&self, pass: &mut Pass<'_>) -> Vec<Finding> {
        if self.request.keep_files || self.request.read_only {
            return Vec::new();
        }
        let stayed = pass.own.remove_all(&pass.folder);
        let finding = || {
            Finding::new(
                "files-left",
                Weight::Note,
                1.0,
                format!("Files of this test were not removed: {}.", names::listed(&stayed)),
            )
            .advise("Remove them by hand.")
        };
        (!stayed.is_empty()).then(finding).into_iter().collect()
    }

    /// Fills in how things stand.
    pub(super) fn fill(&self, report: &mut VerifyReport, pass: &Pass<'_>, failure: Option<&Failure>) {
        let sorted = &pass.sorted;
        let facts = self.facts(pass, failure);
        let (verdict, confidence) = verdict::judge(sorted, &facts);
        let tested = facts.tested;
        let first = sorted.first_error.as_ref().map(|first| self.bytes_before(first.offset));
        caveat::add(&mut report.header.caveats, pass.caveats.iter().cloned());
        report.header.io_path.clone_from(&pass.io_path);
        report.header.findings = self.findings(pass, &facts, verdict);
        report.body = Verification {
            method: Method::Files,
            verdict,
            announced_bytes: self.planned(),
            usable_bytes: first.or((verdict == Verdict::Genuine).then_some(tested)),
            good_bytes: (tested > 0).then_some(sorted.counts.ok * 512),
            proven_bytes: sorted.counts.ok * 512,
            confidence,
            wrap_bytes: self.wrap.filter(|_| wraps(verdict)),
            disproofs: sorted.disproofs.clone(),
            files: Some(self.section(pass, tested)),
            moved: Moved {
                data_kept: true,
                bytes_written: pass.bytes_written,
                bytes_read: pass.bytes_read,
                seconds: pass.seconds(),
                io_errors: pass.failed.clone(),
                ..Moved::default()
            },
            ..Verification::default()
        };
    }

    fn planned(&self) -> u64 {
        self.files.iter().map(|file| file.named.bytes).sum()
    }

    fn facts(&self, pass: &Pass<'_>, failure: Option<&Failure>) -> Tested {
        let tested: u64 = self.files.iter().map(|file| file.result.read_bytes).sum();
        // Less than a sector at the end of an odd file is never read.
        let unread = self.files.iter().any(|file| file.result.read_bytes + 512 <= file.named.bytes);
        Tested {
            tested,
            free: self.free(pass),
            file_system: pass.folder.room.total,
            otherwise: self.otherwise,
            refused: pass.refused_bytes / 512,
            cut_short: failure.is_some() || unread,
        }
    }

    /// What could be tested. A file system's own tables for the files are none of it, where it was filled to the brim.
    fn free(&self, pass: &Pass<'_>) -> u64 {
        match self.request.read_only {
            true => pass.folder.free() + self.planned(),
            false => pass.folder.free(),
        }
    }

    /// Bytes of the tested files before an offset of the whole data: the prefix that can be trusted.
    fn bytes_before(&self, offset: u64) -> u64 {
        let before = |range: &std::ops::Range<u64>| range.end.min(offset).saturating_sub(range.start);
        self.files.iter().map(|file| before(&file.range())).sum()
    }

    fn section(&self, pass: &Pass<'_>, tested_bytes: u64) -> FilesReport {
        let folder = &pass.folder;
        let written = !self.request.read_only;
        FilesReport {
            directory: folder.path.display().to_string(),
            file_system: folder.system.name.clone(),
            mounted_at: folder.system.mounted_at.clone(),
            file_system_bytes: folder.room.total,
            free_bytes: self.free(pass),
            tested_bytes,
            written,
            kept: !written || !pass.own.is_empty(),
            sectors: pass.sorted.counts,
            first_error: pass.sorted.first_error.clone(),
            write: pass.write_meter.pace(),
            read: pass.read_meter.pace(),
            files: self.files.iter().map(|file| file.result.clone()).collect(),
            missing: names::gaps(&self.files.iter().map(|file| file.named.clone()).collect::<Vec<_>>()),
            foreign: self.foreign.clone(),
        }
    }

    fn findings(&self, pass: &Pass<'_>, facts: &Tested, verdict: Verdict) -> Vec<Finding> {
        let mut findings = Vec::new();
        let counts = &pass.sorted.counts;
        if counts.lost() > 0 {
            findings.push(
                Finding::new(
                    "files-lost",
                    Weight::Bad,
                    0.99,
                    format!("{} of {} sectors were not as written.", counts.lost(), counts.all()),
                )
                .because("overwritten", counts.overwritten)
                .because("slightly changed", counts.changed)
                .because("corrupted", counts.corrupted)
                .because("unreadable", counts.unreadable)
                .advise("Try another reader before you blame the card: `cardscope verify DEVICE` shows which part of the card is real."),
            );
            if wraps(verdict) {
                findings.push(folded(self.wrap, &pass.folder.system.name));
            }
        } else if verdict == Verdict::Inconclusive && !facts.cut_short {
            findings.push(
                Finding::new(
                    "files-too-little",
                    Weight::Note,
                    1.0,
                    "Nothing was lost, but too little was tested to judge the card.",
                )
                .because("tested", Capacity(facts.tested))
                .because("free", Capacity(facts.free))
                .because("file system", Capacity(facts.file_system))
                .advise("Make room and test again, or test the whole card with `cardscope verify DEVICE`."),
            );
        }
        if self.files.iter().any(|file| file.content != file.named.number) {
            findings.push(Finding::new(
                "files-renamed",
                Weight::Hint,
                0.9,
                "Some files hold the content of another number, so somebody renamed or copied them.",
            ));
        }
        findings
    }
}

fn wraps(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Wraparound | Verdict::Chain)
}

/// How far apart the places are that answer for each other.
fn folded(wrap: Option<u64>, file_system: &str) -> Finding {
    match wrap {
        Some(bytes) => Finding::new(
            "files-wrap",
            Weight::Bad,
            0.95,
            format!("The card's addresses repeat every {}, so one block answers for several.", Capacity(bytes)),
        )
        .because("period in bytes", bytes),
        None => Finding::new(
            "files-wrap",
            Weight::Bad,
            0.95,
            format!("One block of the card answers for several, but {file_system} does not tell where on the card its files lie and so how far apart these are."),
        )
        .advise("Run `cardscope verify DEVICE` to find the period."),
    }
}
