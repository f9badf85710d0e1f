//! Two Cardscopes at once on one archive.

use crate::sessions::{run, sample, start};
use cardscope_store::Archive;

#[test]
fn two_processes_that_make_and_fill_one_archive_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.sqlite");
    let children = [(); 4].map(|()| crate::child("write 40", &path));
    children.into_iter().for_each(|mut c| assert!(c.wait().unwrap().success()));
    let mut archive = Archive::open(&path).unwrap();
    let sessions = archive.sessions().unwrap();
    assert_eq!(sessions.iter().map(|s| s.samples).collect::<Vec<_>>(), [40; 4]);
    for session in sessions {
        let stored = archive.session(session.id).unwrap();
        (0..).zip(&stored.runs[0].samples).for_each(|(i, s)| assert_eq!(*s, sample(i)));
    }
}

#[test]
fn one_reads_while_the_other_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.sqlite");
    let (mut writer, mut reader) = (Archive::open(&path).unwrap(), Archive::open(&path).unwrap());
    let session = writer.begin_session(&start()).unwrap();
    writer.begin_run(session, run(1)).unwrap();
    for i in 0..5 {
        writer.add_sample(session, 1, &sample(i)).unwrap();
        assert_eq!(reader.session(session).unwrap().runs[0].samples.len() as u32, i + 1);
    }
}
