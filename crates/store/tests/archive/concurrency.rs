//! Concurrent processes on one archive.

use crate::engines::on_both;
use crate::logs::{card, log, source};
use crate::sessions::{self, run, sample, start};
use cardscope_store::{Archive, ImportedSource};

#[test]
fn two_processes_create_and_fill_archive_without_loss() {
    on_both(|place| {
        let children = [(); 4].map(|()| crate::child("write 40", place));
        children.into_iter().for_each(|mut c| assert!(c.wait().unwrap().success()));
        let mut archive = Archive::open(place).unwrap();
        let sessions = archive.sessions().unwrap();
        assert_eq!(sessions.iter().map(|s| s.samples).collect::<Vec<_>>(), [40; 4]);
        for session in sessions {
            let stored = archive.session(session.id).unwrap();
            (0..).zip(&stored.file.runs[0].samples).for_each(|(i, s)| assert_eq!(*s, sample(i)));
        }
    });
}

#[test]
fn sixteen_threads_open_empty_database() {
    for _ in 0..3 {
        on_both(|place| {
            let start = std::sync::Barrier::new(16);
            std::thread::scope(|scope| {
                let opening = || {
                    start.wait();
                    Archive::open(place).map(|mut archive| archive.begin_session(&sessions::start()))
                };
                let all: Vec<_> = (0..16).map(|_| scope.spawn(opening)).collect();
                for one in all {
                    one.join().unwrap().expect("nobody meets half an archive").unwrap();
                }
            });
            assert_eq!(Archive::open(place).unwrap().sessions().unwrap().len(), 16);
        });
    }
}

#[test]
fn sixteen_processes_fill_empty_database() {
    on_both(|place| {
        let children: Vec<_> = (0..16).map(|_| crate::child("write 1", place)).collect();
        children.into_iter().for_each(|mut c| assert!(c.wait().unwrap().success()));
        let sessions = Archive::open(place).unwrap().sessions().unwrap();
        assert_eq!(sessions.iter().map(|s| s.samples).collect::<Vec<_>>(), [1; 16]);
    });
}

/// Imports sixty files in small batches and prints the number of new ones.
pub(crate) fn import_sixty(archive: &mut Archive) {
    let logs: Vec<_> =
        (0..60).map(|n| log(card("B", &format!("M{}", n % 7), "8GB"), &[f64::from(n), 2.0])).collect();
    let names: Vec<_> = (0..60).map(|n| n.to_string()).collect();
    let sources: Vec<_> = names.iter().zip(&logs).map(|(name, log)| source(name, log)).collect();
    let kept = sources.chunks(7).flat_map(|some| archive.import(some.iter().cloned()).unwrap());
    println!("new: {}", kept.filter(|kept| matches!(kept, ImportedSource::New { .. })).count());
}

#[test]
fn concurrent_imports_store_each_file_once() {
    on_both(|place| {
        let children = [(); 4].map(|()| crate::child("import 60", place));
        let said = children.map(|child| String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap());
        let new = said.iter().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix("new: "));
        assert_eq!(new.map(|n| n.parse::<u32>().unwrap()).sum::<u32>(), 60, "{said:?}");
        let mut archive = Archive::open(place).unwrap();
        assert_eq!((archive.sources().unwrap().len(), archive.sessions().unwrap().len()), (60, 60));
        let cards = archive.cards().unwrap();
        assert_eq!((cards.len(), cards.iter().map(|c| c.runs).sum::<u32>()), (7, 120));
        let rows = archive.summaries(|test| test.to_string() == "SEQ1M Q8T1 read").unwrap();
        assert_eq!(rows.iter().map(|row| row.n).sum::<u32>(), 120);
    });
}

#[test]
fn reader_does_not_wait_for_writer() {
    on_both(|place| {
        let (mut writer, mut reader) = (Archive::open(place).unwrap(), Archive::open(place).unwrap());
        let session = writer.begin_session(&start()).unwrap();
        writer.begin_run(session, run(1)).unwrap();
        for i in 0..5 {
            writer.add_sample(session, 1, &sample(i)).unwrap();
            assert_eq!(reader.session(session).unwrap().file.runs[0].samples.len() as u32, i + 1);
        }
    });
}
