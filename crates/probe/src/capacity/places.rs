//! Where markers go: spread evenly over a range however many there will be, each at a random place of its share.

use cardscope_model::random::Random;

/// Addresses in `start..end` in an order of which every beginning is spread evenly (van der Corput), each moved at
/// random inside its share of `most` shares.
pub(super) fn spread(start: u64, end: u64, most: u32, random: &mut Random) -> Vec<u64> {
    let shares = u64::from(most.max(1).next_power_of_two());
    let bits = shares.trailing_zeros();
    let width = end.saturating_sub(start) as u128;
    let place = |share: u64, random: &mut Random| {
        let low = (width * u128::from(share) / u128::from(shares)) as u64;
        let high = (width * u128::from(share + 1) / u128::from(shares)) as u64;
        start + low + random.below((high - low).max(1))
    };
    let reversed = |i: u64| if bits == 0 { 0 } else { i.reverse_bits() >> (64 - bits) };
    (0..shares).take(most as usize).map(|i| place(reversed(i), random)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_lie_inside_and_every_beginning_is_spread(start in 0u64..1 << 40, width in 1u64 << 20..1 << 41, most in 1u32..300, seed: u64) {
            let places = spread(start, start + width, most, &mut Random::new(seed));
            prop_assert_eq!(places.len(), most as usize);
            prop_assert!(places.iter().all(|p| (start..start + width).contains(p)));
            // Of the first eight, one lies in each eighth.
            if most >= 8 {
                let mut eighths: Vec<u64> = places[..8].iter().map(|p| (p - start) * 8 / width).collect();
                eighths.sort_unstable();
                prop_assert_eq!(eighths, (0..8).collect::<Vec<u64>>());
            }
        }
    }
}
