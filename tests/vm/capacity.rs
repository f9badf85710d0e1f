//! Genuine and fake cards behind real drivers: verdict and preserved data.

use super::card::Card;
use super::machine::{Machine, Slot};
use crate::common::binary::{Home, Outcome};
use crate::common::{number, text};

/// Fakes that announce 32 MiB, because the SD reader needs a power of two.
const LIMBO: &str = "constant?announced_bytes=32MiB&fake.kind=limbo&fake.real_bytes=8MiB";
const WRAPS: &str =
    "constant?announced_bytes=32MiB&fake.kind=wraparound&fake.real_bytes=8MiB&fake.wrap_bytes=8MiB";

#[track_caller]
fn verdict(outcome: &Outcome) -> String {
    text(&outcome.json(), "/verdict").to_owned()
}

#[test]
fn genuine_card_is_unchanged_in_each_slot() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    for slot in Slot::ALL {
        let card = Card::with_data(&home, &format!("{slot:?}"), Slot::Sd.small_mib());
        let before = card.content();
        let disk = machine.insert(slot, &card);
        let outcome = machine.cardscope(&format!("verify {disk} --json"));
        machine.pull_out(slot);
        assert!(card.content() == before, "{slot:?}: {outcome}");
        let document = outcome.expect(0).json();
        assert_eq!(text(&document, "/verdict"), "genuine", "{slot:?}: {document:#}");
        assert_eq!(document["data_kept"], true, "{slot:?}: {document:#}");
        assert!(number(&document, "/bytes_written") > 1e6, "{slot:?}: {document:#}");
    }
}

#[test]
fn fakes_are_detected_through_real_drivers() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    for (slot, fake, kind) in [(Slot::Sd, LIMBO, "limbo"), (Slot::Nvme, WRAPS, "wraparound")] {
        let card = Card::simulated(&home, fake);
        let disk = machine.insert(slot, &card);
        let outcome = machine.cardscope(&format!("verify {disk} --json")).expect(1);
        assert_eq!(verdict(&outcome), kind, "{slot:?}: {outcome}");
        let real = number(&outcome.json(), "/usable_bytes");
        assert!((real - (8 << 20) as f64).abs() < 1e6, "{slot:?}: {outcome}");
    }
}

#[test]
fn the_card_s_lock_is_respected() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    let card = Card::with_data(&home, "card", 32);
    let before = card.content();
    // QEMU accepts no write-protected medium in its SD reader.
    let disk = machine.insert_locked(Slot::Usb, &card);
    for verb in ["verify", "sustain --erase", "format"] {
        let refused = machine.cardscope(&format!("{verb} {disk} --yes-destroy {disk}"));
        assert_eq!(refused.status.code(), Some(2), "{refused}");
        assert!(refused.stderr.contains("is read-only"), "{refused}");
    }
    machine.cardscope(&format!("map {disk} --read-only --budget 3s")).expect(0);
    machine.pull_out(Slot::Usb);
    assert!(card.content() == before);
}
