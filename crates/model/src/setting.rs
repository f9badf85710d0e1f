//! Setting of a measurement, which determines comparability, and its selection by key and value.

use crate::condition::{self, Condition, WORDS};
use crate::units::{BinarySize, parse_size};
use crate::usb;
use cardscope_sd::bus;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    pub recipe: String,
    pub size_bytes: Option<u64>,
    pub condition: Condition,
}

impl Setting {
    pub fn all_words() -> impl Iterator<Item = &'static str> {
        ["recipe", "size"].into_iter().chain(WORDS.iter().map(|(word, _)| *word))
    }

    /// Returns the key that a user's word means.
    ///
    /// # Errors
    /// If there is none: a sentence with all keys.
    pub fn find_word(text: &str) -> Result<&'static str, String> {
        let found = Setting::all_words().find(|known| *known == text).or_else(|| condition::find_word(text));
        let words = || Setting::all_words().collect::<Vec<_>>().join(", ");
        found.ok_or_else(|| format!("no word {text:?}; the words are {}", words()))
    }

    pub fn value(&self, word: &str) -> Option<String> {
        match word {
            "recipe" => Some(self.recipe.clone()).filter(|r| !r.is_empty()),
            "size" => self.size_bytes.map(|bytes| BinarySize(bytes).to_string()),
            word => self.condition.get(word).map(str::to_owned),
        }
    }

    /// Returns the line rate of the bus in MB/s (10^6), or None if the mode is unknown or implies no rate. A
    /// condition may also state the rate itself: `44.2 MB/s`.
    pub fn bus_ceiling_mb_s(&self) -> Option<f64> {
        let mode = self.condition.get("bus_mode")?;
        let rate = || mode.strip_suffix("MB/s")?.trim().parse().ok().filter(|rate: &f64| rate.is_normal());
        bus::mode_ceiling_mb_s(mode).or_else(|| usb::usb_mode_ceiling(mode)).or_else(rate)
    }
}

/// Required key and value: `cooling=active`, `recipe=cdm_fio`, `size=1GiB`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedSetting {
    word: String,
    value: String,
}

impl WantedSetting {
    /// Parses `WORD=VALUE`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let no_value = || format!("{text:?} is not WORD=VALUE; write e.g. cooling=active");
        let (word, value) = text.split_once('=').ok_or_else(no_value)?;
        let word = Setting::find_word(word)?;
        if word == "size" {
            parse_size(value).map_err(|e| e.to_string())?;
        }
        Ok(WantedSetting { word: word.to_owned(), value: value.to_owned() })
    }

    /// True if a setting has the value, ignoring case.
    pub fn is_met_by(&self, setting: &Setting) -> bool {
        match self.word.as_str() {
            "size" => parse_size(&self.value).ok() == setting.size_bytes,
            word => setting.value(word).is_some_and(|v| v.eq_ignore_ascii_case(&self.value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::ConditionOrigin;

    fn setting() -> Setting {
        let mut condition = Condition::default();
        condition.set("cooling", "active", ConditionOrigin::Stated);
        Setting { recipe: "cdm_fio".into(), size_bytes: Some(1 << 30), condition }
    }

    #[test]
    fn setting_filter_matches_words() {
        for (wanted, met) in [
            ("cooling=Active", true),
            ("cooling=passive", false),
            ("recipe=cdm_fio", true),
            ("size=1GiB", true),
            ("size=1024M", true),
            ("size=1GB", false),
            ("board=Pi", false),
            ("clock=100 MHz", false),
        ] {
            assert_eq!(WantedSetting::parse(wanted).unwrap().is_met_by(&setting()), met, "{wanted}");
        }
    }

    #[test]
    fn bus_ceiling_follows_from_bus_mode() {
        let ceiling = |mode: &str| {
            let mut known = setting();
            known.condition.set("bus_mode", mode, ConditionOrigin::Stated);
            known.bus_ceiling_mb_s()
        };
        assert_eq!(
            ["PCIe 3.0 x1", "sdr104", "USB 5000 Mbit/s UAS", "44.2 MB/s", "fast", "NaN MB/s"].map(ceiling),
            [Some(985.0), Some(104.0), Some(500.0), Some(44.2), None, None]
        );
        assert_eq!(setting().bus_ceiling_mb_s(), None);
    }

    #[test]
    fn invalid_setting_filters_are_refused() {
        assert!(WantedSetting::parse("coolling=active").unwrap_err().contains("cooling, "));
        assert!(WantedSetting::parse("cooling").unwrap_err().contains("WORD=VALUE"));
        assert!(WantedSetting::parse("size=big").unwrap_err().contains("is not a size"));
    }
}
