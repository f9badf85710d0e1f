//! Get Features 04h and 10h: the temperatures at which a card warns and throttles.

use super::celsius;
use serde::{Deserialize, Serialize};

/// Thermal limits as set now. `None` where not read, or where the limit is off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThermalFeatures {
    /// Over-temperature threshold of the composite temperature in K.
    pub tmpth_kelvin: Option<u16>,
    /// The same in °C.
    pub tmpth_celsius: Option<i32>,
    /// Where light throttling begins, in K.
    pub tmt1_kelvin: Option<u16>,
    /// The same in °C.
    pub tmt1_celsius: Option<i32>,
    /// Where heavy throttling begins, in K.
    pub tmt2_kelvin: Option<u16>,
    /// The same in °C.
    pub tmt2_celsius: Option<i32>,
}

impl ThermalFeatures {
    /// From the result dwords of features 04h (composite, over) and 10h, where each was answered.
    #[must_use]
    pub fn from_results(feature_04: Option<u32>, feature_10: Option<u32>) -> Self {
        // FFFFh is as good as no threshold: no card reaches 65535 K.
        let tmpth = feature_04.map(|dword| dword as u16).filter(|k| !matches!(*k, 0 | u16::MAX));
        let tmt1 = feature_10.map(|dword| (dword >> 16) as u16).filter(|k| *k > 0);
        let tmt2 = feature_10.map(|dword| dword as u16).filter(|k| *k > 0);
        ThermalFeatures {
            tmpth_kelvin: tmpth,
            tmpth_celsius: tmpth.and_then(celsius),
            tmt1_kelvin: tmt1,
            tmt1_celsius: tmt1.and_then(celsius),
            tmt2_kelvin: tmt2,
            tmt2_celsius: tmt2.and_then(celsius),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_adata_card_warns_at_83_and_throttles_at_81_and_85_degrees() {
        let limits = ThermalFeatures::from_results(Some(0x164), Some(0x0162_0166));
        assert_eq!((limits.tmpth_kelvin, limits.tmpth_celsius), (Some(356), Some(83)));
        assert_eq!((limits.tmt1_kelvin, limits.tmt2_kelvin), (Some(354), Some(358)));
        assert_eq!((limits.tmt1_celsius, limits.tmt2_celsius), (Some(81), Some(85)));
    }

    #[test]
    fn the_hysteresis_is_no_part_of_the_threshold_and_zero_is_off() {
        assert_eq!(ThermalFeatures::from_results(Some(0x0540_0164), None).tmpth_kelvin, Some(356));
        assert_eq!(ThermalFeatures::from_results(None, Some(0)), ThermalFeatures::default());
    }
}
