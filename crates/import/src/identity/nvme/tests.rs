use super::*;
use rstest::rstest;

fn log(text: &str) -> Log {
    read(&Text::decode(text.as_bytes())).unwrap().remove(0)
}

const CONTROLLER: &str = "NVME Identify Controller:\nvid       : 0x1dee\nssvid     : 0x1def\nsn        : 0042C0DE257 \nmn        : CARD171\nfr        : 1.0.2\nrab       : 3\nieee      : 0a1b2c\ncmic      : 0\n  [3:3] : 0\tANA not supported\n\nmdts      : 5\ncntlid    : 0x1\nver       : 0x10400\noaes      : 0\noacs      : 0x17\nnpss      : 1\n  [7:0] : 1 (0's based)\nanpsta    : 0\napsta     : 0x1\nwctemp    : 355\n [15:0] : 180 °F (355 K)\ncctemp    : 360\nhmpre     : 8192\nhmmin     : 512\ntnvmcap   : 512,110,190,592\nunvmcap   : 0\nhctma     : 0x1\nmntmt     : 300\nmxtmt     : 358\nnn        : 1\noncs      : 0x5f\nvwc       : 0x7\nsubnqn    : nqn.test\nps      0 : mp:2.10W operational enlat:0 exlat:0 rrt:0 rrl:0\n            rwt:0 rwl:0 idle_power:0.5000W active_power:2.00W\n            active_power_workload:80K 128KiB SW\nps      1 : mp:0.0300W non-operational enlat:5000 exlat:9000 rrt:1 rrl:1\n            rwt:1 rwl:1 idle_power:- active_power:-\n";

#[test]
fn counters_before_and_after_are_two_logs_of_one_card() {
    let smart = |written: u32| {
        format!(
            "Smart Log for NVME device:nvme0 namespace-id:ffffffff\ncritical_warning : 0\ndata_units_read : 7\ndata_units_written : {written}\nhost_read_commands : 9\n"
        )
    };
    let text = format!(
        "NVME Identify Controller:\nvid : 0x1234\nsn : 0007\nmn : EXAMPLE SWIFT\nfr : 1.0\n{}{}",
        smart(10),
        smart(90)
    );
    let logs = read(&Text::of(&text)).unwrap();
    assert_eq!(logs.len(), 2);
    assert_eq!(logs[0].card, logs[1].card);
    let written: Vec<_> =
        logs.iter().map(|log| log.other["nvme"]["smart"]["data_units_written"].as_u64()).collect();
    assert_eq!(written, [Some(10), Some(90)]);
}

#[test]
fn a_controller_reads_as_if_the_card_had_answered() {
    let log = log(CONTROLLER);
    let id = &log.other["nvme"]["identify"];
    insta::assert_snapshot!(id, @r#"{"vid":7662,"vid_hex":"0x1dee","ssvid":7663,"ssvid_hex":"0x1def","sn":"0042C0DE257","mn":"CARD171","fr":"1.0.2","rab":3,"ieee":"0a1b2c","mdts":5,"mdts_bytes":131072,"cntlid":1,"ver":"1.4","oacs":23,"npss":1,"apsta":true,"wctemp_kelvin":355,"wctemp_celsius":82,"cctemp_kelvin":360,"cctemp_celsius":87,"hmpre":8192,"hmmin":512,"tnvmcap":512110190592,"unvmcap":0,"hctma":true,"mntmt_kelvin":300,"mntmt_celsius":27,"mxtmt_kelvin":358,"mxtmt_celsius":85,"nn":1,"oncs":95,"vwc":true,"subnqn":"nqn.test","power_states":[{"number":0,"max_power_w":2.1,"operational":true,"enlat_us":0,"exlat_us":0,"rrt":0,"rrl":0,"rwt":0,"rwl":0,"idle_power_w":0.5,"active_power_w":2.0},{"number":1,"max_power_w":0.03,"operational":false,"enlat_us":5000,"exlat_us":9000,"rrt":1,"rrl":1,"rwt":1,"rwl":1,"idle_power_w":null,"active_power_w":null}]}"#);
    assert_eq!(
        (log.card.model.as_deref(), log.card.firmware.as_deref(), log.card.capacity_bytes),
        (Some("CARD171"), Some("1.0.2"), Some(512_110_190_592))
    );
    assert_eq!(log.other["nvme"]["sd_express"]["pnm"], "CARD1");
    assert!(log.doubts.is_empty(), "{:?}", log.doubts);
}

#[test]
fn an_old_version_prints_hex_without_a_mark() {
    let old = CONTROLLER.replace("0x10400", "10400").replace("cntlid    : 0x1", "cntlid    : 1f");
    let id = &log(&old).other["nvme"]["identify"];
    assert_eq!((id["ver"].as_str(), id["cntlid"].as_u64()), (Some("1.4"), Some(31)));
}

#[test]
fn the_same_controller_in_json() {
    let json = r#"{"vid":7662,"ssvid":7663,"sn":"0042C0DE257","mn":"CARD171","fr":"1.0.2","rab":3,"ieee":662316,"cmic":0,"mdts":5,"cntlid":1,"ver":66560,"oaes":0,"oacs":23,"npss":1,"apsta":1,"wctemp":355,"cctemp":360,"hmpre":8192,"hmmin":512,"tnvmcap":512110190592,"unvmcap":0,"hctma":1,"mntmt":300,"mxtmt":358,"nn":1,"oncs":95,"vwc":7,"subnqn":"nqn.test","psds":[{"max_power":210,"flags":0,"entry_lat":0,"exit_lat":0,"read_tput":0,"read_lat":0,"write_tput":0,"write_lat":0,"idle_power":5000,"idle_scale":1,"active_power":200,"active_power_work":2,"active_scale":2},{"max_power":300,"max_power_scale":1,"non-operational_state":1,"entry_lat":5000,"exit_lat":9000,"read_tput":1,"read_lat":1,"write_tput":1,"write_lat":1}]}"#;
    assert!(recognise(&Text::of(json)));
    assert_eq!(log(json).other["nvme"]["identify"], log(CONTROLLER).other["nvme"]["identify"]);
}

const SMART: &str = "Smart Log for NVME device:nvme0 namespace-id:ffffffff\r\ncritical_warning\t\t\t: 0\r\ntemperature\t\t\t\t: 98 °F (310 K)\r\navailable_spare\t\t\t\t: 99%\r\navailable_spare_threshold\t\t: 10%\r\npercentage_used\t\t\t\t: 1%\r\nData Units Read\t\t\t\t: 1,000 (512.00 MB)\r\nData Units Written\t\t\t: 2000 (1.02 GB)\r\nhost_read_commands\t\t\t: 30\r\nhost_write_commands\t\t\t: 40\r\ncontroller_busy_time\t\t\t: 5\r\npower_cycles\t\t\t\t: 6\r\npower_on_hours\t\t\t\t: 7\r\nunsafe_shutdowns\t\t\t: 8\r\nmedia_errors\t\t\t\t: 9\r\nnum_err_log_entries\t\t\t: 10\r\nWarning Temperature Time\t\t: 11\r\nCritical Composite Temperature Time\t: 12\r\nTemperature Sensor 2\t\t\t: 80 °F (300 K)\r\nThermal Management T1 Trans Count\t: 13\r\nThermal Management T2 Trans Count\t: 14\r\nThermal Management T1 Total Time\t: 15\r\nThermal Management T2 Total Time\t: 16\r\n";

#[test]
fn a_smart_log_counts_in_kelvin_and_bytes() {
    let log = log(SMART);
    let smart = &log.other["nvme"]["smart"];
    assert_eq!(
        (smart["temperature_kelvin"].as_u64(), smart["temperature_celsius"].as_i64()),
        (Some(310), Some(37))
    );
    assert_eq!(
        (smart["data_read_bytes"].as_u64(), smart["data_written_bytes"].as_u64()),
        (Some(512_000_000), Some(1_024_000_000))
    );
    assert_eq!(smart["temperature_sensors_celsius"][1], 27);
    assert_eq!(
        (
            smart["thermal_management_t1_seconds"].as_u64(),
            smart["thermal_management_t2_transitions"].as_u64()
        ),
        (Some(15), Some(14))
    );
    assert!(log.doubts.is_empty(), "{:?}", log.doubts);
}

#[test]
fn the_same_counters_in_json() {
    let json = r#"{"critical_warning":0,"temperature":310,"avail_spare":99,"spare_thresh":10,"percent_used":1,"data_units_read":1000,"data_units_written":"2000","host_read_commands":30,"host_write_commands":40,"controller_busy_time":5,"power_cycles":6,"power_on_hours":7,"unsafe_shutdowns":8,"media_errors":9,"num_err_log_entries":10,"warning_temp_time":11,"critical_comp_time":12,"temperature_sensor_2":300,"thm_temp1_trans_count":13,"thm_temp2_trans_count":14,"thm_temp1_total_time":15,"thm_temp2_total_time":16}"#;
    assert_eq!(log(json).other["nvme"]["smart"], log(SMART).other["nvme"]["smart"]);
}

#[rstest]
#[case("36 C", 309)]
#[case("36 °C (309 Kelvin)", 309)]
#[case("-3 °C", 270)]
#[case("98 °F (310 K)", 310)]
fn temperatures_of_all_versions_are_kelvin(#[case] printed: &str, #[case] kelvin: u64) {
    let text = SMART.replace("98 °F (310 K)", printed);
    assert_eq!(log(&text).other["nvme"]["smart"]["temperature_kelvin"], kelvin);
}

#[test]
fn features_give_limits_power_state_and_host_memory() {
    let text = "get-feature:0x02 (Power Management), Current value:0x00000003\n\tPower State   (PS): 3\nget-feature:0x04 (Temperature Threshold), Current value:0x00000163\nget-feature:0x0d (Host Memory Buffer), Current value:0x00000001\n\tHost Memory Buffer Size                  (HSIZE): 4096\nget-feature:0x10 (Host Controlled Thermal Management), Current value:0x01600165\n";
    let nvme = log(text).other["nvme"].clone();
    assert_eq!(
        (nvme["tmpth_kelvin"].as_u64(), nvme["tmt1_celsius"].as_i64(), nvme["tmt2_kelvin"].as_u64()),
        (Some(355), Some(79), Some(357))
    );
    assert_eq!(
        (nvme["power_state"].as_u64(), nvme["host_memory_buffer"]["bytes"].as_u64()),
        (Some(3), Some(16 << 20))
    );
    assert_eq!(nvme["features"]["0x10"], 0x0160_0165);
}

#[test]
fn a_page_cut_off_says_what_it_lacks() {
    let log = log(&CONTROLLER[..CONTROLLER.find("tnvmcap").unwrap()]);
    assert!(log.doubts[0].contains("tnvmcap, unvmcap"), "{:?}", log.doubts);
    assert_eq!(log.card.capacity_bytes, None);
}

#[test]
fn any_place_may_be_the_end_of_a_log() {
    let text = format!("{CONTROLLER}{SMART}");
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        let _ = log(&text[..end]);
    }
}

proptest::proptest! {
    #[test]
    fn any_counters_come_back(read: u32, written: u32, kelvin in 200u16..400) {
        let text = SMART.replace("(310 K)", &format!("({kelvin} K)")).replace(": 1,000 ", &format!(": {read} ")).replace(": 2000 (", &format!(": {written} ("));
        let smart = &log(&text).other["nvme"]["smart"];
        proptest::prop_assert_eq!(smart["data_read_bytes"].as_u64(), Some(u64::from(read) * 512_000));
        proptest::prop_assert_eq!(smart["data_units_written"].as_u64(), Some(u64::from(written)));
        proptest::prop_assert_eq!(smart["temperature_kelvin"].as_u64(), Some(u64::from(kelvin)));
    }
}
