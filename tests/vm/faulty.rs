//! Cards that stall and fail, by the kernel's device mapper.

use super::card::Card;
use super::machine::{JOURNAL, Machine, Slot};
use crate::common::binary::Home;
use crate::common::{number, text};

#[test]
#[ignore = "long: ./check --long"]
fn temporary_failures_prevent_genuine_and_lose_no_data() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    let card = Card::with_data(&home, "card", 64);
    let before = card.content();
    let disk = machine.insert(Slot::Uas, &card);
    let sectors = (64 << 20) / 512;
    // They work and fail for some seconds in turn. Only the last one also affects restoring.
    for (name, table, spoils) in [
        ("errors", format!("0 {sectors} flakey {disk} 0 2 3"), false),
        ("lost", format!("0 {sectors} flakey {disk} 0 2 3 1 drop_writes"), false),
        ("wrong", format!("0 {sectors} flakey {disk} 0 2 3 5 corrupt_bio_byte 32 w 1 0"), true),
    ] {
        machine.run(&format!("dmsetup create flaky --table '{table}'")).expect(0);
        let outcome = machine.cardscope("verify /dev/mapper/flaky --json");
        assert_ne!(outcome.status.code(), Some(0), "{name}: {outcome}");
        let verdict = outcome.json()["verdict"].as_str().map(str::to_owned);
        assert_ne!(verdict.as_deref(), Some("genuine"), "{name}: {outcome}");
        machine.run("dmsetup remove flaky").expect(0);
        let script = format!(
            "for j in {JOURNAL}; do [ ! -e $j ] || /program/cardscope restore $j {disk} || exit; done"
        );
        let restored = machine.run(&script);
        machine.run(&format!("sync {disk}; blockdev --flushbufs {disk}")).expect(0);
        let whole = card.content() == before;
        assert_eq!(restored.status.code(), Some(i32::from(!whole)), "{name}: {outcome}\n{restored}");
        assert!(whole || spoils && restored.stdout.contains("NOT RESTORED"), "{name}: {outcome}\n{restored}");
    }
}

#[test]
#[ignore = "long: ./check --long"]
fn delayed_card_is_measured_as_slow() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    let card = Card::with_data(&home, "card", 64);
    let disk = machine.insert(Slot::Uas, &card);
    let sectors = (64 << 20) / 512;
    machine
        .run(&format!("dmsetup create slow --table '0 {sectors} delay {disk} 0 40 {disk} 0 80'"))
        .expect(0);
    let recipe = "name = \"own\"\ntitle = \"a test's own\"\nversion = 1\nsource = \"made up\"\n[area]\nsize = \"16MiB\"\n[defaults]\npasses = 1\nseconds = 3\n[[test]]\ntest = \"RND4K Q1T1 read\"\n[[test]]\ntest = \"RND4K Q1T1 write\"\n";
    machine.run(&format!("cat >/tmp/own.toml <<'end'\n{recipe}end")).expect(0);
    let slow = "/dev/mapper/slow";
    let outcome = machine
        .cardscope(&format!("bench {slow} --recipe /tmp/own.toml --json --yes-destroy {slow}"))
        .expect(0);
    let document = outcome.json();
    for (at, least_ms) in [(0, 40.0), (1, 80.0)] {
        let latency = number(&document, &format!("/runs/0/results/{at}/latency_us/p50")) / 1000.0;
        assert!((least_ms..3.0 * least_ms).contains(&latency), "{}: {outcome}", text(&document, "/target"));
    }
}
