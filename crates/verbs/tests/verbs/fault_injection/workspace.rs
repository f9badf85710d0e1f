//! Files of a worker that outlive it: its disks, card and truth of a killed process, and results of faultless runs, which
//! all workers share.

use super::disks::Disks;
use super::fault::Course;
use super::scenario::{CARD, FaultTruth, SECTORS, TRUTH};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Short recipe with every direction, pattern and depth.
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
    /// Workspace of a worker in the folder of all workers.
    pub(super) fn for_worker(folder: &Path, worker: usize) -> FaultWorkspace {
        let own = folder.join(format!("worker-{worker}"));
        FaultWorkspace { disks: Disks::at(&own), own, shared: folder.join("shared") }
    }

    /// Creates everything that schedules need.
    pub(super) fn set_up(&self) {
        self.disks.mount();
        fs::create_dir_all(self.saved_folder()).unwrap();
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

    /// Empty archive to copy, since creating one takes longer than a schedule.
    fn template(&self) -> PathBuf {
        self.own.join("empty.db")
    }

    pub(super) fn saved_folder(&self) -> PathBuf {
        self.own.join("grave")
    }

    pub(super) fn card(&self) -> PathBuf {
        self.saved_folder().join(CARD)
    }

    /// Truth about the card at the last kill.
    pub(super) fn saved_truth(&self) -> FaultTruth {
        let truth: FaultTruth =
            serde_json::from_slice(&fs::read(self.saved_folder().join(TRUTH)).unwrap()).unwrap();
        FaultTruth { sectors: fs::read(self.saved_folder().join(SECTORS)).unwrap(), ..truth }
    }

    /// Number of kills in the current schedule.
    pub(super) fn kill_count(&self) -> u32 {
        fs::read_to_string(self.own.join("deaths")).map_or(0, |text| text.parse().unwrap())
    }

    pub(super) fn count_kill(&self) {
        fs::write(self.own.join("deaths"), (self.kill_count() + 1).to_string()).unwrap();
    }

    /// Forgets the kills of a finished schedule.
    pub(super) fn forget_kills(&self) {
        let _ = fs::remove_file(self.own.join("deaths"));
    }

    /// Describes the current schedule for a report of its failure.
    pub(super) fn write_note(&self, what: &str) {
        fs::write(self.own.join("note"), what).unwrap();
    }

    pub(super) fn read_note(&self) -> String {
        fs::read_to_string(self.own.join("note")).unwrap_or_default()
    }

    /// Clears the disks and copies an empty archive to them.
    pub(super) fn reset_disks(&self) {
        self.disks.clear();
        fs::copy(self.template(), self.archive()).unwrap();
    }

    /// Original content of a card, written once to a file of which little is read.
    pub(super) fn original_content(&self, card: &str, make: impl FnOnce() -> Vec<u8>) -> File {
        let path = self.own.join(card.replace('/', "_"));
        File::open(&path).unwrap_or_else(|_| {
            fs::write(&path, make()).unwrap();
            File::open(&path).unwrap()
        })
    }

    /// Course of a command without faults, determined once.
    pub(super) fn faultless_run(&self, shape: usize, find_out: impl FnOnce() -> Course) -> Course {
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
