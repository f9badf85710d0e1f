//! `doctor` on recorded machines of several kinds and on this one: problems are found and get advice.

use crate::common::binary::{Home, Outcome};
use crate::common::machine::with_data;
use crate::common::text;
use serde_json::Value;
use tempfile::TempDir;

/// Recorded machine, with files by path.
struct Machine(TempDir);

impl Machine {
    fn new(files: &[(&str, &str)]) -> Self {
        let machine = Machine(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(machine.0.path().join("sys/block")).unwrap();
        files.iter().for_each(|(name, content)| machine.file(name, content));
        machine
    }

    fn file(&self, name: &str, content: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        let sysfs = self.0.path().to_str().unwrap();
        Home::on_disk().run(&[&["doctor", "--sysfs", sysfs], arguments].concat())
    }

    #[track_caller]
    fn json(&self, status: i32, arguments: &[&str]) -> Value {
        self.run(&[&["--json"], arguments].concat()).expect(status).json()
    }
}

/// Point of this name, and of this device if one is given.
#[track_caller]
fn point<'a>(report: &'a Value, name: &str) -> &'a Value {
    let points = report["points"].as_array().unwrap();
    points.iter().find(|p| p["point"] == name).unwrap_or_else(|| panic!("no point {name} in {report:#}"))
}

#[track_caller]
fn state(report: &Value, name: &str) -> String {
    text(point(report, name), "/state").to_owned()
}

/// Machine without problems, as far as a recording shows.
fn quiet() -> Machine {
    Machine::new(&[
        ("proc/pressure/cpu", "some avg10=0.20 avg60=0.00 avg300=0.00 total=5\n"),
        ("proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"),
        ("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"),
        ("proc/loadavg", "0.04 0.05 0.00 1/103 31299\n"),
        ("proc/meminfo", "MemTotal: 4000000 kB\nMemAvailable: 3500000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n"),
        ("proc/sys/kernel/io_uring_disabled", "0\n"),
        ("proc/sys/kernel/osrelease", "6.12.25\n"),
        ("proc/sys/vm/dirty_ratio", "20\n"),
        ("proc/17/comm", "systemd\n"),
        ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "arch_sys_counter\n"),
        ("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n"),
        ("sys/class/thermal/thermal_zone0/temp", "45200\n"),
        ("sys/class/thermal/thermal_zone0/trip_point_0_type", "passive\n"),
        ("sys/class/thermal/thermal_zone0/trip_point_0_temp", "80000\n"),
        ("sys/devices/platform/soc/soc:firmware/get_throttled", "0\n"),
        ("sys/module/nvme/version", "1.0\n"),
    ])
}

#[test]
fn idle_computer_is_fit() {
    let report = quiet().json(0, &[]);
    assert_eq!(
        (text(&report, "/verdict"), &report["failed"], &report["warned"]),
        ("ok", &0.into(), &0.into()),
        "{report:#}"
    );
    for name in [
        "governor",
        "cpu-pressure",
        "io-pressure",
        "clock-source",
        "memory",
        "supply",
        "heat",
        "io-uring",
        "kernel",
    ] {
        assert_eq!(state(&report, name), "ok", "{name}");
    }
    let page = quiet().run(&[]).expect(0).stdout;
    assert!(page.starts_with("This computer is fit to measure a card."), "{page}");
}

#[test]
fn each_problem_is_found_with_advice() {
    for (file, content, name, expected) in [
        ("proc/pressure/cpu", "some avg10=12.00 avg60=0.00 avg300=0.00 total=5\n", "cpu-pressure", "warn"),
        ("proc/pressure/cpu", "some avg10=74.90 avg60=0.00 avg300=0.00 total=5\n", "cpu-pressure", "warn"),
        ("proc/pressure/cpu", "some avg10=76.00 avg60=0.00 avg300=0.00 total=5\n", "cpu-pressure", "fail"),
        ("proc/pressure/io", "some avg10=81.00 avg60=0.00 avg300=0.00 total=5\n", "io-pressure", "fail"),
        ("proc/meminfo", "MemTotal: 500000 kB\nMemAvailable: 200000 kB\n", "memory", "warn"),
        ("proc/meminfo", "MemTotal: 500000 kB\nMemAvailable: 40000 kB\n", "memory", "fail"),
        ("proc/sys/kernel/io_uring_disabled", "2\n", "io-uring", "warn"),
        ("proc/sys/kernel/osrelease", "5.10.103-v7l+\n", "kernel", "warn"),
        ("proc/sys/vm/laptop_mode", "5\n", "page-cache", "warn"),
        ("proc/423/comm", "tracker-miner-f\n", "services", "warn"),
        ("proc/cpuinfo", "flags\t: fpu hypervisor\n", "machine", "warn"),
        ("proc/stat", "cpu  100 0 100 700 0 0 0 100 0 0\ncpu0 1 1 1 1\n", "steal", "warn"),
        ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "ondemand\n", "governor", "warn"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n", "clock-source", "warn"),
        (
            "sys/devices/system/clocksource/clocksource0/current_clocksource",
            "jiffies\n",
            "clock-source",
            "fail",
        ),
        ("sys/class/thermal/thermal_zone0/temp", "76000\n", "heat", "warn"),
        ("sys/class/thermal/thermal_zone0/temp", "82500\n", "heat", "fail"),
        // Bit 16: under-voltage since boot; bits 0 and 2: under-voltage and throttled now.
        ("sys/devices/platform/soc/soc:firmware/get_throttled", "10000\n", "supply", "warn"),
        ("sys/devices/platform/soc/soc:firmware/get_throttled", "50005\n", "supply", "fail"),
        ("sys/module/usb_storage/parameters/quirks", "152d:0578:u\n", "usb-quirks", "warn"),
    ] {
        let machine = quiet();
        machine.file(file, content);
        let report = machine.json(i32::from(expected == "fail"), &[]);
        assert_eq!(state(&report, name), expected, "{name} after {file}");
        assert_eq!(text(&report, "/verdict"), expected, "only {name} is wrong: {report:#}");
        let point = point(&report, name);
        assert!(!text(point, "/advice").is_empty() && !text(point, "/why").is_empty(), "{point}");
        let page = machine.run(&[]).one_line();
        assert!(page.contains(text(point, "/advice")), "{page}");
    }
}

#[test]
fn deep_sleep_states_warn_with_a_command() {
    let machine = quiet();
    for (state, name, latency) in [("state0", "POLL", "0"), ("state1", "C1", "2"), ("state2", "C6", "133")] {
        machine.file(&format!("sys/devices/system/cpu/cpu0/cpuidle/{state}/name"), name);
        machine.file(&format!("sys/devices/system/cpu/cpu0/cpuidle/{state}/latency"), latency);
    }
    let report = machine.json(0, &[]);
    let point = point(&report, "sleep-states");
    assert_eq!((text(point, "/state"), text(point, "/seen")), ("warn", "wakes from C6 in 133 µs"));
    assert!(text(point, "/advice").contains("/dev/cpu_dma_latency"));
    machine.file("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1");
    assert_eq!(
        state(&machine.json(0, &[]), "sleep-states"),
        "ok",
        "a state that is switched off is not slept in"
    );
}

/// USB reader with a card.
fn reader(speed: &str, version: &str, protocol: &str) -> Machine {
    let machine = quiet();
    let usb = "sys/bus/usb/devices/1-2";
    for (name, content) in [
        ("sys/block/sda/size", "62333952\n"),
        ("sys/block/sda/dev", "8:0\n"),
        ("sys/block/sda/ro", "0\n"),
        ("sys/block/sda/removable", "1\n"),
        ("sys/block/sda/device/vendor", "Generic-\n"),
        ("sys/block/sda/device/model", "SD/MMC\n"),
        ("sys/bus/usb/devices/1-2/1-2:1.0/bInterfaceClass", "08\n"),
        ("sys/bus/usb/devices/1-2/1-2:1.0/host1/target1:0:0/1:0:0:0/block/sda/size", "62333952\n"),
        ("proc/self/mountinfo", "1 0 179:2 / / rw - ext4 /dev/root rw\n"),
        ("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n"),
    ] {
        machine.file(name, content);
    }
    for (name, content) in [
        ("idVendor", "05e3"),
        ("idProduct", "0749"),
        ("product", "USB3.0 Card Reader"),
        ("busnum", "1"),
        ("speed", speed),
        ("version", version),
        ("1-2:1.0/bInterfaceProtocol", protocol),
        ("power/control", "on"),
    ] {
        machine.file(&format!("{usb}/{name}"), content);
    }
    machine
}

#[test]
fn reader_problems_are_reported() {
    let good = reader("5000", " 3.20", "62").json(0, &["sda"]);
    assert_eq!((text(&good, "/verdict"), text(&good, "/target")), ("ok", "sda"), "{good:#}");
    assert_eq!(text(point(&good, "reader-bus"), "/device"), "/dev/sda");
    assert!(text(point(&good, "reader-bus"), "/seen").contains("500 MB/s"));

    // USB 3 reader in a USB 2 port, without a queue.
    let slow = reader("480", " 3.20", "50").json(0, &["/dev/sda"]);
    assert_eq!(state(&slow, "reader-bus"), "warn");
    assert!(text(point(&slow, "reader-bus"), "/seen").contains("53 MB/s"), "{slow:#}");
    assert_eq!([state(&slow, "reader-port"), state(&slow, "reader-protocol")], ["warn", "warn"]);

    let slowest = reader("12", " 2.00", "50").json(1, &["sda"]);
    assert_eq!(state(&slowest, "reader-bus"), "fail");

    let sleepy = reader("5000", " 3.20", "62");
    sleepy.file("sys/bus/usb/devices/1-2/power/control", "auto\n");
    sleepy.file("sys/bus/usb/devices/1-2/power/autosuspend_delay_ms", "2000\n");
    let sleepy = sleepy.json(0, &["sda"]);
    assert_eq!(state(&sleepy, "reader-autosuspend"), "warn");
    assert!(text(point(&sleepy, "reader-autosuspend"), "/advice").contains("power/control"));
}

#[test]
fn shared_mounted_and_empty_readers_are_reported() {
    let machine = reader("5000", " 3.20", "62");
    machine.file("sys/bus/usb/devices/1-3/busnum", "1\n");
    machine.file("sys/bus/usb/devices/1-3/1-3:1.0/bInterfaceClass", "08\n");
    let report = machine.json(0, &["sda"]);
    assert_eq!(state(&report, "reader-shared"), "warn");

    let machine = reader("5000", " 3.20", "62");
    machine.file(
        "proc/self/mountinfo",
        "1 0 179:2 / / rw - ext4 /dev/root rw\n2 1 8:0 / /media/card rw - vfat /dev/sda rw\n",
    );
    let report = machine.json(0, &["sda"]);
    assert_eq!(state(&report, "reader-card"), "warn");
    assert!(text(point(&report, "reader-card"), "/seen").contains("/media/card"));

    let machine = reader("5000", " 3.20", "62");
    machine.file("sys/block/sda/size", "0\n");
    assert_eq!(text(point(&machine.json(0, &["sda"]), "reader-card"), "/seen"), "no card inserted");
}

/// SD card in a slot with this clock and timing.
fn slot(clock: &str, timing: &str) -> Machine {
    let machine = quiet();
    // 4 lines, C10, U1, A1: bytes 0, 8, 10, 14 and 21 of docs/reference/sd.md#sd-status.
    let mut ssr = [0u8; 64];
    for (byte, value) in [(0, 0x80), (8, 4), (10, 0x90), (14, 0x10), (21, 1)] {
        ssr[byte] = value;
    }
    let ssr: String = ssr.iter().map(|byte| format!("{byte:02x}")).collect();
    machine.file("sys/block/mmcblk0/size", "62333952\n");
    machine.file("sys/block/mmcblk0/dev", "179:0\n");
    machine.file("sys/block/mmcblk0/device/type", "SD\n");
    machine.file("sys/block/mmcblk0/device/ssr", &ssr);
    machine.file(
        "sys/kernel/debug/mmc0/ios",
        &format!("clock:\t\t{clock} Hz\nbus width:\t2 (4 bits)\ntiming spec:\t{timing}\nsignal voltage:\t1 (1.80 V)\n"),
    );
    machine
}

#[test]
fn slow_slot_is_reported() {
    let fast = slot("200000000", "6 (sd uhs SDR104)").json(0, &["mmcblk0"]);
    assert_eq!(state(&fast, "reader-bus"), "ok", "{fast:#}");
    let old = slot("50000000", "2 (sd high-speed)").json(0, &["mmcblk0"]);
    assert_eq!(state(&old, "reader-bus"), "warn");
    assert!(text(point(&old, "reader-bus"), "/seen").contains("UHS-I"), "{old:#}");
    let slowed = slot("50000000", "6 (sd uhs SDR104)").json(0, &["mmcblk0"]);
    assert!(text(point(&slowed, "reader-bus"), "/seen").contains("50 of"), "{slowed:#}");
}

#[test]
fn limited_pcie_link_is_reported() {
    let machine = quiet();
    for (name, content) in [
        ("sys/block/nvme0n1/size", "1954816000\n"),
        ("sys/block/nvme0n1/device/model", "LX1TB71\n"),
        ("sys/block/nvme0n1/device/address", "0000:02:00.0\n"),
        ("sys/bus/pci/devices/0000:02:00.0/current_link_speed", "2.5 GT/s PCIe\n"),
        ("sys/bus/pci/devices/0000:02:00.0/current_link_width", "1\n"),
        ("sys/bus/pci/devices/0000:02:00.0/max_link_speed", "8.0 GT/s PCIe\n"),
        ("sys/bus/pci/devices/0000:02:00.0/max_link_width", "1\n"),
    ] {
        machine.file(name, content);
    }
    let report = machine.json(0, &[]);
    let point = point(&report, "reader-bus");
    assert_eq!((text(point, "/state"), text(point, "/device")), ("warn", "/dev/nvme0n1"));
    assert!(
        text(point, "/seen").contains("250 MB/s") && text(point, "/seen").contains("8 GT/s x1"),
        "{point}"
    );
}

#[test]
fn unknown_facts_neither_pass_nor_fail() {
    let report = Machine::new(&[]).json(0, &[]);
    assert_eq!(report["failed"], 0);
    for name in ["governor", "memory", "cpu-pressure", "supply", "heat", "clock-source"] {
        assert_eq!(state(&report, name), "unknown", "{name}");
    }
}

#[test]
fn live_checks_have_reasons() {
    let outcome = Home::on_disk().run(&["doctor", "--json"]);
    let status = outcome.status.code();
    let report = outcome.json();
    assert_eq!(status, Some(i32::from(report["failed"] != 0)), "{report:#}");
    for point in report["points"].as_array().unwrap() {
        assert!(!text(point, "/why").is_empty() && !text(point, "/seen").is_empty(), "{point}");
        let wrong = point["state"] == "warn" || point["state"] == "fail";
        let card = point["point"] == "reader-card";
        assert!(!wrong || card || point["advice"].is_string(), "what is wrong says what to do: {point}");
    }
    assert!(text(point(&report, "clock-reading"), "/seen").contains(" ns"));
    assert!(text(point(&report, "sleep-overshoot"), "/seen").contains("µs late"));
    assert_ne!(state(&report, "io-uring"), "unknown");
}

#[test]
fn journal_on_the_card_fails() {
    let mounted = crate::common::machine::TestMount::ext4(64);
    let home = Home::on_disk();
    let mut command = home.command(crate::common::binary::CARDSCOPE);
    command.env("XDG_STATE_HOME", mounted.path()).args(["doctor", mounted.path(), "--json"]);
    let report = crate::common::binary::Running::of(command).finish().expect(1).json();
    let point = point(&report, "journal-place");
    assert_eq!(text(point, "/state"), "fail");
    assert!(text(point, "/advice").contains("XDG_STATE_HOME"), "{point}");
}

#[test]
fn doctor_checks_the_configured_archive() {
    let home = Home::on_disk();
    let examined = |outcome: Outcome| text(point(&outcome.json(), "archive-place"), "/seen").to_owned();
    let seen = examined(home.run(&["doctor", "--json"]));
    assert!(seen.starts_with(home.archive().to_str().unwrap()), "{seen}");
    let named = home.path("elsewhere/own.sqlite");
    let seen = examined(home.run(&["doctor", "--json", "--archive", named.to_str().unwrap()]));
    assert!(seen.starts_with(named.to_str().unwrap()) && seen.contains("MiB free"), "{seen}");
    assert!(examined(home.run(&["doctor", "--json", "--archive", "own.sqlite"])).contains("MiB free"));
    let server = "postgres://me:secret@host/cards";
    let seen = examined(home.run(&["doctor", "--json", "--archive", server]));
    assert!(seen.starts_with("postgres://me@host/cards") && seen.contains("server"), "{seen}");
    home.run(&["doctor", "--archive", "mysql://host/cards"]).expect(3).says(&["mysql"]);
}

#[test]
fn loop_and_missing_devices_are_not_cards() {
    let device = with_data(8, &[]);
    let home = Home::on_disk();
    let report = home.run(&["doctor", &device.path, "--json"]).json();
    assert_eq!(state(&report, "reader-bus"), "warn");
    home.run(&["doctor", "/dev/none-such"]).expect(2).says(&["/dev/none-such", "cardscope list"]);
    home.run(&["doctor", "sim:samsung-evo-plus-64"]).expect(2).says(&["simulated"]);
    home.run(&["doctor", "--sysfs", "/no/such/place"]).expect(2).says(&["/no/such/place"]);
    quiet().run(&["sda"]).expect(2).says(&["sda"]);
}
