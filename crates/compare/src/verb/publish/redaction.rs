//! Redacts what identifies a unit in a publication: evidence that is its serial number or CID, and both wherever a document
//! repeats them, as a target such as `/dev/disk/by-id/…_0x811e53b7` does.
//!
//! No hash replaces them: a serial number has 32 bits, so trying all of them recovers it from its hash in a minute.

use cardscope_model::archive_rows::StoredCard;
use cardscope_model::finding::Finding;
use cardscope_model::session_file::CardUnit;
use serde_json::Value;

/// Names of evidence that identifies a unit: registers CID and PSN, serial numbers of readers and NVMe cards.
const IDENTIFYING_KEYS: [&str; 5] = ["cid", "psn", "serial", "serial_number", "sn"];

/// Least length of redacted text: shorter ones occur in other numbers. Evidence of the names above is removed in any case.
const LEAST_LENGTH: usize = 6;

/// Replacement of redacted text.
const REPLACEMENT: &str = "[hidden]";

/// Redacts texts that identify a unit. The default redacts nothing.
#[derive(Debug, Default)]
pub(super) struct Redactor {
    /// Lower case, longest first, since one may be the end of another; `None` if nothing is redacted.
    names: Option<Vec<String>>,
}

impl Redactor {
    /// Redacts serial numbers and CIDs of a card's units, in all their spellings.
    pub(super) fn for_card(card: &StoredCard, units: &[CardUnit]) -> Redactor {
        let facts = units.iter().map(|unit| &unit.facts).chain([&card.facts]);
        let known = facts.flat_map(|facts| [facts.serial.as_deref(), facts.cid.as_deref()]);
        let known = known.chain(units.iter().map(|unit| unit.serial.as_deref())).flatten();
        let mut names: Vec<String> = known.flat_map(spellings).filter(|name| is_specific(name)).collect();
        names.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        names.dedup();
        Redactor { names: Some(names) }
    }

    pub(super) fn redact_finding(&self, finding: &Finding) -> Finding {
        let mut finding = finding.clone();
        finding.evidence.retain(|(what, _)| self.names.is_none() || !identifies_unit(what));
        let values = finding.evidence.iter_mut().map(|(_, value)| value);
        let texts = values.chain([&mut finding.verdict]).chain(&mut finding.advice);
        texts.for_each(|text| self.redact_text(text));
        finding
    }

    /// Redacts a document of any shape: fields and evidence of these names, and texts.
    pub(super) fn redact_document(&self, document: &mut Value) {
        if self.names.is_none() {
            return;
        }
        match document {
            Value::Object(fields) => {
                fields.retain(|name, _| !identifies_unit(name));
                fields.values_mut().for_each(|value| self.redact_document(value));
            }
            Value::Array(values) => {
                values.retain(|value| !is_identifying_pair(value));
                values.iter_mut().for_each(|value| self.redact_document(value));
            }
            Value::String(text) => self.redact_text(text),
            _ => {}
        }
    }

    pub(super) fn redact_text(&self, text: &mut String) {
        for name in self.names.iter().flatten() {
            let mut from = 0;
            // Names are ASCII, so positions in the lower-case text are positions in the text.
            while let Some(at) = text[from..].to_ascii_lowercase().find(name.as_str()) {
                text.replace_range(from + at..from + at + name.len(), REPLACEMENT);
                // The search continues after the replacement, which may itself contain the name.
                from += at + REPLACEMENT.len();
            }
        }
    }
}

fn identifies_unit(what: &str) -> bool {
    IDENTIFYING_KEYS.iter().any(|key| what.eq_ignore_ascii_case(key))
}

/// True for a name and its value, as in the evidence of findings, that identify a unit.
fn is_identifying_pair(value: &Value) -> bool {
    matches!(value.as_array().map(Vec::as_slice), Some([Value::String(what), Value::String(_)]) if identifies_unit(what))
}

/// False for zeros, which identify nothing, and for short names, which occur everywhere.
fn is_specific(name: &str) -> bool {
    name.len() >= LEAST_LENGTH && name.trim_start_matches("0x").bytes().any(|letter| letter != b'0')
}

/// Spellings of a name: as printed, without `0x`, and in decimal.
fn spellings(name: &str) -> Vec<String> {
    let small = name.trim().to_ascii_lowercase();
    if !small.is_ascii() {
        return Vec::new();
    }
    let digits = small.strip_prefix("0x").unwrap_or(&small).to_owned();
    let number = u32::from_str_radix(&digits, 16).map(|number| number.to_string());
    [small, digits].into_iter().chain(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::card::CardFacts;
    use cardscope_model::finding::FindingWeight;
    use serde_json::json;

    const CID: &str = "0353445355303847808000c0ffee00fd";

    /// Redactor for a unit with this serial number and these facts.
    fn of(serial: &str, facts: CardFacts) -> Redactor {
        let serial = Some(serial.to_owned());
        let unit = CardUnit { id: "0123".into(), serial, facts, ..CardUnit::default() };
        Redactor::for_card(&cardscope_testkit::cards::stored_card("A"), &[unit])
    }

    fn hidden() -> Redactor {
        of("0x00C0FFEE", CardFacts { cid: Some(CID.into()), ..CardFacts::default() })
    }

    #[test]
    fn finding_loses_only_identifying_evidence() {
        let finding = Finding::new("serial-low", FindingWeight::Hint, 0.3, "Card 0x00c0ffee is odd.")
            .because("psn", "0x00c0ffee")
            .because("mid", "0x03")
            .with_advice(format!("Look up {}.", CID.to_uppercase()));
        let found = hidden().redact_finding(&finding);
        assert_eq!(found.evidence, [("mid".to_owned(), "0x03".to_owned())]);
        assert_eq!(found.verdict, "Card [hidden] is odd.");
        assert_eq!(found.advice.as_deref(), Some("Look up [hidden]."));
        assert_eq!(Redactor::default().redact_finding(&finding), finding, "where they are asked for");
    }

    #[test]
    fn document_is_redacted_in_all_its_parts() {
        let mut document = json!({
            "target": "/dev/disk/by-id/mmc-SU08G_0x00c0ffee",
            "identity": { "cid": { "raw": CID }, "csd": { "raw": "400e" } },
            "findings": [{ "evidence": [["psn", "0x00c0ffee"], ["mid", "0x03"]] }],
            "note": "number 12648430 on the back",
            "blocks": [1, 2],
        });
        hidden().redact_document(&mut document);
        assert_eq!(
            document,
            json!({
                "target": "/dev/disk/by-id/mmc-SU08G_[hidden]",
                "identity": { "csd": { "raw": "400e" } },
                "findings": [{ "evidence": [["mid", "0x03"]] }],
                "note": "number [hidden] on the back",
                "blocks": [1, 2],
            })
        );
    }

    #[test]
    fn serial_equal_to_the_replacement_does_not_loop() {
        let mut text = "hidden, 100000000, Hidden".to_owned();
        let facts = CardFacts { serial: Some("0x00000000".into()), ..CardFacts::default() };
        of("HIDDEN", facts).redact_text(&mut text);
        assert_eq!(text, "[hidden], 100000000, [hidden]");
    }

    #[test]
    fn short_serial_is_not_redacted_in_other_numbers() {
        let mut document = json!({ "words": "11 of 100", "serial": "1" });
        of("1", CardFacts::default()).redact_document(&mut document);
        assert_eq!(document, json!({ "words": "11 of 100" }));
    }
}
