use super::*;
use crate::card_map::TriedState;
use crate::card_map::lexar_card::{point, seed_004, with_units};
use crate::card_map::property::{Property, PropertyEvidence};
use crate::units::{KIB, MIB};
use proptest::prelude::*;

fn card(bytes: u64) -> AdviceFacts {
    AdviceFacts { target: "/dev/mmcblk0".into(), bytes, block_device: true, ..AdviceFacts::default() }
}

fn has(advice: &MapAdvice, wanted: &str) -> bool {
    advice.commands.iter().any(|c| c.command == wanted)
}

#[test]
fn lexar_card_gets_advice_from_units_and_curves() {
    let advice = advise_for_map(&seed_004(), &card(16_012_804_096));
    assert_eq!(advice.partition_start_bytes, Some(4 * MIB));
    assert_eq!((advice.ext4_stride, advice.ext4_stripe_width), (Some(4), Some(1024)));
    assert_eq!(advice.f2fs_segments_per_section, Some(2));
    // 5.80 of 11.20 MB/s is the first half, 9.40 the first 80 %.
    assert_eq!((advice.slow_below_bytes, advice.exfat_cluster_bytes), (Some(16 * KIB), Some(128 * KIB)));
    assert_eq!(advice.mount_options, ["noatime", "commit=60"]);
    assert!(has(&advice, "mkfs.ext4 -b 4096 -E stride=4,stripe_width=1024 /dev/mmcblk0p1"), "{advice:#?}");
    assert!(has(&advice, "mkfs.f2fs -s 2 -z 1 /dev/mmcblk0p1"), "{advice:#?}");
    assert!(has(&advice, "mkfs.exfat -c 128K --boundary-align=4096K /dev/mmcblk0p1"), "{advice:#?}");
    let start = "printf 'label: dos\\nstart=4096KiB, type=83\\n' | sfdisk /dev/mmcblk0";
    assert!(has(&advice, start), "{advice:#?}");
    let words = advice.words.join("\n");
    assert!(words.contains("at most 4 files at once") && words.contains("5 erase blocks open"), "{words}");
    assert!(words.contains("active_logs=4"), "{words}");
}

#[test]
fn erase_block_of_24_mib_needs_cardscope_format() {
    let advice = advise_for_map(&with_units(48 * KIB, 24 * MIB), &card(64 << 30));
    assert_eq!(advice.partition_start_bytes, Some(24 * MIB));
    assert_eq!((advice.ext4_stride, advice.ext4_stripe_width), (Some(12), Some(6144)));
    assert_eq!(advice.f2fs_segments_per_section, Some(12));
    assert!(!advice.commands.iter().any(|c| c.command.contains("boundary-align")), "{advice:#?}");
    assert!(has(&advice, "cardscope format /dev/mmcblk0 --boundary 24576K"), "{advice:#?}");
}

#[test]
fn unknown_erase_block_gives_safe_start_with_reason() {
    let unknown = [
        (Property::none(0.97, PropertyEvidence::default()), "show no erase block"),
        (Property::not_tested("there was no time for it"), "there was no time for it"),
        (Property::at_least(32 * MIB, 0.9, PropertyEvidence::default()), "at least 32 MiB"),
    ];
    for (erase_block_bytes, why) in unknown {
        let measured = MeasuredMap { erase_block_bytes, ..MeasuredMap::default() };
        let advice = advise_for_map(&measured, &card(128 << 30));
        let settings = (
            advice.partition_start_bytes,
            advice.ext4_stripe_width,
            advice.f2fs_segments_per_section,
            advice.exfat_cluster_bytes,
        );
        assert_eq!(settings, (None, None, None, None));
        assert_eq!((&advice.commands[..], &advice.mount_options[..]), (&[][..], &[][..]));
        let words = advice.words.join("\n");
        assert!(words.contains(why) && words.contains("Start partitions at 64 MiB"), "{words}");
    }
    let small = advise_for_map(&MeasuredMap::default(), &card(8 << 30)).words.join("\n");
    assert!(small.contains("Start partitions at 4 MiB"), "{small}");
}

#[test]
fn claimed_multiple_of_measured_unit_is_used() {
    let claims = |unit| AdviceFacts { claimed_unit: Some(unit), ..card(64 << 30) };
    let start = |unit| advise_for_map(&with_units(16 * KIB, 4 * MIB), &claims(unit)).partition_start_bytes;
    assert_eq!((start(16 * MIB), start(6 * MIB), start(MIB)), (Some(16 * MIB), Some(4 * MIB), Some(4 * MIB)));
}

#[test]
fn stripe_is_a_mount_option_without_stripe_width() {
    let said = |measured: &MeasuredMap| advise_for_map(measured, &card(16 << 30));
    let whole = said(&seed_004());
    let words = whole.words.join("\n");
    assert!(words.contains("mount with stripe=64 blocks of 4 KiB (256 KiB)"), "{words}");
    assert!(words.contains("stripe width of 1024 blocks (4 MiB)"), "{words}");
    assert!(!whole.mount_options.iter().any(|option| option.starts_with("stripe")), "{whole:#?}");
    let without_unit = MeasuredMap { erase_block_bytes: Property::default(), ..seed_004() };
    assert!(said(&without_unit).mount_options.contains(&"stripe=64".to_owned()));
}

#[test]
fn directory_and_partition_get_limited_advice() {
    let directory = AdviceFacts {
        target: "/mnt/card".into(),
        target_kind: TargetKind::Directory,
        block_device: false,
        ..card(8 << 30)
    };
    let advice = advise_for_map(&seed_004(), &directory);
    assert_eq!((advice.partition_start_bytes, advice.ext4_stride), (None, None));
    assert!(advice.commands.is_empty(), "{advice:#?}");
    let simulated = AdviceFacts { target: "sim:x".into(), block_device: false, ..card(8 << 30) };
    let advice = advise_for_map(&seed_004(), &simulated);
    assert!(advice.commands.is_empty() && advice.ext4_stride.is_some(), "{advice:#?}");
    let partition =
        AdviceFacts { target: "/dev/sda1".into(), target_kind: TargetKind::Partition, ..card(8 << 30) };
    let advice = advise_for_map(&seed_004(), &partition);
    assert_eq!(advice.partition_start_bytes, None);
    assert!(has(&advice, "mkfs.f2fs -s 2 -z 1 /dev/sda1"), "{advice:#?}");
}

fn tried(what: &str, iops: f64, ci95: (f64, f64)) -> TriedState {
    TriedState { what: what.into(), iops: Some(iops), ci95: Some(ci95), longest_s: Some(0.9), reason: None }
}

fn words_of(tried: Vec<TriedState>) -> String {
    advise_for_map(&MeasuredMap::default(), &AdviceFacts { trials: tried, ..card(8 << 30) }).words.join("\n")
}

#[test]
fn discard_and_file_system_advice_needs_a_significant_effect() {
    let nothing = words_of(vec![
        tried(BEFORE_DISCARD, 290.0, (270.0, 310.0)),
        tried(AFTER_DISCARD, 300.0, (280.0, 320.0)),
        tried("ext4", 100.0, (90.0, 110.0)),
        tried("f2fs", 108.0, (95.0, 121.0)),
        TriedState {
            what: "exfat".into(),
            reason: Some("mkfs.exfat is not there".into()),
            ..TriedState::default()
        },
    ]);
    assert!(nothing.contains("Discard does not change the speed"), "{nothing}");
    assert!(nothing.contains("All file systems are equally fast for small writes"), "{nothing}");
    assert!(nothing.contains("exfat was not tested: mkfs.exfat is not there"), "{nothing}");
    let helps = words_of(vec![
        tried(BEFORE_DISCARD, 50.0, (45.0, 55.0)),
        tried(AFTER_DISCARD, 300.0, (280.0, 320.0)),
        tried("ext4", 100.0, (90.0, 110.0)),
        tried("f2fs", 208.0, (195.0, 221.0)),
    ]);
    assert!(helps.contains("Run fstrim weekly") && helps.contains("fstrim.timer"), "{helps}");
    assert!(helps.contains("Use f2fs, the fastest for small writes"), "{helps}");
    let harms = words_of(vec![
        tried(BEFORE_DISCARD, 300.0, (280.0, 320.0)),
        tried(AFTER_DISCARD, 50.0, (45.0, 55.0)),
    ]);
    assert!(harms.contains("Mount without discard"), "{harms}");
}

#[test]
fn target_names_are_shell_quoted() {
    let image = AdviceFacts { target: "my card?.img".into(), ..card(8 << 30) };
    let advice = advise_for_map(&seed_004(), &image);
    assert!(has(&advice, "mkfs.f2fs -s 2 -z 1 'my card?.img1'"), "{advice:#?}");
}

#[test]
fn slow_size_needs_two_points() {
    assert_eq!(smallest_reaching(&[], 0.5), None);
    assert_eq!(smallest_reaching(&[point((4, 2.0))], 0.5), None);
    // A single fast small size does not count while a larger one is slow.
    let bumpy = [(4, 9.0), (8, 2.0), (16, 8.0), (64, 10.0)].map(point);
    assert_eq!(smallest_reaching(&bumpy, 0.5), Some(16 * KIB));
}

fn units() -> impl Strategy<Value = (u64, u64)> {
    let page = prop_oneof![(2u32..=6).prop_map(|k| 1u64 << k), (1u32..=4).prop_map(|k| 3u64 << k)];
    let unit = prop_oneof![(0u32..=6).prop_map(|k| MIB << k), (0u32..=4).prop_map(|k| (3 * MIB) << k)];
    (page.prop_map(|kib| kib * KIB), unit)
}

proptest! {
    #[test]
    fn advised_boundaries_match_page_and_erase_block((page, unit) in units(), gib in 1u64..2048) {
        let mut measured = seed_004();
        measured.page_bytes = Property::measured(page, 0.9, PropertyEvidence::default());
        measured.erase_block_bytes = Property::measured(unit, 0.9, PropertyEvidence::default());
        let advice = advise_for_map(&measured, &card(gib << 30));
        let start = advice.partition_start_bytes.unwrap();
        prop_assert!(start.is_multiple_of(unit) && start >= MIB);
        prop_assert_eq!(advice.ext4_stripe_width.unwrap() * 4096, unit);
        prop_assert_eq!(advice.ext4_stride.unwrap(), page.div_ceil(4096));
        let section = advice.f2fs_segments_per_section.unwrap() * 2 * MIB;
        prop_assert!(section.is_multiple_of(unit));
        let cluster = advice.exfat_cluster_bytes.unwrap();
        prop_assert!(cluster.is_power_of_two() && unit.is_multiple_of(cluster));
    }
}
