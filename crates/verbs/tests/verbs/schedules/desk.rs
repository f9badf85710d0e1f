//! Where a worker keeps what outlives it: its disks, the card and the truth of a program that was killed, and what
//! commands do without faults, which all workers share.

use super::disks::Disks;
use super::fault::Course;
use super::table::{CARD, FaultTruth, SECTORS, TRUTH};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A short recipe with every direction, pattern and depth.
const RECIPE: &str = r#"
name = "schedule"
title = "A short recipe for cards that fail"
version = 1
source = "Cardscope"
[area]
size = "4MiB"
[defaults]
seconds = 0.2
flush = "timed"
random = "uniform"
[[test]]
test = "SEQ1M Q8T1 read"
[[test]]
test = "RND4K Q1T1 read"
[[test]]
test = "SEQ1M Q8T1 write"
[[test]]
test = "RND4K Q32T1 write"
"#;

#[derive(Debug, Clone)]
pub(super) struct FaultWorkspace {
    own: PathBuf,
    shared: PathBuf,
    pub(super) disks: Disks,
}

impl FaultWorkspace {
    /// The desk of a worker in a folder.
    pub(super) fn of(folder: &Path, worker: usize) -> FaultWorkspace {
        let own = folder.join(format!("worker-{worker}"));
        FaultWorkspace { disks: Disks::at(&own), own, shared: folder.join("shared") }
    }

    /// Makes what must be there before the first schedule.
    pub(super) fn set_up(&self) {
        self.disks.mount();
        fs::create_dir_all(self.grave()).unwrap();
        fs::create_dir_all(&self.shared).unwrap();
        fs::write(self.recipe(), RECIPE).unwrap();
        cardscope_store::Archive::open(self.template()).unwrap();
    }

    pub(super) fn recipe(&self) -> PathBuf {
        self.own.join("schedule.toml")
    }

    pub(super) fn archive(&self) -> PathBuf {
        self.disks.archive.join("cardscope.db")
    }

    /// An archive in which nothing is yet: to make one takes longer than a schedule.
    fn template(&self) -> PathBuf {
        self.own.join("empty.db")
    }

    pub(super) fn grave(&self) -> PathBuf {
        self.own.join("grave")
    }

    pub(super) fn card(&self) -> PathBuf {
        self.grave().join(CARD)
    }

    /// The truth of a program that was killed.
    pub(super) fn truth(&self) -> FaultTruth {
        let truth: FaultTruth = serde_json::from_slice(&fs::read(self.grave().join(TRUTH)).unwrap()).unwrap();
        FaultTruth { sectors: fs::read(self.grave().join(SECTORS)).unwrap(), ..truth }
    }

    /// How often the program was killed in the schedule that is under way.
    pub(super) fn deaths(&self) -> u32 {
        fs::read_to_string(self.own.join("deaths")).map_or(0, |text| text.parse().unwrap())
    }

    pub(super) fn count_death(&self) {
        fs::write(self.own.join("deaths"), (self.deaths() + 1).to_string()).unwrap();
    }

    /// The schedule under way is over.
    pub(super) fn bury(&self) {
        let _ = fs::remove_file(self.own.join("deaths"));
    }

    /// What is played, in words, for whoever finds that it failed.
    pub(super) fn note(&self, what: &str) {
        fs::write(self.own.join("note"), what).unwrap();
    }

    pub(super) fn noted(&self) -> String {
        fs::read_to_string(self.own.join("note")).unwrap_or_default()
    }

    /// Empty disks, but for an archive without sessions.
    pub(super) fn clear(&self) {
        self.disks.clear();
        fs::copy(self.template(), self.archive()).unwrap();
    }

    /// What stands on a card before anything is done to it, made once and left in a file: little of it is looked at.
    pub(super) fn before(&self, card: &str, make: impl FnOnce() -> Vec<u8>) -> File {
        let path = self.own.join(card.replace('/', "_"));
        File::open(&path).unwrap_or_else(|_| {
            fs::write(&path, make()).unwrap();
            File::open(&path).unwrap()
        })
    }

    /// What a command does without a fault, found out once.
    pub(super) fn course(&self, shape: usize, find_out: impl FnOnce() -> Course) -> Course {
        let file = self.shared.join(format!("course-{shape}"));
        if let Ok(known) = fs::read(&file) {
            return serde_json::from_slice(&known).unwrap();
        }
        let course = find_out();
        let draft = self.own.join("course");
        fs::write(&draft, serde_json::to_vec(&course).unwrap()).unwrap();
        fs::rename(draft, file).unwrap();
        course
    }
}
