use super::*;
use crate::archetype::{
    Archetype, FakeCapacity, FakeKind, LostRead, StartContent, StartState, UnwrittenRead,
};
use crate::seeded_choice::mapped_ranges;
use cardscope_engine::content::{IoContent, read_stamp};

const MIB: u64 = 1 << 20;
const OURS: IoContent = IoContent::Stamp { salt: 7, generation: 1 };

fn card(fake: FakeCapacity) -> Archetype {
    Archetype { announced_bytes: 64 * MIB, fake, ..Archetype::load("constant").unwrap() }
}

fn medium(fake: FakeCapacity) -> CardMedium {
    let card = card(fake);
    card.check().unwrap();
    CardMedium::new(&card, 1, 256 * MIB)
}

fn honest() -> CardMedium {
    medium(FakeCapacity::default())
}

fn limbo(real: u64) -> FakeCapacity {
    FakeCapacity { kind: FakeKind::Limbo, real_bytes: Some(real), ..FakeCapacity::default() }
}

fn found(medium: &mut CardMedium, offset: u64, len: u64) -> Result<ReadContent, CardIoError> {
    let mut found = ReadContent::default();
    found.clear(offset);
    medium.read(offset, len, 1, &mut found)?;
    assert_eq!(found.len, len);
    Ok(found)
}

fn differs(medium: &mut CardMedium, offset: u64, len: u64, expected: IoContent) -> Option<u64> {
    found(medium, offset, len).unwrap().first_difference(expected, None)
}

fn holds(medium: &mut CardMedium, offset: u64, len: u64, expected: IoContent) -> bool {
    differs(medium, offset, len, expected).is_none()
}

/// Bytes of a read; None if it fails.
pub(super) fn read(medium: &mut CardMedium, offset: u64, len: usize) -> Option<Vec<u8>> {
    let found = found(medium, offset, len as u64).ok()?;
    let mut out = vec![0xee; len];
    medium.copy_stored(&found, &mut out).unwrap();
    found.generate_bytes(&mut out);
    Some(out)
}

fn bytes(medium: &mut CardMedium, offset: u64, len: usize) -> Vec<u8> {
    read(medium, offset, len).unwrap()
}

pub(super) fn write(medium: &mut CardMedium, offset: u64, len: u64, content: IoContent) {
    medium.write(offset, len, WrittenData::described(content)).unwrap();
}

pub(super) fn write_bytes(medium: &mut CardMedium, offset: u64, bytes: &[u8]) {
    medium.write(offset, bytes.len() as u64, WrittenData::Bytes(bytes)).unwrap();
}

#[test]
fn card_written_in_any_order_is_one_piece() {
    let mut m = honest();
    for block in [3u64, 0, 2, 1] {
        write(&mut m, block * MIB, MIB, IoContent::Noise);
    }
    assert_eq!(found(&mut m, 0, 4 * MIB).unwrap().pieces.len(), 1);
    assert!(holds(&mut m, 0, 4 * MIB, IoContent::Noise));
}

#[test]
fn unwritten_data_is_zeros_or_ones() {
    assert!(holds(&mut honest(), 5 * MIB, MIB, IoContent::Constant(0)));
    let mut card = card(FakeCapacity::default());
    card.state.unwritten = UnwrittenRead::Ones;
    assert!(holds(&mut CardMedium::new(&card, 1, 0), 5 * MIB, MIB, IoContent::Constant(0xff)));
}

#[test]
fn stamp_of_other_generation_differs() {
    let mut m = honest();
    write(&mut m, 0, MIB, OURS);
    let newer = IoContent::Stamp { salt: 7, generation: 2 };
    write(&mut m, 4096, 512, newer);
    let first = differs(&mut m, 0, MIB, OURS).unwrap();
    assert!((4096..4096 + 512).contains(&first), "{first}");
    assert!(holds(&mut m, 4096, 512, newer));
}

#[test]
fn cache_survives_reset_as_configured() {
    for cache_survives in [true, false] {
        let mut m = medium(FakeCapacity { cache_bytes: Some(MIB), cache_survives, ..limbo(MIB) });
        write(&mut m, 0, 2 * MIB, OURS);
        m.reset();
        assert_eq!(holds(&mut m, MIB, MIB, OURS), cache_survives);
        assert!(holds(&mut m, 0, MIB, OURS));
    }
}

#[test]
fn lost_block_reads_as_garbage_noise_or_last() {
    let lost = |lost| medium(FakeCapacity { lost, ..limbo(MIB) });
    let twice = |m: &mut CardMedium| {
        let mut read = |number| {
            let mut found = ReadContent::default();
            found.clear(2 * MIB);
            m.read(2 * MIB, 512, number, &mut found).unwrap();
            let mut out = vec![0; 512];
            found.generate_bytes(&mut out);
            out
        };
        (read(1), read(2))
    };
    let (one, other) = twice(&mut lost(LostRead::Garbage));
    assert!(one == other && one.iter().any(|byte| *byte != one[0]));
    let (one, other) = twice(&mut lost(LostRead::Noise));
    assert_ne!(one, other);
    let mut last = lost(LostRead::Last);
    for at in [0, 5 * MIB, 3 * MIB] {
        write(&mut last, at, 8192, OURS);
        assert_eq!(read_stamp(&bytes(&mut last, 2 * MIB, 512)).unwrap().address, at + 4096);
    }
    write_bytes(&mut last, 8 * MIB, &[7; 4096]);
    assert!(holds(&mut last, 2 * MIB, 4096, IoContent::Constant(7)));
}

#[test]
fn lost_block_reads_as_ones_stale_or_error() {
    let lost = |lost| medium(FakeCapacity { lost, ..limbo(MIB) });
    assert!(holds(&mut lost(LostRead::Ones), 2 * MIB, 4096, IoContent::Constant(0xff)));
    let failed = found(&mut lost(LostRead::Error), 2 * MIB, 512).unwrap_err();
    assert!(matches!(failed, CardIoError::Failed { errno: libc::EIO, .. }), "{failed:?}");
    let mut stale = lost(LostRead::Stale);
    write(&mut stale, 0, MIB, OURS);
    write(&mut stale, 2 * MIB, 4096, OURS);
    let stamp = read_stamp(&bytes(&mut stale, 2 * MIB, 512)).unwrap();
    assert!(
        stamp.address < MIB && stamp.address.is_multiple_of(4096),
        "the stamp of a real block: {stamp:?}"
    );
    assert_eq!(bytes(&mut stale, 2 * MIB, 512), bytes(&mut stale, 2 * MIB, 512));
}

#[test]
fn stale_read_returns_block_of_same_slot() {
    let mut m = medium(FakeCapacity { lost: LostRead::Stale, cache_bytes: Some(MIB), ..limbo(MIB) });
    write(&mut m, 2 * MIB, 4096, OURS);
    assert_eq!(read_stamp(&bytes(&mut m, 5 * MIB, 512)).unwrap().address, 2 * MIB);
}

#[test]
fn read_only_card_drops_writes() {
    let mut card = card(FakeCapacity { kind: FakeKind::ReadOnly, ..FakeCapacity::default() });
    card.state.start = StartContent::Filled;
    let mut m = CardMedium::new(&card, 1, 0);
    write(&mut m, 0, MIB, OURS);
    m.discard(MIB, MIB);
    assert!(holds(&mut m, 0, 64 * MIB, IoContent::Noise));
}

#[test]
fn used_card_holds_data_in_chosen_units() {
    let mut card = card(FakeCapacity::default());
    card.state = StartState { start: StartContent::Used, used_share: 0.3, unwritten: UnwrittenRead::Zeros };
    card.flash.au_bytes = 256 << 10;
    let mut m = CardMedium::new(&card, 9, 0);
    let used: Vec<_> = mapped_ranges(&card, 9).collect();
    assert!((50..105).contains(&used.len()), "30 % of 256 are 77: {}", used.len());
    for unit in 0..256 {
        let range = unit * card.flash.au_bytes..(unit + 1) * card.flash.au_bytes;
        let expected = if used.contains(&range) { IoContent::Noise } else { IoContent::Constant(0) };
        assert!(holds(&mut m, range.start, card.flash.au_bytes, expected), "unit {unit}");
    }
}

#[test]
fn weak_bits_repeat_and_read_flips_do_not() {
    let mut card = card(FakeCapacity::default());
    card.faults.flip_p = 0.001;
    let mut m = CardMedium::new(&card, 4, 0);
    write(&mut m, 0, 64 * MIB, OURS);
    let wrong = |m: &mut CardMedium| found(m, 0, 64 * MIB).unwrap().flips;
    let first = wrong(&mut m);
    assert!((90..175).contains(&first.len()), "131 of 131 072 sectors: {}", first.len());
    assert_eq!(wrong(&mut m), first);
    let at = first.iter().map(|flip| flip.0).min();
    assert_eq!(differs(&mut m, 0, 64 * MIB, OURS), at, "compare sees it");
    let start = at.unwrap() / 512 * 512;
    let mut expected = vec![0; 512];
    cardscope_engine::content::fill_content(OURS, start, &mut expected);
    let read = bytes(&mut m, start, 512);
    let bits: u32 = read.iter().zip(&expected).map(|(a, b)| (a ^ b).count_ones()).sum();
    assert_eq!(bits, 1, "and so do the bytes");
    card.faults.flip_p = 0.0;
    card.faults.read_flip_p = 0.001;
    let mut m = CardMedium::new(&card, 4, 0);
    let mut read = |number| {
        let mut found = ReadContent::default();
        m.read(0, MIB, number, &mut found).unwrap();
        found.flips
    };
    assert_ne!(read(1), read(2));
    assert_eq!(read(1), read(1), "the same read of the same history");
}

#[test]
fn zero_bytes_take_no_memory() {
    let mut m = honest();
    write_bytes(&mut m, 0, &vec![0; MIB as usize]);
    assert_eq!(m.page_numbers().len(), 0);
    let mut sector = [7; 512];
    sector[0] = 1;
    write_bytes(&mut m, 512, &sector);
    assert_eq!(m.page_numbers().len(), 1);
    assert_eq!(bytes(&mut m, 512, 512), sector);
    m.discard(0, MIB);
    assert_eq!(m.page_numbers().len(), 0);
}
