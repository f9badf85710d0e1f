//! What `list` tells of recorded machines: slots, readers, SD Express, disks that are no cards.

use crate::support::Recording;
use cardscope_device::host;
use cardscope_device::list::{ListScope, list_devices};
use cardscope_model::device::Bus;
use cardscope_model::device::DeviceInfo;

const READER: &str = "devices/pci0000:00/0000:00:14.0/usb2/2-1";

/// A reader with two slots on USB 3, one of them empty, as a live `/sys` has it: with links.
fn two_slots() -> Recording {
    let machine = Recording::new(&[]);
    let device = format!("sys/{READER}");
    for (name, content) in [
        ("idVendor", "05e3\n"),
        ("idProduct", "0749\n"),
        ("manufacturer", "Generic\n"),
        ("product", "USB3.0 Card Reader\n"),
        ("speed", "5000\n"),
        ("2-1:1.0/bInterfaceClass", "08\n"),
        ("2-1:1.0/bInterfaceProtocol", "50\n"),
    ] {
        machine.file(&format!("{device}/{name}"), content.as_bytes());
    }
    for (slot, disk, size) in [(0, "sda", "62333952\n"), (1, "sdb", "0\n")] {
        let lun = format!("{device}/2-1:1.0/host0/target0:0:0/0:0:0:{slot}");
        machine.file(&format!("{lun}/vendor"), b"Generic-\n");
        machine.file(&format!("{lun}/model"), b"SD/MMC          \n");
        machine.file(&format!("{lun}/block/{disk}/size"), size.as_bytes());
        machine.file(&format!("{lun}/block/{disk}/removable"), b"1\n");
        machine.file(&format!("{lun}/block/{disk}/dev"), format!("8:{}\n", slot * 16).as_bytes());
        machine.link(&format!("{lun}/block/{disk}/device"), &format!("../../../0:0:0:{slot}"));
        machine.link(
            &format!("sys/block/{disk}"),
            &format!("../{READER}/2-1:1.0/host0/target0:0:0/0:0:0:{slot}/block/{disk}"),
        );
    }
    machine.link(&format!("{device}/2-1:1.0/driver"), "../../../../../../bus/usb/drivers/usb-storage");
    machine.link("sys/devices/pci0000:00/0000:00:14.0/driver", "../../../bus/pci/drivers/xhci_hcd");
    machine
}

fn entries(machine: &Recording) -> Vec<DeviceInfo> {
    list_devices(&machine.system(), ListScope::Hardware)
}

#[test]
fn empty_reader_slot_is_marked_empty() {
    let found = entries(&two_slots());
    assert_eq!(found.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["sda", "sdb"]);
    let (card, slot) = (&found[0], &found[1]);
    assert_eq!((card.bus, card.removable, card.safe, card.empty), (Bus::Usb, true, true, false));
    assert_eq!((card.bytes, card.model.as_deref()), (Some(31_914_983_424), Some("Generic- SD/MMC")));
    assert!(slot.empty && !slot.safe && slot.reason.as_ref().unwrap().contains("0 sectors"), "{slot:?}");
}

#[test]
fn usb_path_is_part_of_condition() {
    let condition = host::host_condition(&two_slots().system(), Some("/dev/sda"));
    assert_eq!(condition.get("reader"), Some("Generic USB3.0 Card Reader (05e3:0749)"));
    assert_eq!(condition.get("usb_host"), Some("0000:00:14.0 (xhci_hcd)"));
    assert_eq!(condition.get("bus_mode"), Some("USB 5000 Mbit/s BOT"));
}

#[test]
fn tree_without_links_still_shows_usb() {
    let machine = Recording::new(&[
        ("sys/block/sda/size", "62333952\n"),
        ("sys/block/sda/device/model", "SD/MMC\n"),
        ("sys/bus/usb/devices/1-2/idVendor", "05e3\n"),
        ("sys/bus/usb/devices/1-2/idProduct", "0727\n"),
        ("sys/bus/usb/devices/1-2/speed", "480\n"),
        ("sys/bus/usb/devices/1-2/1-2:1.0/bInterfaceClass", "08\n"),
        ("sys/bus/usb/devices/1-2/1-2:1.0/bInterfaceProtocol", "50\n"),
        ("sys/bus/usb/devices/1-2/1-2:1.0/host1/target1:0:0/1:0:0:0/block/sda/size", "62333952\n"),
    ]);
    assert_eq!(entries(&machine)[0].bus, Bus::Usb);
    let condition = host::host_condition(&machine.system(), Some("sda"));
    assert_eq!(condition.get("bus_mode"), Some("USB 480 Mbit/s BOT"));
    assert_eq!(condition.get("reader"), Some("USB reader 05e3:0727"));
}

#[test]
fn sd_card_is_removable_and_emmc_is_not() {
    let machine = Recording::new(&[
        ("sys/block/mmcblk0/size", "30535680\n"),
        ("sys/block/mmcblk0/device/type", "MMC\n"),
        ("sys/block/mmcblk0boot0/size", "8192\n"),
        ("sys/block/mmcblk0rpmb/size", "8192\n"),
        ("sys/block/mmcblk1/size", "62333952\n"),
        ("sys/block/mmcblk1/removable", "0\n"),
        ("sys/block/mmcblk1/device/type", "SD\n"),
        ("sys/block/mmcblk1/device/name", "SH32G\n"),
        (
            "sys/kernel/debug/mmc1/ios",
            "clock:\t\t50000000 Hz\nbus width:\t2 (4 bits)\ntiming spec:\t6 (sd uhs SDR104)\n",
        ),
    ]);
    let found = entries(&machine);
    assert_eq!(
        found.iter().map(|e| (e.name.as_str(), e.removable)).collect::<Vec<_>>(),
        [("mmcblk0", false), ("mmcblk1", true)]
    );
    assert_eq!((found[1].model.as_deref(), found[1].bus), (Some("SD SH32G"), Bus::Mmc));
    let condition = host::host_condition(&machine.system(), Some("mmcblk1"));
    assert_eq!(condition.get("bus_mode"), Some("SDR104 at 50 MHz"));
    assert_eq!(condition.get("reader"), Some("SD host mmc1"));
}

#[test]
fn sd_express_is_removable_and_internal_nvme_is_not() {
    let machine = Recording::new(&[]);
    for (number, address, model, removable) in [
        (0, "0000:01:00.0", "Samsung SSD 980 1TB", "fixed"),
        (1, "0000:02:00.0", "LX1TB71", "unknown"),
        (2, "0000:40:00.0", "Elements SE", "removable"),
    ] {
        let pci = format!("devices/pci0000:00/{address}");
        let controller = format!("{pci}/nvme/nvme{number}");
        let disk = format!("{controller}/nvme{number}n1");
        machine.file(&format!("sys/{pci}/class"), b"0x010802\n");
        machine.file(&format!("sys/{pci}/vendor"), b"0x1d97\n");
        machine.file(&format!("sys/{pci}/removable"), removable.as_bytes());
        machine.file(&format!("sys/{pci}/current_link_speed"), b"8.0 GT/s PCIe\n");
        machine.file(&format!("sys/{pci}/current_link_width"), b"1\n");
        machine.file(&format!("sys/{controller}/model"), format!("{model}   \n").as_bytes());
        machine.file(&format!("sys/{controller}/firmware_rev"), b"W0926A\n");
        machine.file(&format!("sys/{disk}/size"), b"1954816000\n");
        machine.link(&format!("sys/{controller}/device"), &format!("../../../{address}"));
        machine.link(&format!("sys/{disk}/device"), &format!("../../nvme{number}"));
        machine.link(&format!("sys/block/nvme{number}n1"), &format!("../{disk}"));
    }
    let found = entries(&machine);
    assert_eq!(found.iter().map(|e| e.removable).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(found[1].model.as_deref(), Some("LX1TB71"));
    let condition = host::host_condition(&machine.system(), Some("/dev/nvme1n1"));
    assert_eq!((condition.get("bus_mode"), condition.get("firmware")), (Some("PCIe 3.0 x1"), Some("W0926A")));
}

#[test]
fn kernel_devices_are_excluded_and_loops_optional() {
    let machine = Recording::new(&[
        ("sys/block/zram0/size", "1000\n"),
        ("sys/block/dm-0/size", "1000\n"),
        ("sys/block/md0/size", "1000\n"),
        ("sys/block/sr0/size", "1000\n"),
        ("sys/block/loop0/size", "1000\n"),
        ("sys/block/loop1/size", "0\n"),
        ("sys/block/vda/size", "1000\n"),
    ]);
    let shown =
        |scope| list_devices(&machine.system(), scope).into_iter().map(|e| e.name).collect::<Vec<_>>();
    assert_eq!(shown(ListScope::Hardware), ["vda"]);
    assert_eq!(shown(ListScope::WithLoops), ["loop0", "vda"]);
}

#[test]
fn empty_tree_lists_nothing() {
    assert!(entries(&Recording::new(&[])).is_empty());
    let bare = Recording::new(&[]);
    std::fs::create_dir_all(bare.dir.path().join("sys/block/sda")).unwrap();
    let found = entries(&bare);
    assert_eq!((found[0].bytes, found[0].safe), (None, false));
}
