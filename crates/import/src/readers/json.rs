//! Parses untrusted JSON in memory bounded by the length of its text: a list of empty lists, written with two letters each,
//! would take fifty times as much. Fields that a format does not need are skipped.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;

/// Bytes of memory that values of any text may take.
const LEAST_ROOM: usize = 16 << 20;

/// Bytes of a list element in addition to its content, including the list's spare capacity.
const ELEMENT_BYTES: usize = 120;

/// Bytes of a field in addition to its name and content.
const FIELD_BYTES: usize = 220;

/// Fields of a JSON text that are kept, and their form.
#[derive(Clone, Copy)]
pub(crate) struct JsonChoice {
    /// True for a field that is kept, by the name of the field that holds its object, and its own name.
    pub(crate) keeps: fn(&str, &str) -> bool,
    /// True for a list, by its name, whose elements are stored as text, which takes a tenth of the memory.
    pub(crate) packs: fn(&str) -> bool,
}

/// All fields, as values.
pub(crate) const KEEP_ALL: JsonChoice = JsonChoice { keeps: |_, _| true, packs: |_| false };

/// Parses a text that is one JSON value.
pub(crate) fn parse_whole(text: &str) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = parse_value(&mut reader, text.len(), KEEP_ALL)?;
    reader.end().map(|()| value)
}

/// Parses the value at the beginning of a text and returns it with the length of its text. Fails if the values need more
/// than `room` bytes, or than the minimum of 16 MiB if that is more.
pub(crate) fn parse_first(text: &str, room: usize, choice: JsonChoice) -> serde_json::Result<(Value, usize)> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = parse_value(&mut reader, room, choice)?;
    Ok((value, reader.into_iter::<IgnoredAny>().byte_offset()))
}

fn parse_value(reader: &mut JsonReader<'_>, room: usize, choice: JsonChoice) -> serde_json::Result<Value> {
    let remaining_bytes = &Cell::new(room.max(LEAST_ROOM));
    SelectedJson { choice, parent: "", remaining_bytes, skipped: false }.deserialize(reader)
}

type JsonReader<'a> = serde_json::Deserializer<serde_json::de::StrRead<'a>>;

#[derive(Clone, Copy)]
struct SelectedJson<'a> {
    choice: JsonChoice,
    /// Name of the field that holds this value.
    parent: &'a str,
    /// Bytes of memory that remain for values.
    remaining_bytes: &'a Cell<usize>,
    /// True for a skipped value, which becomes null. It must be valid like any other: the limit of nesting holds, and its
    /// numbers are parsed.
    skipped: bool,
}

impl SelectedJson<'_> {
    fn spend<E: Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.remaining_bytes.get().checked_sub(bytes);
        let short = || E::custom("it has too many values");
        left.map(|left| self.remaining_bytes.set(left)).ok_or_else(short)
    }
}

impl<'de> DeserializeSeed<'de> for SelectedJson<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

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
        if self.skipped {
            return Ok(Value::Null);
        }
        self.spend(text.len())?;
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        let packs = (self.choice.packs)(self.parent);
        let mut left = self.remaining_bytes.get();
        while let Some(mut value) = list.next_element_seed(self)? {
            if self.skipped {
                continue;
            }
            if packs {
                value = Value::String(value.to_string());
                // The element itself is freed; only its text remains in memory.
                self.remaining_bytes.set(left);
            }
            self.spend(ELEMENT_BYTES + value.as_str().filter(|_| packs).map_or(0, str::len))?;
            all.push(value);
            left = self.remaining_bytes.get();
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        if self.skipped {
            while fields.next_entry_seed(self, self)?.is_some() {}
            return Ok(Value::Null);
        }
        let mut all = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if !(self.choice.keeps)(self.parent, &name) {
                fields.next_value_seed(SelectedJson { skipped: true, ..self })?;
                continue;
            }
            self.spend(FIELD_BYTES + name.len())?;
            let value = fields.next_value_seed(SelectedJson { parent: &name, ..self })?;
            // As in other JSON readers, the last field of a name counts.
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
    fn chosen_fields_are_kept_and_the_last_of_a_name_counts() {
        let text =
            r#"{"a": 1, "bins": {"1": [2, {"a": 3}]}, "in": {"x": "y"}, "a": [{"bins": 4, "a": 5}]} rest"#;
        let (value, length) = parse_first(
            text,
            0,
            JsonChoice { keeps: |within, name| within == "in" || name != "bins", ..KEEP_ALL },
        )
        .unwrap();
        assert_eq!(value, serde_json::json!({ "a": [{ "a": 5 }], "in": { "x": "y" } }));
        assert_eq!(&text[length..], " rest");
        assert!(parse_whole(text).is_err() && parse_whole("[1] \n").is_ok());
    }

    #[test]
    fn packed_elements_count_as_their_text() {
        let choice = JsonChoice { keeps: |_, name| name != "bins", packs: |name| name == "jobs" };
        let job = r#"{"bins":[1],"a":{"b":1.5}},"#;
        let count = LEAST_ROOM / 200;
        let text = format!("{{\"jobs\":[{}0]}}", job.repeat(count));
        assert!(parse_whole(&text).is_err());
        let (value, _) = parse_first(&text, 0, choice).unwrap();
        assert_eq!((&value["jobs"][0], &value["jobs"][count]), (&r#"{"a":{"b":1.5}}"#.into(), &"0".into()));
    }

    #[test]
    fn too_many_small_values_are_refused() {
        for (open, one) in [("[", "[],"), ("[", "1,"), ("[", "{},"), ("{", "\"a\":{},")] {
            let text = format!("{open}{}", one.repeat((LEAST_ROOM / ELEMENT_BYTES) + 10));
            let error = parse_whole(&text).unwrap_err();
            assert!(error.to_string().contains("too many values"), "{one}: {error}");
        }
        let text = format!("{{\"bins\":[{}0]}}", "[],".repeat(LEAST_ROOM / ELEMENT_BYTES + 10));
        assert!(
            parse_first(&text, 0, JsonChoice { keeps: |_, name| name != "bins", ..KEEP_ALL }).is_ok(),
            "what is read past takes none"
        );
    }

    #[test]
    fn deep_nesting_is_refused_in_kept_and_skipped_values() {
        for deep in ["[".repeat(1 << 20), "{\"a\":".repeat(1 << 20)] {
            let error = parse_whole(&deep).unwrap_err().to_string();
            assert!(error.contains("recursion limit"), "{error}");
            let past = format!("{{\"x\":{deep}");
            assert!(
                parse_first(&past, 0, JsonChoice { keeps: |_, _| false, ..KEEP_ALL })
                    .unwrap_err()
                    .to_string()
                    .contains("recursion limit")
            );
        }
    }

    proptest! {
        #[test]
        fn valid_json_is_parsed_as_by_serde(value in any_json()) {
            let text = value.to_string();
            prop_assert_eq!(parse_whole(&text).unwrap(), serde_json::from_str::<Value>(&text).unwrap());
            prop_assert_eq!(parse_first(&text, 0, JsonChoice { keeps: |_, _| false, ..KEEP_ALL }).unwrap().1, text.len());
        }

        #[test]
        fn invalid_json_is_refused_as_by_serde(text in "[\\[\\]{}\",:0-9eE.a-c\\- \\\\]{0,40}") {
            let (ours, theirs) = (parse_whole(&text), serde_json::from_str::<Value>(&text));
            prop_assert_eq!(ours.ok(), theirs.ok());
        }
    }
}
