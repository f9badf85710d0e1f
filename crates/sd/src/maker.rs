//! Card makers by the MID and OID of the CID. A match is a hint, never proof.
//!
//! SD-3C LLC's list is not public. The table is collected from mmc-utils, hardinfo2, PiBenchmarks, sbc-bench, the
//! kernel's `drivers/mmc/core/card.h` and dumps of retail cards. The MID names the company that registered the
//! controller or the card's design, not the brand printed on it.

/// MID, usual OEM ids, name, note or an empty text.
type MakerRow = (u8, &'static [u16], &'static str, &'static str);

/// Company behind a MID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardMaker {
    pub name: &'static str,
    /// Conflict between sources, or others that share the MID.
    pub note: Option<&'static str>,
    pub oid_fit: OidFit,
    /// OEM ids of genuine cards with this MID.
    pub usual_oids: &'static [u16],
}

/// Fit of an OEM id to a MID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OidFit {
    /// Genuine cards carry this pair.
    Usual,
    /// Genuine cards with this MID carry other OEM ids.
    Unusual,
    /// No OEM id is listed for the MID.
    Unlisted,
}

/// MIDs that no company registered. Many counterfeits carry them, and some genuine budget cards.
pub const UNREGISTERED: [u8; 5] = [0x00, 0xdf, 0xf1, 0xff, 0xfe];

/// Maker's name for unregistered MIDs.
pub const NO_MAKER: &str = "no registered maker";

static MAKERS: &[MakerRow] = &[
    (
        0x00,
        &[0x3432, 0x0000, 0x3030, 0x2020],
        NO_MAKER,
        "cheap rebrands, some honest (Gigastone, Patriot), and counterfeits",
    ),
    (0x01, &[0x5041], "Panasonic", ""),
    (0x02, &[0x544d], "Toshiba / Kioxia", "older cards of Kingston, Viking, PQI and Kodak carry it too"),
    (0x03, &[0x5344, 0x5054, 0x5744], "SanDisk / Western Digital", ""),
    (0x04, &[], "SanDisk", "one source only"),
    (0x06, &[], "Ritek", "one source only"),
    (0x08, &[], "Silicon Power", ""),
    (0x09, &[0x4150], "ATP", ""),
    (0x11, &[], "Toshiba", "the number of its eMMCs"),
    (0x12, &[0x3456, 0x5678], "placeholder 12 34 56", "Gigastone ships it; also on counterfeits"),
    (0x13, &[], "Micron", "another list says KingMax"),
    (0x15, &[], "Samsung", "the number of its eMMCs"),
    (0x18, &[], "Infineon", ""),
    (0x19, &[], "Dynacard", "one source only"),
    (0x1a, &[], "PQI", "one source only"),
    (0x1b, &[0x534d], "Samsung", "mmc-utils says Transcend or Samsung"),
    (0x1c, &[], "Transcend", ""),
    (0x1d, &[0x4144], "ADATA", "mmc-utils says Corsair or ADATA"),
    (0x1e, &[], "Transcend", ""),
    (0x1f, &[], "Kingston", ""),
    (
        0x27,
        &[0x5048],
        "Phison",
        "the controller inside many brands: Delkin, HP, Integral, Intenso, PNY, Goodram, older Lexar and Kingston; the kernel calls it Apacer",
    ),
    (0x28, &[0x4245], "Lexar", "also PNY and ProGrade; another list says Barun"),
    (0x30, &[], "SanDisk", ""),
    (0x31, &[0x5350], "Silicon Power", ""),
    (0x33, &[], "STMicroelectronics", ""),
    (0x41, &[0x3432], "Kingston", ""),
    (0x45, &[0x2d42], "Team Group", "the kernel knows it as a SanDisk eMMC"),
    (0x51, &[], "STEC", "one source only"),
    (0x5d, &[0x5342], "Swissbit", ""),
    (0x61, &[], "Netkust", "one source only"),
    (0x63, &[], "Cactus", "one source only"),
    (0x64, &[0x5043], "unknown, seen on one Kodak card", "one source only"),
    (
        0x6f,
        &[0x0013, 0x0303],
        "STMicroelectronics or STEC",
        "sources disagree; seen on Hiksemi, HP, Kodak, Lenovo, Netac",
    ),
    (0x70, &[], "Kingston", "the number of its eMMCs"),
    (0x73, &[0x4247], "Hama, Fugi or V-Gen", ""),
    (0x74, &[0x4a45, 0x4a60], "Transcend", "also PNY and Gigastone"),
    (0x76, &[], "Patriot", ""),
    (0x82, &[0x4a54], "Sony or Gobe", "another list says Jiang Tay"),
    (0x83, &[], "Netcom", ""),
    (0x84, &[0x5446], "Strontium", ""),
    (0x89, &[0x0303], "unknown", "seen on Netac and Team"),
    (0x90, &[], "Hynix", "the number of its eMMCs"),
    (0x92, &[], "Sony", "one source only"),
    (0x9c, &[0x4245, 0x534f], "Angelbird, Hoodman or Barun", "one source says Sony"),
    (0x9e, &[], "PNY or Lexar", "sources disagree"),
    (
        0x9f,
        &[0x5449],
        "shared OEM number",
        "Kingston Canvas, Kodak, Silicon Power, Amazon and Gigastone; one source says Texas Instruments",
    ),
    (0xad, &[0x4c53], "Longsys", "Amazon Basics, newer Lexar, Raspberry Pi cards"),
    (0xc9, &[0x4d60], "Lexar", "one source only"),
    (0xdf, &[], NO_MAKER, "a pattern of counterfeits"),
    (0xf1, &[], NO_MAKER, "a pattern of counterfeits"),
    (0xfe, &[0x3432, 0x3456], NO_MAKER, "budget cards; Micron or Numonyx on eMMCs"),
    (0xff, &[], NO_MAKER, "a pattern of counterfeits; one source says Netac"),
];

/// Narrower names where the OEM id decides between companies that share a MID.
static NARROWED_MAKERS: &[(u8, u16, &str)] = &[
    (0x03, 0x5744, "Western Digital"),
    (0x12, 0x3456, "Gigastone, or nobody: a placeholder"),
    (0x28, 0x4245, "Lexar"),
    (0x9c, 0x534f, "Angelbird or Hoodman"),
    (0x9c, 0x4245, "Barun, Angelbird or Hoodman"),
];

/// Returns the maker of a MID, narrowed by the OEM id, or None for an unlisted MID.
pub fn find_maker(mid: u8, oid: u16) -> Option<CardMaker> {
    let (_, usual_oids, name, note) = *MAKERS.iter().find(|row| row.0 == mid)?;
    let narrowed = NARROWED_MAKERS.iter().find(|(m, o, _)| (*m, *o) == (mid, oid));
    let oid_fit = match usual_oids {
        [] => OidFit::Unlisted,
        oids if oids.contains(&oid) => OidFit::Usual,
        _ => OidFit::Unusual,
    };
    let note = Some(note).filter(|note| !note.is_empty());
    Some(CardMaker { name: narrowed.map_or(name, |row| row.2), note, oid_fit, usual_oids })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_are_sorted_and_unique() {
        assert!(MAKERS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn maker_lookup_classifies_oem_ids() {
        let sandisk = find_maker(0x03, 0x5344).unwrap();
        assert_eq!((sandisk.name, sandisk.oid_fit), ("SanDisk / Western Digital", OidFit::Usual));
        assert_eq!(find_maker(0x03, 0x8368).map(|m| m.oid_fit), Some(OidFit::Unusual));
        assert_eq!(find_maker(0x1c, 0x1234).map(|m| m.oid_fit), Some(OidFit::Unlisted));
        assert_eq!(find_maker(0x03, 0x5744).map(|m| m.name), Some("Western Digital"));
        assert_eq!(find_maker(0x77, 0x5344), None);
    }

    #[test]
    fn mid_ad_is_longsys_not_counterfeit() {
        assert_eq!(find_maker(0xad, 0x4c53).map(|m| (m.name, m.oid_fit)), Some(("Longsys", OidFit::Usual)));
    }

    #[test]
    fn disputed_and_unregistered_mids_have_notes() {
        assert!(find_maker(0x27, 0x5048).unwrap().note.unwrap().contains("Apacer"));
        assert!(UNREGISTERED.iter().all(|mid| find_maker(*mid, 0).is_some()));
    }
}
