//! Cards, sticks and readers that are present.

use super::common::blocking;
use crate::api::{CardObject, Device, Devices, SimulatedLine};
use crate::problem::Refusal;
use crate::sent::OptionalBody;
use crate::state::Server;
use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use cardscope_engine::interrupt::Interrupt;
use cardscope_identity::verb as identify;
use cardscope_identity::verb::ListRequest;
use cardscope_model::device::DeviceInfo;
use cardscope_session::simulate;
use std::sync::Arc;

/// Simulated cards that stand beside real ones, so that everything can be tried without a card: a good one and a fake.
const EXAMPLES: [&str; 2] = ["sandisk-extremepro-32g-a1", "sandian-1tb-52g"];

/// Cards, sticks and readers, and why they may or may not be tested.
#[utoipa::path(get, path = "/api/devices", tag = "devices", responses((status = 200, body = Devices)))]
pub(super) async fn list(State(server): State<Arc<Server>>) -> Result<Json<Devices>, Refusal> {
    blocking(&server, |server| devices(server).map(Json)).await
}

/// Unmounts every file system of a device, as a file manager does; nothing is forced.
#[utoipa::path(post, path = "/api/devices/{name}/unmount", tag = "devices", params(("name" = String, Path)), request_body = Option<CardObject>, responses((status = 200, body = Devices), (status = 404, body = crate::api::Problem), (status = 409, body = crate::api::Problem)))]
pub(super) async fn unmount(
    State(server): State<Arc<Server>>,
    name: Result<Path<String>, PathRejection>,
    OptionalBody(card): OptionalBody<CardObject>,
) -> Result<Json<Devices>, Refusal> {
    let Path(name) = name?;
    blocking(&server, move |server| {
        if entries(server)?.iter().all(|entry| entry.name != name) {
            return Err(Refusal::not_found("device of that name"));
        }
        let object = card.object.ok_or_else(|| no_object(&name))?;
        identify::unmount(&name, Some(&object), &Interrupt::default())
            .map_err(|why| Refusal::conflict(why.to_string()))?;
        devices(server).map(Json)
    })
    .await
}

pub(super) fn entries(server: &Server) -> Result<Vec<DeviceInfo>, Refusal> {
    Ok(identify::list(&ListRequest { all: server.all_devices, ..ListRequest::default() })?)
}

/// A device is named by the card in it, too: its path may lead to another one by now.
pub(super) fn no_object(device: &str) -> Refusal {
    Refusal::conflict(format!(
        "the request does not say which card in {device} it is for; send its `object` from /api/devices"
    ))
}

fn devices(server: &Server) -> Result<Devices, Refusal> {
    let devices: Vec<Device> = entries(server)?.into_iter().map(|entry| device(server, entry)).collect();
    let safe = devices.iter().filter(|device| device.info.safe).count();
    let answer = match (devices.len(), safe) {
        (0, _) => "No card, stick or reader found.".to_owned(),
        (1, 1) => "1 device, safe to test.".to_owned(),
        (1, _) => "1 device, not safe to test.".to_owned(),
        (all, 0) => format!("{all} devices, none of them safe to test."),
        (all, safe) => format!("{all} devices, {safe} safe to test."),
    };
    Ok(Devices { answer, devices, examples: examples()? })
}

fn examples() -> Result<Vec<SimulatedLine>, Refusal> {
    let cards = simulate::list()?;
    let of = |name: &str| cards.iter().find(|card| card.name == name).cloned();
    Ok(EXAMPLES.into_iter().filter_map(of).map(SimulatedLine::from).collect())
}

fn device(server: &Server, entry: DeviceInfo) -> Device {
    Device { task: server.tasks.on(&entry.path), ..Device::from(entry) }
}

impl From<simulate::Card> for SimulatedLine {
    fn from(card: simulate::Card) -> Self {
        let target = format!("sim:{}", card.name);
        SimulatedLine { target, name: card.name, title: card.title, bytes: card.announced_bytes }
    }
}
