//! Times as the archive writes them: UTC, microseconds, always of the same length, so that they sort as text.

use jiff::Timestamp;

/// Bytes of the longest time that is kept as one: a date with time, fractions of a second and zone, and room to spare.
pub(crate) const LONGEST_TIME: usize = 64;

/// Now.
pub(crate) fn now() -> String {
    of(Timestamp::now())
}

fn of(time: Timestamp) -> String {
    format!("{time:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_sort_as_text_even_on_the_full_second() {
        let texts = [1_700_000_000_000_000i64, 1_700_000_000_000_001, 1_700_000_001_000_000]
            .map(|micros| of(Timestamp::from_microsecond(micros).unwrap()));
        assert_eq!(texts[0], "2023-11-14T22:13:20.000000Z");
        assert!(texts.is_sorted());
    }
}
