//! Facts about a card from its decoded identity, and its registers in the form of `info --json`.

use crate::readers::parse_hex;
use cardscope_model::card::CardFacts;
use cardscope_model::identity::Identity;
use cardscope_sd::maker;
use serde_json::{Map, Value};

/// Fields of `info --json` that only repeat what follows from the registers.
const DERIVED: [&str; 4] = ["capacity", "factors", "mark_demands", "findings"];

pub(crate) fn card_facts(identity: &Identity) -> CardFacts {
    // Claimed marks stay among the registers: `marks` are those printed on the card.
    let mut facts = CardFacts { capacity_bytes: identity.capacity_bytes, ..CardFacts::default() };
    if let Some(cid) = &identity.cid {
        facts.model = Some(cid.pnm.clone()).filter(|name| !name.is_empty());
        facts.maker.clone_from(&cid.maker);
        facts.made = Some(cid.mdt.clone()).filter(|_| (1..=12).contains(&cid.mdt_month));
        facts.serial = Some(cid.psn_hex.clone());
        facts.cid = Some(cid.raw.to_string());
    }
    if let Some(emmc) = &identity.emmc {
        facts.model = Some(emmc.pnm.clone()).filter(|name| !name.is_empty());
        facts.serial = Some(format!("0x{:08x}", emmc.psn));
        facts.cid = Some(emmc.raw.to_string());
        facts.form = Some("eMMC".to_owned());
    }
    facts.csd = identity.csd.as_ref().map(|csd| csd.raw.to_string());
    facts
}

/// Registers that the log has, in the form of `info --json`.
pub(crate) fn given_registers(identity: &Identity) -> Map<String, Value> {
    let document = serde_json::to_value(identity).unwrap_or_default();
    let Value::Object(fields) = document else { return Map::new() };
    let given = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
    fields.into_iter().filter(|(name, value)| given(value) && !DERIVED.contains(&name.as_str())).collect()
}

/// Maker that uses a manufacturer id with this OEM id.
pub(crate) fn maker_name(manfid: &str, oemid: &str) -> Option<String> {
    let (mid, oid) = (u8::try_from(parse_hex(manfid)?).ok()?, u16::try_from(parse_hex(oemid)?).ok()?);
    maker::find_maker(mid, oid).map(|maker| maker.name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::identity::{HexRegisters, from_hex};

    #[test]
    fn registers_become_card_facts() {
        let registers_hex = HexRegisters {
            cid: Some("1b534d454231515430a1b2c3d4017a00"),
            csd: Some("400e00325b590000ee7f7f800a400000"),
            ..HexRegisters::default()
        };
        let identity = from_hex(registers_hex).unwrap();
        let facts = card_facts(&identity);
        assert_eq!((facts.model.as_deref(), facts.made.as_deref()), (Some("EB1QT"), Some("2023-10")));
        assert_eq!(
            (facts.serial.as_deref(), facts.capacity_bytes),
            (Some("0xa1b2c3d4"), Some(32_010_928_128))
        );
        let words: Vec<String> = given_registers(&identity).keys().cloned().collect();
        assert_eq!(words, ["cid", "csd", "capacity_bytes"]);
    }

    #[test]
    fn invalid_month_gives_no_date() {
        let registers =
            HexRegisters { cid: Some("1b534d454231515430a1b2c3d4017000"), ..HexRegisters::default() };
        assert_eq!(card_facts(&from_hex(registers).unwrap()).made, None);
    }
}
