//! Simulates an attacker who owns the directory and changes it between any two steps of a test by root: no file
//! outside of it may be written, truncated, extended or removed.

use super::super::VerifyRequest;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_model::progress::ProgressEvent;
use cardscope_model::verify::VerifyReport;
use cardscope_session::consent::GivenBeforehand;
use cardscope_session::frame::{CommonOptions, SpendLimits, VerbOutcome, execute_verb};
use cardscope_session::options::{ArchiveAt, WriteLimit};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

/// Content of the files outside, longer than a run writes so that truncation shows.
const SECRET: &[u8] = &[0x5a; 6 << 20];

/// Bytes that a run writes.
const WRITTEN: u64 = 4 << 20;

/// Directory under test, with files outside that must stay unchanged.
struct AttackedFolder {
    all: tempfile::TempDir,
    before: Vec<(PathBuf, u64, u64)>,
}

impl AttackedFolder {
    fn new() -> Self {
        let all = tempfile::tempdir().unwrap();
        let at = |name: &str| all.path().join(name);
        fs::create_dir(at("card")).unwrap();
        fs::create_dir(at("outside")).unwrap();
        fs::write(at("outside/secret"), SECRET).unwrap();
        fs::write(at("outside/1.h2w"), SECRET).unwrap();
        let mut place = AttackedFolder { all, before: Vec::new() };
        place.before = place.outside();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.all.path().join(name)
    }

    /// Path, inode and modification time of the files outside.
    fn outside(&self) -> Vec<(PathBuf, u64, u64)> {
        let all = ["outside/secret", "outside/1.h2w"].map(|name| self.at(name));
        let state = |path: PathBuf| {
            let found = path.symlink_metadata().unwrap();
            assert!(fs::read(&path).unwrap() == SECRET, "{} was written to", path.display());
            let (inode, mtime) = (found.ino(), found.mtime_nsec() as u64);
            (path, inode, mtime)
        };
        all.into_iter().map(state).collect()
    }
}

#[derive(Debug, Clone, Copy)]
enum SwapAttack {
    Link,
    HardLink,
    Pipe,
    OtherFile,
    Directory,
}

const ATTACKS: [SwapAttack; 5] =
    [SwapAttack::Link, SwapAttack::HardLink, SwapAttack::Pipe, SwapAttack::OtherFile, SwapAttack::Directory];

impl SwapAttack {
    fn strike(self, all: &Path) {
        let path = all.join(if matches!(self, SwapAttack::Directory) { "card" } else { "card/1.h2w" });
        let _ = fs::rename(&path, all.join("moved-away"));
        match self {
            SwapAttack::Link => symlink(all.join("outside/secret"), path).unwrap(),
            SwapAttack::HardLink => fs::hard_link(all.join("outside/secret"), path).unwrap(),
            SwapAttack::Pipe => {
                let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
                rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
            }
            SwapAttack::OtherFile => fs::write(path, vec![1; WRITTEN as usize]).unwrap(),
            SwapAttack::Directory => symlink(all.join("outside"), path).unwrap(),
        }
    }
}

/// Counts the events of a run and attacks at one of them.
struct AttackingListener<'a> {
    place: &'a AttackedFolder,
    attack: Option<(SwapAttack, u32)>,
    events: u32,
    /// Event of the last transferred bytes, when the files still exist.
    moved: u32,
}

impl Listener for AttackingListener<'_> {
    fn event(&mut self, event: &ProgressEvent) {
        if matches!(event, ProgressEvent::Bytes(_)) {
            self.moved = self.events;
        }
        if let Some((attack, at)) = self.attack
            && self.events == at
        {
            attack.strike(self.place.all.path());
        }
        self.events += 1;
    }
}

fn run(
    place: &AttackedFolder,
    read_only: bool,
    attack: Option<(SwapAttack, u32)>,
) -> (AttackingListener<'_>, Option<VerbOutcome<VerifyReport>>) {
    let request = VerifyRequest {
        common: CommonOptions {
            target: place.at("card").to_str().unwrap().to_owned(),
            archive: ArchiveAt { archive: Some(place.at("archive.sqlite")) },
            ..CommonOptions::default()
        },
        limits: SpendLimits {
            writing: WriteLimit { max_write: (!read_only).then_some(WRITTEN) },
            budget: None,
        },
        files: true,
        read_only,
        ..VerifyRequest::default()
    };
    let mut attacker = AttackingListener { place, attack, events: 0, moved: 0 };
    let outcome =
        execute_verb(&request, &mut GivenBeforehand(None), &InterruptFlag::default(), &mut attacker);
    (attacker, outcome.ok())
}

/// Events at which to attack: all of them in long tests, else a few over the run.
fn attacked_events(events: u32) -> Vec<u32> {
    match std::env::var_os("CARDSCOPE_LONG") {
        Some(_) => (0..200).map(|n| n % events).collect(),
        None => (0..events).step_by((events as usize / 4).max(1)).collect(),
    }
}

#[test]
fn swaps_during_a_run_leave_outside_files_untouched() {
    let place = AttackedFolder::new();
    let (AttackingListener { events, .. }, outcome) = run(&place, false, None);
    assert!(events > 8 && outcome.as_ref().unwrap().failure.is_none(), "{events} events: {outcome:?}");
    for attack in ATTACKS {
        for at in attacked_events(events) {
            let place = AttackedFolder::new();
            let _ = run(&place, false, Some((attack, at)));
            assert_eq!(place.outside(), place.before, "{attack:?} at event {at}");
        }
    }
}

#[test]
fn file_that_replaced_a_test_file_stays_and_is_reported() {
    let place = AttackedFolder::new();
    let undisturbed = AttackedFolder::new();
    let (AttackingListener { moved, .. }, _) = run(&undisturbed, false, None);
    let report = run(&place, false, Some((SwapAttack::OtherFile, moved))).1.unwrap().report;
    assert_eq!(fs::metadata(place.at("card/1.h2w")).unwrap().len(), WRITTEN);
    assert_eq!(fs::read(place.at("card/1.h2w")).unwrap(), vec![1; WRITTEN as usize]);
    assert!(report.header.findings.iter().any(|finding| finding.claim == "files-left"), "{report:#?}");
}

#[test]
fn read_only_run_writes_nothing_and_skips_links_and_pipes() {
    for attack in ATTACKS {
        let place = AttackedFolder::new();
        fs::write(place.at("card/1.h2w"), SECRET).unwrap();
        let (AttackingListener { events, .. }, _) = run(&place, true, None);
        for at in attacked_events(events) {
            let place = AttackedFolder::new();
            fs::write(place.at("card/1.h2w"), SECRET).unwrap();
            let _ = run(&place, true, Some((attack, at)));
            assert_eq!(place.outside(), place.before, "{attack:?} at event {at}");
        }
    }
}
