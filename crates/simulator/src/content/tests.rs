use super::*;
use crate::archetype::{Fake, FakeKind, Lost};
use cardscope_engine::content::Content;
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

fn medium(kind: FakeKind, real: u64, wrap: u64, cache: u64) -> Medium {
    let fake = Fake {
        kind,
        real_bytes: Some(real),
        wrap_bytes: Some(wrap),
        cache_bytes: (cache > 0).then_some(cache),
        lost: Lost::Zeros,
    };
    Medium::new(FakeMap::new(&fake, 64 * MIB), kind == FakeKind::None, Lost::Zeros)
}

fn honest() -> Medium {
    medium(FakeKind::None, 64 * MIB, 64 * MIB, 0)
}

fn holds(medium: &Medium, offset: u64, len: u64, expected: Content) -> bool {
    let mut pieces = Vec::new();
    medium.read(offset, len, &mut pieces).unwrap();
    assert_eq!(pieces.iter().map(|p| p.len).sum::<u64>(), len);
    first_difference(&pieces, offset, expected, None).is_none()
}

fn bytes(medium: &Medium, offset: u64, len: usize) -> Vec<u8> {
    let mut pieces = Vec::new();
    medium.read(offset, len as u64, &mut pieces).unwrap();
    let mut out = vec![0xee; len];
    let mut at = 0;
    for piece in &pieces {
        if piece.what == What::Bytes {
            medium.fetch(piece, &mut out[at..at + piece.len as usize]);
        }
        at += piece.len as usize;
    }
    fill(&pieces, &mut out);
    out
}

const OURS: Content = Content::Stamp { salt: 7, generation: 1 };

#[test]
fn a_card_written_once_over_in_any_order_is_one_extent() {
    let mut m = honest();
    for block in [3u64, 0, 2, 1] {
        m.write(block * MIB, MIB, Content::Noise);
    }
    assert_eq!(m.kept(), (1, 0));
    assert!(holds(&m, 0, 4 * MIB, Content::Noise));
}

#[test]
fn what_was_never_written_reads_as_zeros() {
    assert!(holds(&honest(), 5 * MIB, MIB, Content::Constant(0)));
}

#[test]
fn a_stamp_of_another_generation_differs_at_its_first_counting_byte() {
    let mut m = honest();
    m.write(0, MIB, OURS);
    let newer = Content::Stamp { salt: 7, generation: 2 };
    m.write(4096, 512, newer);
    let mut pieces = Vec::new();
    m.read(0, MIB, &mut pieces).unwrap();
    let first = first_difference(&pieces, 0, OURS, None).unwrap();
    assert!((4096..4096 + 512).contains(&first), "{first}");
    assert!(holds(&m, 4096, 512, newer));
}

#[test]
fn beyond_the_real_bytes_of_a_limbo_card_everything_is_lost() {
    let mut m = medium(FakeKind::Limbo, 10 * MIB, 64 * MIB, 0);
    m.write(0, 64 * MIB, OURS);
    assert!(holds(&m, 0, 10 * MIB, OURS));
    assert!(holds(&m, 10 * MIB, 54 * MIB, Content::Constant(0)));
    let mut pieces = Vec::new();
    m.read(9 * MIB, 2 * MIB, &mut pieces).unwrap();
    assert_eq!(first_difference(&pieces, 9 * MIB, OURS, None), Some(MIB));
}

#[test]
fn the_cache_of_a_limbo_card_keeps_what_came_last() {
    let mut m = medium(FakeKind::Limbo, 10 * MIB, 64 * MIB, 2 * MIB);
    m.write(20 * MIB, 2 * MIB, OURS);
    assert!(holds(&m, 20 * MIB, 2 * MIB, OURS));
    m.write(30 * MIB, MIB, OURS);
    assert!(holds(&m, 30 * MIB, MIB, OURS));
    assert!(holds(&m, 20 * MIB, MIB, Content::Constant(0)), "its place was taken");
    assert!(holds(&m, 21 * MIB, MIB, OURS), "the other half was not");
    assert!(holds(&m, 40 * MIB, MIB, Content::Constant(0)), "nobody wrote here");
}

#[test]
fn on_a_card_that_wraps_the_later_address_overwrites_the_earlier() {
    let mut m = medium(FakeKind::Wraparound, 64 * MIB, 12 * MIB, 0);
    m.write(MIB, MIB, OURS);
    m.write(13 * MIB, MIB, OURS);
    assert!(holds(&m, 13 * MIB, MIB, OURS));
    assert!(!holds(&m, MIB, MIB, OURS), "it now says that it belongs at 13 MiB");
    assert_eq!(bytes(&m, MIB, 512), bytes(&m, 13 * MIB, 512));
    assert_eq!(cardscope_engine::content::read_stamp(&bytes(&m, MIB, 512)).unwrap().address, 13 * MIB);
}

#[test]
fn a_chain_wraps_first_and_loses_then() {
    let mut m = medium(FakeKind::Chain, 10 * MIB, 16 * MIB, 0);
    m.write(16 * MIB, 16 * MIB, OURS);
    assert!(holds(&m, 16 * MIB, 10 * MIB, OURS));
    assert!(holds(&m, 26 * MIB, 6 * MIB, Content::Constant(0)));
    assert_eq!(bytes(&m, 0, 4096), bytes(&m, 16 * MIB, 4096));
}

#[test]
fn a_lost_block_may_read_as_ones_or_fail() {
    let fake = Fake { kind: FakeKind::Limbo, real_bytes: Some(MIB), ..Fake::default() };
    let map = FakeMap::new(&fake, 64 * MIB);
    assert!(holds(&Medium::new(map, false, Lost::Ones), 2 * MIB, 4096, Content::Constant(0xff)));
    assert!(Medium::new(map, false, Lost::Error).read(2 * MIB, 512, &mut Vec::new()).is_err());
}

#[test]
fn zeros_given_as_bytes_cost_no_memory() {
    let mut m = honest();
    m.write_bytes(0, &vec![0; MIB as usize]);
    assert_eq!(m.kept(), (1, 0));
    m.write_bytes(512, b"a file system's super block");
    assert_eq!(m.kept().1, 1);
    m.discard(0, MIB);
    assert_eq!(m.kept(), (0, 0));
}

#[test]
fn noise_reads_the_same_bytes_each_time_and_no_two_places_share_them() {
    let mut m = honest();
    m.write(0, MIB, Content::Noise);
    assert_eq!(bytes(&m, 4096, 512), bytes(&m, 4096, 512));
    assert_ne!(bytes(&m, 4096, 512), bytes(&m, 8192, 512));
}

/// One step of a random history.
#[derive(Debug, Clone)]
enum Step {
    Constant(u8),
    Stream(u64),
    Bytes(u8),
    Discard,
}

fn step() -> impl Strategy<Value = (Step, u64, u64)> {
    let kind = prop_oneof![
        any::<u8>().prop_map(Step::Constant),
        (0..3u64).prop_map(Step::Stream),
        any::<u8>().prop_map(Step::Bytes),
        Just(Step::Discard),
    ];
    (kind, 0..64u64, 1..24u64)
}

proptest! {
    #[test]
    fn any_history_leaves_what_a_plain_array_would_hold(steps in prop::collection::vec(step(), 1..40)) {
        let mut m = honest();
        let mut plain = vec![0u8; 512 * 96];
        for (step, sector, sectors) in steps {
            let (offset, len) = (sector * 512, sectors * 512);
            let part = &mut plain[offset as usize..(offset + len) as usize];
            match step {
                Step::Constant(byte) => {
                    part.fill(byte);
                    m.write(offset, len, Content::Constant(byte));
                }
                Step::Stream(seed) => {
                    cardscope_engine::content::fill(Content::Stream { seed }, offset, part);
                    m.write(offset, len, Content::Stream { seed });
                }
                Step::Bytes(first) => {
                    part.iter_mut().enumerate().for_each(|(i, b)| *b = first.wrapping_add((i / 7) as u8));
                    m.write_bytes(offset, part);
                }
                Step::Discard => {
                    part.fill(0);
                    m.discard(offset, len);
                }
            }
        }
        prop_assert_eq!(bytes(&m, 0, plain.len()), plain);
    }
}
