//! What people know of a card beside its registers: the name on it, its marks, what it cost, what became of it.

use cardscope_sd::maker::NOBODY;
use serde::{Deserialize, Serialize};

/// Facts about a card as they are printed on it, sold with it or read from it. Unknown ones are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardFacts {
    /// The name on it: `SanDisk`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub brand: Option<String>,
    /// What it is sold as, without the brand: `Ultra`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// How it names itself: product name of the CID, or NVMe's model number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// Who made it, by its registers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub maker: Option<String>,
    /// Bytes of its user area.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub capacity_bytes: Option<u64>,
    /// The size printed on it: `256GB`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub capacity_label: Option<String>,
    /// `microSDXC`, `microSD Express`, `USB stick` …
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub form: Option<String>,
    /// Marks printed on it: `C10`, `U3`, `V30`, `A2`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub marks: Vec<String>,
    /// Its firmware.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub firmware: Option<String>,
    /// When it was made, `YYYY-MM` or `YYYY`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub made: Option<String>,
    /// Serial number. Never published unless asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub serial: Option<String>,
    /// Its CID in hex. Holds the serial number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cid: Option<String>,
    /// Its CSD in hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub csd: Option<String>,
    /// Tells generations apart that are sold under one name: `2019`, `second`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub generation: Option<String>,
    /// Anything else.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

/// Prefix of the names of simulated cards, so that none is taken for one that somebody sells.
const SIMULATED: &str = "sim:";

impl CardFacts {
    /// Takes over what the other one knows and this one does not.
    pub fn complete_from(&mut self, other: &CardFacts) {
        let mine = [
            (&mut self.brand, &other.brand),
            (&mut self.name, &other.name),
            (&mut self.model, &other.model),
            (&mut self.maker, &other.maker),
            (&mut self.capacity_label, &other.capacity_label),
            (&mut self.form, &other.form),
            (&mut self.firmware, &other.firmware),
            (&mut self.made, &other.made),
            (&mut self.serial, &other.serial),
            (&mut self.cid, &other.cid),
            (&mut self.csd, &other.csd),
            (&mut self.generation, &other.generation),
            (&mut self.note, &other.note),
        ];
        for (mine, theirs) in mine {
            if mine.is_none() {
                mine.clone_from(theirs);
            }
        }
        self.capacity_bytes = self.capacity_bytes.or(other.capacity_bytes);
        if self.marks.is_empty() {
            self.marks.clone_from(&other.marks);
        }
    }

    /// True where both know a fact and it is not the same, but for the writing of names.
    pub fn differs_from(&self, other: &CardFacts) -> bool {
        let plain = |text: &String| -> String {
            text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
        };
        let texts = [
            (&self.brand, &other.brand),
            (&self.name, &other.name),
            (&self.model, &other.model),
            (&self.maker, &other.maker),
            (&self.capacity_label, &other.capacity_label),
            (&self.form, &other.form),
            (&self.firmware, &other.firmware),
            (&self.made, &other.made),
            (&self.serial, &other.serial),
            (&self.cid, &other.cid),
            (&self.csd, &other.csd),
            (&self.generation, &other.generation),
        ];
        let bytes = self.capacity_bytes.zip(other.capacity_bytes);
        bytes.is_some_and(|(mine, theirs)| mine != theirs)
            || texts.iter().any(|(mine, theirs)| {
                mine.as_ref().zip(theirs.as_ref()).is_some_and(|(a, b)| plain(a) != plain(b))
            })
    }

    /// Target of a simulated card that bears its own name; `None` for cards that somebody sells.
    pub fn simulated_target(&self) -> Option<&str> {
        self.name.as_deref().filter(|name| name.starts_with(SIMULATED))
    }

    /// True where nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == CardFacts::default()
    }

    /// How people call it: brand, name and size, else how it names itself. A simulated card is called by its target's name.
    pub fn title(&self) -> String {
        if let Some(target) = self.simulated_target() {
            return target.to_owned();
        }
        let size = self.capacity_label.clone().or_else(|| self.capacity_bytes.map(nominal));
        let called = self.name.as_ref().or(self.model.as_ref());
        let maker = self.maker.as_ref().filter(|maker| *maker != NOBODY);
        let brand = self.brand.as_ref().or(maker);
        let holds = |part: &String, in_: &Option<&String>| {
            in_.is_some_and(|text| text.to_lowercase().contains(&part.to_lowercase()))
        };
        let mut words: Vec<String> = Vec::new();
        words.extend(brand.filter(|b| !holds(b, &called)).cloned());
        words.extend(called.cloned());
        words.extend(size.filter(|s| !holds(s, &called)));
        words.extend(self.generation.as_ref().map(|g| format!("({g})")));
        if words.is_empty() { "unnamed card".to_owned() } else { words.join(" ") }
    }

    /// Without what names this very unit: serial number and CID.
    pub fn without_serial(&self) -> CardFacts {
        CardFacts { serial: None, cid: None, ..self.clone() }
    }
}

/// A capacity as labels write it: the nearest size cards are sold in.
fn nominal(bytes: u64) -> String {
    let gb = bytes as f64 / 1e9;
    let power = (gb.max(0.06).log2()).round() as i32;
    match power {
        p if p >= 10 => format!("{}TB", 1u64 << (p - 10)),
        p if p >= 0 => format!("{}GB", 1u64 << p),
        _ => format!("{:.0}MB", bytes as f64 / 1e6),
    }
}

/// What was paid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CardPrice {
    /// How much.
    pub amount: f64,
    /// In which currency, as ISO 4217 writes it: `EUR`.
    pub currency: String,
}

/// What can happen to a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// It was bought.
    Bought,
    /// It was put to use, or is in use since.
    InUse,
    /// It failed.
    Failed,
    /// It was replaced or refunded under warranty.
    Warranty,
    /// It was given away, sold or thrown away.
    Gone,
    /// Anything else.
    Note,
}

/// An event in the life of one unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CardEvent {
    /// When: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`; `None` where nobody remembers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub date: Option<String>,
    /// What.
    pub kind: EventKind,
    /// What was paid.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub price: Option<CardPrice>,
    /// What else was in the box, who sold it, how it failed …
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
    /// Where that is from: an address, a file, an attachment's name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
}

/// A photograph, receipt or other file that is attached to a card, a unit or a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Attachment {
    /// File name.
    pub name: String,
    /// Media type: `image/jpeg`.
    pub media_type: String,
    /// BLAKE3 of its bytes, in hex.
    pub hash: String,
    /// Remark of the user.
    pub note: Option<String>,
}

/// Years in which a card can be bought, tested and compared: none was before the clocks of computers began.
pub const YEARS: std::ops::RangeInclusive<i16> = 1970..=2199;

/// Whether a text is a date that a calendar has, to the year, month or day: `2024`, `2024-03`, `2024-03-12`.
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
    fn a_card_is_called_by_brand_name_and_size_once_each() {
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
    fn what_is_known_is_kept_and_what_is_not_is_taken_over() {
        let mut mine = CardFacts { brand: Some("ADATA".into()), ..CardFacts::default() };
        let theirs =
            CardFacts { brand: Some("A-DATA".into()), marks: vec!["A2".into()], ..CardFacts::default() };
        mine.complete_from(&theirs);
        assert_eq!((mine.brand.as_deref(), mine.marks.len()), (Some("ADATA"), 1));
    }
}
