//! What an NVMe card says of itself: SD Express cards and SSDs in adapters.
//!
//! Layouts: NVMe Base Specification in the field names of libnvme's `types.h`; SD Express additions: Physical Layer
//! Specification 8. Degrees Celsius are kelvin less 273, as nvme-cli prints them (hwmon subtracts 273.15).

mod bytes;
mod express;
mod identify;
mod smart;

pub use bytes::{NvmeError, celsius};
pub use express::{EXPRESS_UUID, ExpressArea, ExpressIdentity};
pub use identify::{IdentifyController, IdentifyNamespace, PowerState};
pub use smart::{SmartLog, ThermalFeatures};

use serde::{Deserialize, Serialize};

/// Everything read of an NVMe card; the limits of the features stand beside the other parts in JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NvmeIdentity {
    /// Identify Controller.
    pub identify: Option<IdentifyController>,
    /// Identify Namespace.
    pub namespace: Option<IdentifyNamespace>,
    /// SMART / health log.
    pub smart: Option<SmartLog>,
    /// Temperature limits set by the host: TMPTH, TMT1, TMT2.
    #[serde(flatten)]
    pub features: ThermalFeatures,
    /// Temperature now in °C, as the kernel or the SMART log tells it.
    pub temperature_celsius: Option<f64>,
    /// What an SD Express card hides in its names.
    pub sd_express: Option<ExpressIdentity>,
    /// Class and limits in the vendor area.
    pub express_area: Option<ExpressArea>,
}
