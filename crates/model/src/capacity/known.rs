//! Capacities of real cards to the byte: as the seeds print them, and as registers that people published say.
//!
//! A CSD of version 2 says (C_SIZE + 1) × 512 KiB. Left out: cards with the signs of a counterfeit, and second readings
//! of one card. Simulated cards are no source.

/// A card whose exact capacity is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Bytes that it announces.
    pub bytes: u64,
    /// Who sells it.
    pub brand: &'static str,
    /// Which of theirs.
    pub card: &'static str,
    /// Who says so.
    pub source: &'static str,
}

const fn known(bytes: u64, brand: &'static str, card: &'static str, source: &'static str) -> Known {
    Known { bytes, brand, card, source }
}

/// By capacity, smallest first.
pub const KNOWN: &[Known] = &[
    known(63_569_920, "PQI", "64 MB", "aaru-dps/Aaru, CSD"),
    known(1_015_808_000, "SanDisk", "Ultra II 1 GB", "published register, CSD"),
    known(1_015_808_000, "SanDisk", "microSD 1 GB", "seed 002, CSD"),
    known(1_967_128_576, "no name", "2 GB", "aaru-dps/Aaru, CSD"),
    known(1_977_614_336, "SanDisk", "2 GB", "betovar/libmaple, CSD"),
    known(2_002_780_160, "Transcend", "2 GB", "aaru-dps/Aaru, CSD"),
    known(2_045_247_488, "ATP", "2 GB", "betovar/libmaple, CSD"),
    known(2_059_403_264, "Kingston", "2 GB", "goughlui.com, CSD"),
    known(3_904_897_024, "Kingston", "SA04G 4 GB, Toshiba inside", "published register, CSD"),
    known(3_904_897_024, "Toshiba", "SA04G 1.1 4 GB", "wirenboard/sdcard_benchmark, CSD"),
    known(3_947_888_640, "Samsung", "RaspBMC SDHC 4 GB", "goughlui.com, CSD"),
    known(3_951_034_368, "Toshiba", "SA04G 1.3 4 GB", "wirenboard/sdcard_benchmark, CSD"),
    known(3_963_617_280, "Kingston", "microSDHC 4 GB", "aaru-dps/Aaru, CSD"),
    known(3_963_617_280, "no name", "4 GB, maker number 00", "wirenboard/sdcard_benchmark, CSD"),
    known(3_965_190_144, "PNY", "4 GB", "aaru-dps/Aaru, CSD"),
    known(3_965_190_144, "SanDisk", "SU04G 4 GB", "wirenboard/sdcard_benchmark, CSD"),
    known(3_965_190_144, "SanDisk", "class 4 microSDHC 4 GB", "seed 002, CSD"),
    known(3_965_190_144, "Transcend", "4 GB, SanDisk inside", "betovar/libmaple, CSD"),
    known(3_980_394_496, "Fujifilm", "4 GB", "aaru-dps/Aaru, CSD"),
    known(3_980_394_496, "Phison", "SD4GB 4 GB", "wirenboard/sdcard_benchmark, CSD"),
    known(3_985_637_376, "no name", "NCard 4 GB, 82/JT", "wirenboard/sdcard_benchmark, CSD"),
    known(7_742_685_184, "Phison", "SD8GB 8 GB", "wirenboard/sdcard_benchmark, CSD"),
    known(7_744_782_336, "no name", "8 GB", "published register, CSD"),
    known(7_746_879_488, "SanDisk", "SS08G 8 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(7_791_968_256, "Gigastone", "8 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(7_860_125_696, "Kingston", "SD8GB, retail", "ironsheep/P2-uSD-FS, CSD"),
    known(7_892_631_552, "Samsung", "8 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(7_902_068_736, "Kingston", "SD8GB 8 GB", "wirenboard/sdcard_benchmark, CSD"),
    known(7_948_206_080, "SanDisk", "8 GB of 2012", "betovar/libmaple, CSD"),
    known(7_948_206_080, "SanDisk", "SL08G 8 GB", "wirenboard/sdcard_benchmark, CSD"),
    known(7_948_206_080, "SanDisk", "SU08G 8 GB", "published register, CSD"),
    known(7_948_206_080, "SanDisk", "class 4 8 GB", "jkristell/sdio-host, CSD"),
    known(7_973_371_904, "Kingston", "microSDHC 8 GB", "aaru-dps/Aaru, CSD"),
    known(8_068_792_320, "Transcend", "USD 8 GB", "wirenboard/sdcard_benchmark, CSD"),
    known(15_523_119_104, "Phison", "SD16G 16 GB", "armbian/build pull request 246, CSD"),
    known(15_577_645_056, "Goodram", "16 GB", "aaru-dps/Aaru, CSD"),
    known(15_931_539_456, "SanDisk", "16 GB", "aaru-dps/Aaru, CSD"),
    known(15_931_539_456, "SanDisk", "SC16G 16 GB", "published register, CSD"),
    known(15_978_201_088, "Gigastone", "SD16G 16 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(16_012_804_096, "Lexar", "16 GB class 10", "seed 004, by its factor step"),
    known(31_267_487_744, "Gigastone", "32 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(31_393_316_864, "Samsung", "class 10 32 GB", "seed 002, in its text"),
    known(31_914_983_424, "SanDisk", "Extreme 32 GB", "jkristell/sdio-host, CSD"),
    known(31_914_983_424, "SanDisk", "SH32G 32 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(32_010_928_128, "Samsung", "EB1QT 32 GB", "published register, CSD"),
    known(32_107_397_120, "Patriot", "LX 32 GB", "seed 002, in its text"),
    known(62_226_694_144, "Kingston", "Canvas Go Plus 64 GB of 2023", "linux-mmc list, June 2023, CSD"),
    known(62_277_025_792, "Kingston", "Canvas Go Plus 64 GB of 2019", "linux-mmc list, June 2023, CSD"),
    known(62_599_987_200, "Lexar", "MSSD0 64 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(63_281_561_600, "Amazon Basics", "USD00 64 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(63_864_569_856, "SanDisk", "AGGCE 64 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(63_864_569_856, "SanDisk", "SN64G 64 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(63_864_569_856, "Western Digital", "WX64G 64 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(125_342_580_736, "Kingston", "SDXC 128 GB", "seed 002, in its text"),
    known(127_865_454_592, "SanDisk", "AGGCF 128 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(127_865_454_592, "SanDisk", "SN128 128 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(127_865_454_592, "SanDisk", "SR128 128 GB", "published register, CSD"),
    known(128_043_712_512, "Samsung", "GD4QT 128 GB", "ironsheep/P2-uSD-FS, CSD"),
    known(252_874_588_160, "ADATA", "microSD Express 256 GB", "NVMe identify of the card of seed 000"),
    known(253_465_985_024, "SanDisk", "microSD Express 256 GB", "NVMe identify of the card of seed 000"),
    known(1_000_865_792_000, "Lexar", "microSD Express 1 TB", "NVMe identify of the card of seed 000"),
];
