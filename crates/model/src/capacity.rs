//! Analysis of a capacity: bytes, GB, GiB, the nominal size, and the block sizes that its factors allow.
//!
//! A card usually announces whole erase blocks. So the power of two in its capacity bounds the size of a block that
//! is a power of two (the `factor` step of docs/reference/reports.md#lexar-review), and a factor of 3 indicates TLC
//! flash.

pub mod fit;

use crate::units::{BinarySize, ExactCapacity, GIB};
use serde::{Deserialize, Serialize};

/// Largest odd part that is factored; no card's is larger.
const LARGEST_FACTORED: u64 = 1 << 40;

/// Smallest share of a nominal size at which a capacity is called by it …
const NOMINAL_FROM: f64 = 0.85;
/// … and the largest; 2^30 bytes are 1.074 GB.
const NOMINAL_TO: f64 = 1.08;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityView {
    pub bytes: u64,
    pub gb: f64,
    pub gib: f64,
    /// Size likely printed on the card, e.g. `16 GB`; None if no nominal size is near.
    pub nominal: Option<String>,
    pub text: String,
}

impl CapacityView {
    pub fn new(bytes: u64) -> Self {
        CapacityView {
            bytes,
            gb: bytes as f64 / 1e9,
            gib: bytes as f64 / GIB as f64,
            nominal: nominal_size(bytes),
            text: ExactCapacity(bytes).to_string(),
        }
    }
}

/// Returns the nominal size of a capacity, a power of two in MB, GB or TB, e.g. `16 GB`.
pub fn nominal_size(bytes: u64) -> Option<String> {
    let power = nominal_power(bytes)?;
    let unit = ["MB", "GB", "TB"][(power / 10) as usize];
    Some(format!("{} {unit}", 1u32 << (power % 10)))
}

pub(crate) fn nominal_size_bytes(bytes: u64) -> Option<f64> {
    nominal_power(bytes).map(nominal_bytes)
}

/// Converts the power of two of a size in MB to bytes. The unit is decimal and changes every 2^10.
fn nominal_bytes(power: u32) -> f64 {
    f64::from(1u32 << (power % 10)) * 1000f64.powi(2 + (power / 10) as i32)
}

/// Tries 8 MB, the smallest cards made, to 128 TB of SDUC.
fn nominal_power(bytes: u64) -> Option<u32> {
    let fits = |power: &u32| (NOMINAL_FROM..=NOMINAL_TO).contains(&(bytes as f64 / nominal_bytes(*power)));
    (3..=27).find(fits)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapacityFactors {
    pub text: String,
    pub power_of_two: u32,
    /// Power of two in bytes: the largest such block that divides the capacity.
    pub power_of_two_bytes: u64,
    pub odd: u64,
    /// Prime factors of the odd rest, smallest first; empty if it is too large to factor.
    pub odd_primes: Vec<u64>,
    pub says: String,
}

/// Factors a capacity, or returns None for 0.
pub fn factor_capacity(bytes: u64) -> Option<CapacityFactors> {
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
        odd_primes: if odd <= LARGEST_FACTORED { prime_factors(odd) } else { Vec::new() },
        says: describe_factors(bytes, power_of_two, odd),
    })
}

fn describe_factors(bytes: u64, power: u32, odd: u64) -> String {
    if odd == 1 {
        return format!("{bytes} = 2^{power}: a power of two, which bounds no block size");
    }
    let block = BinarySize(1 << power);
    let mut text = format!(
        "{bytes} = 2^{power} × {odd}: if the capacity is a whole number of erase blocks and a block is a power of two, a block is at most {block}; a larger one would mean that the last block is cut"
    );
    if odd.is_multiple_of(3) {
        let tlc = BinarySize((1u64 << power).saturating_mul(3));
        text += &format!(
            "; the factor 3 also allows blocks of 3 × 2^n bytes, as TLC flash has them, up to {tlc}"
        );
    }
    text
}

fn prime_factors(mut rest: u64) -> Vec<u64> {
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
    fn factors_bound_the_block_size() {
        let factors = factor_capacity(16_012_804_096).unwrap();
        assert_eq!((factors.power_of_two, factors.odd), (20, 15_271));
        assert_eq!(factors.odd_primes, [15_271]);
        assert_eq!(factors.text, "2^20 × 15271");
        assert!(factors.says.contains("a block is at most 1 MiB;"), "{}", factors.says);
    }

    #[test]
    fn factor_3_allows_tlc_blocks() {
        // 24 MiB × 5
        let factors = factor_capacity(5 * (24 << 20)).unwrap();
        assert_eq!(factors.odd_primes, [3, 5]);
        assert!(factors.says.ends_with("up to 24 MiB"), "{}", factors.says);
    }

    #[test]
    fn power_of_two_bounds_no_block_size() {
        assert!(factor_capacity(1 << 30).unwrap().says.contains("bounds no block size"));
        assert_eq!(factor_capacity(0), None);
    }

    #[test]
    fn nominal_size_is_derived_from_exact_bytes() {
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
            assert_eq!(nominal_size(bytes).as_deref(), label, "{bytes}");
        }
    }

    #[test]
    fn capacity_view_has_bytes_gb_and_gib() {
        let view = CapacityView::new(16_012_804_096);
        assert_eq!(view.text, "16 012 804 096 bytes (16.0 GB)");
        assert_eq!((view.gb * 1e9) as u64, 16_012_804_096);
    }

    proptest::proptest! {
        #[test]
        fn product_of_factors_is_the_capacity(bytes in 1u64..) {
            let factors = factor_capacity(bytes).unwrap();
            proptest::prop_assert_eq!(u128::from(factors.power_of_two_bytes) * u128::from(factors.odd), u128::from(bytes));
            proptest::prop_assert!(factors.odd % 2 == 1);
            proptest::prop_assert!(factors.odd_primes.is_empty() || factors.odd_primes.iter().product::<u64>() == factors.odd);
        }
    }
}
