//! UTF-8 that was once read in another encoding and saved so: `¬∞C` for `°C` (Mac OS Roman), `Â°C` (Windows-1252).
//!
//! Going back is safe: letters that people write next to each other almost never spell valid UTF-8 in those encodings.

use encoding_rs::{Encoding, MACINTOSH, UTF_8, WINDOWS_1252};

/// Bytes of letters next to each other that are looked at; longer ones are no signs among words.
const LONGEST: usize = 4096;

/// The text with such letters put right; `None` where it has none.
pub(crate) fn repaired(text: &str) -> Option<String> {
    let mut out = String::new();
    let (mut at, mut taken) = (0, 0);
    while let Some(start) = text[at..].find(|c: char| !c.is_ascii()).map(|start| at + start) {
        let length = text[start..].find(|c: char| c.is_ascii()).unwrap_or(text.len() - start);
        at = start + length;
        if let Some(original) = (length <= LONGEST).then(|| original(&text[start..at])).flatten() {
            out += &text[taken..start];
            out += &original;
            taken = at;
        }
    }
    (taken > 0).then(|| out + &text[taken..])
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
