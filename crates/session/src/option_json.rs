//! JSON of options that the command line takes as text: a size is a number of bytes or `1G`, a time a number of seconds or
//! `3m`, a region `1G+512M`, a share `0.1` or `10%`. For `#[serde(with = "option_json")]`.

use crate::arguments;
use cardscope_engine::target::TargetRegion;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::time::Duration;

/// A value of an option; what it becomes is also understood by the command line.
pub trait OptionValue: Sized {
    /// Converts into a number or a text.
    fn to_json(&self) -> Value;

    /// # Errors
    /// Why it is not a value of this option.
    fn from_json(value: Value) -> Result<Self, String>;
}

/// Serializes by [`OptionValue::to_json`].
///
/// # Errors
/// Those of the serializer.
pub fn serialize<T: OptionValue, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    value.to_json().serialize(to)
}

/// Deserializes by [`OptionValue::from_json`].
///
/// # Errors
/// Those of the deserializer, or why it is not a value of this option.
pub fn deserialize<'de, T: OptionValue, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::from_json(Value::deserialize(from)?).map_err(D::Error::custom)
}

impl<T: OptionValue> OptionValue for Option<T> {
    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_json)
    }

    fn from_json(value: Value) -> Result<Self, String> {
        if value.is_null() { Ok(None) } else { T::from_json(value).map(Some) }
    }
}

impl OptionValue for u64 {
    fn to_json(&self) -> Value {
        Value::from(*self)
    }

    fn from_json(value: Value) -> Result<Self, String> {
        match value {
            Value::String(text) => arguments::parse_size_argument(&text),
            number => number.as_u64().ok_or_else(|| format!("{number} is not a size in bytes")),
        }
    }
}

impl OptionValue for Duration {
    fn to_json(&self) -> Value {
        if self.subsec_nanos() == 0 { self.as_secs().into() } else { self.as_secs_f64().into() }
    }

    fn from_json(value: Value) -> Result<Self, String> {
        match value {
            Value::String(text) => arguments::parse_duration(&text),
            number => {
                let seconds = number.as_u64().map(Duration::from_secs);
                seconds.ok_or_else(|| format!("{number} is not a whole number of seconds"))
            }
        }
    }
}

impl OptionValue for TargetRegion {
    fn to_json(&self) -> Value {
        Value::from(format!("{}+{}", self.start, self.len))
    }

    fn from_json(value: Value) -> Result<Self, String> {
        arguments::parse_region(value.as_str().unwrap_or_default())
    }
}

impl OptionValue for f64 {
    fn to_json(&self) -> Value {
        Value::from(*self)
    }

    fn from_json(value: Value) -> Result<Self, String> {
        match value {
            Value::String(text) => arguments::parse_share(&text),
            number => arguments::parse_share(&number.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn round_trip<T: OptionValue>(value: Value) -> Result<Value, String> {
        Ok(T::from_json(value)?.to_json())
    }

    #[test]
    fn numbers_and_texts_of_the_command_line_are_the_same_values() {
        assert_eq!(round_trip::<u64>(json!("1G")), Ok(json!(1_u64 << 30)));
        assert_eq!(round_trip::<u64>(json!(7)), Ok(json!(7)));
        assert_eq!(round_trip::<Option<Duration>>(json!("3m")), Ok(json!(180)));
        assert_eq!(round_trip::<Option<Duration>>(json!(0)), Ok(json!(0)));
        assert_eq!(round_trip::<Option<Duration>>(Value::Null), Ok(Value::Null));
        assert_eq!(round_trip::<Duration>(json!("1.5s")), Ok(json!(1.5)));
        assert_eq!(round_trip::<TargetRegion>(json!("1K+1M")), Ok(json!("1024+1048576")));
        assert_eq!(round_trip::<f64>(json!("10%")), round_trip::<f64>(json!(0.1)));
    }

    #[test]
    fn other_values_are_refused() {
        for bad in [json!(-1), json!(1.5), json!(true), json!([1]), json!("x"), json!({})] {
            assert!(round_trip::<u64>(bad.clone()).is_err(), "{bad}");
            assert!(round_trip::<Duration>(bad.clone()).is_err(), "{bad}");
            assert!(round_trip::<TargetRegion>(bad.clone()).is_err(), "{bad}");
        }
    }
}
