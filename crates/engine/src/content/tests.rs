use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

fn made(content: IoContent, offset: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0xee; len];
    fill_content(content, offset, &mut bytes);
    bytes
}

fn any_content() -> impl Strategy<Value = IoContent> {
    prop_oneof![
        Just(IoContent::Noise),
        any::<u8>().prop_map(IoContent::Constant),
        any::<u64>().prop_map(|seed| IoContent::Stream { seed }),
        (any::<u64>(), any::<u32>()).prop_map(|(salt, generation)| IoContent::Stamp { salt, generation }),
        any::<u64>().prop_map(|base| IoContent::H2w { base }),
    ]
}

proptest! {
    #[test]
    fn content_depends_only_on_address(
        content in any_content(), offset in 0u64..1 << 50, len in 0usize..5000, cut in 0usize..5000,
    ) {
        let cut = cut.min(len);
        let whole = made(content, offset, len);
        let mut parts = made(content, offset, cut);
        parts.extend(made(content, offset + cut as u64, len - cut));
        prop_assert_eq!(whole, parts);
    }

    #[test]
    fn constant_byte_requires_equal_bytes(byte: u8, len in 0usize..600, at in 0usize..600, other: u8) {
        let mut bytes = vec![byte; len];
        prop_assert_eq!(constant_byte(&bytes), (len > 0).then_some(byte));
        if at < len && len > 1 && other != byte {
            bytes[at] = other;
            prop_assert_eq!(constant_byte(&bytes), None);
        }
    }

    #[test]
    fn written_content_matches(content in any_content(), offset in 0u64..1 << 50, len in 0usize..40_000) {
        prop_assert_eq!(compare_content(content, offset, &made(content, offset, len)), ContentMatch::Same);
    }

    #[test]
    fn compare_finds_first_wrong_byte(
        content in any_content(), offset in 0u64..1 << 50, len in 1usize..40_000, at in 0usize..40_000, bit in 0u8..8,
    ) {
        let at = at % len;
        let mut bytes = made(content, offset, len);
        bytes[at] ^= 1 << bit;
        if let Some(last) = bytes.last_mut() && at + 1 < len { *last ^= 0xff; }
        prop_assert_eq!(compare_content(content, offset, &bytes), ContentMatch::DiffersAt(at as u64));
    }

    #[test]
    fn stamp_holds_address_salt_and_generation(sector in 0u64..1 << 41, salt: u64, generation: u32) {
        let address = sector * 512;
        let bytes = made(IoContent::Stamp { salt, generation }, address, 512);
        prop_assert_eq!(read_stamp(&bytes), Some(SectorStamp { address, salt, generation }));
        prop_assert_eq!(read_stamp_header(&bytes[..40]), Some(SectorStamp { address, salt, generation }));
    }

    #[test]
    fn stamp_of_other_generation_salt_or_address_differs(sector in 0u64..1 << 41, salt: u64, generation in 0u32..u32::MAX) {
        let address = sector * 512;
        let bytes = made(IoContent::Stamp { salt, generation }, address, 512);
        prop_assert_ne!(compare_content(IoContent::Stamp { salt, generation: generation + 1 }, address, &bytes), ContentMatch::Same);
        prop_assert_ne!(compare_content(IoContent::Stamp { salt: salt ^ 1, generation }, address, &bytes), ContentMatch::Same);
        prop_assert_ne!(compare_content(IoContent::Stamp { salt, generation }, address + 512, &bytes), ContentMatch::Same);
    }

    #[test]
    fn two_streams_share_no_block(seed: u64, other: u64, sector in 0u64..1 << 41) {
        prop_assume!(seed != other);
        prop_assert_ne!(
            made(IoContent::Stream { seed }, sector * 512, 512),
            made(IoContent::Stream { seed: other }, sector * 512, 512)
        );
    }
}

#[test]
fn every_flipped_bit_invalidates_stamp() {
    let mut bytes = made(IoContent::Stamp { salt: 0x5a17, generation: 3 }, 7 * 512, 512);
    for bit in 0..512 * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(read_stamp(&bytes), None, "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(read_stamp(&bytes).is_some());
}

#[test]
fn empty_foreign_or_short_sector_has_no_stamp() {
    assert_eq!(read_stamp(&[0; 512]), None);
    assert_eq!(read_stamp(&[0xff; 512]), None);
    assert_eq!(read_stamp(&made(IoContent::Stream { seed: 1 }, 0, 512)), None);
    assert_eq!(read_stamp(&made(IoContent::Stamp { salt: 1, generation: 1 }, 0, 511)), None);
    assert_eq!(read_stamp(&[]), None);
}

#[test]
fn generator_output_is_stable() {
    // Worked out apart from this code, in Python, from the definitions in `generator`: a card stamped by one
    // version must be read by the next.
    assert_eq!(made(IoContent::Stream { seed: 1 }, 0, 16), STREAM_1_AT_0);
    assert_eq!(made(IoContent::Stream { seed: 1 }, 512 * 1_000_000_007 + 64, 16), STREAM_1_FAR);
}

/// A sector of an h2w file by its definition: the chain, one step after another.
fn h2w_sector(offset: u64) -> Vec<u8> {
    let chain = std::iter::successors(Some(offset), |r| Some(r.wrapping_mul(4_294_967_311).wrapping_add(17)));
    chain.take(64).flat_map(u64::to_le_bytes).collect()
}

#[test]
fn h2w_sector_matches_f3write() {
    // docs/reference/tools.md#f3-and-h2testw-files; `tests/end_to_end/files.rs` checks the SHA-256 values there.
    assert_eq!(made(IoContent::H2w { base: 0 }, 0, 32), GOLDEN_START);
}

proptest! {
    #[test]
    fn h2w_file_matches_definition(number in 1u64..100_000, sector in 0u64..1 << 21, sectors in 1usize..40) {
        let base = (number - 1) * h2w::FILE_BYTES;
        let found = made(IoContent::H2w { base }, sector * 512, sectors * 512);
        let expected: Vec<u8> = (0..sectors as u64).flat_map(|n| h2w_sector(base + (sector + n) * 512)).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(h2w::sector_words(base)[0], base);
    }
}

#[test]
fn vectorized_generator_matches_portable() {
    for number in [0, 1, 77, u64::MAX] {
        let (mut quick, mut portable) = ([0; BLOCK], [1; BLOCK]);
        generator::block(number ^ 5, number, &mut quick);
        generator::portable(number ^ 5, number, &mut portable);
        assert_eq!(quick, portable);
    }
}

const MIB: usize = 1 << 20;

#[rstest::rstest]
#[case(IoContent::Noise)]
#[case(IoContent::Stream { seed: 0 })]
#[case(IoContent::Stream { seed: 42 })]
fn noise_repeats_no_16_byte_word(#[case] content: IoContent) {
    let bytes = made(content, 0, MIB);
    let words: HashSet<&[u8]> = bytes.chunks_exact(16).collect();
    assert_eq!(words.len(), MIB / 16);
}

#[rstest::rstest]
#[case(IoContent::Noise)]
#[case(IoContent::Stream { seed: 0 })]
#[case(IoContent::Stream { seed: u64::MAX })]
fn noise_bytes_are_uniform(#[case] content: IoContent) {
    let mut counts = [0u32; 256];
    for byte in made(content, 0, MIB) {
        counts[usize::from(byte)] += 1;
    }
    let expected = (MIB / 256) as f64;
    let chi2: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
    // 255 degrees of freedom: mean 255, standard deviation 22.6; five of them either way.
    assert!((142.0..368.0).contains(&chi2), "chi-square {chi2}");
}

const STREAM_1_AT_0: [u8; 16] =
    [0xc4, 0x1f, 0x8f, 0xc6, 0xb2, 0xe6, 0xe0, 0x05, 0x6b, 0x12, 0xda, 0xcb, 0x0e, 0x9a, 0xb2, 0x73];
const STREAM_1_FAR: [u8; 16] =
    [0xdc, 0xc1, 0x2e, 0xe2, 0xd7, 0xbc, 0xd9, 0xfa, 0xb3, 0x4e, 0xa9, 0xe7, 0x40, 0x4d, 0x96, 0x0d];
const GOLDEN_START: [u8; 32] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x01, 0, 0, 0x11, 0, 0, 0, 0x01, 0x10, 0, 0,
    0x0f, 0x02, 0, 0,
];
