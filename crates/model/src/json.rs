//! JSON text of documents: indented, with the measured digits, and without terminal control characters.

use crate::units::round_measured;
use crate::untrusted_text;
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter};
use std::io::{Result, Write};

pub fn to_json_text(document: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    document
        .serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, MeasuredFormatter::default()))?;
    Ok(untrusted_text::escape_json(&String::from_utf8_lossy(&bytes)).into_owned())
}

/// Formats a document with its page's answer as the first field.
pub fn to_answered_json(answer: &str, document: &impl Serialize) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct AnsweredDocument<'a, T> {
        answer: &'a str,
        #[serde(flatten)]
        document: &'a T,
    }
    to_json_text(&AnsweredDocument { answer, document })
}

/// Indents, and rounds numbers to the digits that were measured.
#[derive(Default)]
struct MeasuredFormatter(PrettyFormatter<'static>);

impl Formatter for MeasuredFormatter {
    fn write_f64<W: ?Sized + Write>(&mut self, to: &mut W, value: f64) -> Result<()> {
        self.0.write_f64(to, round_measured(value))
    }

    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.begin_array(to)
    }

    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.end_array(to)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> Result<()> {
        self.0.begin_array_value(to, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.end_array_value(to)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.begin_object(to)
    }

    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.end_object(to)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> Result<()> {
        self.0.begin_object_key(to, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.begin_object_value(to)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.end_object_value(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn answered_json_has_answer_first_and_ten_digits() {
        let document = BTreeMap::from([("mb_s", vec![694.157_311_999_999_9, 0.5])]);
        let text = to_answered_json("A \u{202e} is faster.", &document).unwrap();
        assert_eq!(
            text,
            "{\n  \"answer\": \"A \\u202e is faster.\",\n  \"mb_s\": [\n    694.157312,\n    0.5\n  ]\n}"
        );
    }
}
