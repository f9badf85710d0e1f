//! Routes of simulated cards.

use crate::api::{CardKnob, SimulatedCard, SimulatedCards, SimulatedLine};
use crate::extract::ItemId;
use crate::refusal::{RequestRefusal, Result};
use crate::state::{SharedState, run_blocking};
use axum::Json;
use axum::extract::RawQuery;
use cardscope_session::simulated_cards;
use serde_json::Value;

/// Editable properties: key of the override, label, suggested values.
const EDITABLE_PROPERTIES: &[(&str, &str, &[&str])] = &[
    (
        "fake",
        "Lie about capacity",
        &["none", "limbo", "wraparound", "chain", "address-line", "damaged", "overcommitted"],
    ),
    ("fake_bytes", "Real capacity", &["8G", "16G", "32G", "64G"]),
    ("page_bytes", "Page", &["4K", "8K", "16K", "32K"]),
    ("cache_bytes", "Cache that hides a lie", &["0", "64M", "256M", "1G"]),
    ("cooling", "Cooling", &["passive", "active"]),
    ("heat", "Heat", &["true", "false"]),
    ("rig.bus_mb_s", "Reader's limit in MB/s", &["24", "90", "312"]),
    ("seed", "Seed", &["1", "2", "3"]),
];

/// Lists simulated cards.
#[utoipa::path(get, path = "/api/simulated", tag = "simulated", responses((status = 200, body = SimulatedCards)))]
pub(super) async fn list(server: SharedState) -> Result<Json<SimulatedCards>> {
    run_blocking(server, |_| {
        let cards = simulated_cards::list_cards()?.into_iter().map(SimulatedLine::from).collect();
        Ok(Json(SimulatedCards { cards }))
    })
    .await
}

/// Returns a simulated card with overrides from the query: `?page_bytes=8K&cooling=active`.
#[utoipa::path(get, path = "/api/simulated/{name}", tag = "simulated", params(("name" = String, Path), ("overrides" = std::collections::BTreeMap<String, String>, Query, style = Form, explode, description = "Properties by their keys")), responses((status = 200, body = SimulatedCard), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn get(
    server: SharedState,
    ItemId(name): ItemId,
    RawQuery(query): RawQuery,
) -> Result<Json<SimulatedCard>> {
    run_blocking(server, move |_| {
        let query = query.unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
        let mut asked: Vec<(String, String)> = pairs.filter(|(_, value)| !value.is_empty()).collect();
        let odd = |part: &str| part.contains(['&', '?', '#', '=']) || part.contains(char::is_control);
        if odd(&name) || asked.iter().any(|(key, value)| odd(key) || odd(value)) {
            return Err(RequestRefusal::unprocessable("a value holds a sign that a card's name cannot have"));
        }
        complete_fake(&mut asked, &name)?;
        let overrides: Vec<String> = asked.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let behind = if overrides.is_empty() { String::new() } else { format!("?{}", overrides.join("&")) };
        let target = format!("sim:{name}{behind}");
        let mut card = simulated_cards::explain_for_client(&target)?;
        let knob = |(key, label, choices): &(&str, &str, &[&str])| CardKnob {
            key: (*key).to_owned(),
            label: (*label).to_owned(),
            value: current_value(&asked, key, &card.document["archetype"]),
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        };
        let knobs = EDITABLE_PROPERTIES.iter().map(knob).collect();
        let truth = card.document["truth"].take();
        let (name, title, paragraphs) = (card.name, card.title, card.paragraphs);
        Ok(Json(SimulatedCard { target, name, title, paragraphs, truth, knobs }))
    })
    .await
}

/// Adds the sizes of a fake if the client gave only its kind: a quarter of the card is real, and the addresses repeat
/// after that size or after half of the card.
fn complete_fake(asked: &mut Vec<(String, String)>, name: &str) -> Result<()> {
    let value = |key: &str| asked.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone());
    let Some(kind) = value("fake").filter(|kind| kind != "none") else { return Ok(()) };
    let Some(card) = simulated_cards::list_cards()?.into_iter().find(|card| card.name == name) else {
        return Ok(());
    };
    let mebibytes = |bytes: u64| format!("{}M", bytes >> 20);
    let real = value("fake_bytes").unwrap_or_else(|| mebibytes(card.announced_bytes / 4));
    let wrap = match kind.as_str() {
        "wraparound" => Some(real.clone()),
        "chain" => Some(mebibytes(card.announced_bytes / 2)),
        _ => None,
    };
    let sizes = [("fake_bytes", Some(real)), ("wrap_bytes", wrap)];
    let missing = sizes.into_iter().filter(|(key, _)| value(key).is_none());
    let missing: Vec<_> = missing.filter_map(|(key, size)| Some((key.to_owned(), size?))).collect();
    asked.extend(missing);
    Ok(())
}

/// Current value of a property: the override, else the one of the card's file.
fn current_value(asked: &[(String, String)], key: &str, archetype: &Value) -> String {
    if let Some((_, value)) = asked.iter().find(|(known, _)| known == key) {
        return value.clone();
    }
    let last = key.rsplit('.').next().unwrap_or(key);
    let path = match last {
        "fake" => "/fake/kind",
        "cooling" => "/rig/cooling",
        "heat" => "/rig/heat",
        "bus_mb_s" => "/rig/bus_mb_s",
        "page_bytes" => "/flash/page_bytes",
        _ => return String::new(),
    };
    match archetype.pointer(path) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}
