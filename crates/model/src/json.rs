//! JSON text of documents: indented, with the measured digits, and without terminal control characters.

use crate::units::round_measured;
use crate::untrusted_text;
use serde::Serialize;
use serde_json::{Number, Value};

pub fn to_json_text(document: &impl Serialize) -> serde_json::Result<String> {
    let mut value = serde_json::to_value(document)?;
    round_numbers(&mut value);
    Ok(untrusted_text::escape_json(&serde_json::to_string_pretty(&value)?).into_owned())
}

/// Rounds numbers to the digits that were measured.
fn round_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().map(round_measured).and_then(Number::from_f64);
            *number = rounded.unwrap_or_else(|| number.clone());
        }
        Value::Array(all) => all.iter_mut().for_each(round_numbers),
        Value::Object(fields) => fields.values_mut().for_each(round_numbers),
        _ => {}
    }
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
