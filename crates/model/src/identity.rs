//! Everything a card and its host say about the card: the document of `decode` and `info`.
//!
//! Plain data. Crate `device` fills it from sysfs and ioctls, [`from_hex`] from pasted registers;
//! [`crate::judge`] looks for contradictions in it.

use crate::capacity::{CapacityFactors, CapacityView, factor};
use crate::finding::Finding;
use crate::present_layout::{AllocationUnit, PresentLayout};
use crate::usb::UsbReader;
use cardscope_sd::bus::{MmcBus, PcieLink};
use cardscope_sd::health::CardHealth;
use cardscope_sd::mark::{Mark, SpeedDemand};
use cardscope_sd::nvme::NvmeIdentity;
use cardscope_sd::registers::{Cid, Csd, EmmcCid, Ocr, RegisterError, Scr, Ssr, crc7};
use serde::{Deserialize, Serialize};

/// What a card says of itself, and where it sits. Unknown parts are `None`, `null` in JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Maker, name, serial, date.
    pub cid: Option<Cid>,
    /// Capacity and commands.
    pub csd: Option<Csd>,
    /// Version of the specification.
    pub scr: Option<Scr>,
    /// Speed classes and allocation units.
    pub ssr: Option<Ssr>,
    /// Voltages.
    pub ocr: Option<Ocr>,
    /// Wear as the card counts it, where its maker's page was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub health: Option<CardHealth>,
    /// CID of an eMMC, which is no card.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub emmc: Option<EmmcCid>,
    /// User area in bytes: as the host sees it, else as the CSD announces it.
    pub capacity_bytes: Option<u64>,
    /// The same in GB and GiB, and the size on the label.
    pub capacity: Option<CapacityView>,
    /// The same as a power of two and an odd rest, and what that says.
    pub factors: Option<CapacityFactors>,
    /// Marks that the card claims, the highest of each letter.
    pub marks: Vec<Mark>,
    /// What each of them demands.
    pub mark_demands: Vec<SpeedDemand>,
    /// The SD bus.
    pub mmc: Option<MmcBus>,
    /// The USB reader.
    pub usb: Option<UsbReader>,
    /// The PCIe link.
    pub pcie: Option<PcieLink>,
    /// NVMe's own description.
    pub nvme: Option<NvmeIdentity>,
    /// The partitions and file systems that stand on it, and whether they begin where they should.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub layout: Option<PresentLayout>,
    /// Contradictions and remarks.
    pub findings: Vec<Finding>,
}

/// One unit of a card model, as it names itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitName {
    /// Who made it, where known.
    pub maker: Option<String>,
    /// The model.
    pub model: String,
    /// Serial number, where it has one.
    pub serial: Option<String>,
    /// Everything that tells this unit from others.
    pub unique: String,
}

/// Registers as text. What is not given stays unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HexRegisters<'a> {
    /// 32 hex digits.
    pub cid: Option<&'a str>,
    /// 32 hex digits.
    pub csd: Option<&'a str>,
    /// 16 hex digits.
    pub scr: Option<&'a str>,
    /// 128 hex digits.
    pub ssr: Option<&'a str>,
    /// 8 hex digits.
    pub ocr: Option<&'a str>,
    /// sysfs `type`; with `MMC` the CID is decoded as an eMMC's, and the CSD is left alone.
    pub kind: Option<&'a str>,
}

/// Decodes pasted registers; findings are left to [`Identity::judged`], which needs today's date.
///
/// # Errors
/// If a text is not the register it was given for; the error names the register.
pub fn from_hex(registers: HexRegisters<'_>) -> Result<Identity, RegisterError> {
    let mut identity = Identity::default();
    if registers.kind.is_some_and(|kind| kind.trim() == "MMC") {
        identity.emmc = registers.cid.map(EmmcCid::from_hex).transpose()?;
        return Ok(identity);
    }
    // The CSD first: it alone tells an eMMC, whose CID would decode to nonsense.
    identity.csd = registers.csd.map(Csd::from_hex).transpose()?;
    identity.cid = registers.cid.map(Cid::from_hex).transpose()?;
    identity.scr = registers.scr.map(Scr::from_hex).transpose()?;
    identity.ssr = registers.ssr.map(Ssr::from_hex).transpose()?;
    identity.ocr = registers.ocr.map(Ocr::from_hex).transpose()?;
    identity.complete();
    Ok(identity)
}

impl Identity {
    /// Derives what follows from the registers: CRCs judged together, capacity, its factors, marks.
    /// A capacity that the host has already told is kept. Call it again after a part was added.
    pub fn complete(&mut self) {
        if let (Some(cid), Some(csd)) = (&mut self.cid, &mut self.csd) {
            crc7::settle((&cid.raw.0, &mut cid.crc), (&csd.raw.0, &mut csd.crc));
        }
        self.capacity_bytes = self.capacity_bytes.or_else(|| self.announced_bytes());
        self.capacity = self.capacity_bytes.map(CapacityView::new);
        self.factors = self.capacity_bytes.and_then(factor);
        self.marks = self.claimed_marks();
        self.mark_demands = self.marks.iter().map(|mark| mark.demand().clone()).collect();
    }

    fn announced_bytes(&self) -> Option<u64> {
        let csd = self.csd.as_ref().and_then(|csd| csd.capacity_bytes);
        csd.or_else(|| {
            let nvme = self.nvme.as_ref()?;
            let namespace = nvme.namespace.as_ref().and_then(|n| n.size_bytes);
            namespace.or_else(|| nvme.identify.as_ref().map(|i| i.tnvmcap)).filter(|bytes| *bytes > 0)
        })
    }

    fn claimed_marks(&self) -> Vec<Mark> {
        let mut marks = self.ssr.as_ref().map(Mark::claimed_by).unwrap_or_default();
        marks.extend(self.nvme.as_ref().and_then(|nvme| nvme.express_area.as_ref()).map(|area| area.class));
        marks
    }

    /// How this unit can be known again: by its CID, or by model and serial of NVMe. `None` where a reader hides
    /// both, or they are blank: then all cards of the kind say the same.
    pub fn unit(&self) -> Option<UnitName> {
        if let Some(cid) = self.cid.as_ref().filter(|cid| !blank(&cid.raw.to_string())) {
            let (maker, model) = (cid.maker.clone(), cid.pnm.clone());
            return Some(UnitName {
                maker,
                model,
                serial: Some(cid.psn_hex.clone()),
                unique: cid.raw.to_string(),
            });
        }
        let identify = self.nvme.as_ref()?.identify.as_ref()?;
        let (model, serial) = (identify.mn.trim().to_owned(), identify.sn.trim().to_owned());
        if blank(&serial) {
            return None;
        }
        let unique = format!("{} {model} {serial}", identify.vid_hex);
        Some(UnitName { maker: None, model, serial: Some(serial), unique })
    }

    /// The allocation unit that the card states: the larger of the two in its SSR, else what the kernel made of it.
    pub fn allocation_unit(&self) -> Option<AllocationUnit> {
        let ssr = self.ssr.as_ref();
        let stated =
            ssr.and_then(|ssr| ssr.au_size_bytes.max(ssr.uhs_au_size_bytes)).filter(|bytes| *bytes > 0);
        stated.map(|bytes| AllocationUnit { bytes, source: "allocation unit in the card's SSR" }).or_else(
            || {
                // 4 MiB is what the kernel says where the card says nothing.
                let kernel = self.mmc.as_ref()?.preferred_erase_size?;
                let bytes = Some(kernel).filter(|bytes| ![0, 4 << 20].contains(bytes))?;
                Some(AllocationUnit { bytes, source: "preferred_erase_size of the kernel" })
            },
        )
    }

    /// What the bus between host and card or reader carries, in MB/s (10^6).
    pub fn ceiling_mb_s(&self) -> Option<f64> {
        let mmc = self.mmc.as_ref().and_then(|mmc| mmc.ceiling_mb_s);
        let pcie = || self.pcie.as_ref().and_then(|pcie| pcie.ceiling_mb_s);
        let usb = || self.usb.as_ref().and_then(|usb| usb.ceiling_mb_s);
        mmc.or_else(pcie).or_else(usb)
    }

    /// The bus's mode: `SDR104`, `PCIe 3.0 x1`, `USB 5000 Mbit/s UAS`.
    pub fn bus_mode(&self) -> Option<String> {
        let mmc = self.mmc.as_ref().and_then(|mmc| mmc.mode.clone());
        let pcie = || self.pcie.as_ref().and_then(PcieLink::mode);
        let usb = || self.usb.as_ref().and_then(UsbReader::mode);
        mmc.or_else(pcie).or_else(usb)
    }
}

/// Whether a register or serial number holds nothing but zeros or ones.
fn blank(text: &str) -> bool {
    ['0', 'f'].iter().any(|digit| text.chars().all(|c| c.eq_ignore_ascii_case(digit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_sd::registers::HexFault;

    #[test]
    fn a_blank_register_names_no_card() {
        let named = |cid: &str| {
            let cid = Cid::from_hex(cid).ok();
            Identity { cid, ..Identity::default() }.unit().map(|unit| unit.unique)
        };
        assert_eq!(named(CID).as_deref(), Some(CID));
        assert_eq!((named(&"0".repeat(32)), named(&"f".repeat(32))), (None, None));
        assert!(blank("") && blank("0000") && !blank("0001"));
    }

    const CID: &str = "035344535530344780811ea6ab00b37f";
    const CSD: &str = "400e00325b5900001d8a7f800a4040b9";

    #[test]
    fn registers_that_were_not_given_are_null() {
        let identity = from_hex(HexRegisters { cid: Some(CID), ..HexRegisters::default() }).unwrap();
        let json = serde_json::to_value(&identity).unwrap();
        for key in ["csd", "scr", "ssr", "ocr", "capacity_bytes", "capacity", "mmc", "usb", "pcie", "nvme"] {
            assert!(json.get(key).is_some_and(serde_json::Value::is_null), "{key}");
        }
        assert_eq!(json["cid"]["raw"], CID);
    }

    #[test]
    fn the_register_that_failed_is_named() {
        let failed = |registers| from_hex(registers).unwrap_err().register;
        assert_eq!(failed(HexRegisters { cid: Some("12"), ..HexRegisters::default() }), "CID");
        assert_eq!(failed(HexRegisters { ssr: Some(CID), ..HexRegisters::default() }), "SSR");
        let cid_and_ocr = HexRegisters { cid: Some(CID), ocr: Some("zz"), ..HexRegisters::default() };
        assert_eq!(failed(cid_and_ocr), "OCR");
    }

    #[test]
    fn an_emmc_is_told_apart_by_its_type_and_refused_by_its_csd() {
        let (cid, csd) = (Some("1501004d384731474303dc0db061506f"), Some("d02701320f5903fff6dbffef8e40400d"));
        let told =
            from_hex(HexRegisters { cid, csd, kind: Some("MMC\n"), ..HexRegisters::default() }).unwrap();
        assert_eq!((told.emmc.map(|emmc| emmc.pnm), told.cid), (Some("M8G1GC".to_owned()), None));
        let refused = from_hex(HexRegisters { cid, csd, ..HexRegisters::default() });
        assert_eq!(refused, Err(RegisterError { register: "CSD", fault: HexFault::Emmc }));
    }

    #[test]
    fn capacity_comes_from_the_csd_unless_the_host_told_one() {
        let mut identity = from_hex(HexRegisters { csd: Some(CSD), ..HexRegisters::default() }).unwrap();
        assert_eq!(identity.capacity_bytes, Some(3_965_190_144));
        identity.capacity_bytes = Some(1 << 30);
        identity.complete();
        assert_eq!(identity.capacity.map(|view| view.bytes), Some(1 << 30));
    }

    #[test]
    fn the_nearest_bus_decides_the_ceiling() {
        let bus = |identity: &Identity| (identity.ceiling_mb_s(), identity.bus_mode());
        let mut identity = Identity::default();
        assert_eq!(bus(&identity), (None, None));
        let mut usb = UsbReader::default();
        usb.set_speed("480");
        identity.usb = Some(usb);
        assert_eq!(bus(&identity), (Some(53.248), Some("USB 480 Mbit/s".into())));
        identity.mmc = MmcBus::from_kernel_line("mmc0: new high speed SDHC card at address b368");
        assert_eq!(bus(&identity), (Some(25.0), Some("High Speed".into())));
    }

    proptest::proptest! {
        #[test]
        fn no_pasted_text_panics(cid in "[0-9a-fx: ]{0,40}", csd in "[0-9a-f]{32}", scr in "[0-9a-f]{16}", ssr in "[0-9a-f]{128}", ocr in "[0-9a-f]{8}") {
            let registers = HexRegisters { cid: Some(&cid), csd: Some(&csd), scr: Some(&scr), ssr: Some(&ssr), ocr: Some(&ocr), kind: None };
            let _ = from_hex(registers).map(|identity| identity.judged((2026, 1)));
        }
        #[test]
        fn any_identity_survives_json(cid in "[0-9a-f]{32}", csd in "[0-9ab][0-9a-f]{31}", scr in "[0-9a-f]{16}", ssr in "[0-9a-f]{128}") {
            let registers = HexRegisters { cid: Some(&cid), csd: Some(&csd), scr: Some(&scr), ssr: Some(&ssr), ..HexRegisters::default() };
            let identity = from_hex(registers).unwrap().judged((2026, 1));
            let json = serde_json::to_string(&identity).unwrap();
            let back: Identity = serde_json::from_str(&json).unwrap();
            proptest::prop_assert_eq!((back.cid, back.csd, back.scr, back.ssr), (identity.cid, identity.csd, identity.scr, identity.ssr));
        }
    }
}
