//! kill -9 at any moment of a quick verify, of its putting back and of the restoring: afterwards `restore` makes the
//! card what it was, to the last byte. Ten moments; two hundred with CARDSCOPE_LONG=1.
#![allow(clippy::unwrap_used, reason = "what tests share fails by panicking, as they do")]

mod common;

use common::binary::Home;
use common::machine::{Loop, image, names_in};
use rustix::process::Signal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn moments() -> u64 {
    let long = std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty() && value != "0");
    if long { 200 } else { 10 }
}

/// A number from 0 to 1 that is the same each time (SplitMix64's finisher).
fn share(n: u64) -> f64 {
    let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// A card of 24 MiB, data in front and nothing behind.
struct Table {
    home: Home,
    card: Loop,
    before: Vec<u8>,
    _dir: tempfile::TempDir,
}

impl Table {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = image(dir.path(), 24);
        let mut before = std::fs::read(&path).unwrap();
        before[16 << 20..].fill(0);
        std::fs::write(&path, &before).unwrap();
        Table { home: Home::new(), card: Loop::over(&path, &[]), before, _dir: dir }
    }

    fn journal(&self) -> Option<PathBuf> {
        let folder = self.home.path("state/cardscope");
        let names = if folder.exists() { names_in(&folder) } else { Vec::new() };
        names.into_iter().find(|name| name.starts_with("journal-")).map(|name| folder.join(name))
    }

    fn is_as_before(&self) -> bool {
        self.card.content() == self.before
    }

    fn killed(&self, arguments: &[&str], after: Duration) {
        let running = self.home.start(arguments);
        std::thread::sleep(after);
        running.signal(Signal::KILL);
        running.finish();
    }

    /// How long a whole run takes here and now.
    fn whole_run(&self) -> Duration {
        let began = Instant::now();
        self.home.run(&["verify", &self.card.path, "-q"]).expect(0);
        assert!(self.is_as_before() && self.journal().is_none());
        began.elapsed()
    }
}

#[test]
fn after_kill_9_at_any_moment_of_a_verify_restore_makes_the_card_what_it_was() {
    let table = Table::new();
    let whole = table.whole_run();
    let (mut torn, mut again) = (0, 0);
    for moment in 0..moments() {
        table.killed(&["verify", &table.card.path, "-q"], whole.mul_f64(share(moment)));
        let Some(journal) = table.journal() else {
            assert!(table.is_as_before(), "moment {moment}: overwritten without a journal");
            continue;
        };
        torn += u32::from(!table.is_as_before());
        let file = journal.to_str().unwrap();
        if moment % 2 == 0 {
            table.killed(&["restore", file, "-q"], whole.mul_f64(share(moment + 7_000) / 2.0));
            again += u32::from(journal.exists());
        }
        if journal.exists() {
            table.home.run(&["restore", file]).expect(0);
        }
        assert!(table.is_as_before(), "moment {moment}");
        assert!(!journal.exists(), "moment {moment}");
    }
    println!(
        "{torn} of {} runs were killed while the card was overwritten, {again} restorings too",
        moments()
    );
    assert!(u64::from(torn) * 10 >= moments(), "{torn} only, or this tests nothing");
}
