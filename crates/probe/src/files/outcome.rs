//! What came out of a test of files, whole or as far as it came.

use super::names;
use super::test::FilesTest;
use super::verdict::{self, Tested};
use cardscope_model::caveat::Caveat;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::report::Moved;
use cardscope_model::units::Capacity;
use cardscope_model::verify::{FilesReport, Method, Verdict, Verification};

/// What a test of files says of the card.
pub struct Outcome {
    /// Verdict and figures.
    pub verification: Verification,
    /// Its findings.
    pub findings: Vec<Finding>,
    /// Its doubts.
    pub caveats: Vec<Caveat>,
    /// How the I/O went.
    pub io_path: String,
}

impl<F> FilesTest<'_, F> {
    /// How things stand; `cut_short` where something ended the test before its end, `kept` where files of it stay.
    pub fn outcome(&self, cut_short: bool, kept: bool) -> Outcome {
        let sorted = &self.pass.sorted;
        let facts = self.tested(cut_short);
        let (verdict, confidence) = verdict::judge(sorted, &facts);
        let tested = facts.tested;
        let first = sorted.first_error.as_ref().map(|first| self.bytes_before(first.offset));
        let verification = Verification {
            method: Method::Files,
            verdict,
            announced_bytes: self.planned(),
            usable_bytes: first.or((verdict == Verdict::Genuine).then_some(tested)),
            good_bytes: (tested > 0).then_some(sorted.counts.ok * 512),
            proven_bytes: sorted.counts.ok * 512,
            confidence,
            wrap_bytes: self.wrap.filter(|_| wraps(verdict)),
            disproofs: sorted.disproofs.clone(),
            files: Some(self.section(tested, kept)),
            moved: Moved {
                data_kept: true,
                bytes_written: self.pass.bytes_written,
                bytes_read: self.pass.bytes_read,
                seconds: self.pass.seconds(),
                io_errors: self.pass.failed.clone(),
                ..Moved::default()
            },
            ..Verification::default()
        };
        Outcome {
            verification,
            findings: self.findings(&facts, verdict),
            caveats: self.pass.caveats.clone(),
            io_path: self.pass.io_path.clone(),
        }
    }

    fn planned(&self) -> u64 {
        self.files.iter().map(|file| file.named.bytes).sum()
    }

    fn tested(&self, cut_short: bool) -> Tested {
        let tested: u64 = self.files.iter().map(|file| file.result.read_bytes).sum();
        // Less than a sector at the end of an odd file is never read.
        let unread = self.files.iter().any(|file| file.result.read_bytes + 512 <= file.named.bytes);
        Tested {
            tested,
            free: self.free(),
            file_system: self.facts.total_bytes,
            otherwise: self.otherwise,
            refused: self.pass.refused_bytes / 512,
            cut_short: cut_short || unread,
        }
    }

    /// What could be tested. A file system's own tables for the files are none of it, where it was filled to the brim.
    fn free(&self) -> u64 {
        match self.writes {
            true => self.facts.free_bytes,
            false => self.facts.free_bytes + self.planned(),
        }
    }

    /// Bytes of the tested files before an offset of the whole data: the prefix that can be trusted.
    fn bytes_before(&self, offset: u64) -> u64 {
        let before = |range: &std::ops::Range<u64>| range.end.min(offset).saturating_sub(range.start);
        self.files.iter().map(|file| before(&file.range())).sum()
    }

    fn section(&self, tested_bytes: u64, kept: bool) -> FilesReport {
        let (pass, facts) = (&self.pass, &self.facts);
        FilesReport {
            directory: facts.directory.clone(),
            file_system: facts.file_system.clone(),
            mounted_at: facts.mounted_at.clone(),
            file_system_bytes: facts.total_bytes,
            free_bytes: self.free(),
            tested_bytes,
            written: self.writes,
            kept: kept || !self.writes,
            sectors: pass.sorted.counts,
            first_error: pass.sorted.first_error.clone(),
            write: pass.write_meter.pace(),
            read: pass.read_meter.pace(),
            files: self.files.iter().map(|file| file.result.clone()).collect(),
            missing: names::gaps(&self.files.iter().map(|file| file.named.clone()).collect::<Vec<_>>()),
            foreign: self.foreign.clone(),
        }
    }

    fn findings(&self, facts: &Tested, verdict: Verdict) -> Vec<Finding> {
        let mut findings = Vec::new();
        let counts = &self.pass.sorted.counts;
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
                findings.push(folded(self.wrap, &self.facts.file_system));
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
