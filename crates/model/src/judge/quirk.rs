//! Faults of single models that the kernel works around.
//!
//! Kernel: drivers/mmc/core/quirks.h, `mmc_sd_fixups`, each row keyed on MID, OID, name and date as here.

use super::hint::note;
use crate::finding::Finding;
use crate::identity::Identity;
use cardscope_sd::registers::Cid;

/// A row of the kernel's table; no name or date fits all.
struct Quirk {
    mid: u8,
    oid: u16,
    name: Option<&'static str>,
    date: Option<(u16, u8)>,
    text: &'static str,
}

static QUIRKS: [Quirk; 4] = [
    Quirk {
        mid: 0x9f,
        oid: 0x5449,
        name: Some("SD64G"),
        date: Some((2019, 11)),
        text: "Kingston Canvas Go Plus of this date: flushing its cache is broken, the kernel leaves the cache off",
    },
    Quirk {
        mid: 0x12,
        oid: 0x3456,
        name: Some("ASTC"),
        date: Some((2022, 2)),
        text: "Gigastone of this date: cache and power-off notice are broken, the kernel uses neither",
    },
    Quirk {
        mid: 0x5d,
        oid: 0x5342,
        name: Some("0016G"),
        date: Some((2019, 1)),
        text: "Swissbit of this date: tuning fails in DDR50, the kernel leaves it out",
    },
    Quirk {
        mid: 0x03,
        oid: 0x5344,
        name: None,
        date: None,
        text: "SanDisk: the DISCARD form of erase is broken, the kernel erases instead, so trimming is slower",
    },
];

impl Quirk {
    fn fits(&self, cid: &Cid) -> bool {
        (self.mid, self.oid) == (cid.mid, cid.oid_number())
            && self.name.is_none_or(|name| name == cid.pnm)
            && self.date.is_none_or(|date| date == (cid.mdt_year, cid.mdt_month))
    }
}

/// Names the workaround that fits the card.
pub(super) fn judge(identity: &Identity, findings: &mut Vec<Finding>) {
    let Some(cid) = &identity.cid else { return };
    findings.extend(QUIRKS.iter().filter(|quirk| quirk.fits(cid)).map(|quirk| {
        note("kernel-quirk", format!("Linux works around a fault of this model: {}", quirk.text))
            .because("mid/oid", format!("{}/{}", cid.mid_hex, cid.oid_hex))
            .because("pnm", &cid.pnm)
            .because("mdt", &cid.mdt)
    }));
}
