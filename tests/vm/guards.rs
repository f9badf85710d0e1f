//! Disks in use are not written: partitions, device mapper, swap, and mounts, also those of another namespace.

use super::card::Card;
use super::machine::{Machine, Slot};
use crate::common::binary::Home;

/// Way to use a disk, its end, and the expected refusal. Mounts are read-only, or the file system would write.
struct Use {
    begin: &'static str,
    end: &'static str,
    says: &'static [&'static str],
}

const USES: &[Use] = &[
    Use {
        begin: "mkfs.ext4 -q -F $d && mount -o ro $d /mnt",
        end: "umount /mnt",
        says: &["mounted at /mnt", "umount"],
    },
    Use {
        begin: "echo '2048,' | sfdisk -q $d && mkfs.vfat $p >/dev/null && mount -o ro $p /mnt",
        end: "umount /mnt",
        says: &["mounted at /mnt"],
    },
    Use { begin: "mkswap $d >/dev/null && swapon $d", end: "swapoff $d", says: &["swap"] },
    Use {
        begin: "dmsetup create part --table \"0 32768 linear $d 8192\"",
        end: "dmsetup remove part",
        says: &["device-mapper volume part", "dmsetup remove part"],
    },
    Use {
        begin: "dmsetup create secret --table \"0 32768 crypt aes-xts-plain64 $(printf %064d 7) 0 $d 0\" && mkfs.ext4 -q /dev/mapper/secret && mount -o ro /dev/mapper/secret /mnt",
        end: "umount /mnt; dmsetup remove secret",
        says: &["mounted at /mnt", "umount"],
    },
    Use {
        begin: "mkfs.ext4 -q -F $d; mkdir -p /hidden; (unshare -m sh -c 'mount --make-rprivate / 2>/dev/null; mount -o ro $d /hidden && touch /tmp/in && exec sleep 1000' & echo $! >/tmp/holder); until [ -e /tmp/in ]; do sleep 0.05; done",
        end: "kill $(cat /tmp/holder); rm /tmp/in",
        says: &["in use"],
    },
];

const VERBS: &[&str] =
    &["verify", "bench --recipe quick", "map --erase", "sustain --erase", "format", "endure", "check"];

#[test]
fn disk_in_use_is_refused_despite_consent() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    let mut turn = 0;
    for slot in [Slot::Sd, Slot::Usb] {
        let card = Card::with_data(&home, &format!("{slot:?}"), 32);
        let disk = machine.insert(slot, &card);
        let part = if slot == Slot::Sd { format!("{disk}p1") } else { format!("{disk}1") };
        let names = format!("export d={disk} p={part}\n");
        for use_ in USES {
            machine.run(&format!("{names}{}", use_.begin)).expect(0);
            machine.run("sync; sleep 0.2").expect(0);
            let before = card.content();
            // All verbs open cards in one place, so after the first use each use tests only one verb.
            let verbs = if turn == 0 { VERBS } else { &VERBS[turn % VERBS.len()..][..1] };
            turn += 1;
            for verb in verbs {
                let refused = machine.cardscope(&format!("{verb} {disk} --yes-destroy {disk}"));
                assert_eq!(refused.status.code(), Some(2), "{} {refused}", use_.begin);
                for word in use_.says {
                    assert!(refused.stderr.contains(word), "{}: {word:?} in {refused}", use_.begin);
                }
            }
            machine.run("sync").expect(0);
            assert!(card.content() == before, "{} {disk} was written to", use_.begin);
            machine
                .run(&format!("{names}{}; until wipefs -qa $d 2>/dev/null; do sleep 0.1; done", use_.end))
                .expect(0);
        }
        // When it is free again, it can be tested.
        machine.cardscope(&format!("verify {disk} --max-write 2MB --budget 20s")).expect(4);
        machine.pull_out(slot);
    }
}
