//! What a pass over files comes to, whole or partial.

use super::names;
use super::pass::{Pass, TestFolder, TestedFile};
use super::verdict::{self, Tested};
use cardscope_model::caveat::Caveat;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::report::Moved;
use cardscope_model::units::Capacity;
use cardscope_model::verify::{FilesReport, Method, Verdict, Verification};

/// What a pass over files found out.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The answer and what it rests on.
    pub body: Verification,
    /// What it says of the card.
    pub findings: Vec<Finding>,
    /// Doubts.
    pub caveats: Vec<Caveat>,
    /// How the I/O went.
    pub io_path: String,
}

impl<F: TestFolder> Pass<'_, F> {
    /// How things stand; `folder` says what is known of the folder and its file system, `ended_early` whether something
    /// ended the pass before its end.
    pub fn outcome(&self, folder: FilesReport, ended_early: bool) -> Outcome {
        let sorted = &self.sorted;
        let planned: u64 = self.files.iter().map(|file| file.result.bytes).sum();
        let tested: u64 = self.files.iter().map(|file| file.result.read_bytes).sum();
        // Less than a sector at the end of an odd file is never read.
        let unread = self.files.iter().any(|file| file.result.read_bytes + 512 <= file.result.bytes);
        // A file system's own tables for the files are none of what could be tested, where it was filled to the brim.
        let there_before = if self.written { 0 } else { planned };
        let facts = Tested {
            tested,
            free: folder.free_bytes + there_before,
            file_system: folder.file_system_bytes,
            otherwise: self.wavering,
            refused: self.refused_bytes / 512,
            cut_short: ended_early || unread,
        };
        let (verdict, confidence) = verdict::judge(sorted, &facts);
        let first = sorted.first_error.as_ref().map(|first| self.bytes_before(first.offset));
        let findings = self.findings(&folder.file_system, &facts, verdict);
        let body = Verification {
            method: Method::Files,
            verdict,
            announced_bytes: planned,
            usable_bytes: first.or((verdict == Verdict::Genuine).then_some(tested)),
            good_bytes: (tested > 0).then_some(sorted.counts.ok * 512),
            proven_bytes: sorted.counts.ok * 512,
            confidence,
            wrap_bytes: self.wrap.filter(|_| wraps(verdict)),
            disproofs: sorted.disproofs.clone(),
            files: Some(FilesReport {
                free_bytes: facts.free,
                tested_bytes: tested,
                written: self.written,
                kept: folder.kept || !self.written,
                sectors: sorted.counts,
                first_error: sorted.first_error.clone(),
                write: self.write_meter.pace(),
                read: self.read_meter.pace(),
                files: self.files.iter().map(|file| file.result.clone()).collect(),
                missing: names::gaps(self.files.iter().map(|file| file.result.number)),
                foreign: self.foreign.clone(),
                ..folder
            }),
            moved: Moved { seconds: self.begun.elapsed().as_secs_f64(), ..self.moved.clone() },
            ..Verification::default()
        };
        Outcome { body, findings, caveats: self.caveats.clone(), io_path: self.io_path.clone() }
    }

    /// Bytes of the tested files before an offset of the whole data: the prefix that can be trusted.
    fn bytes_before(&self, offset: u64) -> u64 {
        let before = |range: std::ops::Range<u64>| range.end.min(offset).saturating_sub(range.start);
        self.files.iter().map(TestedFile::range).map(before).sum()
    }

    fn findings(&self, file_system: &str, facts: &Tested, verdict: Verdict) -> Vec<Finding> {
        let mut findings = Vec::new();
        let counts = &self.sorted.counts;
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
                findings.push(folded(self.wrap, file_system));
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
        if self.files.iter().any(|file| file.content != file.result.number) {
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
