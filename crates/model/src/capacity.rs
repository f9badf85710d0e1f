//! A capacity taken apart: exact bytes, GB and GiB, the size on the label, and what its factors say about blocks.
//!
//! A card announces whole erase blocks as a rule. So the power of two in its capacity bounds the size of a block that
//! is a power of two (the `factor` step of docs/reference/reports.md#lexar-review), and a factor 3 is what blocks of
//! TLC flash leave.

pub mod fit;

use crate::units::{BinarySize, ExactCapacity, GIB};
use serde::{Deserialize, Serialize};

/// Odd parts up to here are taken apart into primes; no card's is larger.
const LARGEST_FACTORED: u64 = 1 << 40;

/// A capacity is called by a nominal size if it has at least this share of it …
const NOMINAL_FROM: f64 = 0.85;
/// … and at most this: 2^30 bytes are 1.074 GB.
const NOMINAL_TO: f64 = 1.08;

/// A capacity in the units that people ask for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityView {
    /// Exact.
    pub bytes: u64,
    /// In 10^9 bytes.
    pub gb: f64,
    /// In 2^30 bytes.
    pub gib: f64,
    /// Size that is likely printed on the card, `16 GB`; `None` where it is near none.
    pub nominal: Option<String>,
    /// Exact bytes, and GB, as a line of text.
    pub text: String,
}

impl CapacityView {
    /// Looks at a number of bytes.
    pub fn new(bytes: u64) -> Self {
        CapacityView {
            bytes,
            gb: bytes as f64 / 1e9,
            gib: bytes as f64 / GIB as f64,
            nominal: nominal(bytes),
            text: ExactCapacity(bytes).to_string(),
        }
    }
}

/// The size printed on a card of so many bytes: a power of two in MB, GB or TB.
pub fn nominal(bytes: u64) -> Option<String> {
    let power = nominal_power(bytes)?;
    let unit = ["MB", "GB", "TB"][(power / 10) as usize];
    Some(format!("{} {unit}", 1u32 << (power % 10)))
}

/// The same in bytes.
pub(crate) fn printed_size(bytes: u64) -> Option<f64> {
    nominal_power(bytes).map(nominal_bytes)
}

/// The power of two of a size in MB. The unit changes every 2^10.
fn nominal_bytes(power: u32) -> f64 {
    f64::from(1u32 << (power % 10)) * 1000f64.powi(2 + (power / 10) as i32)
}

/// From 8 MB, the smallest cards made, to the 128 TB of SDUC.
fn nominal_power(bytes: u64) -> Option<u32> {
    let fits = |power: &u32| (NOMINAL_FROM..=NOMINAL_TO).contains(&(bytes as f64 / nominal_bytes(*power)));
    (3..=27).find(fits)
}

/// A capacity as a power of two times an odd rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapacityFactors {
    /// `2^20 × 15271`.
    pub text: String,
    /// Exponent of the power of two.
    pub power_of_two: u32,
    /// The power of two in bytes: the largest block of that kind that fits a whole number of times.
    pub power_of_two_bytes: u64,
    /// The odd rest.
    pub odd: u64,
    /// Its prime factors, smallest first.
    pub odd_primes: Vec<u64>,
    /// What follows for the size of blocks, in words.
    pub says: String,
}

/// Takes a capacity apart; `None` for 0.
pub fn factor(bytes: u64) -> Option<CapacityFactors> {
    if bytes == 0 {
        return None;
    }
    let power_of_two = bytes.trailing_zeros();
    let (power_of_two_bytes, odd) = (1u64 << power_of_two, bytes >> power_of_two);
    Some(CapacityFactors {
        text: format!("2^{power_of_two} × {odd}"),
        power_of_two,
        power_of_two_bytes,
        odd,
        odd_primes: if odd <= LARGEST_FACTORED { primes(odd) } else { Vec::new() },
        says: says(bytes, power_of_two_bytes, odd),
    })
}

fn says(bytes: u64, power_bytes: u64, odd: u64) -> String {
    let block = BinarySize(power_bytes);
    let mut text = format!(
        "{bytes} = 2^{} × {odd}: if the capacity is a whole number of erase blocks and a block is a power of two, a block is at most {block}; a larger one would mean that the last block is cut",
        power_bytes.trailing_zeros()
    );
    if odd == 1 {
        text = format!(
            "{bytes} = 2^{}: a power of two, which bounds no block size",
            power_bytes.trailing_zeros()
        );
    } else if odd.is_multiple_of(3) {
        let tlc = BinarySize(power_bytes.saturating_mul(3));
        text.push_str(&format!(
            "; the factor 3 also allows blocks of 3 × 2^n bytes, as TLC flash has them, up to {tlc}"
        ));
    }
    text
}

/// Prime factors of an odd number, by trial division.
fn primes(mut rest: u64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut divisor = 3;
    while divisor * divisor <= rest {
        while rest.is_multiple_of(divisor) {
            found.push(divisor);
            rest /= divisor;
        }
        divisor += 2;
    }
    if rest > 1 {
        found.push(rest);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lexar_of_seed_004_allows_blocks_of_at_most_1_mib() {
        let factors = factor(16_012_804_096).unwrap();
        assert_eq!((factors.power_of_two, factors.odd), (20, 15_271));
        assert_eq!(factors.odd_primes, [15_271]);
        assert_eq!(factors.text, "2^20 × 15271");
        assert!(factors.says.contains("a block is at most 1 MiB;"), "{}", factors.says);
    }

    #[test]
    fn a_factor_3_is_named_because_tlc_leaves_it() {
        // 24 MiB × 5
        let factors = factor(5 * (24 << 20)).unwrap();
        assert_eq!(factors.odd_primes, [3, 5]);
        assert!(factors.says.ends_with("up to 24 MiB"), "{}", factors.says);
    }

    #[test]
    fn a_power_of_two_says_nothing_about_blocks() {
        assert!(factor(1 << 30).unwrap().says.contains("bounds no block size"));
        assert_eq!(factor(0), None);
    }

    #[test]
    fn the_label_is_guessed_from_real_cards() {
        for (bytes, label) in [
            (16_012_804_096, Some("16 GB")),
            (31_393_316_864, Some("32 GB")),
            (125_342_580_736, Some("128 GB")),
            (1_015_808_000, Some("1 GB")),
            (1_000_865_792_000, Some("1 TB")),
            (252_874_588_160, Some("256 GB")),
            (4_002_909_519_872, Some("4 TB")),
            (2_147_483_648, Some("2 GB")),
            (24_000_000_000, None),
            (0, None),
        ] {
            assert_eq!(nominal(bytes).as_deref(), label, "{bytes}");
        }
    }

    #[test]
    fn gb_and_gib_stand_beside_the_bytes() {
        let view = CapacityView::new(16_012_804_096);
        assert_eq!(view.text, "16 012 804 096 bytes (16.0 GB)");
        assert_eq!((view.gb * 1e9) as u64, 16_012_804_096);
    }

    proptest::proptest! {
        #[test]
        fn the_parts_multiply_back(bytes in 1u64..) {
            let factors = factor(bytes).unwrap();
            proptest::prop_assert_eq!(u128::from(factors.power_of_two_bytes) * u128::from(factors.odd), u128::from(bytes));
            proptest::prop_assert!(factors.odd % 2 == 1);
            proptest::prop_assert!(factors.odd_primes.is_empty() || factors.odd_primes.iter().product::<u64>() == factors.odd);
        }
    }
}
