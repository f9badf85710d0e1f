//! Period in which addresses repeat, from the distances between data and the addresses it belongs to.

pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns the greatest common divisor of all distances, or `None` if there are none.
pub fn common_divisor(distances: impl IntoIterator<Item = u64>) -> Option<u64> {
    distances.into_iter().reduce(gcd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn period_is_common_divisor_of_distances() {
        let (mib, odd) = (1 << 20, 18_350_592);
        assert_eq!(common_divisor([256 * mib]), Some(256 * mib));
        assert_eq!(common_divisor([3 * odd, 2 * odd, odd]), Some(odd));
        assert_eq!(common_divisor([3 * odd, 2 * odd]), Some(odd), "also where no two copies are neighbours");
        assert_eq!(
            common_divisor([256 * mib, 256 * mib - 4096]),
            Some(4096),
            "gaps of a file system are no period"
        );
        assert_eq!((common_divisor([]), gcd(7, 0)), (None, 7));
    }
}
