//! NVMe pages, PCIe links and SD buses.

use super::{data, log};

#[test]
fn nvme_identify_of_real_cards_is_decoded() {
    let Some(data) = data() else { return };
    let card = |file: &str| log(&data.join("nvme"), file);
    let adata = card("adata-SD71-id-ctrl.log");
    let id = &adata.other["nvme"]["identify"];
    assert_eq!(
        (id["vid_hex"].as_str(), id["mn"].as_str(), id["fr"].as_str()),
        (Some("0x1cc1"), Some("SD   71"), Some("W0926A"))
    );
    assert_eq!(
        (id["wctemp_kelvin"].as_u64(), id["cctemp_kelvin"].as_u64(), id["tnvmcap"].as_u64()),
        (Some(356), Some(358), Some(252_874_588_160))
    );
    assert_eq!((id["npss"].as_u64(), id["power_states"].as_array().map(Vec::len)), (Some(4), Some(5)));
    assert_eq!(
        (id["power_states"][0]["max_power_w"].as_f64(), id["power_states"][4]["max_power_w"].as_f64()),
        (Some(1.8), Some(0.72))
    );
    assert!(adata.doubts.is_empty(), "{:?}", adata.doubts);
    let sandisk = card("sandisk-ST25671-id-ctrl.log");
    let id = &sandisk.other["nvme"]["identify"];
    assert_eq!(
        (id["vid_hex"].as_str(), id["mn"].as_str(), id["fr"].as_str()),
        (Some("0x15b7"), Some("ST25671_WDC SanDisk SD Express SDSQXFN"), Some("RO157S2P"))
    );
    assert_eq!(
        (id["wctemp_kelvin"].as_u64(), id["cctemp_kelvin"].as_u64(), id["tnvmcap"].as_u64()),
        (Some(358), Some(363), Some(253_465_985_024))
    );
    assert_eq!(id["power_states"][3]["max_power_w"], 0.025);
}

#[test]
fn nvme_counters_and_features_of_real_cards_are_decoded() {
    let Some(data) = data() else { return };
    let nvme = |file: &str| log(&data.join("nvme"), file).other["nvme"].clone();
    let features = nvme("adata-SD71-get-feature.log");
    let kelvin = ["tmpth_kelvin", "tmt1_kelvin", "tmt2_kelvin"].map(|name| features[name].as_u64());
    assert_eq!(kelvin, [Some(356), Some(354), Some(358)]);
    assert_eq!(
        (features["power_state"].as_u64(), features["host_memory_buffer"]["units"].as_u64()),
        (Some(4), Some(16_384))
    );
    let adata = nvme("adata-SD71-smart-log.log")["smart"].clone();
    assert_eq!(
        (
            adata["temperature_kelvin"].as_u64(),
            adata["data_read_bytes"].as_u64(),
            adata["data_units_written"].as_u64()
        ),
        (Some(309), Some(191_842 * 512_000), Some(103_797))
    );
    assert_eq!(
        (
            adata["power_cycles"].as_u64(),
            adata["unsafe_shutdowns"].as_u64(),
            adata["temperature_sensors_celsius"][0].as_i64()
        ),
        (Some(19), Some(16), Some(26))
    );
    let throttled = [
        "thermal_management_t1_transitions",
        "thermal_management_t1_seconds",
        "thermal_management_t2_transitions",
        "thermal_management_t2_seconds",
    ];
    assert_eq!(throttled.map(|name| adata[name].as_u64()), [Some(10), Some(509), Some(7), Some(50)]);
    let lexar = nvme("lexar-LX1TB71-smart-log.log")["smart"].clone();
    let counted = ["temperature_kelvin", "data_units_read", "data_units_written", "power_cycles"]
        .map(|name| lexar[name].as_u64());
    assert_eq!(counted, [Some(298), Some(25_876), Some(13_395), Some(24)]);
    assert!(lexar["temperature_sensors_celsius"][0].is_null());
}

#[test]
fn pcie_links_and_sd_buses_are_decoded() {
    let Some(data) = data() else { return };
    for file in ["adata-SD71.log", "sandisk-ST25671.log"] {
        let log = log(&data.join("lspci"), file);
        let link = &log.other["pcie"];
        assert_eq!(
            (
                link["current_speed_gt_s"].as_f64(),
                link["max_speed_gt_s"].as_f64(),
                link["current_width"].as_u64()
            ),
            (Some(8.0), Some(8.0), Some(1)),
            "{file}"
        );
        assert_eq!(
            (log.condition.get("bus_mode"), log.card.is_empty()),
            (Some("PCIe 3.0 x1"), true),
            "{file}"
        );
    }
    for (file, mode, ceiling, slower) in [
        ("rpi4-mmc0-ddr50.txt", "DDR50", 50.0, false),
        ("rpi4-mmc0-highspeed.txt", "High Speed", 25.0, false),
        ("phytium-sdr104-50mhz-no-actual.txt", "SDR104", 25.0, true),
    ] {
        let log = log(&data.join("mmc-ios"), file);
        assert_eq!(
            (log.condition.get("bus_mode"), log.other["mmc"]["ceiling_mb_s"].as_f64()),
            (Some(mode), Some(ceiling)),
            "{file}"
        );
        assert_eq!(log.doubts.len(), usize::from(slower), "{file}");
    }
}
