//! `list` and `info` of cards behind real drivers, compared with the kernel's own files.

use super::card::Card;
use super::machine::{Machine, Slot};
use crate::common::binary::Home;
use crate::common::{list, number, text};
use serde_json::Value;

#[test]
fn cards_are_listed_and_identified_as_their_drivers_show_them() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    for (mib, slot) in (64..).zip(Slot::ALL) {
        // The SD reader accepts only powers of two, so the size distinguishes it.
        let mib = if slot == Slot::Sd { 32 } else { mib };
        let card = Card::with_data(&home, &format!("{slot:?}"), mib);
        let disk = machine.insert(slot, &card);
        let name = disk.trim_start_matches("/dev/");
        let bytes = mib << 20;

        let listed = machine.cardscope("list --all --json").expect(0).json();
        let devices = list(&listed, "/devices");
        let found = devices.iter().find(|device| device["path"] == disk.as_str());
        let found = found.unwrap_or_else(|| panic!("{disk} is not in {listed:#}"));
        assert_eq!(
            (found["bytes"].as_u64(), found["safe"].as_bool()),
            (Some(bytes), Some(true)),
            "{found:#}"
        );

        let info = machine.cardscope(&format!("info {disk} --json")).expect(0).json();
        assert_eq!(number(&info, "/capacity_bytes"), bytes as f64, "{info:#}");
        match slot {
            Slot::Sd => {
                has_the_registers_of_the_kernel(&mut machine, name, &info);
                answers_commands_of_its_own(&mut machine, name, &info);
            }
            Slot::Nvme => says_what_the_disk_answered(&mut machine, name, &info),
            Slot::Usb => assert_eq!(text(&info, "/usb/driver"), "usb-storage", "{info:#}"),
            Slot::Uas => assert_eq!(text(&info, "/usb/driver"), "uas", "{info:#}"),
        }
        machine.pull_out(slot);
        machine.cardscope(&format!("info {disk}")).expect(2).says(&[&disk, "not"]);
    }
}

fn has_the_registers_of_the_kernel(machine: &mut Machine, name: &str, info: &Value) {
    let mut kernel = |register: &str| {
        let file = machine.run(&format!("cat /sys/block/{name}/device/{register}")).expect(0).stdout;
        file.trim().trim_start_matches("0x").to_owned()
    };
    for register in ["cid", "csd", "scr", "ocr"] {
        assert_eq!(text(info, &format!("/{register}/raw")), kernel(register), "{register}: {info:#}");
    }
    // The kernel decodes the CID, too.
    assert_eq!(text(info, "/cid/pnm"), kernel("name"));
    assert_eq!(text(info, "/cid/psn_hex"), format!("0x{}", kernel("serial")));
    assert_eq!(info["cid"]["mid"].as_u64(), u64::from_str_radix(&kernel("manfid"), 16).ok());
    let (month, year) = (number(info, "/cid/mdt_month"), number(info, "/cid/mdt_year"));
    assert_eq!(format!("{month:02}/{year}"), kernel("date"));
    assert_eq!(number(info, "/mmc/preferred_erase_size").to_string(), kernel("preferred_erase_size"));
    let bus = machine.run("cat /sys/kernel/debug/mmc0/ios").expect(0).stdout;
    let clock = bus.lines().find_map(|line| line.strip_prefix("actual clock:")).unwrap();
    assert_eq!(format!("{} Hz", number(info, "/mmc/actual_clock_hz")), clock.trim(), "{bus}");
}

/// Without an SD status in sysfs the card is asked directly, also for a health page, which it does not have.
fn answers_commands_of_its_own(machine: &mut Machine, name: &str, info: &Value) {
    let file = format!("/sys/block/{name}/device/ssr");
    machine.run(&format!("mount --bind /dev/null {file}")).expect(0);
    let asked = machine.cardscope(&format!("info /dev/{name} --json")).expect(0).json();
    machine.run(&format!("umount {file}")).expect(0);
    // The kernel read it with a bus of one line, which the first two bits encode. The rest is equal.
    let (asked, shown) = (text(&asked, "/ssr/raw"), text(info, "/ssr/raw"));
    assert_eq!((asked.len(), &asked[1..]), (128, &shown[1..]));
    // QEMU's card answers CMD56 with bytes of ec, and accepts and drops the block that Apacer's cards expect first.
    let mut health = |which: &str| {
        machine.cardscope(&format!("info /dev/{name} --health{which} --details")).expect(0).one_line()
    };
    for layout in ["sandisk", "micron", "swissbit", "apacer"] {
        let said = health(&format!("={layout}"));
        assert!(said.contains("the page begins with ec ec"), "{layout}: {said}");
    }
    // The maker's number has no layout, and none is guessed.
    let said = health("");
    assert!(said.contains("layout is not known") && said.contains("--health=sandisk"), "{said}");
}

fn says_what_the_disk_answered(machine: &mut Machine, name: &str, info: &Value) {
    let mut kernel = |file: &str| {
        machine.run(&format!("cat /sys/block/{name}/device/{file}")).expect(0).stdout.trim().to_owned()
    };
    for (field, file) in [("mn", "model"), ("sn", "serial"), ("fr", "firmware_rev")] {
        assert_eq!(text(info, &format!("/nvme/identify/{field}")), kernel(file), "{info:#}");
    }
    // This disk refuses host-controlled thermal management, an option of the standard (status 4002h).
    let answer = machine.cardscope(&format!("info /dev/{name} --details")).expect(0).one_line();
    assert!(answer.contains("Get Features 10h (not supported by this drive)"), "{answer}");
    assert!(number(info, "/nvme/smart/temperature_celsius") > 0.0, "{info:#}");
}
