//! Virtual machine with an SD reader, an NVMe slot and USB ports, all empty at first; cards are inserted and removed
//! while it runs.
//!
//! It boots once in about 12 s and is saved; each test resumes its own machine from that state in one second. Nothing
//! is installed, and nothing but the cards survives a machine.

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

/// Slot for a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// SD reader on the PCI bus (driver `sdhci-pci`). Needs sizes that are a power of two.
    Sd,
    /// NVMe disk.
    Nvme,
    /// USB disk with bulk-only transport (driver `usb-storage`).
    Usb,
    /// USB disk with UAS.
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

    /// Size in MiB that can be written completely in some seconds: the emulated SD reader writes 3 MB/s.
    pub(super) fn small_mib(self) -> u64 {
        if self == Slot::Sd { 8 } else { 32 }
    }
}

/// Interval between checks of a machine's disks, each of which takes its only processor for 20 ms.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Machines that run concurrently, each on its own processor.
const AT_ONCE: usize = 2;
static TAKEN: Mutex<[bool; AT_ONCE]> = Mutex::new([false; AT_ONCE]);
static ENDED: Condvar = Condvar::new();

/// Permission to run one of [`AT_ONCE`] machines, until dropped.
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

/// Running machine, ended when dropped.
pub(super) struct Machine {
    qemu: Qemu,
    commands: u32,
    /// Incomplete lines of the agent, or lines of other commands.
    heard: String,
    /// Number of block nodes so far, for unique names.
    nodes: u32,
    /// Disks in the slots.
    inserted: Vec<(Slot, String)>,
    _place: Place,
}

/// Pattern of the only journal in a machine.
pub(super) const JOURNAL: &str = "/root/.local/state/cardscope/journal-*";

/// Running script in a machine.
pub(super) struct Job {
    number: u32,
    script: String,
    started: Instant,
}

impl Machine {
    /// Resumes a machine with empty readers; its folder is `name` in the test's home.
    pub(super) fn start(home: &Home, name: &str) -> Machine {
        Machine::with(home, name, None)
    }

    /// Same, with a persistent disk: `/dev/vda`, [`DISK_MIB`] MiB.
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

    /// Inserts a card, waits for its device, and returns the path.
    #[track_caller]
    pub(super) fn insert(&mut self, slot: Slot, card: &Card) -> String {
        self.insert_as(slot, card, false)
    }

    /// Same, write-protected.
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

    /// Plugs in a USB card reader with two empty slots and returns their devices, which stay. It uses UAS, because
    /// QEMU's bulk-only reader answers only for its first slot.
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
            // The kernel names them in the order of their answers; the last number of the path is the slot.
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

    /// Opens a slot of the reader until it has a card, as automounters do, because the kernel checks only then.
    pub(super) fn look_at(&mut self, disk: &str) {
        let script = format!("head -c 1 {disk} >/dev/null && ! grep -qx 0 /sys/block/{}/size", &disk[5..]);
        until("the card in the reader", || self.run(&script).status.success());
    }

    /// Inserts a card into the reader without any notification.
    pub(super) fn insert_into_reader(&mut self, slot: usize, card: &Card) {
        self.nodes += 1;
        let (node, id) = (format!("reader-{slot}-{}", self.nodes), format!("reader-{slot}"));
        self.qemu.qmp.ask("blockdev-add", card.node(&node, false));
        self.qemu.qmp.ask("blockdev-open-tray", json!({ "id": id, "force": true }));
        self.qemu.qmp.ask("blockdev-insert-medium", json!({ "id": id, "node-name": node }));
        self.qemu.qmp.ask("blockdev-close-tray", json!({ "id": id }));
    }

    /// Removes the card from a slot of the reader, even with I/O in flight.
    pub(super) fn take_from_reader(&mut self, slot: usize) {
        let id = format!("reader-{slot}");
        self.qemu.qmp.ask("blockdev-open-tray", json!({ "id": id, "force": true }));
        self.qemu.qmp.ask("blockdev-remove-medium", json!({ "id": id }));
    }

    fn plug(&mut self, device: serde_json::Value) {
        self.qemu.qmp.ask("device_add", device);
    }

    /// Attaches a device with its disks to the USB bus, or detaches it.
    fn attach(&mut self, device: &str, attached: bool) {
        self.qemu.qmp.ask("qom-set", json!({ "path": device, "property": "attached", "value": attached }));
    }

    /// Removes a card, even with I/O in flight, and waits until the kernel has noticed.
    #[track_caller]
    pub(super) fn pull_out(&mut self, slot: Slot) {
        let at = self.inserted.iter().position(|(other, _)| *other == slot).expect("something is in there");
        let (_, disk) = self.inserted.remove(at);
        match slot {
            Slot::Sd => drop(self.qemu.qmp.ask("blockdev-remove-medium", json!({ "id": "card" }))),
            other => {
                if other == Slot::Uas {
                    // Detached first: QEMU 7.2 aborts if it deletes a UAS disk with I/O in flight.
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

    /// Waits until a running script has written so many bytes to a slot, by the kernel's count.
    #[track_caller]
    pub(super) fn wait_until_written(&mut self, job: &Job, slot: Slot, bytes: u64) {
        let (_, disk) =
            self.inserted.iter().find(|(other, _)| *other == slot).expect("something is in there");
        let disk = disk.clone();
        self.wait_until_written_to(job, &disk, bytes);
    }

    /// Bytes written to a disk since its insertion, by the kernel's count.
    pub(super) fn written_to(&mut self, disk: &str) -> u64 {
        let script = format!("exec awk '{{ print $7 * 512 }}' /sys/block/{disk}/stat");
        self.run(&script).expect(0).stdout.trim().parse().unwrap()
    }

    /// Same, for a disk.
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

    /// Disks of the machine, without the system's own.
    fn disks(&mut self) -> Vec<String> {
        // A disk exists before its size is known, and then answers nothing.
        let names =
            self.run("cd /sys/block && grep -lv '^0$' [sn][dv]*/size mmcblk*/size 2>/dev/null | cut -d/ -f1");
        names.stdout.lines().map(str::to_owned).collect()
    }

    /// Runs a script and waits for its end.
    #[track_caller]
    pub(super) fn run(&mut self, script: &str) -> Outcome {
        let job = self.begin(script);
        self.finish(job)
    }

    /// Runs the program under test and waits for its end.
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

    /// Waits until a script has printed something on stderr.
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

    /// Asserts that a script has not ended too early and does not hang.
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

    /// Asserts that a script does not hang; otherwise prints what it waits for.
    #[track_caller]
    fn expect_in_time(&mut self, job: &Job, reproach: &str) {
        if job.started.elapsed() > PATIENCE {
            let (out, err) = (self.said(job, "out"), self.said(job, "err"));
            let held_up = self.what_holds_it_up();
            panic!("{} {reproach}\n{out}\n{err}\n{held_up}\n{}", job.script, self.console());
        }
    }

    /// Wait channels of processes and I/O in flight, if the machine still answers.
    fn what_holds_it_up(&mut self) -> String {
        let job = self.begin(
            "for p in /proc/[0-9]*/task/[0-9]*; do cat $p/comm; grep State $p/status; \
             cat $p/stack; done 2>/dev/null; grep . /sys/block/*/inflight /sys/block/*/stat; cat /proc/interrupts",
        );
        while job.started.elapsed() < PATIENCE / 8 && self.ended(&job).is_none() {}
        self.said(&job, "out")
    }

    /// Exit status of a script that has ended.
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

    /// Output of the kernel on its console.
    pub(super) fn console(&self) -> String {
        std::fs::read_to_string(self.qemu.folder.join("console")).unwrap_or_default()
    }

    /// Gives QEMU's main loop the lowest priority beside a busy program, until dropped.
    pub(super) fn hold_up_main_loop(&mut self) -> Busy {
        self.qemu.hold_up_main_loop()
    }

    /// Cuts the power: unwritten caches of the machine are lost.
    pub(super) fn cut_power(self) {}
}
