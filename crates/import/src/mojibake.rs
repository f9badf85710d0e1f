//! UTF-8 that was once read in another encoding and saved so: `¬∞C` for `°C` (Mac OS Roman), `Â°C` (Windows-1252).
//!
//! Going back is safe: letters that people write next to each other almost never spell valid UTF-8 in those encodings.

use encoding_rs::{Encoding, MACINTOSH, UTF_8, WINDOWS_1252};

/// The text with such letters put right; `None` where it has none.
pub(crate) fn repaired(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut found) = (text, false);
    while let Some(start) = rest.find(|c: char| !c.is_ascii()) {
        let length = rest[start..].find(|c: char| c.is_ascii()).unwrap_or(rest.len() - start);
        let garbled = &rest[start..start + length];
        out.push_str(&rest[..start]);
        match original(garbled) {
            Some(original) => {
                found = true;
                out.push_str(&original);
            }
            None => out.push_str(garbled),
        }
        rest = &rest[start + length..];
    }
    out.push_str(rest);
    found.then_some(out)
}

/// What stood there, where it can have been UTF-8.
fn original(garbled: &str) -> Option<String> {
    let through = |wrong: &'static Encoding| {
        let (bytes, _, unmappable) = wrong.encode(garbled);
        let text = UTF_8.decode_without_bom_handling_and_without_replacement(&bytes)?;
        (!unmappable && text.chars().count() < garbled.chars().count()).then(|| text.into_owned())
    };
    through(MACINTOSH).or_else(|| through(WINDOWS_1252))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a program makes of UTF-8 that it takes for another encoding.
    fn misread(text: &str, wrong: &'static Encoding) -> String {
        wrong.decode_without_bom_handling(text.as_bytes()).0.into_owned()
    }

    #[test]
    fn degrees_and_trademarks_come_back_from_both_encodings() {
        for wrong in [MACINTOSH, WINDOWS_1252] {
            let right = "25°C idle, Exämple® card, 12 µs";
            assert_eq!(repaired(&misread(right, wrong)).as_deref(), Some(right));
        }
    }

    #[test]
    fn letters_that_are_right_stay_as_they_are() {
        for text in ["21 °C, 12 µs – “fast”", "Последовательное чтение", "シーケンシャル", "plain"]
        {
            assert_eq!(repaired(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_repaired_once_stays(text in "\\PC{0,60}") {
            if let Some(right) = repaired(&misread(&text, MACINTOSH)) {
                prop_assert!(right.chars().count() <= text.chars().count() * 3);
            }
        }
    }
}
