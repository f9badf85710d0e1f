//! `list` and `info` on built copies of `/sys`: SD slots, USB readers, SD Express, holders, and missing files. Layout:
//! docs/reference/linux.md#sd-cards-in-sysfs.

use crate::common::binary::{Home, Outcome};
use crate::common::{list, number, text};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// Size of a 32 GB card in sectors of 512 bytes, as in `size`.
const SECTORS: &str = "62333952\n";
/// CID and CSD of the first card in docs/reference/reports.md#sd-card-round-up, and the SCR of an SDHC card with 4
/// lines.
const CID: &str = "035344535530344780811ea6ab00b37f\n";
const CSD: &str = "400e00325b5900001d8a7f800a4040b9\n";
const SCR: &str = "0235800000000000\n";

/// Recorded machine, with files by path.
struct Machine(TempDir);

impl Machine {
    fn new(files: &[(&str, &str)]) -> Self {
        let machine = Machine(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(machine.0.path().join("sys/block")).unwrap();
        files.iter().for_each(|(name, content)| machine.file(name, content.as_bytes()));
        machine
    }

    fn file(&self, name: &str, content: &[u8]) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn without(self, name: &str) -> Self {
        std::fs::remove_file(self.0.path().join(name)).unwrap();
        self
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> Outcome {
        let sysfs = self.0.path().to_str().unwrap();
        Home::new().run(&[arguments, &["--sysfs", sysfs]].concat())
    }

    #[track_caller]
    fn info(&self, device: &str) -> Value {
        self.run(&["info", device, "--json"]).expect(0).json()
    }

    #[track_caller]
    fn devices(&self) -> Vec<Value> {
        list(&self.run(&["list", "--json"]).expect(0).json(), "/devices").clone()
    }
}

/// SD card in a built-in slot, with everything that the kernel shows.
fn sd_card() -> Machine {
    // 4 lines, AU code 9 (4 MiB), C10, U1, V10, A1: bytes 0, 8, 10, 14, 15 and 21 of docs/reference/sd.md#sd-status.
    let mut ssr = [0u8; 64];
    for (byte, value) in [(0, 0x80), (8, 4), (10, 0x90), (14, 0x10), (15, 10), (21, 1)] {
        ssr[byte] = value;
    }
    let ssr: String = ssr.iter().map(|byte| format!("{byte:02x}")).collect();
    let device = "sys/block/mmcblk0/device";
    let machine = Machine::new(&[
        ("sys/block/mmcblk0/size", "7744512\n"),
        ("sys/block/mmcblk0/removable", "0\n"),
        ("sys/block/mmcblk0/device/type", "SD\n"),
        ("sys/block/mmcblk0/device/cid", CID),
        ("sys/block/mmcblk0/device/csd", CSD),
        ("sys/block/mmcblk0/device/scr", SCR),
        ("sys/block/mmcblk0/device/ocr", "0x00300000\n"),
        ("sys/block/mmcblk0/device/preferred_erase_size", "4194304\n"),
        (
            "sys/kernel/debug/mmc0/ios",
            "clock:\t\t50000000 Hz\nactual clock:\t50000000 Hz\nvdd:\t\t21 (3.3 ~ 3.4 V)\nbus mode:\t2 (push-pull)\n\
             chip select:\t0 (don't care)\npower mode:\t2 (on)\nbus width:\t2 (4 bits)\n\
             timing spec:\t2 (sd high-speed)\nsignal voltage:\t0 (3.30 V)\ndriver type:\t0 (driver type B)\n",
        ),
    ]);
    machine.file(&format!("{device}/ssr"), format!("{ssr}\n").as_bytes());
    machine
}

/// USB 3 reader with a card.
fn reader() -> Machine {
    Machine::new(&[
        ("sys/block/sda/size", SECTORS),
        ("sys/block/sda/dev", "8:0\n"),
        ("sys/block/sda/ro", "0\n"),
        ("sys/block/sda/removable", "1\n"),
        ("sys/block/sda/device/vendor", "Generic-\n"),
        ("sys/block/sda/device/model", "SD/MMC\n"),
        ("sys/block/sda/sda1/partition", "1\n"),
        ("sys/block/sda/sda1/dev", "8:1\n"),
        ("sys/block/sda/sda1/start", "8192\n"),
        ("sys/block/sda/sda1/size", "1000000\n"),
        ("sys/block/sda/sda2/partition", "2\n"),
        ("sys/block/sda/sda2/dev", "8:2\n"),
        ("sys/block/sda/sda2/start", "1008192\n"),
        ("sys/block/sda/sda2/size", "1000000\n"),
        ("sys/bus/usb/devices/1-2/idVendor", "05e3\n"),
        ("sys/bus/usb/devices/1-2/idProduct", "0749\n"),
        ("sys/bus/usb/devices/1-2/product", "USB3.0 Card Reader\n"),
        ("sys/bus/usb/devices/1-2/speed", "5000\n"),
        ("sys/bus/usb/devices/1-2/1-2:1.0/bInterfaceClass", "08\n"),
        ("sys/bus/usb/devices/1-2/1-2:1.0/bInterfaceProtocol", "50\n"),
        ("sys/bus/usb/devices/1-2/1-2:1.0/host1/target1:0:0/1:0:0:0/block/sda/size", SECTORS),
        ("proc/self/mountinfo", "1 0 179:2 / / rw - ext4 /dev/root rw\n"),
        ("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n"),
    ])
}

/// SD Express card on one lane of PCIe 3.0, with recorded answers.
fn express() -> Machine {
    let machine = Machine::new(&[
        ("sys/block/nvme0n1/size", "1954816000\n"),
        ("sys/block/nvme0n1/device/model", "LX1TB71\n"),
        ("sys/block/nvme0n1/device/serial", "2A71C04E18A\n"),
        ("sys/block/nvme0n1/device/firmware_rev", "X0705A\n"),
        ("sys/block/nvme0n1/device/address", "0000:02:00.0\n"),
        ("sys/bus/pci/devices/0000:02:00.0/current_link_speed", "8.0 GT/s PCIe\n"),
        ("sys/bus/pci/devices/0000:02:00.0/current_link_width", "1\n"),
        ("sys/bus/pci/devices/0000:02:00.0/max_link_speed", "16.0 GT/s PCIe\n"),
        ("sys/bus/pci/devices/0000:02:00.0/max_link_width", "2\n"),
    ]);
    let mut identify = vec![0; 4096];
    identify[0..2].copy_from_slice(&0x1d97u16.to_le_bytes());
    identify[4..24].copy_from_slice(b"2A71C04E18A         ");
    identify[24..64].copy_from_slice(b"LX1TB71                                 ");
    identify[64..72].copy_from_slice(b"X0705A  ");
    // WCTEMP and CCTEMP in K, TNVMCAP in bytes (NVMe Base Specification, Identify Controller).
    identify[266..268].copy_from_slice(&356u16.to_le_bytes());
    identify[268..270].copy_from_slice(&358u16.to_le_bytes());
    identify[280..288].copy_from_slice(&1_000_865_792_000u64.to_le_bytes());
    let mut smart = vec![0; 512];
    smart[1..3].copy_from_slice(&315u16.to_le_bytes());
    let place = "sys/block/nvme0n1/device";
    machine.file(&format!("{place}/identify_controller.bin"), &identify);
    machine.file(&format!("{place}/smart_log.bin"), &smart);
    machine.file("nvme0/feature_04.bin", &356u32.to_le_bytes());
    machine.file("nvme0/feature_10.bin", &(354u32 << 16 | 358).to_le_bytes());
    machine
}

fn claims(identity: &Value) -> Vec<&str> {
    list(identity, "/findings").iter().map(|f| text(f, "/claim")).collect()
}

#[test]
fn an_sd_card_in_a_slot_is_decoded_whole() {
    let card = sd_card().info("/dev/mmcblk0");
    assert_eq!((text(&card, "/cid/pnm"), text(&card, "/cid/raw")), ("SU04G", CID.trim()));
    assert_eq!(card["csd"]["capacity_bytes"], 3_965_190_144u64);
    assert_eq!((text(&card, "/scr/raw"), &card["ssr"]["au_size_bytes"]), (SCR.trim(), &json!(4 << 20)));
    assert_eq!((&card["ssr"]["app_perf_class"], &card["ssr"]["video_speed_class"]), (&json!(1), &json!(10)));
    assert_eq!(card["marks"], json!(["C10", "U1", "V10", "A1"]));
    assert!(card["ocr"].is_object());
}

#[test]
fn the_bus_of_an_sd_card_and_its_ceiling_come_from_debugfs() {
    let card = sd_card().info("mmcblk0");
    assert_eq!(text(&card, "/mmc/mode"), "High Speed");
    // 50 MHz on four lines.
    assert_eq!(number(&card, "/mmc/ceiling_mb_s"), 25.0);
    assert!(!claims(&card).contains(&"bus-mode-unread"));
}

#[test]
fn unreadable_bus_mode_gets_advice() {
    let card = sd_card().without("sys/kernel/debug/mmc0/ios").info("mmcblk0");
    let finding = list(&card, "/findings").iter().find(|f| f["claim"] == "bus-mode-unread").unwrap();
    assert!(!text(finding, "/advice").is_empty());
    assert!(card["mmc"]["mode"].is_null());
}

#[test]
fn missing_sysfs_files_leave_the_rest() {
    for missing in
        ["size", "device/type", "device/cid", "device/csd", "device/scr", "device/ssr", "device/ocr"]
    {
        let machine = sd_card().without(&format!("sys/block/mmcblk0/{missing}"));
        let card = machine.info("mmcblk0");
        assert!(card["capacity_bytes"].is_u64(), "size and CSD stand in for each other: {missing}");
        assert_eq!(card["cid"].is_null(), missing == "device/cid", "{missing}");
        assert_eq!(card["ssr"].is_null(), missing == "device/ssr", "{missing}");
        assert_eq!(machine.devices().len(), 1, "{missing}");
    }
    let bare = Machine::new(&[]);
    std::fs::create_dir_all(bare.0.path().join("sys/block/mmcblk0")).unwrap();
    assert_eq!(bare.devices()[0]["bytes"], Value::Null);
    assert!(bare.info("mmcblk0")["capacity_bytes"].is_null());
}

#[test]
fn garbage_in_a_register_leaves_the_others() {
    for garbage in ["0353445355303447808\n", "no hex at all\n", "\n", "\u{0}\u{ff}\n"] {
        let machine = sd_card();
        machine.file("sys/block/mmcblk0/device/cid", garbage.as_bytes());
        let card = machine.info("mmcblk0");
        assert!(card["cid"].is_null() && card["csd"].is_object(), "{garbage:?}");
        let told = claims(&card).contains(&"register-unreadable");
        assert_eq!(told, !garbage.trim().is_empty(), "{garbage:?}: {:?}", claims(&card));
    }
}

#[test]
fn hidden_registers_are_reported() {
    let card = reader().info("/dev/sda");
    assert_eq!((&card["usb"]["hides_cid"], text(&card, "/usb/vendor_id")), (&json!(true), "05e3"));
    assert_eq!(number(&card, "/usb/speed_mbit_s"), 5000.0);
    assert!(card["cid"].is_null() && claims(&card).contains(&"reader-hides-registers"));
    assert_eq!(card["capacity_bytes"], 62_333_952u64 * 512);
}

#[test]
fn express_card_shows_limits_and_link() {
    let card = express().info("/dev/nvme0n1");
    let nvme = &card["nvme"];
    assert_eq!((&nvme["tmt1_celsius"], &nvme["tmt2_celsius"]), (&json!(81), &json!(85)));
    assert_eq!((&nvme["tmpth_celsius"], &nvme["identify"]["wctemp_celsius"]), (&json!(83), &json!(83)));
    assert_eq!(number(nvme, "/temperature_celsius"), 42.0);
    assert_eq!(text(nvme, "/identify/fr"), "X0705A");
    assert_eq!(nvme["identify"]["tnvmcap"], 1_000_865_792_000u64);
    assert_eq!((text(nvme, "/sd_express/pnm"), text(nvme, "/sd_express/mdt")), ("LX1TB", "2024-10"));
    // 8 GT/s with 128 of 130 bits on one lane; the card supports more.
    assert!((number(&card, "/pcie/ceiling_mb_s") - 984.6).abs() < 0.1);
    assert_eq!(card["pcie"]["limited"], true);
}

#[test]
fn express_card_without_answers_shows_sysfs_facts() {
    let machine =
        express().without("sys/block/nvme0n1/device/identify_controller.bin").without("nvme0/feature_10.bin");
    let card = machine.info("nvme0n1");
    assert!(card["nvme"]["identify"].is_null() && card["nvme"]["tmt1_celsius"].is_null());
    assert_eq!(text(&card, "/nvme/sd_express/pnm"), "LX1TB");
    assert!(claims(&card).contains(&"nvme-answers-missing"), "{:?}", claims(&card));
}

#[test]
fn unused_card_is_safe_to_test() {
    let device = &reader().devices()[0];
    assert_eq!(
        (&device["safe"], &device["reason"], &device["mounted"]),
        (&json!(true), &Value::Null, &json!(false))
    );
    assert_eq!((text(device, "/bus"), text(device, "/path")), ("usb", "/dev/sda"));
    assert_eq!(device["bytes"], 62_333_952u64 * 512);
    let names: Vec<&str> = list(device, "/partitions").iter().map(|p| text(p, "/name")).collect();
    assert_eq!(names, ["sda1", "sda2"]);
}

#[test]
fn members_of_lvm_luks_and_raid_are_not_safe_and_the_reason_names_what_holds_them() {
    for (holder, says, words) in [
        (
            "dm-0",
            &[("dm/uuid", "LVM-abc\n"), ("dm/name", "vg0-data\n")][..],
            ["LVM volume vg0-data", "vgchange"],
        ),
        (
            "dm-0",
            &[("dm/uuid", "CRYPT-LUKS2-x\n"), ("dm/name", "secret\n")],
            ["encrypted volume secret", "cryptsetup close"],
        ),
        ("md127", &[("md/level", "raid1\n")], ["RAID array md127", "mdadm --stop"]),
    ] {
        let machine = reader();
        machine.file(&format!("sys/block/sda/sda2/holders/{holder}/dev"), b"252:0\n");
        machine.file(&format!("sys/block/{holder}/dev"), b"252:0\n");
        machine.file(&format!("sys/block/{holder}/slaves/sda2/dev"), b"8:2\n");
        says.iter().for_each(|(name, content)| {
            machine.file(&format!("sys/block/{holder}/{name}"), content.as_bytes())
        });
        let devices = machine.devices();
        let card = devices.iter().find(|d| d["name"] == "sda").unwrap();
        assert_eq!(card["safe"], false, "{holder}");
        for word in words.iter().chain(&["sda2"]) {
            assert!(text(card, "/reason").contains(word), "{word} in {}", card["reason"]);
        }
    }
}

#[test]
fn mounted_swap_locked_and_system_cards_are_not_safe_each_for_its_reason() {
    for (file, content, word) in [
        (
            "proc/self/mountinfo",
            "1 0 179:2 / / rw - ext4 /dev/root rw\n2 1 8:1 / /media/card rw - vfat /dev/sda1 rw\n",
            "/media/card",
        ),
        ("proc/self/mountinfo", "1 0 8:2 / / rw - ext4 /dev/root rw\n", "running system"),
        ("proc/swaps", "Filename\tType\n/dev/sda2 partition 1 0 -2\n", "swap"),
        ("sys/block/sda/ro", "1\n", "read-only"),
    ] {
        let machine = reader();
        machine.file(file, content.as_bytes());
        let device = &machine.devices()[0];
        assert_eq!(device["safe"], false, "{word}");
        assert!(text(device, "/reason").contains(word), "{word} in {}", device["reason"]);
        let told = machine.run(&["list"]).expect(0);
        assert!(told.stdout.contains(word), "people are told the reason too\n{told}");
    }
}

#[test]
fn an_empty_slot_is_shown_as_one() {
    let machine = reader();
    machine.file("sys/block/sda/size", b"0\n");
    let device = &machine.devices()[0];
    assert_eq!((&device["safe"], &device["empty"]), (&json!(false), &json!(true)));
    assert!(machine.run(&["list"]).expect(0).stdout.contains("empty slot"));
}

#[test]
fn fixed_disks_are_listed_only_with_all() {
    let machine = Machine::new(&[
        ("sys/block/mmcblk0/size", "30535680\n"),
        ("sys/block/mmcblk0/device/type", "MMC\n"),
        ("sys/block/mmcblk0boot0/size", "8192\n"),
        ("sys/block/vda/size", "1000000\n"),
    ]);
    assert!(machine.devices().is_empty());
    let all = machine.run(&["list", "--all", "--json"]).expect(0).json();
    assert_eq!(
        list(&all, "/devices").iter().map(|d| text(d, "/name")).collect::<Vec<_>>(),
        ["mmcblk0", "vda"]
    );
    assert!(machine.run(&["list"]).expect(0).stdout.contains("--all"));
}

#[test]
fn copy_of_sys_alone_is_enough() {
    let machine = reader();
    let sys = machine.0.path().join("sys");
    let told = Home::new().run(&["list", "--json", "--sysfs", sys.to_str().unwrap()]).expect(0).json();
    assert_eq!(text(&told, "/devices/0/name"), "sda");
}

#[test]
fn wrong_sys_copies_and_missing_devices_are_refused() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path(), Path::new("/no/such/place")] {
        let path = path.to_str().unwrap();
        home.run(&["list", "--sysfs", path]).expect(2).says(&[path, "/sys tree"]);
        home.run(&["info", "sda", "--sysfs", path]).expect(2).says(&[path]);
    }
    reader().run(&["info", "sdz"]).expect(2).says(&["sdz"]);
}
