//! Routes of devices.

use crate::api::{CardObject, Device, DeviceList, SimulatedLine};
use crate::extract::{ItemId, OptionalJsonBody};
use crate::refusal::{RequestRefusal, Result};
use crate::state::{ServerState, SharedState, run_blocking};
use axum::Json;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_identity::verb::{self as identify, ListRequest};
use cardscope_model::device::DeviceInfo;
use cardscope_session::simulated_cards::{self, SimulatedInfo};

/// Simulated cards in the list of devices, a good one and a fake, for a trial without a real card.
const EXAMPLES: [&str; 2] = ["sandisk-extremepro-32g-a1", "sandian-1tb-52g"];

/// Lists cards, sticks and readers, and whether they are safe to test.
#[utoipa::path(get, path = "/api/devices", tag = "devices", responses((status = 200, body = DeviceList)))]
pub(super) async fn list(server: SharedState) -> Result<Json<DeviceList>> {
    run_blocking(server, |server| device_list(server).map(Json)).await
}

/// Unmounts all file systems of a device without force.
#[utoipa::path(post, path = "/api/devices/{name}/unmount", tag = "devices", params(("name" = String, Path)), request_body = Option<CardObject>, responses((status = 200, body = DeviceList), (status = 404, body = crate::api::ApiProblem), (status = 409, body = crate::api::ApiProblem)))]
pub(super) async fn unmount(
    server: SharedState,
    ItemId(name): ItemId,
    OptionalJsonBody(card): OptionalJsonBody<CardObject>,
) -> Result<Json<DeviceList>> {
    run_blocking(server, move |server| {
        if list_devices(server)?.iter().all(|entry| entry.name != name) {
            return Err(RequestRefusal::not_found("device of that name"));
        }
        let object = card.object.ok_or_else(|| missing_object(&name))?;
        let unmounted = identify::unmount_card(&name, Some(&object), &InterruptFlag::default());
        unmounted.map_err(|why| RequestRefusal::conflict(why.to_string()))?;
        device_list(server).map(Json)
    })
    .await
}

pub(super) fn list_devices(server: &ServerState) -> Result<Vec<DeviceInfo>> {
    Ok(identify::list_devices(&ListRequest { all: server.all_devices, ..ListRequest::default() })?)
}

/// Refusal of a request without the card's identity: the path alone may lead to another card by now.
pub(super) fn missing_object(device: &str) -> RequestRefusal {
    RequestRefusal::conflict(format!(
        "the request does not say which card in {device} it is for; send its `object` from /api/devices"
    ))
}

fn device_list(server: &ServerState) -> Result<DeviceList> {
    let task = |entry: &DeviceInfo| server.tasks.task_on_target(&entry.path);
    let with_task = |entry: DeviceInfo| Device { task: task(&entry), ..Device::from(entry) };
    let devices: Vec<Device> = list_devices(server)?.into_iter().map(with_task).collect();
    let safe = devices.iter().filter(|device| device.info.safe).count();
    let answer = match (devices.len(), safe) {
        (0, _) => "No card, stick or reader found.".to_owned(),
        (1, 1) => "1 device, safe to test.".to_owned(),
        (1, _) => "1 device, not safe to test.".to_owned(),
        (all, 0) => format!("{all} devices, none of them safe to test."),
        (all, safe) => format!("{all} devices, {safe} safe to test."),
    };
    Ok(DeviceList { answer, devices, examples: example_cards()? })
}

fn example_cards() -> Result<Vec<SimulatedLine>> {
    let cards = simulated_cards::list_cards()?;
    let of = |name: &str| cards.iter().find(|card| card.name == name).cloned();
    Ok(EXAMPLES.into_iter().filter_map(of).map(SimulatedLine::from).collect())
}

impl From<SimulatedInfo> for SimulatedLine {
    fn from(card: SimulatedInfo) -> Self {
        let target = format!("sim:{}", card.name);
        SimulatedLine { target, name: card.name, title: card.title, bytes: card.announced_bytes }
    }
}
