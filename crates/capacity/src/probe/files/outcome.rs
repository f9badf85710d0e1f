//! Verdict of `verify --files` from the losses in the files. The file system decides the place of each byte on the
//! card, so the kind of a fake follows only from the shape of the losses.

use super::file_names::missing_numbers;
use super::sector_classes::{LostRange, SortedSectors};
use super::{FilesPass, TestFolder, TestedFile};
use cardscope_model::caveat;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::report::IoTotals;
use cardscope_model::units::DecimalSize;
use cardscope_model::verify::{
    FilesReport, READS_DIFFER_CONFIDENCE, TestMethod, Verdict, Verification, VerifyReport,
};
use std::ops::RangeInclusive;

/// Least tested share of the free space for a positive verdict …
const TESTED_OF_FREE: f64 = 0.9;
/// … and least tested share of the file system: on a card full of the user's files little was tested.
const TESTED_OF_ALL: f64 = 0.25;

/// Share of the losses from which a kind of loss decides the verdict; less is noise.
const MIN_KIND_SHARE: f64 = 0.1;

/// Share of lost sectors in a range from which the range is missing. Failing cells lose far less.
const SOLID_SHARE: f64 = 0.9;

/// Least lost share of the tested bytes for a missing part; less is damage.
const MIN_MISSING_SHARE: f64 = 0.01;

/// The end of the card is narrowed down only if the file system held less than 1/8 of the tested bytes before it.
const END_MARGIN_DIVISOR: u64 = 8;

/// Most solid ranges of lost data at a card's end, as file systems spread files over a few groups of blocks.
const MAX_SOLID_RANGES: usize = 16;

impl<F: TestFolder> FilesPass<'_, F> {
    /// Records the current result, complete or partial. `folder` has the facts about the folder and its file
    /// system; `ended_early` is true if something stopped the pass.
    pub fn fill_report(&self, report: &mut VerifyReport, folder: FilesReport, ended_early: bool) {
        let sorted = &self.sorted;
        let planned: u64 = self.files.iter().map(|file| file.result.bytes).sum();
        let tested: u64 = self.files.iter().map(|file| file.result.read_bytes).sum();
        let unread = self.files.iter().any(TestedFile::is_unread);
        // Metadata of the written files reduces the free space, so existing files are added only if they were not
        // written now.
        let there_before = if self.written { 0 } else { planned };
        let facts = TestedBytes {
            tested,
            free: folder.free_bytes + there_before,
            file_system: folder.file_system_bytes,
            changed_answers: self.changed_answers,
            refused_sectors: self.refused_bytes / 512,
            cut_short: ended_early || unread,
        };
        let (verdict, confidence) = judge_losses(sorted, &facts);
        let first = sorted.first_error.as_ref().map(|first| self.tested_bytes_before(first.offset));
        let verdict = match verdict {
            Verdict::Limbo => first.map_or(verdict, |first| verdict.ending_within(facts.possible_end(first))),
            verdict => verdict.ending_at(self.wrap_bytes),
        };
        report.header.findings = self.findings(&folder.file_system, &facts, verdict);
        report.body = Verification {
            method: TestMethod::Files,
            verdict,
            announced_bytes: planned,
            usable_bytes: first.or((verdict == Verdict::Genuine).then_some(tested)),
            good_bytes: (tested > 0).then_some(sorted.counts.ok * 512),
            proven_bytes: sorted.counts.ok * 512,
            confidence,
            wrap_bytes: self.wrap_bytes.filter(|_| is_wrap(verdict)),
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
                missing: missing_numbers(self.files.iter().map(|file| file.result.number)),
                foreign: self.excluded_files.clone(),
                ..folder
            }),
            moved: IoTotals { seconds: self.begun.elapsed().as_secs_f64(), ..self.moved.clone() },
            ..Verification::default()
        };
        report.header.io_path.clone_from(&self.io_path);
        caveat::add_new_caveats(&mut report.header.caveats, self.caveats.clone());
    }

    /// Bytes of the tested files before an offset of the whole data; data up to there is intact.
    fn tested_bytes_before(&self, offset: u64) -> u64 {
        let before = |range: std::ops::Range<u64>| range.end.min(offset).saturating_sub(range.start);
        self.files.iter().map(TestedFile::range).map(before).sum()
    }

    fn findings(&self, file_system: &str, facts: &TestedBytes, verdict: Verdict) -> Vec<Finding> {
        let mut findings = Vec::new();
        let counts = &self.sorted.counts;
        if counts.lost_sectors() > 0 {
            let (lost, all) = (counts.lost_sectors(), counts.total_sectors());
            let text = format!("{lost} of {all} sectors differ from what was written.");
            findings.push(
                Finding::new("files-lost", FindingWeight::Bad, 0.99, text)
                    .because("overwritten", counts.overwritten)
                    .because("slightly changed", counts.changed)
                    .because("corrupted", counts.corrupted)
                    .because("unreadable", counts.unreadable)
                    .with_advice("Run `cardscope verify DEVICE` to find the real capacity."),
            );
            if is_wrap(verdict) {
                findings.push(wrap_finding(self.wrap_bytes, file_system));
            }
        } else if verdict == Verdict::Inconclusive && !facts.cut_short {
            let text = "No data was lost, but too little was tested for a verdict.";
            findings.push(
                Finding::new("files-too-little", FindingWeight::Note, 1.0, text)
                    .because("tested", DecimalSize(facts.tested))
                    .because("free", DecimalSize(facts.free))
                    .because("file system", DecimalSize(facts.file_system))
                    .with_advice("Free some space and test again, or run `cardscope verify DEVICE`."),
            );
        }
        if self.files.iter().any(|file| file.content != file.result.number) {
            let text = "Some files hold the content of another number: they were renamed or copied.";
            findings.push(Finding::new("files-renamed", FindingWeight::Hint, 0.9, text));
        }
        findings
    }
}

fn is_wrap(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Wraparound | Verdict::Chain)
}

fn wrap_finding(wrap: Option<u64>, file_system: &str) -> Finding {
    let text = match wrap {
        Some(bytes) => format!("The card's addresses repeat every {}.", DecimalSize(bytes)),
        None => format!("Addresses of the card repeat, but {file_system} hides at which distance."),
    };
    let finding = Finding::new("files-wrap", FindingWeight::Bad, 0.95, text);
    match wrap {
        Some(bytes) => finding.because("period in bytes", bytes),
        None => finding.with_advice("Run `cardscope verify DEVICE` to measure it."),
    }
}

/// Facts for the verdict, in bytes.
#[derive(Debug, Clone, Copy)]
struct TestedBytes {
    tested: u64,
    free: u64,
    file_system: u64,
    /// Extents that gave another answer when read again.
    changed_answers: u64,
    /// Sectors that the card refused to write, with an error.
    refused_sectors: u64,
    /// True if some data was not read.
    cut_short: bool,
}

impl TestedBytes {
    /// Possible end of the card behind `first` bytes of the files: at most everything else on the file system lies
    /// before it. If that is much, only `first` itself.
    fn possible_end(&self, first: u64) -> RangeInclusive<u64> {
        let besides = self.file_system.saturating_sub(self.free);
        if besides <= first / END_MARGIN_DIVISOR { first..=first + besides } else { first..=first }
    }
}

fn judge_losses(sorted: &SortedSectors, facts: &TestedBytes) -> (Verdict, f64) {
    let counts = &sorted.counts;
    let lost = counts.lost_sectors();
    if lost == 0 {
        return judge_without_losses(facts);
    }
    if facts.changed_answers > 0 {
        return (Verdict::Unstable, READS_DIFFER_CONFIDENCE);
    }
    if counts.ok == 0 && !facts.cut_short && counts.overwritten == 0 && counts.changed == 0 {
        return (Verdict::Dead, 0.9);
    }
    if (lost as f64) < MIN_MISSING_SHARE * counts.total_sectors() as f64 {
        return (Verdict::Damaged, 0.95);
    }
    let share = |part: u64| part as f64 / lost as f64;
    // A fake loses data silently; a card that reports errors is worn or broken.
    if share(facts.refused_sectors + counts.unreadable) >= 0.5 {
        return (Verdict::Damaged, 0.95);
    }
    match (share(counts.overwritten), share(counts.corrupted + counts.unreadable)) {
        (wrapped, gone) if wrapped >= MIN_KIND_SHARE && gone >= MIN_KIND_SHARE => (Verdict::Chain, 0.8),
        (wrapped, _) if wrapped >= 0.5 => (Verdict::Wraparound, 0.95),
        _ if is_missing_part(sorted) => (Verdict::Limbo, 0.9),
        _ => (Verdict::Damaged, 0.95),
    }
}

fn judge_without_losses(facts: &TestedBytes) -> (Verdict, f64) {
    let of = |all: u64| if all == 0 { 0.0 } else { (facts.tested as f64 / all as f64).min(1.0) };
    let enough = of(facts.free) >= TESTED_OF_FREE && of(facts.file_system) >= TESTED_OF_ALL;
    match enough && !facts.cut_short {
        true => (Verdict::Genuine, 0.5 + of(facts.file_system) / 2.0 - 0.01),
        false => (Verdict::Inconclusive, 0.5),
    }
}

/// True if the losses look like a missing part of the card: large, solid and in few ranges.
fn is_missing_part(sorted: &SortedSectors) -> bool {
    let counts = &sorted.counts;
    let sectors = |run: &LostRange| (run.range.end - run.range.start) as f64 / 512.0;
    let solid = |run: &&LostRange| run.lost as f64 >= SOLID_SHARE * sectors(run);
    let runs: Vec<&LostRange> = sorted.runs.iter().filter(solid).collect();
    let in_runs: u64 = runs.iter().map(|run| run.lost).sum();
    runs.len() <= MAX_SOLID_RANGES && in_runs as f64 >= SOLID_SHARE * counts.lost_sectors() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::verify::SectorCounts;

    const MIB: u64 = 2048;

    fn facts(tested: u64) -> TestedBytes {
        TestedBytes {
            tested,
            free: 100 << 20,
            file_system: 110 << 20,
            changed_answers: 0,
            refused_sectors: 0,
            cut_short: false,
        }
    }

    #[test]
    fn end_near_128_gib_accuses_the_reader_on_an_empty_file_system() {
        let gib = 1u64 << 30;
        let of = |first: u64, besides: u64| {
            let facts = TestedBytes { file_system: 400 * gib, free: 400 * gib - besides, ..facts(0) };
            Verdict::Limbo.ending_within(facts.possible_end(first))
        };
        assert_eq!(of(127 * gib, 2 * gib), Verdict::ReaderSuspect);
        assert_eq!(of(119 * gib, 2 * gib), Verdict::Limbo);
        assert_eq!(of(100 * gib, 60 * gib), Verdict::Limbo, "so full a card may end anywhere");
        assert_eq!(Verdict::Damaged.ending_within(0..=200 * gib), Verdict::Damaged);
    }

    fn sorted(counts: SectorCounts, runs: &[(u64, u64)]) -> SortedSectors {
        let run = |&(mib, lost): &(u64, u64)| LostRange { range: 0..mib << 20, lost };
        SortedSectors { counts, runs: runs.iter().map(run).collect(), ..SortedSectors::default() }
    }

    fn verdict(counts: SectorCounts, runs: &[(u64, u64)]) -> Verdict {
        judge_losses(&sorted(counts, runs), &facts(100 << 20)).0
    }

    #[test]
    fn intact_files_are_genuine_only_with_enough_tested() {
        let whole = sorted(SectorCounts { ok: 100 * MIB, ..SectorCounts::default() }, &[]);
        assert_eq!(judge_losses(&whole, &facts(100 << 20)).0, Verdict::Genuine);
        assert_eq!(judge_losses(&whole, &facts(50 << 20)).0, Verdict::Inconclusive);
        let full_card = TestedBytes { free: 1 << 20, ..facts(1 << 20) };
        assert_eq!(judge_losses(&whole, &full_card).0, Verdict::Inconclusive);
        let stopped = TestedBytes { cut_short: true, ..facts(100 << 20) };
        assert_eq!(judge_losses(&whole, &stopped).0, Verdict::Inconclusive);
    }

    #[test]
    fn shape_of_losses_decides_the_verdict() {
        let counts =
            |ok, overwritten, corrupted| SectorCounts { ok, overwritten, corrupted, ..Default::default() };
        assert_eq!(verdict(counts(50 * MIB, 50 * MIB, 0), &[(50, 50 * MIB)]), Verdict::Wraparound);
        assert_eq!(verdict(counts(50 * MIB, 20 * MIB, 30 * MIB), &[(50, 50 * MIB)]), Verdict::Chain);
        assert_eq!(verdict(counts(50 * MIB, 0, 50 * MIB), &[(50, 50 * MIB)]), Verdict::Limbo);
        assert_eq!(verdict(counts(0, 0, 100 * MIB), &[(100, 100 * MIB)]), Verdict::Dead);
        assert_eq!(verdict(counts(100 * MIB - 3, 0, 3), &[(1, 3)]), Verdict::Damaged);
        assert_eq!(verdict(counts(100 * MIB - 3, 2, 1), &[(1, 3)]), Verdict::Damaged, "a handful is no wrap");
        let scattered: Vec<(u64, u64)> = (0..40).map(|_| (1, MIB)).collect();
        assert_eq!(verdict(counts(60 * MIB, 0, 40 * MIB), &scattered), Verdict::Damaged);
    }

    #[test]
    fn refused_writes_are_damage_not_a_fake() {
        let lost = sorted(
            SectorCounts { ok: 50 * MIB, corrupted: 50 * MIB, ..Default::default() },
            &[(50, 50 * MIB)],
        );
        assert_eq!(judge_losses(&lost, &facts(100 << 20)).0, Verdict::Limbo);
        let refused = TestedBytes { refused_sectors: 50 * MIB, ..facts(100 << 20) };
        assert_eq!(judge_losses(&lost, &refused).0, Verdict::Damaged);
    }

    #[test]
    fn changed_answers_are_unstable() {
        let lost = sorted(SectorCounts { ok: 10, corrupted: 5, ..Default::default() }, &[(1, 5)]);
        let facts = TestedBytes { changed_answers: 1, ..facts(100 << 20) };
        assert_eq!(judge_losses(&lost, &facts).0, Verdict::Unstable);
    }
}
