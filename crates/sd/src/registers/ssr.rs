//! SSR, the SD status register: speed classes, allocation units, erase times, optional features.
//!
//! Physical Layer Specification 4.10.2, Table 4-44 and the tables it names. Linux reads the SSR before it widens the
//! bus, so DAT_BUS_WIDTH often reports one line on a card that uses four.

use super::hex::from_hex;
use super::raw::{BlankRegister, RawRegister, text_of_code};
use super::{Csd, CsdFamily};
use serde::{Deserialize, Serialize};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// AU_SIZE and UHS_AU_SIZE in KiB by code; not all are powers of two. Table 4-47.
const AU_KIB: [u64; 16] =
    [0, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 12_288, 16_384, 24_576, 32_768, 65_536];

/// Lowest valid code of UHS_AU_SIZE, 1 MiB.
const UHS_AU_FROM: u8 = 7;

const SPEED_CLASS: [u8; 5] = [0, 2, 4, 6, 10];

const CARD_TYPES: [&str; 3] = ["read/write", "ROM", "one-time programmable"];

/// Speed unit in MiB, and the values of VSC_AU_SIZE in MiB that it belongs to. Table 4-56.
const SPEED_UNITS: [(u64, &[u16]); 4] = [
    (7, &[21, 28, 42]),
    (
        8,
        &[
            8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 120, 128, 144, 160, 192, 216, 224, 240, 256, 288,
            320, 384, 432, 448, 480, 512,
        ],
    ),
    (9, &[27, 36, 45, 54]),
    (10, &[30, 60]),
];

decoded! {
    /// Decoded SSR.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Ssr {
        raw: RawRegister<64> = raw, "The 64 bytes.";
        dat_bus_width: Option<u8> = [Some(1), None, Some(4), None][usize::from(byte(511, 510))], "Data lines in use.";
        secured_mode: bool = raw.bit(509), "The card is in secured mode.";
        sd_card_type: u16 = raw.bits(495, 480) as u16, "Kind of card, code.";
        sd_card_type_text: Option<String> = text_of_code(&CARD_TYPES, sd_card_type), "`None` for reserved codes.";
        size_of_protected_area: u32 = raw.bits(479, 448) as u32, "Bytes, but on SDSC blocks of the card's own size.";
        speed_class: Option<u8> = SPEED_CLASS.get(usize::from(byte(447, 440))).copied(), "`None` for reserved codes.";
        performance_move: u8 = byte(439, 432), "MB/s; 0: sequential writes only, 255: moves cost nothing.";
        performance_move_text: String = performance_move_text(performance_move), "The same in words.";
        au_size: u8 = byte(431, 428), "Allocation unit, code.";
        au_size_bytes: Option<u64> = au_bytes(au_size), "Allocation unit in bytes; `None` where not defined.";
        erase_size: u16 = raw.bits(423, 408) as u16, "AUs erased at a time in ERASE_TIMEOUT; 0: no data.";
        erase_timeout: u8 = byte(407, 402), "Time for ERASE_SIZE AUs in s.";
        erase_offset: u8 = byte(401, 400), "Fixed part of an erase in s.";
        uhs_speed_grade: u8 = byte(399, 396), "UHS speed grade: 0, 1 or 3.";
        uhs_au_size: u8 = byte(395, 392), "Allocation unit in UHS modes, code.";
        uhs_au_size_bytes: Option<u64> = au_bytes(uhs_au_size).filter(|_| uhs_au_size >= UHS_AU_FROM);
        video_speed_class: u8 = byte(391, 384), "Video speed class as printed: 0, 6, 10, 30, 60, 90.";
        vsc_au_size: u16 = raw.bits(377, 368) as u16, "Allocation unit of the video classes in MiB; 0: none.";
        vsc_au_size_bytes: Option<u64> = (vsc_au_size > 0).then(|| u64::from(vsc_au_size) * MIB);
        su_size_bytes: Option<u64> = speed_unit_bytes(vsc_au_size), "Range over which a video class is judged.";
        sus_addr: u32 = raw.bits(367, 346) as u32, "Start of a suspended recording, in 512 KiB; 0: none.";
        app_perf_class: u8 = byte(339, 336), "Application performance class: 0, 1 for A1, 2 for A2 on.";
        performance_enhance: u8 = bytes[22], "Byte 22 as it is: queue, cache and maintenance.";
        command_queue_depth: u8 = if queue == 0 { 0 } else { queue + 1 }, "Queued commands; 0: none.";
        cache: bool = raw.bit(330), "The card has a cache.";
        host_maintenance: bool = raw.bit(329), "Maintenance that the host starts.";
        card_maintenance: bool = raw.bit(328), "Maintenance that the card starts.";
        wp_upc_support: bool = raw.bit(315), "Write protection until power cycle is supported.";
        boot_partition_support: bool = raw.bit(314), "Boot partitions are supported.";
        discard_support: bool = raw.bit(313), "DISCARD is supported.";
        fule_support: bool = raw.bit(312), "Erasing the whole user area in a second is supported.";
        #[serde(skip_serializing_if = "Option::is_none", default)]
        blank: Option<BlankRegister> = raw.blank(), "Set where the register holds nothing.";
    }

    /// Decodes the 64 bytes.
    pub fn decode(bytes: [u8; 64]) {
        let raw = RawRegister(bytes);
        let byte = |high, low| raw.bits(high, low) as u8;
        let queue = byte(335, 331);
    }
}

from_hex!(Ssr, "SSR", "128");

impl Ssr {
    /// Returns the protected area in bytes. On SDSC the field counts blocks, whose size is in the CSD.
    pub fn protected_area_bytes(&self, csd: &Csd) -> u64 {
        let size = u64::from(self.size_of_protected_area);
        match (csd.family, csd.c_size_mult) {
            (Some(CsdFamily::Sdsc), Some(mult)) => size << (u32::from(mult) + 2 + u32::from(csd.read_bl_len)),
            _ => size,
        }
    }
}

fn au_bytes(code: u8) -> Option<u64> {
    AU_KIB.get(usize::from(code)).map(|kib| kib * KIB).filter(|bytes| *bytes > 0)
}

fn speed_unit_bytes(vsc_au_mib: u16) -> Option<u64> {
    SPEED_UNITS.iter().find(|(_, aus)| aus.contains(&vsc_au_mib)).map(|(unit, _)| unit * MIB)
}

fn performance_move_text(code: u8) -> String {
    match code {
        0 => "sequential writes only".to_owned(),
        255 => "infinite".to_owned(),
        mb_s => format!("{mb_s} MB/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds an SSR from its first 25 bytes; the maker's part is zero.
    fn ssr(head: &str) -> Ssr {
        Ssr::from_hex(&format!("{head:0<128}")).unwrap()
    }

    #[test]
    fn kingston_canvas_ssr_decodes() {
        let ssr = ssr("000000000800000004009000011b391e000800000002ff0003");
        assert_eq!((ssr.dat_bus_width, ssr.secured_mode, ssr.sd_card_type), (Some(1), false, 0));
        assert_eq!((ssr.size_of_protected_area, ssr.speed_class), (128 << 20, Some(10)));
        assert_eq!((ssr.au_size_bytes, ssr.uhs_au_size_bytes), (Some(4 << 20), Some(4 << 20)));
        assert_eq!((ssr.erase_size, ssr.erase_timeout, ssr.erase_offset), (1, 6, 3));
        assert_eq!((ssr.uhs_speed_grade, ssr.video_speed_class), (3, 30));
        assert_eq!((ssr.vsc_au_size_bytes, ssr.su_size_bytes), (Some(8 << 20), Some(8 << 20)));
        assert_eq!((ssr.app_perf_class, ssr.command_queue_depth), (2, 32));
        assert_eq!((ssr.cache, ssr.host_maintenance, ssr.card_maintenance), (true, true, true));
        assert_eq!((ssr.discard_support, ssr.fule_support, ssr.boot_partition_support), (true, true, false));
    }

    #[test]
    fn class_4_ssr_without_uhs_decodes() {
        let ssr = ssr("8000000003000000020290000b0500");
        assert_eq!((ssr.dat_bus_width, ssr.speed_class), (Some(4), Some(4)));
        assert_eq!((ssr.performance_move, ssr.performance_move_text.as_str()), (2, "2 MB/s"));
        assert_eq!((ssr.erase_size, ssr.erase_timeout, ssr.erase_offset), (11, 1, 1));
        assert_eq!((ssr.uhs_speed_grade, ssr.uhs_au_size_bytes, ssr.vsc_au_size_bytes), (0, None, None));
        assert_eq!((ssr.command_queue_depth, ssr.app_perf_class), (0, 0));
    }

    #[test]
    fn allocation_unit_codes_include_12_and_24_mib() {
        assert_eq!((au_bytes(0xb), au_bytes(0xd), au_bytes(0)), (Some(12 * MIB), Some(24 * MIB), None));
    }

    #[test]
    fn video_allocation_unit_determines_speed_unit() {
        for (au, su) in
            [(8, Some(8)), (21, Some(7)), (27, Some(9)), (60, Some(10)), (512, Some(8)), (13, None)]
        {
            assert_eq!(speed_unit_bytes(au), su.map(|mib: u64| mib * MIB), "{au}");
        }
    }

    #[test]
    fn sdsc_protected_area_counts_blocks() {
        let sdsc = Csd::from_hex("002600325f5983c8befbcfff924040d7").unwrap();
        let sdhc = Csd::from_hex("400e00325b5900001d8a7f800a4040b9").unwrap();
        let ssr = ssr("800000000000002802");
        // 40 x 2^(7+2) x 2^9 on the SDSC card.
        assert_eq!((ssr.protected_area_bytes(&sdsc), ssr.protected_area_bytes(&sdhc)), (40 << 18, 40));
    }

    proptest::proptest! {
        #[test]
        fn ssr_decoder_never_panics(bytes in proptest::collection::vec(proptest::num::u8::ANY, 64)) {
            let bytes: [u8; 64] = bytes.try_into().unwrap();
            let ssr = Ssr::decode(bytes);
            proptest::prop_assert!(ssr.command_queue_depth != 1 && ssr.command_queue_depth <= 32);
        }
    }
}
