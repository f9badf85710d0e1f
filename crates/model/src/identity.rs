//! Document of `decode` and `info`: registers of a card, and data of its host about it.
//!
//! Plain data. Crate `device` fills it from sysfs and ioctls, [`from_hex`] from pasted registers, and
//! [`crate::register_checks`] adds findings about contradictions.

use crate::capacity::{CapacityFactors, CapacityView, factor_capacity};
use crate::finding::Finding;
use crate::present_layout::{AllocationUnit, PresentLayout};
use crate::usb::UsbReader;
use cardscope_sd::bus::{MmcBus, PcieLink};
use cardscope_sd::health::CardHealth;
use cardscope_sd::mark::{Mark, SpeedDemand};
use cardscope_sd::nvme::NvmeIdentity;
use cardscope_sd::registers::{Cid, Csd, EmmcCid, Ocr, RegisterError, Scr, Ssr, crc7};
use serde::{Deserialize, Serialize};

/// Identity of a card and its connection. Unknown parts are `None`, `null` in JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    pub cid: Option<Cid>,
    pub csd: Option<Csd>,
    pub scr: Option<Scr>,
    pub ssr: Option<Ssr>,
    pub ocr: Option<Ocr>,
    /// Wear counters, if the maker's health page was requested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub health: Option<CardHealth>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub emmc: Option<EmmcCid>,
    /// User area in bytes: according to the host, else to the CSD.
    pub capacity_bytes: Option<u64>,
    pub capacity: Option<CapacityView>,
    pub factors: Option<CapacityFactors>,
    pub marks: Vec<Mark>,
    pub mark_demands: Vec<SpeedDemand>,
    pub mmc: Option<MmcBus>,
    pub usb: Option<UsbReader>,
    pub pcie: Option<PcieLink>,
    pub nvme: Option<NvmeIdentity>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub layout: Option<PresentLayout>,
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitName {
    pub maker: Option<String>,
    pub model: String,
    pub serial: Option<String>,
    /// Text that identifies the unit.
    pub unique: String,
}

/// Registers as pasted hex text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HexRegisters<'a> {
    pub cid: Option<&'a str>,
    pub csd: Option<&'a str>,
    pub scr: Option<&'a str>,
    pub ssr: Option<&'a str>,
    pub ocr: Option<&'a str>,
    /// sysfs `type`. With `MMC` the CID is decoded as an eMMC's and the CSD is ignored.
    pub kind: Option<&'a str>,
}

/// Decodes pasted registers. Findings need today's date and are added by [`Identity::judged`].
///
/// # Errors
/// If a text is not the expected register, which the error names.
pub fn from_hex(registers: HexRegisters<'_>) -> Result<Identity, RegisterError> {
    let mut identity = Identity::default();
    if registers.kind.is_some_and(|kind| kind.trim() == "MMC") {
        identity.emmc = registers.cid.map(EmmcCid::from_hex).transpose()?;
        return Ok(identity);
    }
    // The CSD comes first, because only it identifies an eMMC, whose CID would decode to nonsense.
    identity.csd = registers.csd.map(Csd::from_hex).transpose()?;
    identity.cid = registers.cid.map(Cid::from_hex).transpose()?;
    identity.scr = registers.scr.map(Scr::from_hex).transpose()?;
    identity.ssr = registers.ssr.map(Ssr::from_hex).transpose()?;
    identity.ocr = registers.ocr.map(Ocr::from_hex).transpose()?;
    identity.derive_fields();
    Ok(identity)
}

impl Identity {
    /// Derives CRC status, capacity, factors and marks from the registers. Keeps a capacity reported by the host.
    /// Must be called again after parts are added.
    pub fn derive_fields(&mut self) {
        if let (Some(cid), Some(csd)) = (&mut self.cid, &mut self.csd) {
            crc7::clear_shared_mismatch((&cid.raw.0, &mut cid.crc), (&csd.raw.0, &mut csd.crc));
        }
        self.capacity_bytes = self.capacity_bytes.or_else(|| self.announced_bytes());
        self.capacity = self.capacity_bytes.map(CapacityView::new);
        self.factors = self.capacity_bytes.and_then(factor_capacity);
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
        let mut marks = self.ssr.as_ref().map(Mark::claimed_in_ssr).unwrap_or_default();
        marks.extend(self.nvme.as_ref().and_then(|nvme| nvme.express_area.as_ref()).map(|area| area.class));
        marks
    }

    /// Returns the unit's name from its CID, or from model and serial of NVMe. None if a reader hides both or they
    /// are blank, since all cards of that kind are alike then.
    pub fn unit_name(&self) -> Option<UnitName> {
        if let Some(cid) = self.cid.as_ref().filter(|cid| !is_blank_text(&cid.raw.to_string())) {
            let (maker, model, serial) = (cid.maker.clone(), cid.pnm.clone(), Some(cid.psn_hex.clone()));
            return Some(UnitName { maker, model, serial, unique: cid.raw.to_string() });
        }
        let identify = self.nvme.as_ref()?.identify.as_ref()?;
        let (model, serial) = (identify.mn.trim().to_owned(), identify.sn.trim().to_owned());
        if is_blank_text(&serial) {
            return None;
        }
        let unique = format!("{} {model} {serial}", identify.vid_hex);
        Some(UnitName { maker: None, model, serial: Some(serial), unique })
    }

    /// Returns the allocation unit: the larger one in the SSR, else the kernel's value.
    pub fn allocation_unit(&self) -> Option<AllocationUnit> {
        let stated = self.ssr.as_ref().and_then(|ssr| ssr.au_size_bytes.max(ssr.uhs_au_size_bytes));
        if let Some(bytes) = stated.filter(|bytes| *bytes > 0) {
            return Some(AllocationUnit { bytes, source: "allocation unit in the card's SSR" });
        }
        // 4 MiB is what the kernel says where the card says nothing.
        let kernel = self.mmc.as_ref()?.preferred_erase_size;
        let bytes = kernel.filter(|bytes| ![0, 4 << 20].contains(bytes))?;
        Some(AllocationUnit { bytes, source: "preferred_erase_size of the kernel" })
    }

    /// Returns the line rate of the bus between host and card or reader, in MB/s (10^6).
    pub fn ceiling_mb_s(&self) -> Option<f64> {
        let mmc = self.mmc.as_ref().and_then(|mmc| mmc.ceiling_mb_s);
        let pcie = || self.pcie.as_ref().and_then(|pcie| pcie.ceiling_mb_s);
        let usb = || self.usb.as_ref().and_then(|usb| usb.ceiling_mb_s);
        mmc.or_else(pcie).or_else(usb)
    }

    pub fn bus_mode(&self) -> Option<String> {
        let mmc = self.mmc.as_ref().and_then(|mmc| mmc.mode.clone());
        let pcie = || self.pcie.as_ref().and_then(PcieLink::mode);
        let usb = || self.usb.as_ref().and_then(UsbReader::mode);
        mmc.or_else(pcie).or_else(usb)
    }
}

fn is_blank_text(text: &str) -> bool {
    ['0', 'f'].iter().any(|digit| text.chars().all(|c| c.eq_ignore_ascii_case(digit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_sd::registers::HexFault;

    #[test]
    fn blank_cid_gives_no_unit_name() {
        let named = |cid: &str| {
            let cid = Cid::from_hex(cid).ok();
            Identity { cid, ..Identity::default() }.unit_name().map(|unit| unit.unique)
        };
        assert_eq!(named(CID).as_deref(), Some(CID));
        assert_eq!((named(&"0".repeat(32)), named(&"f".repeat(32))), (None, None));
        assert!(is_blank_text("") && is_blank_text("0000") && !is_blank_text("0001"));
    }

    const CID: &str = "035344535530344780811ea6ab00b37f";
    const CSD: &str = "400e00325b5900001d8a7f800a4040b9";

    #[test]
    fn absent_registers_are_null_in_json() {
        let identity = from_hex(HexRegisters { cid: Some(CID), ..HexRegisters::default() }).unwrap();
        let json = serde_json::to_value(&identity).unwrap();
        for key in ["csd", "scr", "ssr", "ocr", "capacity_bytes", "capacity", "mmc", "usb", "pcie", "nvme"] {
            assert!(json.get(key).is_some_and(serde_json::Value::is_null), "{key}");
        }
        assert_eq!(json["cid"]["raw"], CID);
    }

    #[test]
    fn register_error_names_the_register() {
        let failed = |registers| from_hex(registers).unwrap_err().register;
        assert_eq!(failed(HexRegisters { cid: Some("12"), ..HexRegisters::default() }), "CID");
        assert_eq!(failed(HexRegisters { ssr: Some(CID), ..HexRegisters::default() }), "SSR");
        let cid_and_ocr = HexRegisters { cid: Some(CID), ocr: Some("zz"), ..HexRegisters::default() };
        assert_eq!(failed(cid_and_ocr), "OCR");
    }

    #[test]
    fn emmc_is_decoded_by_type_and_refused_by_csd() {
        let (cid, csd) = (Some("1501004d384731474303dc0db061506f"), Some("d02701320f5903fff6dbffef8e40400d"));
        let told =
            from_hex(HexRegisters { cid, csd, kind: Some("MMC\n"), ..HexRegisters::default() }).unwrap();
        assert_eq!((told.emmc.map(|emmc| emmc.pnm), told.cid), (Some("M8G1GC".to_owned()), None));
        let refused = from_hex(HexRegisters { cid, csd, ..HexRegisters::default() });
        assert_eq!(refused, Err(RegisterError { register: "CSD", fault: HexFault::Emmc }));
    }

    #[test]
    fn host_capacity_takes_precedence_over_csd() {
        let mut identity = from_hex(HexRegisters { csd: Some(CSD), ..HexRegisters::default() }).unwrap();
        assert_eq!(identity.capacity_bytes, Some(3_965_190_144));
        identity.capacity_bytes = Some(1 << 30);
        identity.derive_fields();
        assert_eq!(identity.capacity.map(|view| view.bytes), Some(1 << 30));
    }

    #[test]
    fn sd_bus_ceiling_takes_precedence_over_usb() {
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
        fn register_decoder_never_panics(cid in "[0-9a-fx: ]{0,40}", csd in "[0-9a-f]{32}", scr in "[0-9a-f]{16}", ssr in "[0-9a-f]{128}", ocr in "[0-9a-f]{8}") {
            let registers = HexRegisters { cid: Some(&cid), csd: Some(&csd), scr: Some(&scr), ssr: Some(&ssr), ocr: Some(&ocr), kind: None };
            let _ = from_hex(registers).map(|identity| identity.judged((2026, 1)));
        }
        #[test]
        fn identity_round_trips_json(cid in "[0-9a-f]{32}", csd in "[0-9ab][0-9a-f]{31}", scr in "[0-9a-f]{16}", ssr in "[0-9a-f]{128}") {
            let registers = HexRegisters { cid: Some(&cid), csd: Some(&csd), scr: Some(&scr), ssr: Some(&ssr), ..HexRegisters::default() };
            let identity = from_hex(registers).unwrap().judged((2026, 1));
            let json = serde_json::to_string(&identity).unwrap();
            let back: Identity = serde_json::from_str(&json).unwrap();
            proptest::prop_assert_eq!((back.cid, back.csd, back.scr, back.ssr), (identity.cid, identity.csd, identity.scr, identity.ssr));
        }
    }
}
