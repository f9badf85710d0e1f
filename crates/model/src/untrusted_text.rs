//! Escaping and shortening of untrusted text: names, labels, paths, contents of logs and registers.
//!
//! Terminals obey control characters, and bidirectional marks reorder a line. All output for people passes through
//! this module, which replaces such characters by their number, `\u{202e}`. JSON keeps every character, as JSON
//! escapes.
//!
//! Messages repeat untrusted text only as far as needed to identify it: [`shorten_message`] recognizes it by quotes, as part
//! of the arguments, or as a run without blanks.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;

/// True for characters that control a terminal, change the reading order or are invisible: control characters
/// (Unicode category Cc), line and paragraph separators, `Bidi_Control`, format characters (Cf), blank fillers,
/// noncharacters.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
        || u32::from(c) & 0xfffe == 0xfffe
        || matches!(c, '\u{fdd0}'..='\u{fdef}')
}

/// Escapes text for use within a line, including line ends and tabs.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    replace_chars(text, is_hidden, push_number)
}

/// Escapes a formatted page, but keeps its line ends and tabs.
pub fn escape_page(text: &str) -> Cow<'_, str> {
    replace_chars(text, |c| !matches!(c, '\n' | '\t') && is_hidden(c), push_number)
}

/// Escapes hidden characters in serialized JSON as JSON escapes. The document is unchanged.
pub fn escape_json(text: &str) -> Cow<'_, str> {
    // The serializer escapes control characters in strings already, so those left are layout.
    replace_chars(text, |c| c >= ' ' && is_hidden(c), push_json_escape)
}

/// Escapes all texts of a document for use within a line. Returns None if nothing changed, or the document cannot be
/// deserialized.
pub fn escape_document<T: Serialize + DeserializeOwned>(document: &T) -> Option<T> {
    let written = serde_json::to_string(document).ok()?;
    if !written.contains('\\') && !written.contains(is_hidden) {
        return None;
    }
    let mut value = serde_json::from_str(&written).ok()?;
    if !escape_value(&mut value) {
        return None;
    }
    T::deserialize(&value).ok()
}

fn escape_value(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match escape_line(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(shown) => {
                *text = shown;
                true
            }
        },
        Value::Array(all) => all.iter_mut().fold(false, |changed, one| escape_value(one) | changed),
        Value::Object(fields) => {
            let hidden = fields.keys().any(|key| key.contains(is_hidden));
            if hidden {
                let all = std::mem::take(fields).into_iter();
                fields.extend(all.map(|(key, value)| (escape_line(&key).into_owned(), value)));
            }
            fields.values_mut().fold(hidden, |changed, one| escape_value(one) | changed)
        }
        _ => false,
    }
}

/// Most bytes of outside text that a message repeats.
const MAX_REPEATED_BYTES: usize = 200;

/// Bytes kept of a longer text, which may occur three times in a message.
const SHORTENED_BYTES: usize = 60;

/// Most bytes of a message: several sentences with several names.
const MAX_MESSAGE_BYTES: usize = 3000;

/// Shortens a text of more than 200 bytes for a message, to its beginning and `…`.
pub fn shorten_text(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_REPEATED_BYTES {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text_start(text, SHORTENED_BYTES))
    }
}

fn text_start(text: &str, most: usize) -> String {
    format!("{}…", &text[..text.floor_char_boundary(most)])
}

/// Shortens all outside text in a message as [`shorten_text`] does. `arguments` are those of the program.
pub fn shorten_message<'m>(text: &'m str, arguments: &[String]) -> Cow<'m, str> {
    if text.len() <= MAX_REPEATED_BYTES {
        return Cow::Borrowed(text);
    }
    let mut short = text.to_owned();
    for part in long_parts(arguments) {
        if short.contains(part) {
            short = short.replace(part, &shorten_text(part));
        }
    }
    for quote in ['"', '`', '\''] {
        short = shorten_quotes(&short, quote);
    }
    short = short.split_inclusive(char::is_whitespace).map(shorten_run).collect();
    if short.len() > MAX_MESSAGE_BYTES {
        short = text_start(&short, MAX_MESSAGE_BYTES);
    }
    if short == text { Cow::Borrowed(text) } else { Cow::Owned(short) }
}

/// Returns long arguments, values after `--option=`, and keys and values of simulated cards; the longest first, so
/// that a whole is replaced before its parts.
fn long_parts(arguments: &[String]) -> Vec<&str> {
    let is_long = |part: &&str| part.len() > MAX_REPEATED_BYTES;
    let long = arguments.iter().map(String::as_str).filter(is_long);
    let mut parts: Vec<&str> = long.flat_map(argument_parts).filter(is_long).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    parts
}

fn argument_parts(argument: &str) -> impl Iterator<Item = &str> {
    let value = argument.split_once('=').map(|(_, value)| value);
    let pieces = argument.split([',', '=', ':', '/', '?', '&', '\n']).map(str::trim);
    [Some(argument), value].into_iter().flatten().chain(pieces)
}

fn shorten_quotes(text: &str, quote: char) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(quote) {
        let (before, quoted) = rest.split_at(at + 1);
        let opens = quote != '\'' || !before[..at].ends_with(char::is_alphanumeric);
        out += before;
        rest = quoted;
        if opens && let Some(end) = find_closing_quote(quoted, quote) {
            out += &shorten_text(&quoted[..end]);
            out.push(quote);
            rest = &quoted[end + quote.len_utf8()..];
        }
    }
    out + rest
}

fn find_closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

fn shorten_run(run: &str) -> Cow<'_, str> {
    let word = run.trim_end();
    match shorten_text(word) {
        Cow::Borrowed(_) => Cow::Borrowed(run),
        Cow::Owned(short) => Cow::Owned(short + &run[word.len()..]),
    }
}

fn replace_chars(text: &str, hidden: impl Fn(char) -> bool, push: fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hidden(c) { push(c, &mut out) } else { out.push(c) }
    }
    Cow::Owned(out)
}

fn push_number(c: char, out: &mut String) {
    out.extend(c.escape_unicode());
}

fn push_json_escape(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        *out += &format!("\\u{unit:04x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::CardFacts;
    use std::collections::BTreeMap;

    /// Characters that terminals obey, that reorder a line, or that are invisible.
    const HOSTILE: &str = "a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}b\u{2066}\u{200f}\u{61c}\u{2028}\u{7f}\u{200b}\u{e0041}\u{feff}\u{ffff}";

    #[test]
    fn hidden_characters_are_replaced_by_their_number() {
        assert_eq!(escape_line("a\u{1b}[2Jb\u{202e}c\nd\te"), "a\\u{1b}[2Jb\\u{202e}c\\u{a}d\\u{9}e");
        assert!(!escape_line(HOSTILE).contains(is_hidden) && !escape_page(HOSTILE).contains(is_hidden));
        assert_eq!(escape_page("one\r\ntwo"), "one\\u{d}\ntwo");
    }

    #[test]
    fn message_shortens_outside_text() {
        let spaced = "ab \"c ".repeat(10_000);
        let solid = "é".repeat(50_000);
        for long in [&spaced, &solid] {
            let arguments = [long.clone(), format!("--key={long}"), format!("sim:x,{long}=1,size={long}")];
            for text in [
                format!("{long} cannot be tested (no such file); check its name"),
                format!("{long:?} is not a size: {long:?}"),
                format!("unknown field `{}`, expected `a`", long.replace('"', "")),
                format!("the value '{}' of --key", long.replace('"', "")),
                format!("sim:x,{long}=1: no key {long}"),
            ] {
                let short = shorten_message(&text, &arguments);
                assert!(short.len() < 300 && short.contains('…'), "{short}");
            }
        }
        let listed = shorten_message(&spaced, &[]).len();
        assert!(listed <= MAX_MESSAGE_BYTES + '…'.len_utf8(), "{listed}");
    }

    #[test]
    fn message_without_outside_text_is_unchanged() {
        let long = "the card's data (\"a\", `b`) is the user's own; ".repeat(8);
        assert!(matches!(shorten_message(&long, &[]), Cow::Borrowed(same) if same == long));
        assert_eq!(shorten_text(&"x".repeat(200)), "x".repeat(200));
        assert_eq!(shorten_text(&"é".repeat(101)), "é".repeat(30) + "…");
    }

    #[test]
    fn printable_unicode_is_unchanged() {
        for text in ["µs °C → ×, “quoted” – 20\u{a0}MB/s", "Карта 数据 بطاقة כרטיס 💾", "a\\u{1b}"]
        {
            assert!(matches!(escape_line(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn escaped_json_parses_to_the_same_document() {
        let document = serde_json::json!({ HOSTILE: [HOSTILE, "plain\n"] });
        let pretty = serde_json::to_string_pretty(&document).unwrap();
        let written = escape_json(&pretty);
        assert!(!written.contains(|c| c != '\n' && is_hidden(c)), "{written}");
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), document);
    }

    #[test]
    fn document_texts_and_keys_are_escaped() {
        let facts = |name: &str| CardFacts { name: Some(name.into()), ..CardFacts::default() };
        assert_eq!(escape_document(&facts("a \"plain\" name")), None);
        assert_eq!(escape_document(&facts("SD\nGENUINE")), Some(facts("SD\\u{a}GENUINE")));
        let keyed = BTreeMap::from([("k\u{85}ey".to_owned(), vec![facts("x\ty")])]);
        let clean = BTreeMap::from([("k\\u{85}ey".to_owned(), vec![facts("x\\u{9}y")])]);
        assert_eq!(escape_document(&keyed), Some(clean));
    }
}
