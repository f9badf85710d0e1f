//! A virtual machine with an SD reader, an NVMe slot and USB ports, all empty when it starts; cards go in and out while it runs.
//!
//! It boots once, in some 12 s, and is saved; each test wakes a machine of its own from that state in one. Nothing is
//! installed, and what a machine writes is gone with it but for its cards.

use super::card::Card;
use super::qemu::{Busy, DISK_MIB, PATIENCE, Qemu, hear, state};
use crate::common::binary::{Home, Outcome};
use crate::common::until;
use serde_json::json;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where a card goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// The SD reader on the PCI bus (driver `sdhci-pci`); takes sizes that are a power of two.
    Sd,
    /// An NVMe disk.
    Nvme,
    /// A USB disk that speaks the older protocol (driver `usb-storage`).
    Usb,
    /// A USB disk that speaks UAS.
    Uas,
}

impl Slot {
    pub(super) const ALL: [Slot; 4] = [Slot::Sd, Slot::Nvme, Slot::Usb, Slot::Uas];

    fn name(self) -> &'static str {
        match self {
            Slot::Sd => "sd",
            Slot::Nvme => "nvme",
            Slot::Usb => "usb",
            Slot::Uas => "uas",
        }
    }

    /// MiB of a card that all of can be written to in some seconds: the emulated SD reader writes 3 MB/s.
    pub(super) fn small_mib(self) -> u64 {
        if self == Slot::Sd { 8 } else { 32 }
    }
}

/// Between two looks at the disks of a machine, each of which takes its only processor for 20 ms.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// How many machines run beside each other: each takes a processor for itself.
const AT_ONCE: usize = 2;
static TAKEN: Mutex<[bool; AT_ONCE]> = Mutex::new([false; AT_ONCE]);
static ENDED: Condvar = Condvar::new();

/// The right to run a machine, one of [`AT_ONCE`], given back when dropped.
struct Place(usize);

impl Place {
    fn take() -> Place {
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken =
            ENDED.wait_while(taken, |taken| !taken.contains(&false)).unwrap_or_else(PoisonError::into_inner);
        let free = taken.iter().position(|taken| !taken).expect("one is free");
        taken[free] = true;
        Place(free)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner)[self.0] = false;
        ENDED.notify_one();
    }
}

/// A machine that runs; its processes end when it is dropped.
pub(super) struct Machine {
    qemu: Qemu,
    commands: u32,
    /// Lines of the agent that are not complete yet, or belong to other commands.
    heard: String,
    /// Nodes of cards so far, so that each has a name of its own.
    nodes: u32,
    /// What is in a slot, by the name of its disk.
    inserted: Vec<(Slot, String)>,
    _place: Place,
}

/// The one journal that waits in a machine, for its shell.
pub(super) const JOURNAL: &str = "/root/.local/state/cardscope/journal-*";

/// A script under way in a machine.
pub(super) struct Job {
    number: u32,
    script: String,
    started: Instant,
}

impl Machine {
    /// Wakes a machine with nothing in its readers; its folder is `name` in the test's home.
    pub(super) fn start(home: &Home, name: &str) -> Machine {
        Machine::with(home, name, None)
    }

    /// The same, with a disk that outlives it: `/dev/vda`, [`DISK_MIB`] MiB.
    pub(super) fn with_disk(home: &Home, name: &str, disk: &Path) -> Machine {
        if !disk.exists() {
            std::fs::File::create(disk).unwrap().set_len(DISK_MIB << 20).unwrap();
        }
        Machine::with(home, name, Some(disk))
    }

    fn with(home: &Home, name: &str, disk: Option<&Path>) -> Machine {
        let place = Place::take();
        let mut qemu = Qemu::start(&home.path(name), Some(state()), disk, place.0);
        until("the machine to wake", || qemu.status() != "inmigrate");
        qemu.qmp.ask("cont", json!({}));
        let mut machine = Machine {
            qemu,
            commands: 0,
            heard: String::new(),
            nodes: 0,
            inserted: Vec::new(),
            _place: place,
        };
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        machine.run(&format!("/wake {now}")).expect(0);
        machine
    }

    /// Puts a card into a slot and waits for its device; gives the device's path.
    #[track_caller]
    pub(super) fn insert(&mut self, slot: Slot, card: &Card) -> String {
        self.insert_as(slot, card, false)
    }

    /// The same with the card's lock on.
    #[track_caller]
    pub(super) fn insert_locked(&mut self, slot: Slot, card: &Card) -> String {
        self.insert_as(slot, card, true)
    }

    #[track_caller]
    fn insert_as(&mut self, slot: Slot, card: &Card, locked: bool) -> String {
        let before = self.disks();
        self.nodes += 1;
        let node = format!("{}-{}", slot.name(), self.nodes);
        self.qemu.qmp.ask("blockdev-add", card.node(&node, locked));
        let device = slot.name();
        match slot {
            Slot::Sd => {
                drop(self.qemu.qmp.ask("blockdev-insert-medium", json!({ "id": "card", "node-name": node })))
            }
            Slot::Nvme => {
                self.plug(json!({ "driver": "nvme", "drive": node, "serial": "NV1", "id": device }))
            }
            Slot::Usb => self
                .plug(json!({ "driver": "usb-storage", "drive": node, "bus": "usb-ports.0", "id": device })),
            Slot::Uas => {
                self.plug(json!({ "driver": "usb-uas", "bus": "usb-ports.0", "id": device }));
                self.plug(json!({ "driver": "scsi-hd", "drive": node, "bus": "uas.0" }));
                self.attach(device, true);
            }
        }
        let started = Instant::now();
        loop {
            let new: Vec<String> = self.disks().into_iter().filter(|disk| !before.contains(disk)).collect();
            if let [disk] = new.as_slice() {
                self.inserted.push((slot, disk.clone()));
                return format!("/dev/{disk}");
            }
            assert!(
                started.elapsed() < PATIENCE,
                "no device for the card in {slot:?}: {new:?}\n{}",
                self.console()
            );
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Plugs in a USB card reader with two empty slots; gives their devices, which stay whatever lies in them. It speaks UAS,
    /// because QEMU's reader of the older protocol answers for its first slot alone.
    pub(super) fn plug_in_reader(&mut self) -> [String; 2] {
        self.plug(json!({ "driver": "usb-uas", "bus": "usb-ports.0", "id": "reader" }));
        for slot in 0..2 {
            self.plug(json!({
                "driver": "scsi-hd", "bus": "reader.0", "lun": slot, "removable": true,
                "drive": format!("slot-{slot}"), "id": format!("reader-{slot}"),
            }));
        }
        self.attach("reader", true);
        let mut disks = Vec::new();
        until("both slots of the reader", || {
            // The kernel names them in the order in which they answer; the slot is the last number of the place.
            let places = "for d in /sys/block/sd*; do echo $(readlink $d/device) ${d##*/}; done | sort";
            disks = self
                .run(places)
                .stdout
                .lines()
                .filter_map(|line| line.rsplit_once(' '))
                .map(|(_, disk)| format!("/dev/{disk}"))
                .collect();
            disks.len() == 2
        });
        [0, 1].map(|slot| std::mem::take(&mut disks[slot]))
    }

    /// Opens a slot of the reader until there is a card in it, as automounters do: it is then that the kernel looks.
    pub(super) fn look_at(&mut self, disk: &str) {
        let script = format!("head -c 1 {disk} >/dev/null && ! grep -qx 0 /sys/block/{}/size", &disk[5..]);
        until("the card in the reader", || self.run(&script).status.success());
    }

    /// Puts a card into a slot of the reader; nobody is told.
    pub(super) fn insert_into_reader(&mut self, slot: usize, card: &Card) {
        self.nodes += 1;
        let (node, id) = (format!("reader-{slot}-{}", self.nodes), format!("reader-{slot}"));
        self.qemu.qmp.ask("blockdev-add", card.node(&node, false));
        self.qemu.qmp.ask("blockdev-open-tray", json!({ "id": id, "force": true }));
        self.qemu.qmp.ask("blockdev-insert-medium", json!({ "id": id, "node-name": node }));
        self.qemu.qmp.ask("blockdev-close-tray", json!({ "id": id }));
    }

    /// Takes the card out of a slot of the reader, whatever is under way on it.
    pub(super) fn take_from_reader(&mut self, slot: usize) {
        let id = format!("reader-{slot}");
        self.qemu.qmp.ask("blockdev-open-tray", json!({ "id": id, "force": true }));
        self.qemu.qmp.ask("blockdev-remove-medium", json!({ "id": id }));
    }

    fn plug(&mut self, device: serde_json::Value) {
        self.qemu.qmp.ask("device_add", device);
    }

    /// Puts a device that has its disks onto the USB bus, or takes it off.
    fn attach(&mut self, device: &str, attached: bool) {
        self.qemu.qmp.ask("qom-set", json!({ "path": device, "property": "attached", "value": attached }));
    }

    /// Pulls a card out, whatever is under way on it, and waits until the kernel has noticed.
    #[track_caller]
    pub(super) fn pull_out(&mut self, slot: Slot) {
        let at = self.inserted.iter().position(|(other, _)| *other == slot).expect("something is in there");
        let (_, disk) = self.inserted.remove(at);
        match slot {
            Slot::Sd => drop(self.qemu.qmp.ask("blockdev-remove-medium", json!({ "id": "card" }))),
            other => {
                if other == Slot::Uas {
                    // Off the bus first: QEMU 7.2 aborts where I/Os are in flight on a UAS disk that it deletes.
                    self.attach(Slot::Uas.name(), false);
                }
                self.qemu.qmp.ask("device_del", json!({ "id": other.name() }));
                self.qemu.qmp.wait_until_gone(other.name());
            }
        }
        let started = Instant::now();
        while self.disks().contains(&disk) {
            assert!(
                started.elapsed() < PATIENCE,
                "{disk} was pulled out and is still there\n{}",
                self.console()
            );
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Waits until a script under way has written so many bytes to what is in a slot, as the kernel counts them.
    #[track_caller]
    pub(super) fn wait_until_written(&mut self, job: &Job, slot: Slot, bytes: u64) {
        let (_, disk) =
            self.inserted.iter().find(|(other, _)| *other == slot).expect("something is in there");
        let disk = disk.clone();
        self.wait_until_written_to(job, &disk, bytes);
    }

    /// Bytes that were written to a disk since it came, as the kernel counts them.
    pub(super) fn written_to(&mut self, disk: &str) -> u64 {
        let script = format!("exec awk '{{ print $7 * 512 }}' /sys/block/{disk}/stat");
        self.run(&script).expect(0).stdout.trim().parse().unwrap()
    }

    /// The same of a disk.
    #[track_caller]
    pub(super) fn wait_until_written_to(&mut self, job: &Job, disk: &str, bytes: u64) {
        loop {
            let ended = self.ended(job);
            if self.written_to(disk) >= bytes {
                return;
            }
            self.expect_to_go_on(job, ended, "wrote too little");
        }
    }

    /// The names of the disks that the machine has, without the system's own.
    fn disks(&mut self) -> Vec<String> {
        // A disk whose size is not read yet is there and answers nothing.
        let names =
            self.run("cd /sys/block && grep -lv '^0$' [sn][dv]*/size mmcblk*/size 2>/dev/null | cut -d/ -f1");
        names.stdout.lines().map(str::to_owned).collect()
    }

    /// Runs a script to its end.
    #[track_caller]
    pub(super) fn run(&mut self, script: &str) -> Outcome {
        let job = self.begin(script);
        self.finish(job)
    }

    /// Runs the program under test to its end.
    #[track_caller]
    pub(super) fn cardscope(&mut self, arguments: &str) -> Outcome {
        self.run(&format!("exec /program/cardscope {arguments}"))
    }

    /// Starts a script.
    pub(super) fn begin(&mut self, script: &str) -> Job {
        self.commands += 1;
        let number = self.commands;
        std::fs::write(self.share(number, "sh"), format!("{script}\n")).unwrap();
        self.qemu.agent.write_all(format!("{number}\n").as_bytes()).unwrap();
        Job { number, script: script.to_owned(), started: Instant::now() }
    }

    /// Waits until a script has said something on stderr.
    #[track_caller]
    pub(super) fn wait_for(&mut self, job: &Job, word: &str) {
        loop {
            let ended = self.ended(job);
            if self.said(job, "err").contains(word) {
                return;
            }
            self.expect_to_go_on(job, ended, &format!("never said {word:?}"));
        }
    }

    /// Waits for the end of a script.
    #[track_caller]
    pub(super) fn finish(&mut self, job: Job) -> Outcome {
        let status = loop {
            if let Some(status) = self.ended(&job) {
                break status;
            }
            self.expect_in_time(&job, "does not end");
        };
        let (stdout, stderr) = (self.said(&job, "out"), self.said(&job, "err"));
        let status = ExitStatus::from_raw(if status > 128 { status - 128 } else { status << 8 });
        Outcome { command: job.script, status, stdout, stderr, took: job.started.elapsed() }
    }

    /// A script that has not done something must not have ended before that was looked for, nor hang.
    #[track_caller]
    fn expect_to_go_on(&mut self, job: &Job, ended: Option<i32>, reproach: &str) {
        assert!(
            ended.is_none(),
            "{} ended with {ended:?} and {reproach}\n{}\n{}",
            job.script,
            self.said(job, "out"),
            self.said(job, "err")
        );
        self.expect_in_time(job, reproach);
    }

    /// A script must not hang; where it does, what it waits for is told.
    #[track_caller]
    fn expect_in_time(&mut self, job: &Job, reproach: &str) {
        if job.started.elapsed() > PATIENCE {
            let (out, err) = (self.said(job, "out"), self.said(job, "err"));
            let held_up = self.what_holds_it_up();
            panic!("{} {reproach}\n{out}\n{err}\n{held_up}\n{}", job.script, self.console());
        }
    }

    /// Where each process that waits in the machine does so, and what its disks have under way, as far as it still answers.
    fn what_holds_it_up(&mut self) -> String {
        let job = self.begin(
            "for p in /proc/[0-9]*/task/[0-9]*; do cat $p/comm; grep State $p/status; \
             cat $p/stack; done 2>/dev/null; grep . /sys/block/*/inflight /sys/block/*/stat; cat /proc/interrupts",
        );
        while job.started.elapsed() < PATIENCE / 8 && self.ended(&job).is_none() {}
        self.said(&job, "out")
    }

    /// The exit status of a script that has ended.
    fn ended(&mut self, job: &Job) -> Option<i32> {
        self.qemu.look_at_the_clock();
        hear(&mut self.qemu.agent, &mut self.heard);
        let mark = format!("{} ", job.number);
        let complete = self.heard.rfind('\n').map_or(0, |end| end + 1);
        let status = self.heard[..complete].lines().find_map(|line| line.strip_prefix(&mark))?;
        Some(status.trim().parse().unwrap())
    }

    fn share(&self, number: u32, kind: &str) -> PathBuf {
        self.qemu.folder.join(format!("share/{number}.{kind}"))
    }

    fn said(&self, job: &Job, kind: &str) -> String {
        std::fs::read(self.share(job.number, kind))
            .map_or(String::new(), |b| String::from_utf8_lossy(&b).into_owned())
    }

    /// What the kernel said on its console.
    pub(super) fn console(&self) -> String {
        std::fs::read_to_string(self.qemu.folder.join("console")).unwrap_or_default()
    }

    /// Gives QEMU's main loop the lowest priority, beside a program that needs its processor as well, until that is dropped.
    pub(super) fn hold_up_main_loop(&mut self) -> Busy {
        self.qemu.hold_up_main_loop()
    }

    /// Cuts the power: nothing that the machine still held back is written.
    pub(super) fn cut_power(self) {}
}
