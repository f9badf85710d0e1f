//! Power cuts during a test: after the next boot `restore` recovers the card.

use super::card::Card;
use super::machine::{JOURNAL, Machine, Slot};
use crate::common::binary::Home;

const HOME: &str = "mount /dev/vda /root && cd /root &&";

#[test]
fn restore_recovers_a_card_after_a_power_cut() {
    survive(&[(Slot::Usb, "restoring")]);
}

#[test]
#[ignore = "long: ./check --long"]
fn restore_recovers_a_card_after_power_cuts_at_any_time() {
    let moments = ["writing test data", "reading back", "restoring"];
    let all = Slot::ALL.iter().flat_map(|slot| moments.map(|moment| (*slot, moment)));
    survive(&all.collect::<Vec<_>>());
}

fn survive(moments: &[(Slot, &str)]) {
    let home = Home::new();
    for (slot, moment) in moments {
        let (slot, name) = (*slot, format!("{slot:?}-{}", moment.replace(' ', "-")));
        let card = Card::with_data(&home, &name, slot.small_mib());
        let before = card.content();
        let disk_of_the_system = home.path(&format!("{name}-system"));
        let mut machine = Machine::with_disk(&home, &format!("{name}-vm"), &disk_of_the_system);
        machine.run(&format!("mkfs.ext4 -q /dev/vda && {HOME} true")).expect(0);
        let disk = machine.insert(slot, &card);
        let job = machine.begin(&format!("exec /program/cardscope verify {disk}"));
        machine.wait_for(&job, moment);
        machine.wait_until_written(&job, slot, 4 << 20);
        machine.cut_power();
        assert!(card.content() != before, "{name}: the power went too early or too late to matter");

        let mut machine = Machine::with_disk(&home, &format!("{name}-vm-again"), &disk_of_the_system);
        machine.run(&format!("{HOME} true")).expect(0);
        let disk = machine.insert(slot, &card);
        machine.cardscope(&format!("restore {JOURNAL} {disk}")).expect(0);
        machine.pull_out(slot);
        assert!(card.content() == before, "{name}");
    }
}
