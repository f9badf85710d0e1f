//! Connected cards, sticks and readers.

use super::simulated::SimulatedLine;
use cardscope_model::device::DeviceInfo;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeviceList {
    /// Sentence with the number of devices and of those that are safe to test.
    pub answer: String,
    /// Sorted by name.
    pub devices: Vec<Device>,
    /// Simulated cards to try without a real one.
    pub examples: Vec<SimulatedLine>,
}

/// Card, stick or reader. Its `reason` comes without the advice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Device {
    #[serde(flatten)]
    pub info: DeviceInfo,
    /// Remedy for the reason.
    pub advice: Option<String>,
    /// Id of the task that runs or waits on it.
    pub task: Option<String>,
}

impl From<DeviceInfo> for Device {
    fn from(mut info: DeviceInfo) -> Self {
        let advice = info.advice.take();
        info.reason = info.cause.take();
        Device { info, advice, task: None }
    }
}

/// Card to unmount.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CardObject {
    /// Identity of the card from the list of devices.
    #[serde(default)]
    pub object: Option<String>,
}
