//! nvme-cli: `id-ctrl`, `smart-log` and `get-feature`, as text (with and without `-H`) and as JSON (`-o json`).
//!
//! The printed fields are restored to their offsets in NVMe's structures (NVMe Base Specification 1.4, figures "Identify
//! Controller", "Power State Descriptor", "SMART / Health Information"), and these are decoded like a card's answer.
//! Temperatures are taken in kelvin if these are printed, since nvme-cli's °F are rounded.

mod fields;
mod structure;

use crate::readers::{LogText, ReaderOutcome, new_log, read_each, trimmed_text};
use cardscope_model::card::CardFacts;
use cardscope_model::log::CardLog;
use cardscope_sd::nvme::{ExpressIdentity, IdentifyController, NvmeIdentity, SmartLog, ThermalFeatures};
use fields::LogFields;
use serde_json::{Value, json};

/// True if the text has one of the headings, or fields that only nvme-cli prints.
pub(crate) fn recognise(text: &LogText) -> bool {
    const HEADINGS: [&str; 3] = ["NVME Identify Controller:", "Smart Log for NVME device", "get-feature:0x"];
    let head = text.head();
    text.lines().any(|line| HEADINGS.iter().any(|heading| line.trim_start().starts_with(heading)))
        || LogFields::parse_json(head).is_some_and(|fields| fields.has_controller() || fields.has_smart())
        || LogFields::parse_text(head).has_controller()
}

/// Reads the text; a second controller, or second counters, begin another log.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    // Every controller, and every SMART log, has one of these fields once.
    let mut names: Vec<&str> = Vec::new();
    let again = |line: &str| {
        let name = line.split(':').next().unwrap_or_default().trim().trim_matches('"').to_lowercase();
        let first =
            ["vid", "critical_warning"].into_iter().find(|first| line.contains(':') && *first == name);
        let known = first.is_some_and(|first| names.contains(&first));
        names.retain(|_| !known);
        names.extend(first);
        known
    };
    let mut logs = read_each(text, again, read_answer)?;
    // Counters that are read again after a test belong to the controller of the log before.
    for at in 1..logs.len() {
        if logs[at].card.is_empty() {
            logs[at].card = logs[at - 1].card.clone();
        }
    }
    Ok(logs)
}

fn read_answer(text: &LogText) -> ReaderOutcome {
    let fields = LogFields::parse_json(text.body()).unwrap_or_else(|| LogFields::parse_text(text.body()));
    let mut log = new_log("nvme-cli", None);
    let mut page = |name: &str, (bytes, missing): (Vec<u8>, Vec<&str>)| {
        doubt_missing(name, &missing, &mut log);
        bytes
    };
    let identify = fields.has_controller().then(|| page("id-ctrl", structure::build_controller(&fields)));
    let identify = identify.and_then(|bytes| IdentifyController::decode(&bytes).ok());
    let smart = fields.has_smart().then(|| page("smart-log", structure::build_smart_log(&fields)));
    let smart = smart.and_then(|bytes| SmartLog::decode(&bytes).ok());
    let features = ThermalFeatures::from_results(fields.feature(0x04), fields.feature(0x10));
    if identify.is_none() && smart.is_none() && fields.features().is_empty() {
        return Ok(vec![log]);
    }
    if let Some(identify) = &identify {
        log.card = controller_facts(identify);
    }
    let sd_express = identify.as_ref().and_then(ExpressIdentity::from_names);
    let identity = NvmeIdentity { identify, smart, features, sd_express, ..NvmeIdentity::default() };
    log.other.insert("nvme".into(), to_document(&identity, &fields));
    Ok(vec![log])
}

/// Doubts missing fields, since these are 0 in the structure, which must not pass for the card's values.
fn doubt_missing(page: &str, missing: &[&str], log: &mut CardLog) {
    if !missing.is_empty() {
        let names = missing.join(", ");
        log.doubts.push(format!("{page} lacks {names}: their zeros are not the card's values"));
    }
}

fn controller_facts(identify: &IdentifyController) -> CardFacts {
    CardFacts {
        model: trimmed_text(&identify.mn),
        serial: trimmed_text(&identify.sn),
        firmware: trimmed_text(&identify.fr),
        capacity_bytes: Some(identify.tnvmcap).filter(|bytes| *bytes > 0),
        ..CardFacts::default()
    }
}

/// Identity in the form of `info --json`, without parts that are not in the log; the features are added.
fn to_document(identity: &NvmeIdentity, fields: &LogFields) -> Value {
    let Ok(Value::Object(mut parts)) = serde_json::to_value(identity) else { return Value::Null };
    let features = fields.features();
    let given = [
        ("features", (!features.is_empty()).then_some(Value::Object(features))),
        ("power_state", fields.feature(0x02).map(|state| json!(state & 31))),
        ("host_memory_buffer", host_memory(fields)),
    ];
    parts.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    parts.retain(|_, value| !value.is_null());
    Value::Object(parts)
}

/// Host memory buffer (feature 0Dh) in units of 4 KiB.
fn host_memory(fields: &LogFields) -> Option<Value> {
    let enabled = fields.feature(0x0d)? & 1 == 1;
    let units: Option<u64> = fields.get("host_memory_buffer_size_(hsize)").and_then(|n| n.parse().ok());
    Some(json!({"enabled": enabled, "units": units, "bytes": units.and_then(|n| n.checked_mul(4096))}))
}
