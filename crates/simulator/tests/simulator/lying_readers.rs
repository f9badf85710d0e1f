//! Readers that return wrong data from a good card.

use crate::common::{GIB, KIB, MIB, direct_plan, open_card, slot_io};
use cardscope_engine::content::{self, ContentMatch, IoContent};
use cardscope_engine::target::{LanePlan, Target, TargetError, TargetRegion};
use cardscope_simulator::SimTarget;

const STAMP: IoContent = IoContent::Stamp { salt: 99, generation: 3 };

fn run_one_io(card: &mut SimTarget, write: bool, offset: u64, len: u64) -> Result<(), TargetError> {
    card.plan(&LanePlan { own_buffers: true, ..direct_plan(1, len) })?;
    card.submit(&io_with(write, offset, len, STAMP))?;
    let mut done = Vec::new();
    card.complete(1, &mut done)?;
    done.pop().unwrap().result
}

fn io_with(write: bool, offset: u64, len: u64, content: IoContent) -> cardscope_engine::target::IoRequest {
    cardscope_engine::target::IoRequest { content, ..slot_io(0, write, offset, len) }
}

/// Card behind a reader, with stamps in its first 8 MiB.
fn stamped_card(overrides: &str) -> SimTarget {
    let mut card = open_card(&format!("sim:constant?{overrides}"));
    run_one_io(&mut card, true, 0, 8 * MIB).unwrap();
    card
}

fn read_bytes(card: &mut SimTarget, offset: u64, len: u64) -> Vec<u8> {
    run_one_io(card, false, offset, len).unwrap();
    card.buffer(0).unwrap().to_vec()
}

fn stamp_bytes(offset: u64, len: u64) -> Vec<u8> {
    let mut bytes = vec![0; len as usize];
    content::fill_content(STAMP, offset, &mut bytes);
    bytes
}

/// First sector of the last read without the stamp of its address.
fn first_wrong_sector(card: &mut SimTarget) -> Option<u64> {
    match card.compare(0, STAMP).unwrap() {
        ContentMatch::Same => None,
        ContentMatch::DiffersAt(byte) => Some(byte / 512 * 512),
    }
}

#[test]
fn long_read_repeats_its_start() {
    for (bytes, name) in [(64 * KIB, "64KiB"), (128 * KIB, "128KiB")] {
        let mut repeating = stamped_card(&format!("repeat_bytes={name}"));
        assert_eq!(read_bytes(&mut repeating, MIB, bytes), stamp_bytes(MIB, bytes));
        assert_eq!(first_wrong_sector(&mut repeating), None);
        let long = read_bytes(&mut repeating, MIB, MIB);
        assert!(long.chunks(bytes as usize).all(|part| part == stamp_bytes(MIB, bytes)));
        assert_eq!(first_wrong_sector(&mut repeating), Some(bytes));
        let odd = read_bytes(&mut repeating, MIB, bytes + 512);
        assert_eq!(odd[bytes as usize..], stamp_bytes(MIB, 512));
    }
}

#[test]
fn stored_bytes_are_repeated_as_well() {
    let mut repeating = open_card("sim:constant?repeat_bytes=4KiB");
    repeating.plan(&LanePlan { own_buffers: true, ..direct_plan(1, 16 * KIB) }).unwrap();
    let bytes: Vec<u8> = (0..16 * KIB).map(|n| (n / 64) as u8).collect();
    repeating.buffer(0).unwrap().copy_from_slice(&bytes);
    repeating.submit(&io_with(true, 0, 16 * KIB, IoContent::Buffer)).unwrap();
    repeating.complete(1, &mut Vec::new()).unwrap();
    assert!(read_bytes(&mut repeating, 0, 16 * KIB).chunks(4096).all(|part| part == &bytes[..4096]));
}

#[test]
fn bit_flips_by_request_not_by_size() {
    for len in [512, MIB] {
        let mut flipping = stamped_card("flip_read_every=50&seed=4");
        let mut flipped = Vec::new();
        for number in 0..1000 {
            run_one_io(&mut flipping, false, 0, len).unwrap();
            if flipping.compare(0, STAMP).unwrap() != ContentMatch::Same {
                flipped.push(number);
                let read = flipping.buffer(0).unwrap();
                let wrong =
                    read.iter().zip(stamp_bytes(0, len)).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
                assert_eq!(wrong, 1);
            }
        }
        assert!((8..40).contains(&flipped.len()), "20 of 1000: {flipped:?}");
    }
}

#[test]
fn unaligned_read_is_shifted() {
    let mut shifting = stamped_card("align_bytes=4KiB");
    assert_eq!(read_bytes(&mut shifting, 8 * KIB, 16 * KIB), stamp_bytes(8 * KIB, 16 * KIB));
    assert_eq!(read_bytes(&mut shifting, 8 * KIB + 512, 16 * KIB), stamp_bytes(8 * KIB, 16 * KIB));
    assert_eq!(first_wrong_sector(&mut shifting), Some(0));
}

#[test]
fn stale_read_returns_previous_data() {
    let mut backwards = stamped_card("stale_reads=backwards");
    read_bytes(&mut backwards, MIB, 8 * KIB);
    let mixed = [stamp_bytes(MIB, 8 * KIB), stamp_bytes(8 * KIB, 8 * KIB)].concat();
    assert_eq!(read_bytes(&mut backwards, 0, 16 * KIB), mixed, "as far as the last answer went");
    assert_eq!(first_wrong_sector(&mut backwards), Some(0));
    assert_eq!(read_bytes(&mut backwards, 64 * KIB, 4 * KIB), stamp_bytes(64 * KIB, 4 * KIB));
    let mut following = stamped_card("stale_reads=following");
    read_bytes(&mut following, 0, 64 * KIB);
    assert_eq!(read_bytes(&mut following, 64 * KIB, 64 * KIB), stamp_bytes(0, 64 * KIB));
    assert_eq!(read_bytes(&mut following, 128 * KIB, 64 * KIB), stamp_bytes(64 * KIB, 64 * KIB));
    assert_eq!(read_bytes(&mut following, 0, 64 * KIB), stamp_bytes(0, 64 * KIB));
}

#[test]
fn stale_read_ignores_later_writes() {
    let mut following = stamped_card("stale_reads=following");
    read_bytes(&mut following, 0, 4 * KIB);
    run_one_io(&mut following, true, 0, 8 * KIB).unwrap();
    following.plan(&LanePlan { own_buffers: true, ..direct_plan(1, 4 * KIB) }).unwrap();
    following.submit(&io_with(true, 0, 4 * KIB, IoContent::Constant(7))).unwrap();
    following.complete(1, &mut Vec::new()).unwrap();
    assert_eq!(read_bytes(&mut following, 4 * KIB, 4 * KIB), stamp_bytes(0, 4 * KIB));
}

#[test]
fn extra_sector_fails_and_others_work() {
    let mut counting = open_card("sim:lexar-16g-c10?extra_sectors=1");
    let (all, own) = (counting.info().bytes, counting.spec().archetype.announced_bytes);
    assert_eq!(all, own + 512);
    for write in [false, true] {
        for (offset, len) in [(own, 512), (all - 4096, 4096)] {
            let error = run_one_io(&mut counting, write, offset, len).unwrap_err();
            assert!(matches!(error, TargetError::Io { errno: 5, .. }), "{error:?}");
        }
        run_one_io(&mut counting, write, own - 4096, 4096).unwrap();
    }
    counting.discard(TargetRegion { start: 0, len: all }).unwrap();
}

#[test]
fn shown_capacity_differs_and_registers_stay() {
    let name = |shown: &str| format!("sim:lexar-16g-c10?{shown}");
    let own = open_card("sim:lexar-16g-c10").info().bytes;
    let short = own % (8 * GIB);
    for (shown, bytes) in [(format!("shown_bytes={short}"), short), ("shown_bytes=2TiB".to_owned(), 2 << 40)]
    {
        let mut odd = open_card(&name(&shown));
        assert_eq!(odd.info().bytes, bytes);
        let identity = cardscope_simulator::decode_identity(&odd.spec().archetype).unwrap();
        assert_eq!(identity.capacity_bytes, Some(bytes));
        assert_eq!(identity.csd.and_then(|csd| csd.capacity_bytes), Some(own));
        run_one_io(&mut odd, true, bytes.min(own) - 4096, 4096).unwrap();
        assert_eq!(run_one_io(&mut odd, true, bytes - 4096, 4096).is_err(), bytes > own);
    }
    let mut ends = open_card(&name("end_bytes=4GiB"));
    assert_eq!(ends.info().bytes, own);
    run_one_io(&mut ends, true, 4 * GIB - 4096, 4096).unwrap();
    for write in [false, true] {
        assert!(run_one_io(&mut ends, write, 4 * GIB - 4096, 8192).is_err());
    }
}

#[test]
fn card_keeps_data_in_another_reader() {
    let mut moved = stamped_card("");
    let before = moved.now();
    moved.change_rig("repeat_bytes=64KiB&stall_every_ios=2&stall_s=1").unwrap();
    read_bytes(&mut moved, MIB, MIB);
    assert!(moved.was_read_falsified(0));
    read_bytes(&mut moved, MIB, 64 * KIB);
    assert!(!moved.was_read_falsified(0));
    assert!((1_000_000_000..1_100_000_000).contains(&(moved.now() - before)));
    moved.change_rig("").unwrap();
    assert_eq!(read_bytes(&mut moved, MIB, MIB), stamp_bytes(MIB, MIB));
    assert!(moved.change_rig("repeat_bytes=1").is_err());
}

#[test]
fn description_names_reader_defects() {
    let bad = open_card("sim:constant?repeat_bytes=64KiB&extra_sectors=1&error_ranges=1MiB+512:read");
    let words = cardscope_simulator::archetype::describe_card(&bad.spec().archetype).join(" ");
    assert!(words.contains("longer reads repeat their first 64 KiB"), "{words}");
    assert!(words.contains("Commands fail at 1048576+512:read."), "{words}");
}
