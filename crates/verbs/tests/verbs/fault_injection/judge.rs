//! Invariants after a schedule: no promised data lost, no unannounced write, no verdict on spoiled evidence, and a stored
//! document.

use super::case::ScheduleCase;
use super::commands::{CommandResult, DataPromise};
use super::fault::{Fault, Harm};
use super::scenario::{FaultTruth, SECTOR, sector};
use cardscope_model::report::ExitStatus;
use cardscope_session::error::Failure;
use cardscope_store::Archive;
use serde_json::Value;
use std::ops::Range;
use std::path::PathBuf;

/// Everything known after a schedule.
pub(super) struct ScheduleRecord<'a> {
    pub(super) shape: &'a ScheduleCase,
    pub(super) fault: Fault,
    pub(super) truth: FaultTruth,
    /// Sectors whose content changed.
    pub(super) changed: Vec<u64>,
    /// `None` if the command was killed.
    pub(super) ended: Option<CommandResult>,
    /// Result of the command resumed after an early end.
    pub(super) resumed: Option<CommandResult>,
    pub(super) restores: Vec<CommandResult>,
    pub(super) archive: PathBuf,
}

/// Panics at the first violated rule, most severe first.
pub(super) fn judge(record: &ScheduleRecord<'_>) {
    record.assert_writes_announced();
    record.assert_write_limit();
    record.assert_promise_kept();
    record.assert_losses_reported();
    let ended = record.ended.iter().chain(&record.resumed);
    ended.for_each(|ended| record.assert_no_unfounded_claim(ended));
    record.assert_failures_reported();
    record.assert_document_stored();
}

impl ScheduleRecord<'_> {
    #[track_caller]
    fn assert_rule(&self, holds: bool, otherwise: &str) {
        assert!(holds, "{otherwise}{}", self.progress_text());
    }

    /// Output of the commands for the panic message.
    fn progress_text(&self) -> String {
        let all = self.ended.iter().chain(&self.resumed).chain(&self.restores);
        let words = all.map(|ended| {
            let failure = ended.failure.as_ref().map(ToString::to_string).unwrap_or_default();
            let part = |name: &str| ended.document.get(name).cloned().unwrap_or_default();
            let parts = ["verdict", "findings", "caveats", "notes", "lost", "data_kept"].map(part);
            format!("\n  exit: {:?}, failure: {failure}, {}", ended.exit, Value::from(parts.to_vec()))
        });
        words.collect()
    }

    /// Union of the bits of all sectors that share the storage of this one.
    fn sector_bits(&self, sector: u64) -> u8 {
        let sectors = &self.truth.sectors;
        let aliases = self.shape.kind.aliased_sectors(sector, sectors.len() as u64);
        aliases.map(|alias| sectors[alias as usize]).fold(0, |all, bits| all | bits)
    }

    /// Sectors that the command may overwrite, with or without saving them.
    fn announced_sectors(&self) -> Range<u64> {
        let sectors = |mib: u64| mib * (1 << 20) / SECTOR;
        match self.shape.promise {
            DataPromise::ReadsOnly => 0..0,
            DataPromise::Overwrites(start, len) => sectors(start)..sectors(start + len),
            DataPromise::Keeps | DataPromise::KeepsByImage | DataPromise::OverwritesAll => {
                0..self.truth.sectors.len() as u64
            }
        }
    }

    fn assert_writes_announced(&self) {
        self.assert_rule(self.truth.other_writes == 0, "another card was written to");
        let announced = self.announced_sectors();
        let (before, rest) = self.truth.sectors.split_at(announced.start as usize);
        let outside = before.iter().chain(&rest[(announced.end - announced.start) as usize..]);
        let touched = outside.filter(|bits| **bits & sector::TOUCHED != 0).count();
        self.assert_rule(touched == 0, "sectors were written to that were not announced");
    }

    fn assert_write_limit(&self) {
        let Some(ended) = self.ended.as_ref().filter(|_| self.resumed.is_none() && self.restores.is_empty())
        else {
            return;
        };
        let most = self.shape.words.iter().skip_while(|word| *word != "--max-write").nth(1);
        let most = most.and_then(|most| most.trim_end_matches('M').parse::<u64>().ok());
        let restored = ended.document.get("bytes_restored").and_then(Value::as_u64).unwrap_or_default();
        // A failed write is repeated, and only the repetition counts.
        let written = self.truth.written.saturating_sub(restored + self.truth.landed_of_failed);
        self.assert_rule(most.is_none_or(|most| written <= most << 20), "more was written than --max-write");
    }

    /// Changed sectors whose content was promised.
    fn lost_sectors(&self) -> Vec<u64> {
        let (announced, is_fake) = (self.announced_sectors(), self.shape.kind.is_fake);
        let promised = |place: &&u64| match self.shape.promise {
            DataPromise::Keeps | DataPromise::KeepsByImage | DataPromise::ReadsOnly => true,
            // Addresses outside the range may share storage with addresses inside on a fake.
            DataPromise::Overwrites(..) => !is_fake && !announced.contains(*place),
            DataPromise::OverwritesAll => false,
        };
        self.changed.iter().filter(promised).copied().collect()
    }

    fn assert_promise_kept(&self) {
        let excuses = sector::LOST | sector::BAD | sector::REFUSED | sector::MISREAD;
        let lost = self.lost_sectors();
        let all = || self.ended.iter().chain(&self.resumed).chain(&self.restores);
        let is_listed = |place: &u64| all().flat_map(|ended| &ended.listed).any(|list| list.contains(place));
        let unexplained = lost.iter().filter(|place| self.sector_bits(**place) & excuses == 0);
        let unexplained: Vec<_> = unexplained.filter(|place| !is_listed(place)).collect();
        let text = format!("{} of {} sectors are lost, and not by the card", unexplained.len(), lost.len());
        self.assert_rule(unexplained.is_empty(), &text);
        let list =
            |ended: &CommandResult| ended.document.get("left").and_then(Value::as_array).map_or(0, Vec::len);
        let foreign: usize = self.restores.iter().map(list).sum();
        let nobody_wrote = foreign == 0 || self.truth.harmed || self.shape.kind.is_fake;
        self.assert_rule(nobody_wrote, "sectors are taken for what somebody else wrote");
    }

    /// Losses must show in the exit status and in the document.
    fn assert_losses_reported(&self) {
        let by_the_card = sector::LOST | sector::BAD | sector::REFUSED;
        let lost = self.lost_sectors().iter().any(|place| self.sector_bits(*place) & by_the_card != 0);
        let mut all = self.ended.iter().chain(&self.restores);
        let said = all.any(|ended| ended.failure.is_some() || ended.exit == ExitStatus::Bad);
        self.assert_rule(!lost || said || self.ended.is_none(), "sectors are lost and not a word");
        let kept = self.ended.as_ref().and_then(|ended| ended.document.get("data_kept")?.as_bool());
        let claimed = kept == Some(true) && self.restores.is_empty();
        self.assert_rule(!lost || !claimed, "sectors are lost, and the data is said to be kept");
        let ended_well = self.ended.as_ref().is_some_and(|ended| ended.failure.is_none());
        let preserves = matches!(
            self.shape.promise,
            DataPromise::Keeps | DataPromise::KeepsByImage | DataPromise::ReadsOnly
        );
        let false_alarm = ended_well && preserves && kept == Some(false);
        let excused = self.truth.harmed || self.shape.kind.is_fake;
        self.assert_rule(!false_alarm || excused, "the data is said to be lost");
    }

    fn assert_no_unfounded_claim(&self, ended: &CommandResult) {
        let verdicts = collect_texts(&ended.document, "verdict");
        let is = |words: &[&str]| verdicts.iter().any(|verdict| words.contains(verdict));
        let genuine = is(&["genuine"]);
        if self.shape.kind.is_fake {
            self.assert_rule(!genuine, "a fake is called genuine");
        } else {
            let bad = ["limbo", "wraparound", "chain", "overcommitted", "damaged", "dead", "unstable"];
            self.assert_rule(self.truth.harmed || !is(&bad), "a good card is called bad");
        }
        // A document that could not be stored is no failure of the card.
        let cut =
            matches!(ended.failure, Some(Failure::Io(_))) && !matches!(self.fault, Fault::FullDisk { .. });
        let passed = ended.document.get("verdict").is_some_and(|verdict| verdict == "genuine");
        self.assert_rule(!cut || !passed, "an I/O failure ended it, and the card is called genuine");
        let complete = ended.failure.is_none() && self.shape.words.iter().any(|word| word == "--full");
        self.assert_rule(
            !genuine || !complete || !ended.is_lossy,
            "a card that lost a sector is called genuine",
        );
        let stale = ended.stale_reads > 0 && ended.exit != ExitStatus::Bad && ended.failure.is_none();
        self.assert_rule(
            !genuine || !stale,
            "what was read is not what was written, and the card is called genuine",
        );
        let is_whole = ended.failure.is_none() && !self.shape.kind.is_fake;
        let misled = is_whole && ended.misread_stamps > 0;
        let clean = ended.exit == ExitStatus::Good
            && ["verify", "check", "endure"].contains(&self.shape.words[0].as_str());
        self.assert_rule(!misled || !genuine && !clean, "the reader misread the card, and it is called good");
        // `check` judges each part by its own I/Os.
        let fails = is_whole && ended.failed_again && self.fault.lasts(Harm::Fails);
        self.assert_rule(
            !passed || !fails,
            "an I/O failed twice in one place, and the card is called genuine",
        );
        let met = collect_texts(&ended.document, "outcome").contains(&"met");
        self.assert_rule(!met || !self.shape.kind.is_slow, "a slow card meets a mark");
    }

    /// Failed I/Os must be reported, except by `format`, which reports only permanent failures.
    fn assert_failures_reported(&self) {
        let Some(ended) = self.ended.as_ref().filter(|_| self.restores.is_empty()) else { return };
        let text = ended.document.to_string();
        let words = ["troubles", "unread", "error"];
        let counted = |field: &str| ended.document[field].as_u64().is_some_and(|count| count > 0);
        let counted = counted("failed_once") || counted("failed_twice");
        let said = counted || ended.failure.is_some() || words.iter().any(|word| text.contains(word));
        let formats = self.shape.words[0] == "format";
        self.assert_rule(self.truth.errors == 0 || said || formats, "writes failed and not a word");
    }

    /// The archive must be intact, and a document that was begun must be stored with its end.
    fn assert_document_stored(&self) {
        let opened = Archive::open(&self.archive).and_then(|mut archive| archive.sessions());
        let sessions = opened.unwrap_or_else(|error| panic!("the archive is damaged: {error}"));
        let Some(ended) = &self.ended else { return };
        let Some(name) = ended.document.get("session").and_then(Value::as_str) else {
            return self
                .assert_rule(ended.document.is_null() && ended.failure.is_some(), "no session was begun");
        };
        let found = sessions.iter().find(|session| session.id.to_string() == name);
        self.assert_rule(found.is_some(), "the session is not stored");
        let full = matches!(self.fault, Fault::FullDisk { archive: true, .. });
        let is_io = matches!(ended.failure, Some(Failure::Io(_)));
        let has_end = found.is_some_and(|session| session.ended.is_some());
        self.assert_rule(has_end || full && is_io, "the session has no end");
    }
}

/// All texts in fields of this name, at any depth.
fn collect_texts<'v>(value: &'v Value, name: &str) -> Vec<&'v str> {
    match value {
        Value::Object(fields) => {
            let own = fields.get(name).and_then(Value::as_str);
            own.into_iter().chain(fields.values().flat_map(|field| collect_texts(field, name))).collect()
        }
        Value::Array(all) => all.iter().flat_map(|value| collect_texts(value, name)).collect(),
        _ => Vec::new(),
    }
}
