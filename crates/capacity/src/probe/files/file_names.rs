//! Names of test files as h2testw and f3write give them: `1.h2w`, `2.h2w` and so on.

use cardscope_engine::content::h2w::FILE_BYTES;

/// Largest number; the offsets of later files would exceed 64 bits.
const MAX_NUMBER: u64 = u64::MAX / FILE_BYTES;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedFile {
    pub number: u64,
    /// Size according to the file system; 0 if unknown.
    pub bytes: u64,
    /// True for a regular file, false for a link, pipe or directory.
    pub is_plain: bool,
}

/// Returns a name such as `7.h2w`.
pub fn file_name(number: u64) -> String {
    format!("{number}.h2w")
}

/// Number of a test file, or None for names that the writers do not give (leading zeros, capitals).
pub fn parse_number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".h2w")?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
    plain.then(|| digits.parse().ok()).flatten().filter(|n| (1..=MAX_NUMBER).contains(n))
}

/// Missing numbers below the highest, as inclusive ranges.
pub(super) fn missing_numbers(numbers: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut next = 1;
    let mut gaps = Vec::new();
    for number in numbers {
        if number > next {
            gaps.push((next, number - 1));
        }
        next = number + 1;
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_h2testw_and_f3write_are_accepted() {
        assert_eq!(parse_number("1.h2w"), Some(1));
        assert_eq!(parse_number("1024.h2w"), Some(1024));
        for other in ["0.h2w", "01.h2w", "1.H2W", ".h2w", "a.h2w", "1.h2w.bak", "+1.h2w", "99999999999.h2w"] {
            assert_eq!(parse_number(other), None, "{other}");
        }
    }

    #[test]
    fn gaps_in_the_numbering_are_ranges() {
        assert_eq!(missing_numbers([1, 2, 3]), []);
        assert_eq!(missing_numbers([3, 4, 9]), [(1, 2), (5, 8)]);
    }
}
