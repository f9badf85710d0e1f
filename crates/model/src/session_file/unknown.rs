//! Finds what reading left out: a field that stands in a file and not in what was made of it.
//!
//! Types of many modules stand in a session file; asking each to refuse unknown fields would bind them all to this
//! one use.

use serde_json::Value;

/// The path of the first field that is in the file and was not taken over; one that is null says nothing.
pub(super) fn field(file: &Value, taken: &Value) -> Option<String> {
    match (file, taken) {
        (Value::Object(all), Value::Object(known)) => all.iter().find_map(|(name, value)| {
            let inner = match known.get(name) {
                Some(taken) => field(value, taken)?,
                None if value.is_null() || is_empty(value) => return None,
                None => String::new(),
            };
            Some(joined(name, &inner))
        }),
        (Value::Array(all), Value::Array(known)) => {
            (0..).zip(all.iter().zip(known)).find_map(|(place, (value, taken)): (usize, _)| {
                field(value, taken).map(|inner| joined(&format!("[{place}]"), &inner))
            })
        }
        _ => None,
    }
}

/// Types leave their empty lists out.
fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

fn joined(name: &str, inner: &str) -> String {
    match inner {
        "" => name.to_owned(),
        inner if inner.starts_with('[') => format!("{name}{inner}"),
        inner => format!("{name}.{inner}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_that_was_left_out_is_named_with_its_path() {
        let file = json!({ "runs": [{ "run": 1 }, { "run": 2, "mood": "good" }], "note": null, "marks": [] });
        let taken = json!({ "runs": [{ "run": 1 }, { "run": 2 }] });
        assert_eq!(field(&file, &taken).as_deref(), Some("runs[1].mood"));
        assert_eq!(field(&taken, &file), None);
    }
}
