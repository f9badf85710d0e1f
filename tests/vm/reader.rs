//! A USB card reader with two slots: its devices stay while cards come and go, so that a name and a number say nothing of
//! which card lies there.

use super::card::Card;
use super::machine::{JOURNAL, Machine};
use crate::common::binary::Home;
use crate::common::list;

#[test]
fn a_card_changed_in_a_reader_is_noticed_and_the_new_one_is_left_alone() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    let [first, second] = machine.plug_in_reader();
    let [card, neighbour] = ["card", "neighbour"].map(|name| Card::with_data(&home, name, 32));
    let other = Card::filled_with(&home, "other", 32, 0x5a);
    let before = [&card, &neighbour, &other].map(Card::content);
    for disk in [&first, &second] {
        let info = machine.cardscope(&format!("info {disk} --details")).expect(0).one_line();
        assert!(info.contains("slot is empty") && !info.contains("Layout"), "{info}");
        let refused = machine.cardscope(&format!("verify {disk}"));
        assert_eq!(refused.status.code(), Some(2), "{refused}");
        assert!(refused.stderr.contains("0 sectors"), "{refused}");
    }

    machine.insert_into_reader(0, &card);
    machine.insert_into_reader(1, &neighbour);
    for disk in [&first, &second] {
        machine.look_at(disk);
    }
    let listed = machine.cardscope("list --json").expect(0).json();
    for disk in [&first, &second] {
        let found = list(&listed, "/devices").iter().find(|device| device["path"] == disk.as_str());
        assert_eq!(found.and_then(|device| device["bytes"].as_u64()), Some(32 << 20), "{disk}: {listed:#}");
    }
    machine.cardscope(&format!("verify {first}")).expect(0);

    // The card is changed in mid-write, and an automounter looks at the new one, which makes it the device's.
    let written = machine.written_to(&first[5..]);
    let job = machine.begin(&format!("exec /program/cardscope verify {first}"));
    machine.wait_until_written_to(&job, &first[5..], written + (4 << 20));
    machine.take_from_reader(0);
    machine.insert_into_reader(0, &other);
    machine.look_at(&first);
    let outcome = machine.finish(job);
    assert_eq!(outcome.status.code(), Some(3), "{outcome}");
    assert!(outcome.stderr.contains("cardscope restore"), "{outcome}");
    assert!(other.content() == before[2], "the new card was written to\n{outcome}");
    let refused = machine.cardscope(&format!("restore {JOURNAL} {first}"));
    assert_ne!(refused.status.code(), Some(0), "{refused}");
    assert!(other.content() == before[2], "the new card was written to\n{refused}");

    machine.take_from_reader(0);
    machine.insert_into_reader(0, &card);
    machine.look_at(&first);
    machine.cardscope(&format!("restore {JOURNAL} {first}")).expect(0);
    machine.run("sync").expect(0);
    for (card, before) in [&card, &neighbour, &other].into_iter().zip(&before) {
        assert!(card.content() == *before);
    }
}
