//! An unprivileged user has a card opened by the real UDisks2 and polkit: refused, allowed by a rule, allowed by a
//! password in the dialog, and without them in the group `disk`. In a Debian (`guest/debian`), on a loop device and
//! the emulated SD card.

use super::card::Card;
use super::machine::{Machine, Slot};
use super::qemu::made;
use crate::common::binary::{Home, Outcome};
use crate::common::machine::run_tool;

/// Prefix of commands in the Debian with the services and the user.
const WITHIN: &str = "chroot /debian /usr/bin/env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 SYSTEMD_IGNORE_CHROOT=1";
const ANNA: &str =
    "setpriv --reuid=anna --regid=anna --init-groups env --chdir=/home/anna HOME=/home/anna USER=anna";

/// Rule for the loop device, which is not removable.
const FOR_LOOPS: &str = r#"polkit.addRule(function(action, subject) {
    if (action.id.indexOf("org.freedesktop.udisks2.open-device") == 0 && subject.user == "anna" &&
        action.lookup("device").indexOf("/dev/loop") == 0) return polkit.Result.YES;
});"#;

/// Documented rule for the card.
fn rule() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/installing.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rule) = page.split_once("```js\n").expect("the documentation has a rule");
    rule.split_once("```").unwrap().0.to_owned()
}

/// Machine that runs a Debian with UDisks2, a loop device and an SD card.
struct Debian {
    machine: Machine,
    card: Card,
    /// Loop device and card, with their original content.
    devices: Vec<String>,
}

impl Debian {
    fn start(home: &Home) -> Debian {
        let made = made();
        run_tool(
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vm/guest/debian"),
            &[made.to_str().unwrap()],
        );
        let disk = home.path("debian.ext4");
        run_tool(
            "cp",
            &["--sparse=always", made.join("debian.ext4").to_str().unwrap(), disk.to_str().unwrap()],
        );
        let mut machine = Machine::with_disk(home, "vm", &disk);
        machine
            .run(
                "mkdir /debian && mount -t ext4 /dev/vda /debian
                for folder in dev proc sys; do mount --rbind /$folder /debian/$folder; done
                for folder in run tmp; do mount -t tmpfs -o mode=1777 $folder /debian/$folder; done
                mount --rbind /program /debian/program
                rm -f /debian/etc/mtab && ln -s /proc/self/mounts /debian/etc/mtab",
            )
            .expect(0);
        machine.run(&format!("{WITHIN} services")).expect(0);
        let card = Card::with_data(home, "card", Slot::Sd.small_mib());
        let sd = machine.insert(Slot::Sd, &card);
        let made = machine.run(&format!(
            "dd if=/dev/urandom of=/tmp/loop bs=1M count=32 2>/dev/null
            losetup /dev/loop0 /tmp/loop && {WITHIN} udevadm settle
            for device in loop0 {}; do cp /dev/$device /tmp/before-$device; done
            ls -l /dev/loop0 {sd}",
            &sd[5..]
        ));
        made.expect(0);
        Debian { machine, card, devices: vec!["/dev/loop0".to_owned(), sd] }
    }

    /// Runs the program as user anna.
    #[track_caller]
    fn anna(&mut self, arguments: &str) -> Outcome {
        self.machine.run(&format!("{WITHIN} {ANNA} /program/cardscope {arguments}"))
    }

    /// Asserts that the devices have their original content.
    #[track_caller]
    fn unchanged(&mut self) {
        for device in self.devices.clone() {
            let name = &device[5..];
            self.machine
                .run(&format!("blockdev --flushbufs {device}; cmp {device} /tmp/before-{name}"))
                .expect(0);
        }
    }

    /// Everything that anna may do with a card: benchmark with backup, test, overwrite, restore an image.
    #[track_caller]
    fn does_everything(&mut self, way: &str) {
        for device in self.devices.clone() {
            let consent = format!("--yes-destroy {device}");
            let run = |debian: &mut Debian, arguments: &str| {
                let outcome = debian.anna(arguments);
                println!("{way}: {outcome}");
                outcome.expect(0)
            };
            run(
                self,
                &format!(
                    "bench {device} --recipe quick --only 'SEQ1M Q1T1 write' --size 4MiB --backup saved {consent}"
                ),
            );
            self.unchanged();
            run(self, &format!("check {device} --budget 30s"));
            self.unchanged();
            run(self, &format!("verify {device} --full {consent}"));
            self.machine.run(&format!("! cmp -s {device} /tmp/before-{}", &device[5..])).expect(0);
            run(self, &format!("restore saved {device} {consent}"));
            self.unchanged();
            self.machine.run("rm /debian/home/anna/saved*").expect(0);
        }
    }
}

#[test]
#[ignore = "long: ./check --long"]
fn udisks2_opens_cards_for_unprivileged_users() {
    let home = Home::new();
    let mut debian = Debian::start(&home);
    let devices = debian.devices.clone();

    // Without rule and dialog everything is refused, and nothing is written.
    for device in &devices {
        for verb in ["verify", "bench --recipe quick", "map --read-only"] {
            let refused = debian.anna(&format!("{verb} {device} --yes-destroy {device}"));
            assert_eq!(refused.status.code(), Some(2), "{refused}");
            assert!(refused.stderr.contains("no permission to open"), "{refused}");
            assert!(refused.stderr.contains("can show its dialog"), "{refused}");
        }
    }
    debian.unchanged();
    let doctor = debian.anna("doctor --json");
    assert!(doctor.stdout.contains("UDisks2"), "{doctor}");

    // By a rule.
    let rules = format!("{}{FOR_LOOPS}", rule());
    debian
        .machine
        .run(&format!(
            "{WITHIN} groupadd --system cardscope && {WITHIN} usermod -aG cardscope anna
            cat >/debian/etc/polkit-1/rules.d/50-cards.rules <<'RULE'\n{rules}\nRULE"
        ))
        .expect(0);
    debian.does_everything("rule");
    // Devices in use are refused as always, and locked during a test.
    debian
        .machine
        .run("dd if=/dev/zero of=/tmp/other bs=1M count=16 2>/dev/null; losetup /dev/loop1 /tmp/other; mkfs.ext4 -q /dev/loop1 && mount /dev/loop1 /mnt")
        .expect(0);
    let refused = debian.anna("verify /dev/loop1");
    assert!(refused.status.code() == Some(2) && refused.stderr.contains("is mounted at /mnt"), "{refused}");
    debian.machine.run("umount /mnt").expect(0);
    let job = debian.machine.begin(&format!(
        "exec {WITHIN} {ANNA} /program/cardscope sustain /dev/loop0 --erase --duration 30s --yes-destroy /dev/loop0"
    ));
    debian.machine.wait_for(&job, "through UDisks2");
    // Only an exclusive open of the device prevents this; nothing is wiped.
    let claimed = debian.machine.run(
        "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.5; wipefs -an /dev/loop0 2>&1 | grep -qi busy && exit 0; done; exit 1",
    );
    claimed.expect(0);
    debian.machine.finish(job).expect(0);
    debian
        .machine
        .run("cp /tmp/before-loop0 /dev/loop0; rm /debian/etc/polkit-1/rules.d/50-cards.rules")
        .expect(0);

    // By the dialog: polkit's agent asks for root's password on the terminal. Wrong, interrupted, and right.
    let command = "/program/cardscope verify /dev/loop0 --budget 60s";
    for (keys, status, says) in
        [("wrong\\n", 2, "the password was wrong"), ("\\003", 130, "nterrupted"), ("secret\\n", 0, "PASSED")]
    {
        let typed = debian.machine.run(&at_terminal(keys, command));
        println!("dialog: {typed}");
        assert!(typed.stdout.contains("Password:") && typed.stdout.contains(says), "{typed}");
        assert!(typed.stdout.contains(&format!("status {status}.")), "{typed}");
        let left = debian.machine.run("pidof pkttyagent");
        assert!(left.stdout.trim().is_empty(), "the agent stayed: {left}");
        debian.unchanged();
    }

    // By the group `disk`, without UDisks2.
    debian.machine.run(&format!("{WITHIN} usermod -aG disk anna; killall udisksd polkitd")).expect(0);
    debian.does_everything("group");
    debian.machine.pull_out(Slot::Sd);
    assert!(!debian.card.content().is_empty());
}

/// Runs a command as anna on a terminal, types these keys (printf(1) notation) when a password is requested, and shows
/// what the terminal shows.
fn at_terminal(keys: &str, command: &str) -> String {
    format!(
        "cat >/debian/tmp/dialog <<'SCRIPT'
rm -f /tmp/keys /tmp/shown; mkfifo /tmp/keys; : >/tmp/shown
(
    until grep -aq Password: /tmp/shown; do sleep 0.2; done
    sleep 0.3
    printf '{keys}'
    exec sleep 600
) >/tmp/keys &
typist=$!
script -qefc '{ANNA} {command}' /tmp/shown </tmp/keys >/dev/null
status=$?
kill $typist
cat /tmp/shown
echo status $status.
SCRIPT
exec {WITHIN} setsid -w bash /tmp/dialog"
    )
}
