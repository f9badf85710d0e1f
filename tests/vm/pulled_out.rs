//! A card is pulled out during a test, and the same or another one is inserted.

use super::card::Card;
use super::machine::{JOURNAL, Machine, Slot};
use crate::common::binary::Home;

#[test]
fn restore_recovers_a_pulled_card_and_spares_another() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    for slot in Slot::ALL {
        let mib = slot.small_mib();
        let card = Card::with_data(&home, &format!("{slot:?}"), mib);
        let other = Card::filled_with(&home, &format!("{slot:?}-other"), mib, 0x5a);
        let (before, other_before) = (card.content(), other.content());
        let disk = machine.insert(slot, &card);
        let job = machine.begin(&format!("exec /program/cardscope verify {disk}"));
        machine.wait_for(&job, "reading back");
        machine.pull_out(slot);
        let outcome = machine.finish(job);
        assert_eq!(outcome.status.code(), Some(3), "{slot:?}: {outcome}");
        assert!(outcome.stderr.contains("cardscope restore"), "{slot:?}: {outcome}");
        assert!(card.content() != before, "{slot:?}: it was pulled out too late to matter");

        let disk = machine.insert(slot, &other);
        let refused = machine.cardscope(&format!("restore {JOURNAL} {disk}"));
        assert_ne!(refused.status.code(), Some(0), "{slot:?}: {refused}");
        machine.pull_out(slot);
        assert!(other.content() == other_before, "{slot:?}: {refused}");

        let disk = machine.insert(slot, &card);
        machine.cardscope(&format!("restore {JOURNAL} {disk}")).expect(0);
        machine.pull_out(slot);
        assert!(card.content() == before, "{slot:?}");
        let waiting = machine.cardscope("restore --list").expect(0);
        assert!(!waiting.stdout.contains("journal-"), "{slot:?}: {waiting}");
    }
}

#[test]
#[ignore = "long: ./check --long"]
fn sleeping_guest_wakes_despite_a_starved_main_loop() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    let card = Card::with_data(&home, "card", Slot::Sd.small_mib());
    let _busy = machine.hold_up_main_loop();
    for _ in 0..3 {
        let disk = machine.insert(Slot::Sd, &card);
        let job = machine.begin(&format!("exec /program/cardscope verify {disk}"));
        machine.wait_for(&job, "reading back");
        assert_eq!(machine.finish(job).status.code(), Some(0));
        machine.pull_out(Slot::Sd);
    }
}

/// Verbs that write and preserve the data, with their output when they write.
const PRESERVING: [&str; 4] = [
    "verify {}",
    "map {} --max-write 16MB",
    "check {} --budget 3m",
    "verify {} --full --backup /tmp/saved --yes-destroy {}",
];
/// Verbs that lose data with consent.
const LOSING: [&str; 4] = [
    "bench {} --recipe quick --size 32MiB --yes-destroy {}",
    "sustain {} --erase --duration 60s --yes-destroy {}",
    "verify {} --full --yes-destroy {}",
    "map {} --erase --yes-destroy {}",
];

#[test]
#[ignore = "long: ./check --long"]
fn pulled_card_loses_no_preserved_data() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    for slot in [Slot::Nvme, Slot::Usb] {
        for (number, verb) in PRESERVING.iter().chain(&LOSING).enumerate() {
            let preserves = number < PRESERVING.len();
            let card = Card::with_data(&home, &format!("{slot:?}{number}"), slot.small_mib());
            let before = card.content();
            let disk = machine.insert(slot, &card);
            let job = machine.begin(&format!("exec /program/cardscope {}", verb.replace("{}", &disk)));
            machine.wait_until_written(&job, slot, 2 << 20);
            machine.pull_out(slot);
            let outcome = machine.finish(job);
            assert_eq!(outcome.status.code(), Some(3), "{slot:?}: {outcome}");
            let last = outcome.stderr.lines().rfind(|line| line.starts_with("cardscope:"));
            assert!(last.is_some(), "{slot:?}: {outcome}");

            let disk = machine.insert(slot, &card);
            let restored = machine.run(&format!(
                "for j in {JOURNAL}; do [ ! -e $j ] || /program/cardscope restore $j {disk} || exit; done; \
                 [ ! -e /tmp/saved ] || /program/cardscope restore /tmp/saved {disk} --yes-destroy {disk} || exit; \
                 rm -f /tmp/saved*"
            ));
            assert_eq!(restored.status.code(), Some(0), "{slot:?}: {outcome}\n{restored}");
            machine.pull_out(slot);
            assert!(!preserves || card.content() == before, "{slot:?}: {outcome}\n{restored}");
            let waiting = machine.cardscope("restore --list").expect(0);
            assert!(!waiting.stdout.contains("journal-"), "{slot:?}: {waiting}");
        }
    }
}

#[test]
#[ignore = "long: ./check --long"]
fn endure_waits_for_its_card() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    for slot in [Slot::Nvme, Slot::Usb] {
        let card = Card::with_data(&home, &format!("{slot:?}"), slot.small_mib());
        let disk = machine.insert(slot, &card);
        let job =
            machine.begin(&format!("exec /program/cardscope endure {disk} --rounds 2 --yes-destroy {disk}"));
        machine.wait_until_written(&job, slot, 2 << 20);
        machine.pull_out(slot);
        machine.wait_for(&job, "for it to come back");
        machine.insert(slot, &card);
        let outcome = machine.finish(job);
        assert_eq!(outcome.status.code(), Some(0), "{slot:?}: {outcome}");
        machine.pull_out(slot);
    }
}
