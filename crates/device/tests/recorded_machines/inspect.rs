//! Identities from recorded machines: whole, with files missing, and with garbage in them.
//!
//! The SD registers are those of retail cards, as published; the NVMe figures are those of an ADATA SD Express card.

use crate::support::Recording;
use cardscope_device::inspect::{InspectError, inspect_card};
use cardscope_device::system::SystemRoots;
use cardscope_model::identity::Identity;
use proptest::prelude::*;

const TODAY: (u16, u8) = (2026, 11);
const CID: &str = "035344535530344780811ea6ab00b37f\n";
const CSD: &str = "400e00325b5900001d8a7f800a4040b9\n";

fn card(more: &[(&str, &str)]) -> Recording {
    let machine = Recording::new(&[
        ("sys/block/mmcblk0/size", "7744512\n"),
        ("sys/block/mmcblk0/device/type", "SD\n"),
        ("sys/block/mmcblk0/device/cid", CID),
        ("sys/block/mmcblk0/device/csd", CSD),
        ("sys/block/mmcblk0/device/ocr", "0x00300000\n"),
        ("sys/block/mmcblk0/device/preferred_erase_size", "4194304\n"),
    ]);
    for (name, content) in more {
        machine.file(name, content.as_bytes());
    }
    machine
}

fn look(machine: &Recording, device: &str) -> Identity {
    let read = inspect_card(&machine.system(), device).unwrap();
    let remarks = read.findings.clone();
    let mut identity = read.judged(TODAY);
    identity.findings.extend(remarks);
    identity
}

fn claims(identity: &Identity) -> Vec<&str> {
    identity.findings.iter().map(|finding| finding.claim.as_str()).collect()
}

#[test]
fn sd_card_is_identified_from_registers_and_debugfs() {
    let ios = "clock:\t\t50000000 Hz\nactual clock:\t50000000 Hz\nbus width:\t2 (4 bits)\ntiming spec:\t2 (sd high-speed)\nsignal voltage:\t0 (3.30 V)\n";
    let identity = look(&card(&[("sys/kernel/debug/mmc0/ios", ios)]), "/dev/mmcblk0");
    let cid = identity.cid.as_ref().unwrap();
    assert_eq!((cid.mid, cid.oid.as_str(), cid.pnm.as_str()), (3, "SD", "SU04G"));
    assert_eq!(identity.csd.as_ref().unwrap().capacity_bytes, Some(3_965_190_144));
    assert_eq!(identity.capacity_bytes, Some(7_744_512 * 512));
    let mmc = identity.mmc.as_ref().unwrap();
    assert_eq!((mmc.mode.as_deref(), mmc.ceiling_mb_s), (Some("High Speed"), Some(25.0)));
    assert_eq!(mmc.preferred_erase_size, Some(4 << 20));
    assert!(identity.ocr.is_some() && !claims(&identity).contains(&"bus-mode-unread"));
    assert!(!claims(&identity).contains(&"capacity-against-csd"), "size and CSD agree on this card");
}

#[test]
fn unreadable_bus_is_a_finding_with_advice() {
    let identity = look(&card(&[]), "mmcblk0");
    let finding = identity.findings.iter().find(|finding| finding.claim == "bus-mode-unread").unwrap();
    assert!(finding.advice.is_some() && finding.verdict.contains("unknown"));
    assert_eq!(identity.mmc.as_ref().unwrap().mode, None);
}

#[test]
fn kernel_log_gives_mode_without_debugfs() {
    let log = "[1.0] mmc0: new high speed SDHC card at address b368\n[2.0] mmc1: new SD card at address 1\n[9.0] mmc0: new UHS-I speed SDR104 SDXC card at address aaaa\n";
    let identity = look(&card(&[("dmesg", log)]), "mmcblk0");
    assert_eq!(identity.mmc.as_ref().unwrap().mode.as_deref(), Some("SDR104"));
    assert!(claims(&identity).contains(&"bus-mode-unread"), "the clock is still unknown");
}

#[test]
fn size_mismatch_with_csd_is_reported() {
    let identity = look(&card(&[("sys/block/mmcblk0/size", "62333952\n")]), "mmcblk0");
    assert!(claims(&identity).contains(&"capacity-against-csd"));
}

#[test]
fn partition_is_inspected_as_its_card() {
    let machine = card(&[("sys/block/mmcblk0/mmcblk0p1/partition", "1\n")]);
    assert_eq!(look(&machine, "/dev/mmcblk0p1").cid, look(&machine, "mmcblk0").cid);
}

#[test]
fn wrong_register_does_not_affect_others() {
    let identity = look(&card(&[("sys/block/mmcblk0/device/cid", "0353445355303447808\n")]), "mmcblk0");
    assert!(identity.cid.is_none() && identity.csd.is_some());
    assert!(claims(&identity).contains(&"register-unreadable"));
}

#[test]
fn emmc_is_recognized_without_type() {
    let registers = [
        ("sys/block/mmcblk0/device/cid", "1501004d384731474303dc0db061506f\n"),
        ("sys/block/mmcblk0/device/csd", "d02701320f5903fff6dbffef8e40400d\n"),
    ];
    for kind in ["MMC\n", ""] {
        let machine = card(&registers);
        machine.file("sys/block/mmcblk0/device/type", kind.as_bytes());
        let identity = look(&machine, "mmcblk0");
        assert_eq!(identity.emmc.as_ref().map(|emmc| emmc.pnm.as_str()), Some("M8G1GC"));
        assert!(identity.cid.is_none() && claims(&identity).contains(&"emmc"));
    }
}

#[test]
fn usb_reader_is_described_instead_of_card() {
    let machine = Recording::new(&[
        ("sys/block/sda/size", "62333952\n"),
        ("sys/block/sda/device/vendor", "Generic-\n"),
        ("sys/block/sda/device/model", "SD/MMC\n"),
        ("sys/block/sda/device/rev", "1.00\n"),
        ("sys/bus/usb/devices/1-2/idVendor", "05e3\n"),
        ("sys/bus/usb/devices/1-2/idProduct", "0749\n"),
        ("sys/bus/usb/devices/1-2/product", "USB3.0 Card Reader\n"),
        ("sys/bus/usb/devices/1-2/speed", "5000\n"),
        ("sys/bus/usb/devices/1-2/1-2:1.0/bInterfaceClass", "08\n"),
        ("sys/bus/usb/devices/1-2/1-2:1.0/bInterfaceProtocol", "62\n"),
        ("sys/bus/usb/devices/1-2/1-2:1.0/host1/target1:0:0/1:0:0:0/block/sda/size", "62333952\n"),
    ]);
    let identity = look(&machine, "/dev/sda");
    let usb = identity.usb.as_ref().unwrap();
    assert_eq!((usb.vendor_id.as_deref(), usb.speed_mbit_s, usb.hides_cid), (Some("05e3"), Some(5000), true));
    assert_eq!((usb.inquiry_model.as_deref(), usb.inquiry_rev.as_deref()), (Some("SD/MMC"), Some("1.00")));
    assert_eq!(usb.mode().as_deref(), Some("USB 5000 Mbit/s UAS"));
    assert!(identity.cid.is_none() && claims(&identity).contains(&"reader-hides-registers"));
    assert_eq!(identity.capacity_bytes, Some(31_914_983_424));
}

/// The ADATA card of the reference: limits 356 and 358 K, TMT1 354 K, TMT2 358 K, on one lane of PCIe 3.0.
fn express(answers: bool) -> Recording {
    let machine = Recording::new(&[
        ("sys/block/nvme0n1/size", "493895680\n"),
        ("sys/block/nvme0n1/device/model", "SD   71\n"),
        ("sys/block/nvme0n1/device/serial", "A1B2C3D418a\n"),
        ("sys/block/nvme0n1/device/firmware_rev", "W0926A\n"),
        ("sys/block/nvme0n1/device/address", "0000:02:00.0\n"),
        ("sys/block/nvme0n1/device/hwmon3/name", "nvme\n"),
        ("sys/block/nvme0n1/device/hwmon3/temp1_input", "41850\n"),
        ("sys/block/nvme0n1/device/hwmon3/temp1_max", "82850\n"),
        ("sys/bus/pci/devices/0000:02:00.0/current_link_speed", "8.0 GT/s PCIe\n"),
        ("sys/bus/pci/devices/0000:02:00.0/current_link_width", "1\n"),
        ("sys/bus/pci/devices/0000:02:00.0/max_link_speed", "8.0 GT/s PCIe\n"),
        ("sys/bus/pci/devices/0000:02:00.0/max_link_width", "1\n"),
    ]);
    if answers {
        let mut identify = vec![0; 4096];
        identify[0..2].copy_from_slice(&0x1cc1u16.to_le_bytes());
        identify[4..24].copy_from_slice(b"A1B2C3D418a         ");
        identify[24..64].copy_from_slice(b"SD   71                                 ");
        identify[64..72].copy_from_slice(b"W0926A  ");
        identify[266..268].copy_from_slice(&356u16.to_le_bytes());
        identify[268..270].copy_from_slice(&358u16.to_le_bytes());
        identify[280..288].copy_from_slice(&252_874_588_160u64.to_le_bytes());
        let mut smart = vec![0; 512];
        smart[1..3].copy_from_slice(&315u16.to_le_bytes());
        let place = "sys/block/nvme0n1/device";
        machine.file(&format!("{place}/identify_controller.bin"), &identify);
        machine.file(&format!("{place}/smart_log.bin"), &smart);
        machine.file("nvme0/feature_04.bin", &0x164u32.to_le_bytes());
        machine.file("nvme0/feature_10.bin", &0x0162_0166u32.to_le_bytes());
    }
    machine
}

#[test]
fn sd_express_card_is_identified_from_recording() {
    let identity = look(&express(true), "/dev/nvme0n1");
    let nvme = identity.nvme.as_ref().unwrap();
    let controller = nvme.identify.as_ref().unwrap();
    assert_eq!((controller.vid, controller.tnvmcap), (0x1cc1, 252_874_588_160));
    assert_eq!((controller.wctemp_celsius, controller.cctemp_celsius), (Some(83), Some(85)));
    assert_eq!((nvme.features.tmt1_celsius, nvme.features.tmt2_celsius), (Some(81), Some(85)));
    assert_eq!(nvme.features.tmpth_celsius, Some(83));
    assert_eq!(nvme.temperature_celsius, Some(42.0));
    let pcie = identity.pcie.as_ref().unwrap();
    assert_eq!(
        (pcie.mode().as_deref(), pcie.address.as_deref()),
        (Some("PCIe 3.0 x1"), Some("0000:02:00.0"))
    );
    assert_eq!(identity.bus_mode().as_deref(), Some("PCIe 3.0 x1"));
}

#[test]
fn sd_express_without_root_has_names_and_temperature() {
    let identity = look(&express(false), "nvme0");
    let nvme = identity.nvme.as_ref().unwrap();
    assert!(nvme.identify.is_none());
    assert_eq!((nvme.temperature_celsius, nvme.features.tmpth_kelvin), (Some(41.85), Some(356)));
    let express = nvme.sd_express.as_ref().unwrap();
    assert_eq!((express.pnm.as_str(), express.spec.as_str()), ("SD", "7.1"));
    assert_eq!((express.psn, express.mdt.as_deref()), (Some(0xa1b2_c3d4), Some("2024-10")));
    assert!(claims(&identity).contains(&"nvme-answers-missing"));
}

#[test]
fn truncated_answers_are_reported_and_rest_decoded() {
    let machine = express(true);
    machine.file("sys/block/nvme0n1/device/identify_controller.bin", &[1, 2, 3]);
    machine.file("nvme0/feature_10.bin", &[1]);
    let identity = look(&machine, "nvme0n1");
    let nvme = identity.nvme.as_ref().unwrap();
    assert!(nvme.identify.is_none() && nvme.smart.is_some());
    assert_eq!((nvme.features.tmpth_kelvin, nvme.features.tmt1_kelvin), (Some(356), None));
}

#[test]
fn empty_slot_differs_from_missing_device() {
    let machine = Recording::new(&[("sys/block/sda/size", "0\n")]);
    let identity = look(&machine, "sda");
    assert!(claims(&identity).contains(&"empty-slot") && identity.capacity_bytes.is_none());
    assert!(matches!(inspect_card(&machine.system(), "sdb"), Err(InspectError::NotFound { .. })));
    assert!(matches!(
        inspect_card(&SystemRoots::host(), "/dev/null"),
        Err(InspectError::NotABlockDevice { .. })
    ));
}

#[test]
fn missing_files_are_never_an_error() {
    let files =
        ["size", "device/type", "device/cid", "device/csd", "device/ocr", "device/preferred_erase_size"];
    for missing in files {
        let machine = card(&[]);
        std::fs::remove_file(machine.dir.path().join("sys/block/mmcblk0").join(missing)).unwrap();
        let identity = look(&machine, "mmcblk0");
        assert!(identity.capacity_bytes.is_some(), "size and CSD stand in for each other ({missing})");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn garbage_in_card_files_never_panics(
        garbage in proptest::collection::vec(any::<u8>(), 0..300),
        sd in prop::sample::select(vec!["size", "device/type", "device/cid", "device/csd", "device/scr", "device/ssr", "device/ocr", "device/erase_size"]),
        answer in prop::sample::select(vec!["identify_controller.bin", "identify_namespace.bin", "smart_log.bin", "feature_04.bin", "feature_10.bin", "model", "serial", "address", "hwmon3/temp1_input", "hwmon3/temp1_max"]),
    ) {
        let machine = card(&[]);
        machine.file(&format!("sys/block/mmcblk0/{sd}"), &garbage);
        machine.file("sys/kernel/debug/mmc0/ios", &garbage);
        prop_assert!(inspect_card(&machine.system(), "mmcblk0").is_ok());
        let machine = express(true);
        machine.file(&format!("sys/block/nvme0n1/device/{answer}"), &garbage);
        prop_assert!(inspect_card(&machine.system(), "nvme0n1").is_ok());
    }
}
