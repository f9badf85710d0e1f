//! A disk that fills up during a session: the error names the cause, and stored data stays readable.
//!
//! Uses a small tmpfs, which needs root; without root one line is printed.

use crate::logs::{card, import, log, source};
use crate::sessions::{run, sample, start};
use cardscope_store::{Archive, ArchiveError};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// File system of 1 MiB, unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=1M", "none"]).arg(folder.path()).status();
        let disk = mounted.is_ok_and(|s| s.success()).then(|| SmallDisk(folder));
        if disk.is_none() {
            println!("not tested: mounting a small disk needs root");
        }
        disk
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills the disk once no more blocks will be freed: a process that another test starts keeps our open files until its
    /// exec, including the log that SQLite has removed.
    fn fill(&self) {
        use std::io::Write;
        let end = Instant::now() + Duration::from_secs(60);
        while self.used() > self.seen() {
            assert!(Instant::now() < end, "{} bytes of {} in no file", self.used(), self.seen());
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut file = fs::File::create(self.path().join("ballast")).unwrap();
        while file.write_all(&[7; 4096]).is_ok() {}
    }

    fn used(&self) -> u64 {
        let disk = rustix::fs::statvfs(self.path()).unwrap();
        (disk.f_blocks - disk.f_bfree) * disk.f_frsize
    }

    /// Bytes of the files that still have a name.
    fn seen(&self) -> u64 {
        let files = fs::read_dir(self.path()).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().blocks() * 512).sum()
    }

    fn empty(&self) {
        fs::remove_file(self.path().join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

#[test]
fn full_disk_is_reported_and_stored_data_stays_readable() {
    let Some(disk) = SmallDisk::new() else { return };
    let path = disk.path().join("archive.sqlite");
    let mut archive = Archive::open(&path).unwrap();
    let session = archive.begin_session(&start()).unwrap();
    archive.begin_run(session, run(1)).unwrap();
    (0..5).for_each(|i| archive.add_sample(session, 1, &sample(i)).unwrap());
    disk.fill();
    let (stored, error) =
        (5..).find_map(|i| archive.add_sample(session, 1, &sample(i)).err().map(|e| (i, e))).unwrap();
    assert_eq!(error, ArchiveError::Full(path.clone()));
    let samples = archive.session(session).unwrap().file.runs.remove(0).samples;
    assert_eq!(samples.len() as u32, stored);

    // Reopened while the disk is still full.
    drop(archive);
    let mut archive = Archive::open(&path).unwrap();
    assert_eq!(archive.session(session).unwrap().file.runs[0].samples, samples);
    assert_eq!(archive.add_sample(session, 1, &sample(stored)), Err(ArchiveError::Full(path.clone())));

    // With free space the session continues.
    disk.empty();
    archive.add_sample(session, 1, &sample(stored)).unwrap();
    assert_eq!(archive.session(session).unwrap().file.runs[0].samples.len() as u32, stored + 1);
}

#[test]
fn closed_archive_is_readable_on_full_disk() {
    let Some(disk) = SmallDisk::new() else { return };
    let path = disk.path().join("archive.sqlite");
    let mut archive = Archive::open(&path).unwrap();
    let session = archive.begin_session(&start()).unwrap();
    archive.begin_run(session, run(1)).unwrap();
    archive.add_sample(session, 1, &sample(0)).unwrap();
    drop(archive);
    disk.fill();
    let mut archive = Archive::open(&path).unwrap();
    assert_eq!(archive.session(session).unwrap().file.runs[0].samples, [sample(0)]);
    assert_eq!(archive.begin_session(&start()), Err(ArchiveError::Full(path.clone())));
}

#[test]
fn logs_that_do_not_fit_are_rolled_back() {
    let Some(disk) = SmallDisk::new() else { return };
    let path = disk.path().join("archive.sqlite");
    let mut archive = Archive::open(&path).unwrap();
    import(&mut archive, "first.log", &log(card("A", "B", "8GB"), &[1.0]));
    let logs: Vec<_> = (0..2000).map(|n| log(card("B", &n.to_string(), "8GB"), &[1.0, 2.0])).collect();
    let names: Vec<_> = (0..2000).map(|n| n.to_string()).collect();
    let sources: Vec<_> = names.iter().zip(&logs).map(|(name, log)| source(name, log)).collect();
    assert_eq!(archive.import(sources), Err(ArchiveError::Full(path.clone())));
    for mut archive in [archive, Archive::open(&path).unwrap()] {
        assert_eq!((archive.sources().unwrap().len(), archive.sessions().unwrap().len()), (1, 1));
        assert_eq!(archive.cards().unwrap().len(), 1);
    }
}

#[test]
fn creating_archive_on_full_disk_reports_full_disk() {
    let Some(disk) = SmallDisk::new() else { return };
    disk.fill();
    let path = disk.path().join("archive.sqlite");
    let error = Archive::open(&path).unwrap_err();
    assert_eq!(error, ArchiveError::Full(path));
}
