use super::*;
use crate::testing::machine;

fn places(sensors: &SensorThreads) -> Vec<(String, f64)> {
    sensors.readings.latest().into_iter().map(|reading| (reading.place, reading.celsius)).collect()
}

fn place(name: &str, celsius: f64) -> (String, f64) {
    (name.to_owned(), celsius)
}

/// Waits until `ready` holds.
fn until(ready: impl Fn() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn sd_express_sensors_have_their_places() {
    let (_dir, system) = machine(
        "
            sys/block/nvme0n1/device/model = LX1TB71
            sys/block/nvme0n1/device/hwmon1/name = nvme
            sys/block/nvme0n1/device/hwmon1/temp1_input = 41850
            sys/block/nvme0n1/device/hwmon1/temp2_input = 38850
            sys/block/nvme0n1/device/hwmon1/temp4_input = 51850
            sys/class/thermal/thermal_zone0/type = acpitz
            sys/class/thermal/thermal_zone0/temp = 27800
            sys/class/thermal/thermal_zone1/type = x86_pkg_temp
            sys/class/thermal/thermal_zone1/temp = 55000
            ",
    );
    let sensors = SensorThreads::default().add_sensors(&system, Some("/dev/nvme0n1"), &[]).unwrap();
    let told = [
        place("card", 41.85),
        place("card sensor 1", 38.85),
        place("card sensor 3", 51.85),
        place("soc", 55.0),
    ];
    assert_eq!(places(&sensors), told);
    assert_eq!(sensors.readings.latest()[0].source, "NVMe composite (hwmon)");
    let card = SensorThreads::card_only(&system, "/dev/nvme0n1").unwrap();
    assert_eq!(places(&card), told[..1]);
    let all = card.add_sensors(&system, Some("/dev/nvme0n1"), &[]).unwrap();
    assert_eq!(places(&all), told, "the card's own is at work already");
}

#[test]
fn raspberry_pi_has_soc_and_controller_sensors() {
    let (_dir, system) = machine(
        "
            sys/class/thermal/thermal_zone0/type = cpu-thermal
            sys/class/thermal/thermal_zone0/temp = 61450
            sys/class/hwmon/hwmon0/name = cpu_thermal
            sys/class/hwmon/hwmon0/temp1_input = 61450
            sys/class/hwmon/hwmon1/name = rp1_adc
            sys/class/hwmon/hwmon1/temp1_input = 48713
            sys/block/mmcblk0/size = 8
            ",
    );
    let sensors = SensorThreads::default().add_sensors(&system, Some("mmcblk0"), &[]).unwrap();
    assert_eq!(places(&sensors), [place("host controller", 48.713), place("soc", 61.45)]);
}

#[test]
fn pc_without_thermal_zones_uses_processor_hwmon() {
    let (_dir, system) = machine(
        "
            sys/class/hwmon/hwmon0/name = acpi
            sys/class/hwmon/hwmon0/temp1_input = 30000
            sys/class/hwmon/hwmon2/name = k10temp
            sys/class/hwmon/hwmon2/temp1_input = 47250
            ",
    );
    assert_eq!(
        places(&SensorThreads::default().add_sensors(&system, None, &[]).unwrap()),
        [place("soc", 47.25)]
    );
}

#[test]
fn reader_and_controller_sensors_have_their_places() {
    let pci = "sys/devices/pci0000:00/0000:00:14.0";
    let usb = format!("{pci}/usb1/1-2");
    let disk = format!("{usb}/1-2:1.0/host1/target1:0:0/1:0:0:0");
    let (_dir, system) = machine(&format!(
        "
        {usb}/idVendor = 05e3
        {usb}/idProduct = 0749
        {disk}/block/sda/size = 8
        {pci}/hwmon/hwmon3/name = vl805
        {pci}/hwmon/hwmon3/temp1_input = 71000
        {usb}/hwmon/hwmon4/name = reader
        {usb}/hwmon/hwmon4/temp1_input = 52000
        {disk}/hwmon/hwmon5/name = drivetemp
        {disk}/hwmon/hwmon5/temp1_input = 33000
        {disk}/block/sda/device -> ../../../1:0:0:0
        sys/block/sda -> ../../{disk}/block/sda
        {pci}/hwmon/hwmon3/device -> ../..
        {usb}/hwmon/hwmon4/device -> ../..
        {disk}/hwmon/hwmon5/device -> ../..
        sys/class/hwmon/hwmon3 -> ../../../{pci}/hwmon/hwmon3
        sys/class/hwmon/hwmon4 -> ../../../{usb}/hwmon/hwmon4
        sys/class/hwmon/hwmon5 -> ../../../{disk}/hwmon/hwmon5
        "
    ));
    let told = places(&SensorThreads::default().add_sensors(&system, Some("sda"), &[]).unwrap());
    assert_eq!(told, [place("host controller", 71.0), place("reader", 52.0), place("card", 33.0)]);
}

#[test]
fn implausible_sensor_is_ignored() {
    for nonsense in ["", "hot", "-273150", "9999000", "99999999"] {
        let (_dir, system) = machine(&format!(
            "
            sys/class/thermal/thermal_zone0/type = cpu-thermal
            sys/class/thermal/thermal_zone0/temp = {nonsense}
            sys/block/nvme0n1/device/model = LX1TB71
            sys/block/nvme0n1/device/hwmon1/name = nvme
            sys/block/nvme0n1/device/hwmon1/temp1_input = {nonsense}
            "
        ));
        assert_eq!(
            places(&SensorThreads::default().add_sensors(&system, Some("nvme0n1"), &[]).unwrap()),
            [],
            "{nonsense}"
        );
        assert!(SensorThreads::card_only(&system, "nvme0n1").is_none(), "{nonsense}");
    }
}

#[test]
fn readings_follow_changes_without_queries() {
    let zone = "sys/class/thermal/thermal_zone0";
    let (dir, system) = machine(&format!("{zone}/type = cpu-thermal\n{zone}/temp = 40000"));
    let sensors = SensorThreads::default().add_sensors(&system, None, &[]).unwrap();
    let readings = sensors.readings();
    assert_eq!(readings.latest()[0].celsius, 40.0);
    std::fs::write(dir.path().join(zone).join("temp"), "80000\n").unwrap();
    until(|| readings.latest()[0].celsius == 80.0);
}

#[test]
fn external_thermometers_add_to_built_in_sensors() {
    let (dir, system) = machine("");
    let log = dir.path().join("probe.csv");
    std::fs::write(&log, "t,probe\n1,23.5\n").unwrap();
    let extras: Vec<ExtraThermometer> = [
        "reader=cmd:echo 41.5".to_owned(),
        format!("room=csv:{}#probe", log.display()),
        "card surface=ask".to_owned(),
    ]
    .iter()
    .map(|text| text.parse().unwrap())
    .collect();
    let sensors = SensorThreads::default().add_sensors(&system, None, &extras).unwrap();
    assert_eq!(sensors.typed_places(), ["card surface"]);
    until(|| sensors.readings.latest().len() == 2);
    assert_eq!(places(&sensors), [place("reader", 41.5), place("room", 23.5)]);
    assert!(sensors.readings.set_typed("card surface", 57.0));
    assert_eq!(places(&sensors)[2], place("card surface", 57.0));
    assert_eq!(sensors.readings.latest()[1].source, format!("file {}, column probe", log.display()));
}

#[test]
fn only_typed_places_accept_plausible_values() {
    let (_dir, system) = machine("");
    let extras = ["room=ask".parse().unwrap(), "fan=cmd:echo 20".parse().unwrap()];
    let sensors = SensorThreads::default().add_sensors(&system, None, &extras).unwrap();
    assert!(!sensors.readings.set_typed("fan", 20.0) && !sensors.readings.set_typed("card", 20.0));
    assert!(!sensors.readings.set_typed("room", 21_500.0) && !sensors.readings.set_typed("room", f64::NAN));
    assert!(sensors.readings.latest().iter().all(|reading| reading.place != "room"));
}

#[test]
fn failing_thermometer_is_reported_once() {
    let (_dir, system) = machine("");
    let extras = ["reader=cmd:exit 7".parse().unwrap(), "room=cmd:echo 22".parse().unwrap()];
    let sensors = SensorThreads::default().add_sensors(&system, None, &extras).unwrap();
    until(|| !sensors.readings.failures().is_empty() && !sensors.readings.latest().is_empty());
    std::thread::sleep(INTERVAL + Duration::from_millis(300));
    let failures = sensors.readings.failures();
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert!(failures[0].contains("exit 7"), "{failures:?}");
    assert_eq!(places(&sensors), [place("room", 22.0)]);
}

#[test]
fn duplicate_place_and_missing_file_are_refused() {
    let (_dir, system) = machine("");
    let twice = ["room=ask".parse().unwrap(), "room=cmd:echo 20".parse().unwrap()];
    assert!(matches!(
        SensorThreads::default().add_sensors(&system, None, &twice),
        Err(SensorError::PlaceTwice { .. })
    ));
    let missing = ["room=csv:/no/such.csv".parse().unwrap()];
    assert!(matches!(
        SensorThreads::default().add_sensors(&system, None, &missing),
        Err(SensorError::NoFile { .. })
    ));
}

#[test]
fn drop_stops_sensors_with_hanging_command() {
    let (_dir, system) = machine("");
    let sensors =
        SensorThreads::default().add_sensors(&system, None, &["x=cmd:sleep 60".parse().unwrap()]).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    drop(sensors);
    assert!(start.elapsed() < Duration::from_secs(2));
}
