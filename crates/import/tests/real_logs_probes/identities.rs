//! Registers, NVMe's pages, links and buses, and collections of cards.

use super::{data, log, logs, printed};

#[test]
fn what_nvme_cards_say_of_themselves_holds() {
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
fn what_nvme_cards_count_and_are_set_to_holds() {
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
fn links_and_buses_hold() {
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

#[test]
fn the_registers_of_fifteen_cards_hold() {
    let Some(data) = data() else { return };
    let logs = logs(&data, "registers/cards.csv");
    assert_eq!(logs.len(), 15);
    for log in &logs {
        // Read over SPI: these checksums are the cards' own.
        assert_eq!(
            (log.other["cid"]["crc"].as_str(), log.other["csd"]["crc"].as_str()),
            (Some("ok"), Some("ok")),
            "{:?}",
            log.part
        );
        assert!(log.doubts.is_empty(), "{:?}", log.doubts);
    }
    let endurance =
        logs.iter().find(|log| log.part.as_deref().is_some_and(|part| part.contains("8GB MLC"))).unwrap();
    assert_eq!(
        (endurance.card.model.as_deref(), endurance.card.capacity_bytes, endurance.card.made.as_deref()),
        (Some("00000"), Some(7_791_968_256), Some("2021-09"))
    );
}

#[test]
fn collections_of_cards_hold() {
    let Some(data) = data() else { return };
    let cards = data.join("cards");
    let geerling = logs(&cards, "geerling-microsd.csv");
    assert_eq!(geerling.len(), 50);
    let lexar = geerling.iter().find(|log| log.card.title().starts_with("Lexar Professional")).unwrap();
    assert_eq!(
        (printed(lexar, "SEQ2M Q1T1 read", None), lexar.condition.get("board")),
        (44.35, Some("Raspberry Pi 4 B"))
    );
    assert_eq!(logs(&cards, "geerling-2019-price.csv").len(), 3);
    assert_eq!(
        (
            logs(&cards, "sbc-bench-mmc-identities.csv").len(),
            logs(&cards, "sd-low-serial-identities.csv").len()
        ),
        (49, 448)
    );
    let list = logs(&cards, "cards.json");
    // Thirty cards; three of them have runs alone, under five conditions.
    assert_eq!((list.len(), list.iter().map(|log| log.runs.len()).filter(|n| *n >= 2).count()), (32, 5));
    let first = &list[0].runs[0];
    let write = first.results.iter().find(|f| f.name().to_string() == "RND4K Q8T8 write").unwrap();
    assert_eq!((write.as_printed.value, write.mb_s), (534.0, 534.0 * 1.048_576));
    let oldest = logs(&cards, "geerling-2015-02-storage-numbers.csv");
    assert_eq!(oldest.iter().map(|log| log.doubts.len()).collect::<Vec<_>>(), [1; 5]);
    assert_eq!(logs(&cards, "extra-cards.json").len(), 10);
    let facts = logs(&data, "f3/facts.json");
    assert_eq!(facts.len(), 11);
    assert!(facts.iter().all(|log| log.format == "f3-facts"));
}
