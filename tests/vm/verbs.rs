//! Each verb on each kind of card, with common file systems.

use super::card::Card;
use super::machine::{Machine, Slot};
use crate::common::binary::Home;
use crate::common::{list, number, results, text};

#[test]
#[ignore = "long: ./check --long"]
fn verbs_work_on_each_kind_of_card() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    for slot in Slot::ALL {
        let card = Card::with_data(&home, &format!("{slot:?}"), 32);
        let before = card.content();
        let disk = machine.insert(slot, &card);
        let consent = format!("--yes-destroy {disk}");

        // Verbs that preserve the data.
        for verb in [
            "map {} --budget 60s",
            "sustain {} --duration 10s",
            "check {} --budget 1m",
            "verify {} --full --backup /tmp/saved --yes-destroy {}",
        ] {
            let outcome = machine.cardscope(&format!("{} --json", verb.replace("{}", &disk))).expect(0);
            assert_ne!(outcome.json()["data_kept"], false, "{slot:?}: {outcome}");
            machine.run(&format!("sync {disk}; blockdev --flushbufs {disk}; rm -f /tmp/saved*")).expect(0);
            assert!(card.content() == before, "{slot:?}: {outcome}");
        }
        // Verbs that lose it.
        let quick = format!("bench {disk} --recipe quick --size 8MiB --json {consent}");
        let measured = machine.cardscope(&quick).expect(0).json();
        let results = results(&measured);
        assert!(results.iter().all(|r| number(r, "/mb_s") > 0.0) && !results.is_empty(), "{measured:#}");
        let full = machine.cardscope(&format!("verify {disk} --full --json {consent}")).expect(0).json();
        assert_eq!(text(&full, "/verdict"), "genuine", "{slot:?}: {full:#}");
        machine.cardscope(&format!("sustain {disk} --erase --duration 15s {consent}")).expect(0);
        machine.cardscope(&format!("format {disk} {consent}")).expect(0);
        machine
            .run(&format!(
                "mount {disk}?* /mnt 2>/dev/null || mount {disk}p1 /mnt; echo hello >/mnt/file && umount /mnt"
            ))
            .expect(0);
        machine.pull_out(slot);
    }
    // The computer itself.
    machine.cardscope("doctor").expect(0);
    let waiting = machine.cardscope("restore --list").expect(0);
    assert!(!waiting.stdout.contains("journal-"), "{waiting}");
}

#[test]
#[ignore = "long: ./check --long"]
fn verify_files_works_on_each_file_system() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    // F2FS leaves 42 of 105 MB free, which is too little for a verdict.
    for (slot, make, mib) in [
        (Slot::Sd, "mkfs.vfat", 32),
        (Slot::Usb, "mkfs.vfat -F 32", 100),
        (Slot::Uas, "mkfs.exfat", 100),
        (Slot::Nvme, "mkfs.f2fs -q", 384),
        (Slot::Usb, "mkfs.ext4 -q", 100),
    ] {
        let card = Card::filled_with(&home, &format!("{slot:?}{}", make.len()), mib, 0);
        let disk = machine.insert(slot, &card);
        machine
            .run(&format!("{make} {disk} >/tmp/mkfs && mount {disk} /mnt && echo mine >/mnt/mine && sync"))
            .expect(0);
        let outcome = machine.cardscope("verify /mnt --files --json").expect(0);
        assert_eq!(text(&outcome.json(), "/verdict"), "genuine", "{make}: {outcome}");
        let left = machine.run("ls /mnt | grep -v lost+found; cat /mnt/mine").expect(0).stdout;
        assert_eq!(left, "mine\nmine\n", "{make}: {outcome}");
        let observed = machine.begin(&format!("exec /program/cardscope observe {disk} --for 4s --json"));
        machine.wait_for(&observed, "watching");
        machine
            .run("dd if=/dev/zero of=/mnt/zeros bs=1M count=4 conv=fsync 2>/dev/null; rm /mnt/zeros")
            .expect(0);
        let observed = machine.finish(observed).expect(0);
        // The file system writes more than its files.
        let written: f64 = list(&observed.json(), "/samples").iter().map(|s| number(s, "/write_bytes")).sum();
        assert!(written >= 4e6, "{make}: {observed}");
        machine.run("umount /mnt").expect(0);
        machine.pull_out(slot);
    }
}
