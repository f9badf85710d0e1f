//! kill -9 at any time of a quick verify, its restoring and `restore`: afterwards `restore` recovers the card to the
//! last byte, in any reader. Ten points in time; two hundred with CARDSCOPE_LONG=1.

use crate::common::binary::Home;
use crate::common::machine::{LoopDevice, names_in, with_data};
use crate::common::until;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn moments() -> u64 {
    let long = std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty() && value != "0");
    if long { 200 } else { 10 }
}

/// Reproducible number from 0 to 1 (SplitMix64's finisher).
fn share(n: u64) -> f64 {
    let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Card with data at its start and nothing behind.
struct Table {
    home: Home,
    card: LoopDevice,
    before: Vec<u8>,
}

impl Table {
    fn of_mib(mib: u64) -> Self {
        let card = with_data(mib, &[]);
        let mut before = card.content();
        before[16 << 20..].fill(0);
        std::fs::write(&card.image, &before).unwrap();
        Table { home: Home::new(), card, before }
    }

    fn journal(&self) -> Option<PathBuf> {
        let folder = self.home.path("state/cardscope");
        let names = if folder.exists() { names_in(&folder) } else { Vec::new() };
        names.into_iter().find(|name| name.starts_with("journal-")).map(|name| folder.join(name))
    }

    fn is_as_before(&self) -> bool {
        self.card.content() == self.before
    }

    /// Kills a run some time after it has begun to restore; returns false if it ended before.
    fn killed_while_putting_back(&self, arguments: &[&str], after: Duration) -> bool {
        let mut running = self.home.start(arguments);
        running.wait_for("restoring");
        std::thread::sleep(after);
        running.signal(Signal::KILL);
        running.finish().status.code().is_none()
    }

    fn killed(&self, arguments: &[&str], after: Duration) {
        let running = self.home.start(arguments);
        std::thread::sleep(after);
        running.signal(Signal::KILL);
        running.finish();
    }

    /// Restores a journal in the given reader or its own.
    fn restore(&self, journal: &Path, reader: &[&str]) {
        let arguments = [&["restore", journal.to_str().unwrap()], reader].concat();
        let restored = self.home.run(&arguments).expect(0);
        if journal.exists() {
            // Killed between the last restored block and its record: nothing distinguishes the card from a copy.
            let told = restored.one_line().contains("a copy of the card, or an empty card, looks the same");
            assert!(told && self.is_as_before(), "{restored}");
            std::fs::remove_file(journal).unwrap();
        }
    }

    /// Duration of a complete run on this machine.
    fn whole_run(&self) -> Duration {
        let began = Instant::now();
        self.home.run(&["verify", &self.card.path, "-q"]).expect(0);
        assert!(self.is_as_before() && self.journal().is_none());
        began.elapsed()
    }
}

#[test]
fn restore_recovers_a_card_after_sigkill_during_verify() {
    let table = Table::of_mib(24);
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
            table.restore(&journal, &[]);
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

#[test]
fn restore_recovers_a_card_after_sigkill_during_restore() {
    let table = Table::of_mib(24);
    let other_reader = LoopDevice::over_file(&table.card.image, &[]);
    let whole = table.whole_run();
    let (mut torn, mut again) = (0, 0);
    for moment in 0..moments() {
        let soon = |n: u64| whole.mul_f64(share(moment + n) * share(moment + n) / 4.0);
        table.killed_while_putting_back(&["verify", &table.card.path], soon(0));
        let Some(journal) = table.journal() else {
            assert!(table.is_as_before(), "moment {moment}: no journal, and not all is back");
            continue;
        };
        torn += u32::from(!table.is_as_before());
        let file = journal.to_str().unwrap();
        // Alternates between the readers.
        for (n, reader) in [(1, &other_reader), (2, &table.card)] {
            if journal.exists() && !table.is_as_before() {
                again +=
                    u32::from(table.killed_while_putting_back(&["restore", file, &reader.path], soon(n)));
            }
        }
        if journal.exists() {
            table.restore(&journal, &[&other_reader.path]);
        }
        assert!(table.is_as_before(), "moment {moment}");
        assert!(!journal.exists(), "moment {moment}");
    }
    println!("{torn} of {} runs were killed with a part of the data back, {again} restorings too", moments());
    assert!(torn > 0, "or this tests nothing");
}

#[test]
fn restore_recovers_a_card_after_sigkill_during_check() {
    let table = Table::of_mib(192);
    let parts = [("bench", "3/6 speed"), ("map", "4/6 flash geometry"), ("marks", "5/6 speed classes")];
    for (n, (part, stage)) in (0..).zip(parts) {
        let mut visit = table.home.start(&["check", &table.card.path, "--budget", "60s"]);
        visit.wait_for(stage);
        let before = table.card.written_bytes();
        until("it overwrites", || {
            let over = visit.is_over();
            let wrote = table.card.written_bytes() > before;
            assert!(wrote || !over, "{part} ended without a write:\n{}{}", visit.noted(), visit.printed());
            wrote
        });
        let mut moments = (n..).map(|moment| Duration::from_millis(400).mul_f64(share(moment)));
        // The server is frozen while the card is read, because a running one may restore the content in between.
        until("the content differs", || {
            std::thread::sleep(moments.next().unwrap());
            visit.signal(Signal::STOP);
            std::thread::sleep(Duration::from_millis(20));
            let differs = !table.is_as_before();
            visit.signal(if differs { Signal::KILL } else { Signal::CONT });
            differs
        });
        visit.finish();
        let journal = table.journal().unwrap_or_else(|| panic!("{part} overwrites without a journal"));
        table.restore(&journal, &[]);
        assert!(table.is_as_before() && !journal.exists(), "{part}");
    }
}
