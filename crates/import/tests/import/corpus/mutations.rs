//! Files after accidents: flipped bits; lost, doubled and swapped lines; invalid numbers; two files in one; and words of a
//! format in an order that no tool prints.

use super::variants::{coloured, utf16, with_commas};
use super::{Example, check, corpus};
use cardscope_import::readers::{LogFormat, LogText, formats};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use std::sync::LazyLock;

static CORPUS: LazyLock<Vec<Example>> = LazyLock::new(corpus);

/// Replacements of a number.
const NUMBERS: [&str; 12] = [
    "NaN",
    "inf",
    "-5",
    "1e308",
    "99999999999999999999",
    "0",
    "-0.0",
    "1e-320",
    "18446744073709551615",
    "4294967296",
    "",
    "٣",
];

#[derive(Debug, Clone)]
enum Accident {
    Bit(Index, u8),
    Cut(Index),
    Doubled(Index),
    Dropped(Index),
    Swapped(Index, Index),
    /// Replaces the number at one position.
    Number(Index, &'static str),
    /// Inserts a line of another file.
    Foreign(Index, Index, Index),
    Commas,
    Colours,
}

fn accident() -> impl Strategy<Value = Accident> {
    let index = any::<Index>;
    prop_oneof![
        1 => (index(), 0..8u8).prop_map(|(at, bit)| Accident::Bit(at, bit)),
        1 => index().prop_map(Accident::Cut),
        1 => index().prop_map(Accident::Doubled),
        1 => index().prop_map(Accident::Dropped),
        1 => (index(), index()).prop_map(|(one, other)| Accident::Swapped(one, other)),
        4 => (index(), prop::sample::select(NUMBERS.to_vec())).prop_map(|(at, n)| Accident::Number(at, n)),
        1 => (index(), index(), index()).prop_map(|(at, file, line)| Accident::Foreign(at, file, line)),
        1 => Just(Accident::Commas),
        1 => Just(Accident::Colours),
    ]
}

impl Accident {
    fn happen(&self, text: &str) -> String {
        match self {
            Accident::Bit(at, bit) => turned(text, *at, *bit),
            Accident::Cut(at) => text.chars().take(at.index(text.len() + 1)).collect(),
            Accident::Number(at, number) => with_number(text, *at, number),
            Accident::Commas => with_commas(text),
            Accident::Colours => coloured(text),
            Accident::Doubled(_) | Accident::Dropped(_) | Accident::Swapped(..) | Accident::Foreign(..) => {
                self.happen_to_lines(text)
            }
        }
    }

    fn happen_to_lines(&self, text: &str) -> String {
        let mut lines: Vec<&str> = text.lines().collect();
        let count = lines.len();
        let foreign;
        match self {
            _ if count == 0 => {}
            Accident::Doubled(at) => lines.insert(at.index(count), lines[at.index(count)]),
            Accident::Dropped(at) => {
                lines.remove(at.index(count));
            }
            Accident::Swapped(one, other) => lines.swap(one.index(count), other.index(count)),
            Accident::Foreign(at, file, line) => {
                foreign = LogText::decode(&CORPUS[file.index(CORPUS.len())].bytes).body().to_owned();
                let theirs: Vec<&str> = foreign.lines().collect();
                lines.insert(at.index(count), theirs[line.index(theirs.len())]);
            }
            _ => {}
        }
        lines.join("\n") + "\n"
    }
}

/// Flips a bit, and decodes the result like any file.
fn turned(text: &str, at: Index, bit: u8) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if !bytes.is_empty() {
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
    }
    LogText::decode(&bytes).body().to_owned()
}

/// Replaces a number by another one, or by nothing.
fn with_number(text: &str, at: Index, number: &str) -> String {
    let starts: Vec<usize> = text
        .char_indices()
        .filter(|(place, c)| {
            c.is_ascii_digit() && !text[..*place].ends_with(|before: char| before.is_ascii_digit())
        })
        .map(|(place, _)| place)
        .collect();
    if starts.is_empty() {
        return text.to_owned();
    }
    let start = starts[at.index(starts.len())];
    let rest = &text[start..];
    let end = start + rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    [&text[..start], number, &text[end..]].concat()
}

/// Words of each format's files in their order; letters, digits and signs are separate words.
static WORDS: LazyLock<Vec<(&LogFormat, Vec<String>)>> = LazyLock::new(|| {
    let words_of = |format: &'static LogFormat| {
        let files = CORPUS.iter().filter(|example| example.format.name == format.name);
        (format, files.flat_map(|example| words(LogText::decode(&example.bytes).body())).collect())
    };
    formats().iter().map(words_of).collect()
});

fn words(text: &str) -> Vec<String> {
    let kind = |c: char| (c.is_alphabetic(), c.is_ascii_digit(), c == '\n');
    let mut words: Vec<String> = Vec::new();
    for c in text.chars() {
        match words.last_mut() {
            Some(word) if word.chars().next_back().map(kind) == Some(kind(c)) => word.push(c),
            _ => words.push(c.to_string()),
        }
    }
    words
}

/// A number or a few letters that no format contains.
fn foreign() -> impl Strategy<Value = String> {
    prop_oneof![prop::sample::select(NUMBERS.to_vec()).prop_map(str::to_owned), "(\\PC|\n){0,6}"]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        // A fixed seed, so that a failure is reproducible.
        rng_seed: RngSeed::Fixed(0x5DCA_2D00),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn damaged_logs_keep_the_invariants(
        file: Index,
        accidents in prop::collection::vec(accident(), 1..5),
        bytes_too in prop::option::of((any::<Index>(), any::<u8>())),
        encoding in 0..8u8,
    ) {
        let example = &CORPUS[file.index(CORPUS.len())];
        let text = LogText::decode(&example.bytes).body().to_owned();
        let text = accidents.iter().fold(text, |text, accident| accident.happen(&text));
        let mut bytes = match encoding {
            0 => utf16(&text, true),
            1 => utf16(&text, false),
            2 => text.replace('\n', "\r\n").into_bytes(),
            _ => text.into_bytes(),
        };
        if let (Some((at, byte)), false) = (bytes_too, bytes.is_empty()) {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check(example.format, &bytes);
    }

    #[test]
    fn shuffled_words_keep_the_invariants(
        format: Index,
        parts in prop::collection::vec((any::<Index>(), 0..12_usize, foreign()), 0..24),
    ) {
        let (format, words) = &WORDS[format.index(WORDS.len())];
        let mut text = String::new();
        for (start, length, foreign) in parts {
            words[start.index(words.len())..].iter().take(length).for_each(|word| text.push_str(word));
            text.push_str(&foreign);
        }
        check(format, text.as_bytes());
    }
}
