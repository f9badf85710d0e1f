use super::*;
use proptest::prelude::*;

/// Builds a page with these bytes at these offsets.
fn page(parts: &[(usize, &[u8])]) -> [u8; PAGE_BYTES] {
    let mut page = [0; PAGE_BYTES];
    for (at, bytes) in parts {
        page[*at..*at + bytes.len()].copy_from_slice(bytes);
    }
    page
}

/// Kingston SDCE/256GB as reported by its owner: flash 98 3e a8 03 7a e4 08 16, firmware 19.143, 12 spare blocks, 24
/// bad ones at manufacture, 99.81 % good, 66 erases, 99.97 % of life left, erase counts 1 1 1, 16 power-ups.
pub(crate) fn kingston() -> [u8; PAGE_BYTES] {
    page(&[
        (0, &[0x98, 0x3e, 0xa8, 0x03, 0x7a, 0xe4, 0x08, 0x16, 0x00, 0x20, 0x25, 19, 143, 0, 4]),
        (16, &[0, 12]),
        (32, &[6, 6, 5, 7]),
        (64, &9981u16.to_be_bytes()),
        (80, &66u32.to_be_bytes()),
        (96, &9997u16.to_be_bytes()),
        (98, &[0, 1, 0, 1, 0, 1]),
        (112, &16u32.to_be_bytes()),
    ])
}

#[test]
fn kingston_page_decodes_to_published_values() {
    let health = CardHealth::decode(kingston()).unwrap();
    assert_eq!((health.layout, health.fields.firmware.as_deref()), (HealthLayout::Apacer, Some("19.143")));
    assert_eq!(health.fields.life_used_percent, Some(0.03));
    assert_eq!((health.fields.erase_cycles, health.fields.erase_cycles_most), (Some(1.0), Some(1.0)));
    let blocks =
        (health.fields.bad_blocks_at_first, health.fields.bad_blocks_since, health.fields.spare_blocks);
    assert_eq!(blocks, (Some(24), Some(0), Some(12)));
    let times = (health.fields.power_cycles, health.fields.unsafe_shutdowns, health.fields.refreshes);
    assert_eq!(times, (Some(16), Some(0), Some(0)));
    assert_eq!(health.fields.written_bytes, None);
}

#[test]
fn apacer_erase_count_joins_both_halves() {
    let mut page = kingston();
    page[104..110].copy_from_slice(&[0, 1, 0, 0, 0, 2]);
    let health = CardHealth::decode(page).unwrap();
    assert_eq!(
        (health.fields.erase_cycles, health.fields.erase_cycles_most),
        (Some(65537.0), Some(131_073.0))
    );
}

#[test]
fn sandisk_life_used_is_percent_begun_less_one() {
    let parts: [(usize, &[u8]); 5] =
        [(0, b"DS"), (2, b"210315"), (8, &[0x64]), (24, &[0, 1, 2]), (49, b"Edge Industrial\0\0")];
    let health = CardHealth::decode(page(&parts)).unwrap();
    assert_eq!((health.layout, health.fields.made.as_deref()), (HealthLayout::SanDisk, Some("2021-03-15")));
    assert_eq!((health.fields.life_used_percent, health.fields.power_cycles), (Some(99.0), Some(258)));
    assert_eq!(health.fields.product.as_deref(), Some("Edge Industrial"));
    let purple = CardHealth::decode(page(&[(0, b"DW"), (2, b"991399"), (8, &[1])])).unwrap();
    assert_eq!(
        (purple.layout, purple.fields.made),
        (HealthLayout::SanDisk, None),
        "month 13 is a day of nothing"
    );
}

#[test]
fn longsys_micron_and_swissbit_pages_decode() {
    let longsys = CardHealth::decode(page(&[
        (0, &[0x70, 0x58]),
        (16, &[9]),
        (20, &[2]),
        (24, &0x0001_0000_0000u64.to_le_bytes()),
        (32, &[30]),
        (36, &1500u32.to_le_bytes()),
        (44, &[95]),
        (52, &3000u32.to_le_bytes()),
    ]))
    .unwrap();
    assert_eq!(longsys.layout, HealthLayout::Longsys);
    assert_eq!(longsys.fields.written_bytes, Some(512 << 32), "a count of sectors beyond 32 bits");
    assert_eq!((longsys.fields.erase_cycles, longsys.fields.erase_cycles_rated), (Some(1.5), Some(3000.0)));
    assert_eq!((longsys.fields.life_used_percent, longsys.fields.spare_blocks), (Some(5.0), Some(30)));
    assert_eq!((longsys.fields.bad_blocks_at_first, longsys.fields.bad_blocks_since), (Some(9), Some(2)));

    let micron = CardHealth::decode(page(&[(0, b"ME"), (7, &[1, 2, 3])])).unwrap();
    assert_eq!((micron.layout, micron.fields.life_used_percent), (HealthLayout::Micron, Some(0.0)));

    let swissbit = CardHealth::decode(page(&[
        (0, b"Sw"),
        (32, b"SBSD0123 v1.0   "),
        (48, &3000u32.to_be_bytes()),
        (52, &120u32.to_be_bytes()),
        (60, &100u32.to_be_bytes()),
        (80, &[97]),
        (88, &50u32.to_be_bytes()),
        (96, &1u32.to_be_bytes()),
        (112, &7u32.to_be_bytes()),
        (116, &300u32.to_be_bytes()),
    ]))
    .unwrap();
    assert_eq!(
        (swissbit.layout, swissbit.fields.firmware.as_deref()),
        (HealthLayout::Swissbit, Some("SBSD0123 v1.0"))
    );
    let cycles =
        (swissbit.fields.erase_cycles, swissbit.fields.erase_cycles_most, swissbit.fields.erase_cycles_rated);
    assert_eq!(cycles, (Some(100.0), Some(120.0), Some(3000.0)));
    assert_eq!((swissbit.fields.life_used_percent, swissbit.fields.bad_blocks_since), (Some(3.0), Some(1)));
    assert_eq!((swissbit.fields.bus_crc_errors, swissbit.fields.power_cycles), (Some(7), Some(300)));
}

#[test]
fn blank_and_foreign_blocks_are_refused() {
    assert_eq!(CardHealth::decode([0; PAGE_BYTES]), Err(HealthError::Blank(BlankRegister::AllZeros)));
    assert_eq!(CardHealth::decode([0xff; PAGE_BYTES]), Err(HealthError::Blank(BlankRegister::AllOnes)));
    // A card without a health page may answer with the last sector read, here a boot sector.
    let mbr = page(&[(0, &[0xfa, 0xb8, 0x00, 0x10, 0x8e, 0xd0, 0xbc]), (510, &[0x55, 0xaa])]);
    assert_eq!(CardHealth::decode(mbr), Err(HealthError::Unknown([0xfa, 0xb8])));
    assert!(CardHealth::decode(mbr).unwrap_err().to_string().contains("begins with fa b8"));
    let error = CardHealth::from_hex("4453").unwrap_err().to_string();
    assert!(error.contains("the health page has 4 hex digits") && error.contains("1024"), "{error}");
}

#[test]
fn layout_queries_read_and_names_round_trip() {
    for layout in HealthLayout::ALL {
        let question = layout.health_query();
        assert_eq!(question.read & 1, 1, "{layout}: bit 0 says that the block is read");
        assert!(question.prepare.is_none_or(|argument| argument & 1 == 0), "{layout}");
        assert_eq!(layout.name().to_uppercase().parse(), Ok(layout));
        let json = serde_json::to_string(&layout).unwrap();
        assert_eq!(json, format!("{:?}", layout.name()));
    }
    assert!("adata".parse::<HealthLayout>().unwrap_err().contains("swissbit"));
    // A MID that several brands share implies no layout.
    assert_eq!([0x03, 0x27, 0x9f].map(HealthLayout::for_maker), [Some(HealthLayout::SanDisk), None, None]);
}

proptest! {
    #[test]
    fn page_decoder_never_panics_and_json_round_trips(
        bytes in proptest::collection::vec(any::<u8>(), PAGE_BYTES),
        signature in proptest::sample::select(vec![*b"DS", *b"DW", [0x70, 0x58], *b"ME", *b"Sw", [0, 0]]),
    ) {
        let mut page: [u8; PAGE_BYTES] = bytes.try_into().unwrap();
        page[..2].copy_from_slice(&signature);
        if let Ok(health) = CardHealth::decode(page) {
            let json = serde_json::to_string(&health).unwrap();
            prop_assert_eq!(serde_json::from_str::<CardHealth>(&json).unwrap(), health);
        }
    }
}

#[test]
fn life_left_beyond_100_percent_is_unknown() {
    for parts in [(&[0x70, 0x58], 44, &[0xff; 4][..]), (b"Sw", 80, &[101])] {
        let health = CardHealth::decode(page(&[(0, parts.0), (parts.1, parts.2)])).unwrap();
        assert_eq!(health.fields.life_used_percent, None, "{}", health.layout);
    }
}
