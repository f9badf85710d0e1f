//! Facts about a card apart from its registers: brand, marks, price, and events in its life.

use cardscope_sd::maker::NO_MAKER;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Facts printed on a card, sold with it or read from it. Unknown ones are absent.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardFacts {
    pub brand: Option<String>,
    /// Product name without the brand, e.g. `Ultra`.
    pub name: Option<String>,
    /// Product name of the CID, or NVMe's model number.
    pub model: Option<String>,
    pub maker: Option<String>,
    pub capacity_bytes: Option<u64>,
    pub capacity_label: Option<String>,
    /// `microSDXC`, `microSD Express`, `USB stick` …
    pub form: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub marks: Vec<String>,
    pub firmware: Option<String>,
    /// Date of manufacture, `YYYY-MM` or `YYYY`.
    pub made: Option<String>,
    /// Serial number. Published only on request.
    pub serial: Option<String>,
    /// CID in hex. Contains the serial number.
    pub cid: Option<String>,
    pub csd: Option<String>,
    /// Distinguishes generations sold under one name: `2019`, `second`.
    pub generation: Option<String>,
    pub note: Option<String>,
}

/// Prefix of the names of simulated cards, so that no product has the same name.
const SIMULATED: &str = "sim:";

impl CardFacts {
    /// Returns the known facts by name.
    fn known_facts(&self) -> Map<String, Value> {
        serde_json::to_value(self).ok().and_then(|facts| facts.as_object().cloned()).unwrap_or_default()
    }

    pub fn fill_missing_from(&mut self, other: &CardFacts) {
        let mut facts = other.known_facts();
        facts.extend(self.known_facts());
        if let Ok(filled) = CardFacts::deserialize(Value::Object(facts)) {
            *self = filled;
        }
    }

    /// True if both sets have a fact with different values, ignoring case and spaces. Marks and notes do not count.
    pub fn differs_from(&self, other: &CardFacts) -> bool {
        let plain = |fact: &Value| {
            let text = fact.as_str().map_or_else(|| fact.to_string(), str::to_owned);
            text.split_whitespace().collect::<String>().to_lowercase()
        };
        let theirs = other.known_facts();
        let mut compared =
            self.known_facts().into_iter().filter(|(name, _)| name != "marks" && name != "note");
        compared.any(|(name, mine)| theirs.get(&name).is_some_and(|theirs| plain(&mine) != plain(theirs)))
    }

    /// Returns the target of a simulated card that has no other name, or None for real products.
    pub fn simulated_target(&self) -> Option<&str> {
        self.name.as_deref().filter(|name| name.starts_with(SIMULATED))
    }

    pub fn is_empty(&self) -> bool {
        *self == CardFacts::default()
    }

    /// Returns the common name: brand, name and size, else the model. A simulated card is called by its target.
    pub fn title(&self) -> String {
        if let Some(target) = self.simulated_target() {
            return target.to_owned();
        }
        let size = self.capacity_label.clone().or_else(|| self.capacity_bytes.map(label_size));
        let called = self.name.as_ref().or(self.model.as_ref());
        let maker = self.maker.as_ref().filter(|maker| *maker != NO_MAKER);
        let brand = self.brand.as_ref().or(maker);
        let name = called.map(|called| called.to_lowercase()).unwrap_or_default();
        let is_new = |part: &String| !name.contains(&part.to_lowercase());
        let brand = brand.cloned().filter(is_new);
        let generation = self.generation.as_ref().map(|generation| format!("({generation})"));
        let words = [brand, called.cloned(), size.filter(is_new), generation];
        let words: Vec<String> = words.into_iter().flatten().collect();
        if words.is_empty() { "unnamed card".to_owned() } else { words.join(" ") }
    }

    pub fn without_serial(&self) -> CardFacts {
        CardFacts { serial: None, cid: None, ..self.clone() }
    }
}

/// Formats a capacity as labels do, rounded to the nearest power of two.
fn label_size(bytes: u64) -> String {
    let gb = bytes as f64 / 1e9;
    let power = (gb.max(0.06).log2()).round() as i32;
    match power {
        p if p >= 10 => format!("{}TB", 1u64 << (p - 10)),
        p if p >= 0 => format!("{}GB", 1u64 << p),
        _ => format!("{:.0}MB", bytes as f64 / 1e6),
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CardPrice {
    pub amount: f64,
    /// ISO 4217 code, e.g. `EUR`.
    pub currency: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    Bought,
    InUse,
    Failed,
    Warranty,
    Gone,
    Note,
}

/// Event in the life of one unit.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CardEvent {
    /// `YYYY`, `YYYY-MM` or `YYYY-MM-DD`; None if unknown.
    pub date: Option<String>,
    pub kind: EventKind,
    pub price: Option<CardPrice>,
    pub note: Option<String>,
    pub source: Option<String>,
}

/// Photograph, receipt or other file attached to a card, a unit or a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Attachment {
    pub name: String,
    pub media_type: String,
    pub hash: String,
    pub note: Option<String>,
}

/// Plausible years of a card's dates.
pub const YEARS: std::ops::RangeInclusive<i16> = 1970..=2199;

/// True for an existing date to the year, month or day: `2024`, `2024-03`, `2024-03-12`.
pub fn is_date(text: &str) -> bool {
    let rest = match text.len() {
        4 => "-01-01",
        7 => "-01",
        10 => "",
        _ => return false,
    };
    let plain = text.bytes().all(|b| b == b'-' || b.is_ascii_digit());
    let date = format!("{text}{rest}").parse::<jiff::civil::Date>();
    plain && date.is_ok_and(|date| YEARS.contains(&date.year()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_has_brand_name_and_size_without_repetition() {
        for (brand, name, bytes, title) in [
            ("SanDisk", "Ultra", 15_931_539_456, "SanDisk Ultra 16GB"),
            ("Lexar", "Lexar PLAY PRO 1TB", 1_000_204_886_016, "Lexar PLAY PRO 1TB"),
        ] {
            let (brand, name) = (Some(brand.to_owned()), Some(name.to_owned()));
            let card = CardFacts { brand, name, capacity_bytes: Some(bytes), ..CardFacts::default() };
            assert_eq!(card.title(), title);
        }
        assert_eq!(CardFacts::default().title(), "unnamed card");
    }

    #[test]
    fn fill_missing_keeps_existing_facts() {
        let mut mine = CardFacts { brand: Some("ADATA".into()), ..CardFacts::default() };
        let theirs =
            CardFacts { brand: Some("A-DATA".into()), marks: vec!["A2".into()], ..CardFacts::default() };
        mine.fill_missing_from(&theirs);
        assert_eq!((mine.brand.as_deref(), mine.marks.len()), (Some("ADATA"), 1));
    }
}
