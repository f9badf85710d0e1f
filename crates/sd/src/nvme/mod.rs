//! NVMe data of SD Express cards, and of SSDs in adapters.
//!
//! Layouts: NVMe Base Specification in the field names of libnvme's `types.h`; SD Express additions: Physical Layer
//! Specification 8. Degrees Celsius are kelvin less 273, as in nvme-cli (hwmon subtracts 273.15).

mod bytes;
mod express;
mod identify;
mod smart;

pub use bytes::{NvmeError, kelvin_to_celsius};
pub use express::{EXPRESS_UUID, ExpressArea, ExpressIdentity};
pub use identify::{IdentifyController, IdentifyNamespace, PowerState};
pub use smart::{SmartLog, ThermalFeatures};

use serde::{Deserialize, Serialize};

/// All data read from an NVMe card. In JSON the fields of `features` are not nested.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NvmeIdentity {
    pub identify: Option<IdentifyController>,
    pub namespace: Option<IdentifyNamespace>,
    pub smart: Option<SmartLog>,
    /// Temperature limits set by the host: TMPTH, TMT1, TMT2.
    #[serde(flatten)]
    pub features: ThermalFeatures,
    /// Current temperature in °C, from the kernel or the SMART log.
    pub temperature_celsius: Option<f64>,
    pub sd_express: Option<ExpressIdentity>,
    pub express_area: Option<ExpressArea>,
}
