//! JSON of strangers as values, in memory that is bounded by the length of its text: a list of lists that is written with
//! two letters each would take fifty times as much. What a format does not ask for is read past.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;

/// Memory that values may take whatever the length of their text.
const LEAST: usize = 16 << 20;

/// What an element of a list takes beside its content, with what lists grow by in advance; bytes.
const ELEMENT: usize = 120;

/// The same for a field and its name.
const FIELD: usize = 220;

/// What is kept of a value, and how.
#[derive(Clone, Copy)]
pub(crate) struct JsonChoice {
    /// Whether a field of an object is kept, by the name of what the object stands in and its own.
    pub(crate) keeps: fn(&str, &str) -> bool,
    /// Whether the elements of the list of this name are kept as the text of what is kept of them: a tenth of the memory.
    pub(crate) packs: fn(&str) -> bool,
}

/// All of it, as values.
pub(crate) const ALL: JsonChoice = JsonChoice { keeps: |_, _| true, packs: |_| false };

/// All of a text that is one JSON value and takes no more memory than its text.
pub(crate) fn whole(text: &str) -> Result<Value, serde_json::Error> {
    let left = Cell::new(text.len().max(LEAST));
    let mut reader = serde_json::Deserializer::from_str(text);
    let value =
        SelectedJson { choice: ALL, within: "", left: &left, past: false }.deserialize(&mut reader)?;
    reader.end().map(|()| value)
}

/// The value with which a text begins, as far as it was chosen, and the length of its text. Values that would take more
/// than `room` bytes (and some MiB, which every text may take) are an error.
pub(crate) fn first(
    text: &str,
    room: usize,
    choice: JsonChoice,
) -> Result<(Value, usize), serde_json::Error> {
    let left = Cell::new(room.max(LEAST));
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = SelectedJson { choice, within: "", left: &left, past: false }.deserialize(&mut reader)?;
    Ok((value, reader.into_iter::<IgnoredAny>().byte_offset()))
}

/// Reads what is kept.
#[derive(Clone, Copy)]
struct SelectedJson<'a> {
    choice: JsonChoice,
    /// The name of the field that this is in.
    within: &'a str,
    /// Bytes of memory that are left for values.
    left: &'a Cell<usize>,
    /// True for a value that is read past: null comes of it. It is held to the same rules as one that is kept: it nests no
    /// deeper, and its numbers are numbers.
    past: bool,
}

impl SelectedJson<'_> {
    fn spend<E: Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(bytes);
        let short = || E::custom("it has too many values");
        left.map(|left| self.left.set(left)).ok_or_else(short)
    }
}

impl<'de> DeserializeSeed<'de> for SelectedJson<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Takes values of these types as they are.
macro_rules! as_it_is {
    ($($visit:ident: $type:ty),+) => {
        $(fn $visit<E>(self, value: $type) -> Result<Value, E> {
            Ok(value.into())
        })+
    };
}

impl<'de> Visitor<'de> for SelectedJson<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    as_it_is! { visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64 }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        if self.past {
            return Ok(Value::Null);
        }
        self.spend(text.len())?;
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        let packs = (self.choice.packs)(self.within);
        let mut left = self.left.get();
        while let Some(mut value) = list.next_element_seed(self)? {
            if self.past {
                continue;
            }
            if packs {
                value = Value::String(value.to_string());
                self.left.set(left);
            }
            self.spend(ELEMENT + value.as_str().filter(|_| packs).map_or(0, str::len))?;
            all.push(value);
            left = self.left.get();
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        if self.past {
            while fields.next_entry_seed(self, self)?.is_some() {}
            return Ok(Value::Null);
        }
        let mut all = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if !(self.choice.keeps)(self.within, &name) {
                fields.next_value_seed(SelectedJson { past: true, ..self })?;
                continue;
            }
            self.spend(FIELD + name.len())?;
            let value = fields.next_value_seed(SelectedJson { within: &name, ..self })?;
            // As everywhere, the last of several with one name counts.
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::vec(("[a-e]", inner), 0..5)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn only_the_fields_that_are_asked_for_are_kept_the_last_of_a_name() {
        let text =
            r#"{"a": 1, "bins": {"1": [2, {"a": 3}]}, "in": {"x": "y"}, "a": [{"bins": 4, "a": 5}]} rest"#;
        let (value, length) =
            first(text, 0, JsonChoice { keeps: |within, name| within == "in" || name != "bins", ..ALL })
                .unwrap();
        assert_eq!(value, serde_json::json!({ "a": [{ "a": 5 }], "in": { "x": "y" } }));
        assert_eq!(&text[length..], " rest");
        assert!(whole(text).is_err() && whole("[1] \n").is_ok());
    }

    #[test]
    fn what_is_packed_is_the_text_of_what_is_kept_and_counts_as_such() {
        let choice = JsonChoice { keeps: |_, name| name != "bins", packs: |name| name == "jobs" };
        let job = r#"{"bins":[1],"a":{"b":1.5}},"#;
        let count = LEAST / 200;
        let text = format!("{{\"jobs\":[{}0]}}", job.repeat(count));
        assert!(whole(&text).is_err());
        let (value, _) = first(&text, 0, choice).unwrap();
        assert_eq!((&value["jobs"][0], &value["jobs"][count]), (&r#"{"a":{"b":1.5}}"#.into(), &"0".into()));
    }

    #[test]
    fn many_small_values_are_refused_before_they_take_memory() {
        for (open, one) in [("[", "[],"), ("[", "1,"), ("[", "{},"), ("{", "\"a\":{},")] {
            let text = format!("{open}{}", one.repeat((LEAST / ELEMENT) + 10));
            let error = whole(&text).unwrap_err();
            assert!(error.to_string().contains("too many values"), "{one}: {error}");
        }
        let text = format!("{{\"bins\":[{}0]}}", "[],".repeat(LEAST / ELEMENT + 10));
        assert!(
            first(&text, 0, JsonChoice { keeps: |_, name| name != "bins", ..ALL }).is_ok(),
            "what is read past takes none"
        );
    }

    #[test]
    fn what_nests_deeply_is_refused_whether_it_is_kept_or_not() {
        for deep in ["[".repeat(1 << 20), "{\"a\":".repeat(1 << 20)] {
            let error = whole(&deep).unwrap_err().to_string();
            assert!(error.contains("recursion limit"), "{error}");
            let past = format!("{{\"x\":{deep}");
            assert!(
                first(&past, 0, JsonChoice { keeps: |_, _| false, ..ALL })
                    .unwrap_err()
                    .to_string()
                    .contains("recursion limit")
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_kept_whole_is_what_any_reader_of_json_finds(value in any_json()) {
            let text = value.to_string();
            prop_assert_eq!(whole(&text).unwrap(), serde_json::from_str::<Value>(&text).unwrap());
            prop_assert_eq!(first(&text, 0, JsonChoice { keeps: |_, _| false, ..ALL }).unwrap().1, text.len());
        }

        #[test]
        fn what_is_no_json_is_none_here(text in "[\\[\\]{}\",:0-9eE.a-c\\- \\\\]{0,40}") {
            let (ours, theirs) = (whole(&text), serde_json::from_str::<Value>(&text));
            prop_assert_eq!(ours.ok(), theirs.ok());
        }
    }
}
