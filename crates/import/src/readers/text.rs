//! Decodes bytes of any origin to lines of text: UTF-8, UTF-16 with and without a byte order mark, Windows-1252; terminal
//! output with colours and with progress that overwrites itself.
//!
//! Guesses become doubts.

use encoding_rs::{Encoding, MACINTOSH, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;

/// Bytes of a text that are enough to recognise its format.
const HEAD_BYTES: usize = 64 * 1024;

/// Bytes of the longest line that is read.
const LONGEST_LINE: usize = 64 * 1024;

/// A log as text; borrows the bytes if they need no decoding.
#[derive(Debug, Clone)]
pub struct LogText<'a> {
    body: Cow<'a, str>,
    doubts: Vec<String>,
}

impl<'a> LogText<'a> {
    /// Decodes bytes. Never fails, since every byte is a character in Windows-1252.
    pub fn decode(bytes: &'a [u8]) -> Self {
        let mut doubts = Vec::new();
        let mut body = decode_bytes(bytes, &mut doubts);
        if let Some(repaired) = repair_encoding(&body) {
            doubts.push("repaired wrongly encoded characters (¬∞C for °C)".to_owned());
            body = Cow::Owned(repaired);
        }
        LogText { body: remove_escapes(body), doubts }
    }

    /// Wraps text that is decoded, such as a part of a file.
    pub fn from_decoded(body: &'a str) -> Self {
        LogText { body: Cow::Borrowed(body), doubts: Vec::new() }
    }

    /// Whole text. Lines end with `\n`, and escape sequences are removed.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// First part of the text, enough to recognise its format.
    pub fn head(&self) -> &str {
        let mut end = self.body.len().min(HEAD_BYTES);
        while !self.body.is_char_boundary(end) {
            end -= 1;
        }
        &self.body[..end]
    }

    /// Lines, without those that are too long for people. Readers split lines into words and numbers, which takes a multiple of
    /// the memory of a line of 64 MiB.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.body.lines().filter(|line| line.len() <= LONGEST_LINE)
    }

    /// Guesses made while decoding.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// Beginning of an unknown text, for a message.
    pub fn describe_beginning(&self) -> String {
        let first = self.body.lines().map(str::trim).find(|line| !line.is_empty());
        match first {
            None => "it is empty".to_owned(),
            Some(_) if self.body.contains('\0') => "it is not text".to_owned(),
            Some(line) => format!("it begins with {:?}", line.chars().take(60).collect::<String>()),
        }
    }
}

/// Text without surrounding blanks; `None` if nothing remains.
pub(crate) fn trimmed_text(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Text between the first `open` and the next `close`.
pub(crate) fn text_between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    Some(text.split_once(open)?.1.split_once(close)?.0)
}

/// Rest of a line that begins with a text of a table, and that text's meaning.
pub(crate) fn strip_start<'a, T: Copy>(line: &'a str, starts: &[(&str, T)]) -> Option<(&'a str, T)> {
    starts.iter().find_map(|(start, meaning)| Some((line.strip_prefix(start)?, *meaning)))
}

/// Replaces bytes that are not text; no reader recognises it.
const NO_TEXT: &str = "\0";

/// Bytes from which a log counts as long.
const LONG_LOG_BYTES: usize = 1 << 20;

fn decode_bytes<'a>(bytes: &'a [u8], doubts: &mut Vec<String>) -> Cow<'a, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0;
    }
    if let Some(encoding) = unmarked_utf16(bytes) {
        return encoding.decode_without_bom_handling(bytes).0;
    }
    let (broken, whole) = count_letters(bytes);
    if broken == 0 {
        return UTF_8.decode_without_bom_handling(bytes).0;
    }
    // Text in Windows-1252 hardly ever is valid UTF-8, so valid letters mean UTF-8 with a few broken bytes.
    if whole >= broken || ends_within_a_character(bytes) {
        doubts.push(format!("{broken} characters are broken"));
        let mut text = UTF_8.decode_without_bom_handling(bytes).0.into_owned();
        text.truncate(text.trim_end_matches(char::REPLACEMENT_CHARACTER).len());
        return text.into();
    }
    // A long log in any alphabet is mostly digits. Other bytes are not a log, and to decode them would only take memory.
    if bytes.len() > LONG_LOG_BYTES && 2 * broken > bytes.len() {
        return NO_TEXT.into();
    }
    doubts.push("not valid UTF-8: read as Windows-1252, so accents may be wrong".to_owned());
    WINDOWS_1252.decode_without_bom_handling(bytes).0
}

/// Characters beyond ASCII in bytes read as UTF-8: first the broken ones, then the valid ones.
fn count_letters(bytes: &[u8]) -> (usize, usize) {
    let (mut broken, mut whole) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        let letters = chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        let lost = chunk.valid().matches(char::REPLACEMENT_CHARACTER).count();
        broken += lost + usize::from(!chunk.invalid().is_empty());
        whole += letters - lost;
    }
    (broken, whole)
}

/// True if only the last character is broken, because the text was cut in it.
fn ends_within_a_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Recognises UTF-16 of mostly Latin letters by a zero in every other byte.
fn unmarked_utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(4096) & !1];
    let zeros = |odd: usize| head.iter().skip(odd).step_by(2).filter(|b| **b == 0).count();
    let half = head.len() / 2;
    match (zeros(0), zeros(1)) {
        _ if half < 4 => None,
        (0, high) if high * 10 > half * 7 => Some(UTF_16LE),
        (high, 0) if high * 10 > half * 7 => Some(UTF_16BE),
        _ => None,
    }
}

/// Longest sequence of such letters, in bytes, that is repaired; a longer one is a text in another script.
const LONGEST_GARBLED: usize = 4096;

/// Repairs UTF-8 that was once read in another encoding and saved: `¬∞C` for `°C` (Mac OS Roman), `Â°C` (Windows-1252).
/// `None` if there is none. This is safe, since letters of real text almost never form valid UTF-8 in those encodings.
fn repair_encoding(text: &str) -> Option<String> {
    let mut out = String::new();
    let (mut at, mut taken) = (0, 0);
    while let Some(start) = text[at..].find(|c: char| !c.is_ascii()).map(|start| at + start) {
        let length = text[start..].find(|c: char| c.is_ascii()).unwrap_or(text.len() - start);
        at = start + length;
        let garbled = Some(&text[start..at]).filter(|_| length <= LONGEST_GARBLED);
        if let Some(original) = garbled.and_then(original_letters) {
            out += &text[taken..start];
            out += &original;
            taken = at;
        }
    }
    (taken > 0).then(|| out + &text[taken..])
}

/// Original of garbled letters, if they can have been UTF-8.
fn original_letters(garbled: &str) -> Option<String> {
    let through = |wrong: &'static Encoding| {
        let (bytes, _, unmappable) = wrong.encode(garbled);
        let text = UTF_8.decode_without_bom_handling_and_without_replacement(&bytes)?;
        (!unmappable && text.chars().count() < garbled.chars().count()).then(|| text.into_owned())
    };
    through(MACINTOSH).or_else(|| through(WINDOWS_1252))
}

/// Removes escape sequences. A carriage return ends a line, a backspace removes the character before it.
fn remove_escapes(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains(['\u{1b}', '\r', '\u{8}', '\u{feff}']) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\u{1b}' => skip_escape(&mut characters),
            '\r' => {
                characters.next_if_eq(&'\n');
                out.push('\n');
            }
            '\u{8}' if out.ends_with('\n') => {}
            '\u{8}' => _ = out.pop(),
            '\u{feff}' => {}
            other => out.push(other),
        }
    }
    out.into()
}

/// Skips an escape sequence. CSI ends with a byte from `@` to `~`, OSC with BEL or ESC `\` (ECMA-48 5.4, 8.3.89); others are
/// one character, after any from blank to `/` (ECMA-35 13.2): `ESC ( B` selects a character set.
fn skip_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match characters.next() {
        Some('[') => while characters.next_if(|c| *c != '\n').is_some_and(|c| !('@'..='~').contains(&c)) {},
        Some(']') => {
            while let Some(c) = characters.next_if(|c| *c != '\n' && *c != '\u{7}') {
                if c == '\u{1b}' && characters.next_if_eq(&'\\').is_some() {
                    return;
                }
            }
            characters.next_if_eq(&'\u{7}');
        }
        Some(' '..='/') => {
            while characters.next_if(|c| (' '..='/').contains(c)).is_some() {}
            characters.next_if(|c| *c != '\n');
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, little: bool) -> Vec<u8> {
        text.encode_utf16().flat_map(|u| if little { u.to_le_bytes() } else { u.to_be_bytes() }).collect()
    }

    #[test]
    fn text_is_equal_in_every_encoding() {
        let text = "Sequential Read : 20.4 MB/s\n";
        let marked = [vec![0xff, 0xfe], utf16(text, true)].concat();
        for bytes in [text.as_bytes().to_vec(), utf16(text, true), utf16(text, false), marked] {
            assert_eq!(LogText::decode(&bytes).body(), text);
        }
    }

    #[test]
    fn guesses_become_doubts() {
        let cases: [(&[u8], &str, usize); 5] = [
            (b"latence 12 \xb5s", "latence 12 µs", 1),
            // A letter that was cut in two does not change the others.
            (b"20 \xc2\xb0C \xc2", "20 °C ", 1),
            (b"20 \xc2\xb0C\xff", "20 °C", 1),
            ("20¬∞C idle".as_bytes(), "20°C idle", 1),
            // Colours, progress and backspaces of a terminal are not guesses.
            (
                b"\x1b(B\x1b[1;32mOK\x1b[0m\r\n10%\r20%\rdone\nab\x08c\n\x1b]0;title\x07x\n",
                "OK\n10%\n20%\ndone\nac\nx\n",
                0,
            ),
        ];
        for (bytes, body, doubts) in cases {
            let text = LogText::decode(bytes);
            assert_eq!((text.body(), text.doubts().len()), (body, doubts));
        }
    }

    #[test]
    fn long_noise_is_not_text_but_a_foreign_log_is() {
        let noise = vec![0xff; 2 * LONG_LOG_BYTES];
        assert_eq!(LogText::decode(&noise).describe_beginning(), "it is not text");
        // "чтение" in Windows-1251, and a figure.
        let log = b"\xf7\xf2\xe5\xed\xe8\xe5 20.4 MB/s\n".repeat(2 * LONG_LOG_BYTES / 16);
        assert!(LogText::decode(&log).body().contains("20.4 MB/s"));
    }

    /// Text that results from reading UTF-8 in another encoding.
    fn misread(text: &str, wrong: &'static Encoding) -> String {
        wrong.decode_without_bom_handling(text.as_bytes()).0.into_owned()
    }

    #[test]
    fn misread_signs_are_repaired_in_both_encodings() {
        for wrong in [MACINTOSH, WINDOWS_1252] {
            let right = "25°C idle, Exämple® card, 12 µs";
            assert_eq!(repair_encoding(&misread(right, wrong)).as_deref(), Some(right));
        }
    }

    #[test]
    fn valid_letters_are_not_repaired() {
        for text in ["21 °C, 12 µs – “fast”", "Последовательное чтение", "シーケンシャル", "plain"]
        {
            assert_eq!(repair_encoding(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_decoded_without_panic(bytes: Vec<u8>) {
            let text = LogText::decode(&bytes);
            let _ = (text.head(), text.describe_beginning());
        }

        #[test]
        fn repaired_text_is_not_much_longer(text in "\\PC{0,60}") {
            if let Some(right) = repair_encoding(&misread(&text, MACINTOSH)) {
                proptest::prop_assert!(right.chars().count() <= text.chars().count() * 3);
            }
        }
    }
}
