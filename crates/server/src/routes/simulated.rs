//! Routes of simulated cards.

use super::common::run_blocking;
use crate::api::{CardKnob, SimulatedCard, SimulatedCards, SimulatedLine};
use crate::refusal::RequestRefusal;
use crate::state::ServerState;
use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use cardscope_session::simulated_cards;
use serde_json::Value;
use std::sync::Arc;

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
pub(super) async fn list(
    State(server): State<Arc<ServerState>>,
) -> Result<Json<SimulatedCards>, RequestRefusal> {
    run_blocking(&server, |_| {
        let cards = simulated_cards::list_cards()?.into_iter().map(SimulatedLine::from).collect();
        Ok(Json(SimulatedCards { cards }))
    })
    .await
}

/// Returns a simulated card with overrides from the query: `?page_bytes=8K&cooling=active`.
#[utoipa::path(get, path = "/api/simulated/{name}", tag = "simulated", params(("name" = String, Path), ("overrides" = std::collections::BTreeMap<String, String>, Query, style = Form, explode, description = "Properties by their keys")), responses((status = 200, body = SimulatedCard), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn get(
    State(server): State<Arc<ServerState>>,
    name: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Json<SimulatedCard>, RequestRefusal> {
    let Path(name) = name?;
    run_blocking(&server, move |_| {
        let mut asked: Vec<(String, String)> = form_urlencoded::parse(query.unwrap_or_default().as_bytes())
            .map(|(key, value)| (key.into_owned(), value.into_owned()))
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let signs = ['&', '?', '#', '='];
        let odd = |part: &str| part.contains(signs) || part.contains(char::is_control);
        if odd(&name) || asked.iter().any(|(key, value)| odd(key) || odd(value)) {
            return Err(RequestRefusal::unprocessable("a value holds a sign that a card's name cannot have"));
        }
        complete_fake(&mut asked, &name)?;
        let overrides: Vec<String> = asked.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let behind = if overrides.is_empty() { String::new() } else { format!("?{}", overrides.join("&")) };
        let target = format!("sim:{name}{behind}");
        let shown = simulated_cards::explain_for_client(&target)?;
        let knob = |(key, label, choices): &(&str, &str, &[&str])| CardKnob {
            key: (*key).to_owned(),
            label: (*label).to_owned(),
            value: current_value(&asked, key, &shown.document["archetype"]),
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        };
        Ok(Json(SimulatedCard {
            knobs: EDITABLE_PROPERTIES.iter().map(knob).collect(),
            truth: shown.document["truth"].clone(),
            name: shown.name,
            title: shown.title,
            paragraphs: shown.paragraphs,
            target,
        }))
    })
    .await
}

/// Adds the sizes of a fake if the client gave only its kind: a quarter of the card is real, and the addresses repeat
/// after that size or after half of the card.
fn complete_fake(asked: &mut Vec<(String, String)>, name: &str) -> Result<(), RequestRefusal> {
    let value = |key: &str| asked.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone());
    let Some(kind) = value("fake").filter(|kind| kind != "none") else { return Ok(()) };
    let announced = simulated_cards::list_cards()?
        .into_iter()
        .find(|card| card.name == name)
        .map(|card| card.announced_bytes);
    let Some(announced) = announced else { return Ok(()) };
    let real = value("fake_bytes").unwrap_or_else(|| format!("{}M", (announced / 4) >> 20));
    let wrap = match kind.as_str() {
        "wraparound" => Some(real.clone()),
        "chain" => Some(format!("{}M", (announced / 2) >> 20)),
        _ => None,
    };
    let wrap = wrap.filter(|_| value("wrap_bytes").is_none()).map(|wrap| ("wrap_bytes".to_owned(), wrap));
    let real = (value("fake_bytes").is_none()).then(|| ("fake_bytes".to_owned(), real));
    asked.extend(real.into_iter().chain(wrap));
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
