//! A killed process must not lose finished samples.

use crate::engines::on_both;
use crate::sessions::{self, sample};
use cardscope_store::Archive;
use std::io::{BufRead, BufReader};
use std::path::Path;

#[test]
fn killed_process_keeps_finished_samples() {
    for kill_after in [1, 7, 30] {
        on_both(|place| a_kill_keeps_every_finished_sample(place, kill_after));
    }
}

fn a_kill_keeps_every_finished_sample(place: &Path, kill_after: usize) {
    let mut child = crate::child("write for ever", place);
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_stored = |line: &String| line.starts_with("stored: ");
    let heard = said.by_ref().filter(is_stored).take(kill_after).count();
    child.kill().unwrap();
    child.wait().unwrap();
    // Output between the last read and the end of the process counts as well.
    let finished = heard + said.filter(is_stored).count();

    let mut archive = Archive::open(place).unwrap();
    let interrupted = sessions::interrupted(&mut archive);
    assert_eq!(interrupted.len(), 1, "{interrupted:?}");
    let stored = archive.session(interrupted[0].id).unwrap();
    let samples = &stored.file.runs[0].samples;
    // A stored sample may not have been printed yet.
    assert!((finished..=finished + 1).contains(&samples.len()), "{} of {finished}", samples.len());
    (0..).zip(samples).for_each(|(i, s)| assert_eq!(*s, sample(i)));
    assert_eq!(stored.partial_report().header.error.as_deref(), Some("its process ended unexpectedly"));
}
