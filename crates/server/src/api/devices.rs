//! Cards, sticks and readers that are present.

use super::simulated::SimulatedLine;
use cardscope_model::device::DeviceInfo;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Devices that are present.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeviceList {
    /// Number of devices, and how many are safe to test; a sentence.
    pub answer: String,
    /// The devices, by name.
    pub devices: Vec<Device>,
    /// Simulated cards to try without one.
    pub examples: Vec<SimulatedLine>,
}

/// A card, stick or reader; its reason without the advice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Device {
    #[serde(flatten)]
    pub info: DeviceInfo,
    /// What to do about the reason.
    pub advice: Option<String>,
    /// The task that runs or waits on it.
    pub task: Option<String>,
}

impl From<DeviceInfo> for Device {
    /// Without the task on it.
    fn from(mut info: DeviceInfo) -> Self {
        let advice = info.advice.take();
        info.reason = info.cause.take();
        Device { info, advice, task: None }
    }
}

/// The card that is unmounted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CardObject {
    /// Its name, as the list of devices has it.
    #[serde(default)]
    pub object: Option<String>,
}
