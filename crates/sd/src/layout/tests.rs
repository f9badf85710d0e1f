//! Layouts against factory-formatted cards, and invariants of every capacity.

use super::*;
use proptest::prelude::*;

fn sd(sectors: u64) -> CardLayout {
    plan_layout(sectors, LayoutOptions::default()).unwrap()
}

/// Sectors of the card, file system, partition type; then start, reserved sectors, FAT, data, cluster, clusters.
type Factory = (u64, FileSystem, u8, [u64; 6]);

/// docs/reference/sd.md#layout.
#[rstest::rstest]
#[case::sandisk_8_gb((15_523_840, FileSystem::Fat32, 0x0b, [8192, 4404, 1894, 16_384, 64, 242_304]))]
#[case::sandisk_32_gb((62_333_952, FileSystem::Fat32, 0x0c, [8192, 1170, 7607, 24_576, 64, 973_584]))]
#[case::of_64_gb((124_735_488, FileSystem::Exfat, 0x07, [32_768, 16_384, 16_384, 65_536, 256, 486_992]))]
#[case::of_256_gb((500_000_000, FileSystem::Exfat, 0x07, [65_536, 32_768, 32_768, 131_072, 512, 976_306]))]
fn layout_matches_factory_formatted_cards(#[case] (sectors, file_system, kind, at): Factory) {
    let l = sd(sectors);
    let found =
        [l.partition_start, l.reserved_sectors, l.fat_sectors, l.data_start, l.cluster_sectors, l.clusters];
    assert_eq!((l.file_system, l.partition_type, found), (file_system, kind, at));
    assert_eq!(l.partition_end(), sectors);
}

#[test]
fn capacity_determines_file_system_and_cluster() {
    let mib = |n: u64| sd(n << 11);
    for (size, file_system, cluster, boundary) in [
        (8, FileSystem::Fat12, 16, 16),
        (60, FileSystem::Fat12, 32, 32),
        (256, FileSystem::Fat16, 32, 64),
        (1024, FileSystem::Fat16, 32, 128),
        (2048, FileSystem::Fat16, 64, 128),
        (32 << 10, FileSystem::Fat32, 64, 8192),
        (128 << 10, FileSystem::Exfat, 256, 32_768),
        (512 << 10, FileSystem::Exfat, 512, 65_536),
        (2 << 20, FileSystem::Exfat, 1024, 131_072),
        // 8 MB clusters at 32 TB, 32 MiB at 128 TB.
        (32 << 20, FileSystem::Exfat, 16_384, 131_072),
        (128 << 20, FileSystem::Exfat, 65_536, 131_072),
    ] {
        let l = mib(size);
        let found = (l.file_system, l.cluster_sectors, l.boundary_sectors);
        assert_eq!(found, (file_system, cluster, boundary), "{size}");
    }
}

#[test]
fn partition_type_and_scheme_follow_sector_count() {
    assert_eq!(sd(8 << 11).partition_type, 0x01);
    assert_eq!(sd(65 << 11).partition_type, 0x06);
    assert_eq!((sd(1 << 32).scheme, sd((1 << 32) + 1).scheme), (PartitionScheme::Mbr, PartitionScheme::Gpt));
}

#[test]
fn size_adjustment_ends_partition_on_a_cylinder() {
    let adjusted =
        plan_layout(62_333_952, LayoutOptions { size_adjustment: true, ..LayoutOptions::default() }).unwrap();
    // 255 heads of 63 sectors.
    assert_eq!(adjusted.partition_end() % 16_065, 0);
    assert!(62_333_952 - adjusted.partition_end() < 16_065);
    assert_eq!(sd(62_333_952).partition_end(), 62_333_952);
}

#[test]
fn data_is_aligned_to_boundaries_of_12_and_24_mib() {
    for sectors in [15_523_840u64, 62_333_952, 124_735_488, 500_000_000] {
        for boundary in [12u64 << 20, 24 << 20] {
            let l =
                plan_layout(sectors, LayoutOptions { boundary: Some(boundary), ..LayoutOptions::default() })
                    .unwrap();
            assert_eq!(l.data_start * SECTOR % boundary, 0, "{sectors} {boundary}");
            assert!(l.reserved_sectors <= 65_535, "the field has 16 bits");
        }
    }
}

#[test]
fn invalid_boundaries_and_card_sizes_are_refused() {
    for boundary in [0, 1000, 100 << 10, 32 << 30] {
        let refused =
            plan_layout(124_735_488, LayoutOptions { boundary: Some(boundary), ..LayoutOptions::default() });
        assert!(matches!(refused, Err(LayoutError::Boundary { .. })), "{boundary}");
    }
    assert!(matches!(plan_layout(2047, LayoutOptions::default()), Err(LayoutError::TooSmall(2047))));
    assert!(matches!(plan_layout((1 << 38) + 1, LayoutOptions::default()), Err(LayoutError::TooLarge(_))));
}

#[test]
fn mbr_record_matches_layout() {
    let l = sd(62_333_952);
    let record = partition_table::build_mbr(&l, 0x1234_5678);
    assert_eq!(record[446 + 4], 0x0c);
    assert_eq!(record[446 + 8..446 + 12], 8192u32.to_le_bytes());
    assert_eq!(record[446 + 12..446 + 16], (62_333_952u32 - 8192).to_le_bytes());
    // Sector 8192 with 255 heads of 63 sectors: cylinder 0, head 130, sector 3.
    assert_eq!(record[446 + 1..446 + 4], [130, 3, 0]);
    assert_eq!(record[510..], [0x55, 0xaa]);
    // Addresses beyond cylinder 1023 have all bits set.
    assert_eq!(record[446 + 5..446 + 8], [254, 0xff, 0xff]);
}

#[test]
fn gpt_tables_lie_at_both_ends_of_the_card() {
    let sectors = 5_000_000_000;
    let l = sd(sectors);
    let tables = partition_table::build_gpt(&l, sectors, [1; 16], [2; 16]);
    assert_eq!((tables.primary.len(), tables.second.len()), (33 * 512, 33 * 512));
    assert_eq!(tables.second_start + 33, sectors);
    assert_eq!(tables.primary[512 + 32..512 + 40], l.partition_start.to_le_bytes());
    assert!(l.partition_end() <= tables.second_start);
    assert_eq!(partition_table::build_mbr(&l, 0)[446 + 4], 0xee);
}

/// Any capacity of a card, small ones as often as large ones.
fn capacities() -> impl Strategy<Value = u64> {
    (11u32..38, any::<u64>()).prop_map(|(power, rest)| (1u64 << power) + rest % (1 << power) + 1)
}

fn check_invariants(l: &CardLayout) -> Result<(), TestCaseError> {
    prop_assert_eq!(l.data_start % l.boundary_sectors, 0, "data begins on a boundary");
    let bits = match l.file_system {
        FileSystem::Fat12 => 12,
        FileSystem::Fat16 => 16,
        _ => 32,
    };
    prop_assert!(
        l.fat_sectors * SECTOR * 8 >= (l.clusters + 2) * bits,
        "the FAT has an entry for every cluster"
    );
    let end = l.data_start + l.clusters * l.cluster_sectors;
    prop_assert!(end <= l.partition_end() && l.partition_end() <= l.total_sectors, "inside the card");
    prop_assert!(l.partition_end() - end < l.cluster_sectors, "no cluster is given away");
    prop_assert!(l.partition_start >= 1 && l.clusters > 0);
    let most = match l.file_system {
        FileSystem::Fat12 => 1..=4084,
        FileSystem::Fat16 => 4085..=65_524,
        FileSystem::Fat32 => 65_525..=268_435_444,
        FileSystem::Exfat => 1..=4_294_967_285,
    };
    prop_assert!(most.contains(&l.clusters), "{} clusters are no {}", l.clusters, l.file_system);
    let places = l.partition_start + l.reserved_sectors + l.fats * l.fat_sectors + l.root_sectors;
    prop_assert_eq!(places, l.data_start);
    prop_assert!(l.file_system == FileSystem::Exfat || l.reserved_sectors <= 65_535);
    prop_assert!(
        l.scheme == PartitionScheme::Mbr
            || l.partition_start >= 34 && l.partition_end() + 33 <= l.total_sectors
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn layout_invariants_hold_for_every_capacity(sectors in capacities(), size_adjustment: bool) {
        check_invariants(&plan_layout(sectors, LayoutOptions { boundary: None, size_adjustment }).unwrap())?;
    }

    #[test]
    fn layout_invariants_hold_for_every_accepted_boundary(sectors in capacities(), units in 1u64..4000, size_adjustment: bool) {
        for unit in [8u64 << 10, 32 << 10, 1 << 20, 4 << 20] {
            let wish = LayoutOptions { boundary: Some(units * unit), size_adjustment };
            if let Ok(layout) = plan_layout(sectors, wish) {
                prop_assert_eq!(layout.boundary_sectors * SECTOR, units * unit);
                check_invariants(&layout)?;
            }
        }
    }

    #[test]
    fn volume_parser_never_panics(head in proptest::collection::vec(any::<u8>(), 0..3000), signed: bool) {
        let mut head = head;
        if signed && head.len() >= 512 {
            head[510..512].copy_from_slice(&[0x55, 0xaa]);
            head[3..11].copy_from_slice(b"EXFAT   ");
        }
        let _ = boot::parse_volume(&head);
    }
}
