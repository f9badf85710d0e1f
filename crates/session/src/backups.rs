//! Backup images of cards: creation before a test writes, and restoration at its end.

use crate::card_key;
use crate::error::{Failure, Result};
use crate::open_target::OpenTarget;
use cardscope_device::filesystem;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_journal::backup::{BackupFacts, CardImage};
use cardscope_journal::restoring::RestoreResult;
use cardscope_model::report::IoTotals;
use cardscope_model::suspect_reader::SuspectReader;
use std::path::Path;

/// Saves an image of a card before the first write. `moved` counts the reads and the failed ones.
/// Fails as [`CardImage::create`], and if the reader is suspect, since an image read through it would be worthless.
pub fn take_backup(
    file: &Path,
    opened: &mut OpenTarget,
    moved: &mut IoTotals,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> Result<CardImage> {
    if let Some(reader) = opened.suspect_reader.take() {
        return Err(Failure::SuspectReader(Box::new(SuspectReader { ended_test: true, ..reader })));
    }
    let about = BackupFacts {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        target: opened.target.info().name.clone(),
        card_key: card_key::card_key(opened),
        card: opened.identity.as_ref().and_then(card_key::card_unit).map(|unit| unit.model),
        bytes: opened.target.info().bytes,
        taken: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    };
    let card = opened.stable_path();
    let on_card = |path: &Path| filesystem::is_on_disk_of(path, &card);
    Ok(CardImage::create(file, opened.target.as_mut(), (about, &on_card), moved, interrupt, events)?)
}

/// Restores an image to the card that it was read from. An interrupt does not stop it.
/// Fails if the card is missing or another one. The image stays, and the error names it.
pub(crate) fn restore_backup(
    backup: CardImage,
    opened: &mut OpenTarget,
    events: &mut dyn Listener,
) -> Result<RestoreResult> {
    let key_now = card_key::current_key(&opened.stable_path());
    Ok(backup.restore_to_own_card(opened.target.as_mut(), key_now.as_deref(), events)?)
}

/// Adds the location of the image to a failure that leaves it behind.
pub(crate) fn with_backup_location(failure: Failure, backup: Option<&CardImage>) -> Failure {
    let Some(backup) = backup else { return failure };
    let text = format!("{failure}; {}", backup.restore_hint());
    match failure {
        Failure::Refused(why) => Failure::refused_for(text, why),
        Failure::Io(why) => Failure::io_for(text, why),
        Failure::SuspectReader(_) | Failure::Interrupted | Failure::InterruptedUndone(_) => Failure::io(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::open_card;
    use cardscope_engine::delegate_target;
    use cardscope_engine::event::Silent;
    use cardscope_engine::target::{IoCompletion, IoRequest, Target, TargetError};
    use cardscope_model::condition::Condition;
    use cardscope_simulator::SimTarget;
    use cardscope_testkit::cards::entry_names;
    use std::ops::Range;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};

    #[test]
    fn backup_is_private_and_created_only_at_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let (card, secret) = (dir.path().join("card.img"), dir.path().join("secret"));
        std::fs::write(&card, vec![7; 2 << 20]).unwrap();
        std::fs::write(&secret, "root's own").unwrap();
        let interrupt = InterruptFlag::default();
        let take = |name: &str| {
            let mut opened = open_card(card.to_str().unwrap());
            super::take_backup(
                &dir.path().join(name),
                &mut opened,
                &mut IoTotals::default(),
                &interrupt,
                &mut Silent,
            )
            .map(drop)
        };
        symlink("nowhere", dir.path().join("dangling")).unwrap();
        symlink(&secret, dir.path().join("image.sums")).unwrap();
        symlink(".", dir.path().join("theirs")).unwrap();
        lchown(dir.path().join("theirs"), Some(65_534), None).expect("this test needs root");
        let before = entry_names(dir.path());
        for (name, word) in [
            ("dangling", "already exists"),
            ("image", "image.sums already exists"),
            ("theirs/new", "owned by user 65534"),
            ("none/new", "cannot be written"),
        ] {
            let refused = take(name).unwrap_err();
            assert!(matches!(&refused, Failure::Refused(why) if why.to_string().contains(word)), "{refused}");
        }
        assert_eq!(entry_names(dir.path()), before);
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "root's own");
        take("backup").unwrap();
        for name in ["backup", "backup.sums"] {
            let about = dir.path().join(name).metadata().unwrap();
            assert_eq!((about.permissions().mode() & 0o777, about.uid()), (0o600, 0), "{name}");
        }
    }

    const BYTES: usize = 8 << 20;

    fn card(dir: &std::path::Path, name: &str, factor: usize) -> String {
        let path = dir.join(name);
        let content: Vec<u8> = (0..BYTES).map(|i| ((i * factor) >> 7) as u8).collect();
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    #[test]
    fn backup_is_restored_to_its_own_card_only() {
        let dir = tempfile::tempdir().unwrap();
        let (own, other) = (card(dir.path(), "own", 3), card(dir.path(), "other", 5));
        let (before, foreign) = (std::fs::read(&own).unwrap(), std::fs::read(&other).unwrap());
        let interrupt = InterruptFlag::default();
        let take = |name: &str| {
            let file = dir.path().join(name);
            let (card, moved) = (&mut open_card(&own), &mut IoTotals::default());
            let mut backup = super::take_backup(&file, card, moved, &interrupt, &mut Silent).unwrap();
            backup.set_overwritten(0, 1 << 20);
            backup
        };
        let failure = restore_backup(take("first"), &mut open_card(&other), &mut Silent).unwrap_err();
        let text = failure.to_string();
        for word in ["not the saved card", "first", "cardscope restore"] {
            assert!(text.contains(word), "{text}");
        }
        assert!(std::fs::read(&other).unwrap() == foreign);

        let backup = take("second");
        let mut overwritten = before.clone();
        overwritten[..1 << 20].fill(9);
        std::fs::write(&own, overwritten).unwrap();
        let back = restore_backup(backup, &mut open_card(&own), &mut Silent).unwrap();
        assert!(back.lost.is_empty() && std::fs::read(&own).unwrap() == before);
    }

    /// Reader whose reads fail, or misread the first byte, during some of the times that it is opened.
    struct TemporaryFaultReader {
        card: SimTarget,
        failing: Range<u32>,
        misreading: Range<u32>,
        times_opened: u32,
        failed: Vec<IoCompletion>,
    }

    impl TemporaryFaultReader {
        fn opened(failing: Range<u32>, misreading: Range<u32>) -> OpenTarget {
            let card = SimTarget::open_named("sim:constant?announced_bytes=8MiB&state=filled").unwrap();
            let target =
                TemporaryFaultReader { card, failing, misreading, times_opened: 0, failed: Vec::new() };
            OpenTarget::writable(Box::new(target), None, Condition::default())
        }
    }

    impl Target for TemporaryFaultReader {
        delegate_target!([card] info, now, plan, flush, idle, compare, caveats, drop_caches, temperature, ping, health, discard, area);

        fn submit(&mut self, io: &IoRequest) -> Result<(), TargetError> {
            if !self.failing.contains(&self.times_opened) {
                return self.card.submit(io);
            }
            let (len, reason) = (u64::from(io.len), "Input/output error".to_owned());
            let error = TargetError::Io { operation: "read", offset: io.offset, len, reason, errno: 5 };
            let at = self.now();
            self.failed.push(IoCompletion { slot: io.slot, at, result: Err(error) });
            Ok(())
        }

        fn complete(&mut self, at_least: usize, done: &mut Vec<IoCompletion>) -> Result<(), TargetError> {
            let missing = at_least.saturating_sub(self.failed.len());
            done.append(&mut self.failed);
            if missing > 0 { self.card.complete(missing, done) } else { Ok(()) }
        }

        fn reopen(&mut self) -> Result<(), TargetError> {
            self.times_opened += 1;
            self.card.reopen()
        }

        fn buffer(&mut self, slot: u32) -> Result<&mut [u8], TargetError> {
            let bytes = self.card.buffer(slot)?;
            bytes[0] ^= u8::from(self.misreading.contains(&self.times_opened));
            Ok(bytes)
        }

        fn lane(&mut self) -> Result<Option<Box<dyn Target>>, TargetError> {
            Ok(None)
        }
    }

    #[test]
    fn backup_is_verified_despite_temporary_read_errors() {
        let dir = tempfile::tempdir().unwrap();
        // The card is opened anew before the second reading.
        let cases = [(1..2, 9..9), (1..2, 0..1), (1..9, 9..9), (9..9, 0..1)];
        for (number, (failing, misreading)) in cases.into_iter().enumerate() {
            let (always, misreads) = (failing == (1..9), misreading == (0..1));
            let mut opened = TemporaryFaultReader::opened(failing, misreading);
            let (file, mut moved) = (dir.path().join(number.to_string()), IoTotals::default());
            let taken =
                super::take_backup(&file, &mut opened, &mut moved, &InterruptFlag::default(), &mut Silent);
            match taken {
                Ok(_) => assert!(!misreads && !always, "{number}: what the second reading says is not asked"),
                Err(Failure::SuspectReader(_)) => assert!(misreads, "{number}"),
                Err(Failure::Refused(why)) => {
                    assert!(always && why.to_string().contains("cannot be read"), "{number}: {why}");
                }
                Err(other) => panic!("{number}: {other}"),
            }
            assert_eq!(file.exists(), !misreads && !always, "{number}");
            assert_eq!(moved.counts.failed() > 0, number < 3, "{number}: {:?}", moved.counts);
        }
    }

    #[test]
    fn single_misread_after_restore_is_doubtful_not_lost() {
        let dir = tempfile::tempdir().unwrap();
        // The card is opened anew to compare the image, to identify the card, after the restoration, and for the last check.
        for (misreading, doubtful, lost) in [(9..9, false, false), (3..4, true, false), (3..9, true, true)] {
            let file = dir.path().join(format!("{misreading:?}"));
            let mut opened = TemporaryFaultReader::opened(9..9, misreading.clone());
            let (interrupt, moved) = (InterruptFlag::default(), &mut IoTotals::default());
            let backup = super::take_backup(&file, &mut opened, moved, &interrupt, &mut Silent).unwrap();
            let back = restore_backup(backup, &mut opened, &mut Silent).unwrap();
            assert_eq!(back.bytes, 8 << 20, "{misreading:?}");
            assert_eq!(!back.doubtful.is_empty(), doubtful, "{misreading:?}: {:?}", back.doubtful);
            assert_eq!(!back.lost.is_empty(), lost, "{misreading:?}: {:?}", back.lost);
        }
    }
}
