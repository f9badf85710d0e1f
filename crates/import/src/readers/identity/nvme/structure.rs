//! Restores printed fields to their offsets in Identify Controller and in the SMART log.

use super::fields::LogFields;

/// A number's names (text, JSON, older versions), its offset and its bytes.
type FieldAt = (&'static [&'static str], usize, usize);

/// Numbers of Identify Controller.
const CONTROLLER_FIELDS: [FieldAt; 24] = [
    (&["vid"], 0, 2),
    (&["ssvid"], 2, 2),
    (&["rab"], 72, 1),
    (&["ieee"], 73, 3),
    (&["mdts"], 77, 1),
    (&["cntlid"], 78, 2),
    (&["ver"], 80, 4),
    (&["oacs"], 256, 2),
    (&["npss"], 263, 1),
    (&["apsta"], 265, 1),
    (&["wctemp"], 266, 2),
    (&["cctemp"], 268, 2),
    (&["hmpre"], 272, 4),
    (&["hmmin"], 276, 4),
    (&["tnvmcap"], 280, 16),
    (&["unvmcap"], 296, 16),
    (&["hctma"], 322, 2),
    (&["mntmt"], 324, 2),
    (&["mxtmt"], 326, 2),
    (&["nn"], 516, 4),
    (&["oncs"], 520, 2),
    (&["vwc"], 525, 1),
    (&["cmic"], 76, 1),
    (&["oaes"], 92, 4),
];

/// Texts of Identify Controller, padded with blanks.
const CONTROLLER_TEXTS: [(&str, usize, usize); 4] =
    [("sn", 4, 20), ("mn", 24, 40), ("fr", 64, 8), ("subnqn", 768, 256)];

/// Numbers of the SMART log, except the temperatures.
const SMART_FIELDS: [FieldAt; 20] = [
    (&["critical_warning"], 0, 1),
    (&["available_spare", "avail_spare"], 3, 1),
    (&["available_spare_threshold", "spare_thresh"], 4, 1),
    (&["percentage_used", "percent_used"], 5, 1),
    (&["data_units_read"], 32, 16),
    (&["data_units_written"], 48, 16),
    (&["host_read_commands"], 64, 16),
    (&["host_write_commands"], 80, 16),
    (&["controller_busy_time"], 96, 16),
    (&["power_cycles"], 112, 16),
    (&["power_on_hours"], 128, 16),
    (&["unsafe_shutdowns"], 144, 16),
    (&["media_errors"], 160, 16),
    (&["num_err_log_entries"], 176, 16),
    (&["warning_temperature_time", "warning_temp_time"], 192, 4),
    (&["critical_composite_temperature_time", "critical_comp_time"], 196, 4),
    (&["thermal_management_t1_trans_count", "thm_temp1_trans_count"], 216, 4),
    (&["thermal_management_t2_trans_count", "thm_temp2_trans_count"], 220, 4),
    (&["thermal_management_t1_total_time", "thm_temp1_total_time"], 224, 4),
    (&["thermal_management_t2_total_time", "thm_temp2_total_time"], 228, 4),
];

/// Bytes of a power state descriptor, and offset of the first one.
const STATE_BYTES: usize = 32;
const STATES_OFFSET: usize = 2048;

/// Builds Identify Controller; also returns the names of missing fields.
pub(super) fn build_controller(fields: &LogFields) -> (Vec<u8>, Vec<&'static str>) {
    let mut bytes = vec![0; 4096];
    let missing = write_fields(&CONTROLLER_FIELDS, fields, &mut bytes);
    for (name, offset, length) in CONTROLLER_TEXTS {
        let padded = format!("{:length$}", fields.get(name).unwrap_or_default());
        bytes[offset..offset + length].copy_from_slice(&padded.as_bytes()[..length]);
    }
    for (number, line) in fields.states() {
        let from = STATES_OFFSET + STATE_BYTES * usize::from(number);
        write_power_state(line, &mut bytes[from..from + STATE_BYTES]);
    }
    (bytes, missing)
}

/// Builds the SMART log; also returns the names of missing fields.
pub(super) fn build_smart_log(fields: &LogFields) -> (Vec<u8>, Vec<&'static str>) {
    let mut bytes = vec![0; 512];
    let mut missing = write_fields(&SMART_FIELDS, fields, &mut bytes);
    let mut write_kelvin = |name: &str, at: usize| {
        let kelvin = fields.get(name).and_then(parse_kelvin);
        write_number(u128::from(kelvin.unwrap_or(0)), &mut bytes[at..at + 2]);
        kelvin
    };
    if write_kelvin("temperature", 1).is_none() {
        missing.push("temperature");
    }
    for sensor in 1..=8 {
        write_kelvin(&format!("temperature_sensor_{sensor}"), 198 + 2 * sensor);
    }
    (bytes, missing)
}

fn write_fields(places: &[FieldAt], fields: &LogFields, bytes: &mut [u8]) -> Vec<&'static str> {
    let mut missing = Vec::new();
    for (names, offset, length) in places {
        let value = names.iter().find_map(|name| parse_number(name, fields.get(name)?));
        match value {
            Some(value) => write_number(value, &mut bytes[*offset..offset + length]),
            None => missing.push(names[0]),
        }
    }
    missing
}

/// Writes a number in little-endian; one that is too large becomes the largest.
fn write_number(value: u128, place: &mut [u8]) {
    let bits = 8 * place.len() as u32;
    let most = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
    let bytes = value.min(most).to_le_bytes();
    place.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
}

/// Parses `0x1cc1`, `252,874,588,160`, `191842 (98.22 GB)` or `100%`. Old versions print version and ids in hex without `0x`.
fn parse_number(name: &str, text: &str) -> Option<u128> {
    let word = text.split_whitespace().next()?.trim_end_matches('%').replace(',', "");
    match word.strip_prefix("0x") {
        Some(hex) => u128::from_str_radix(hex, 16).ok(),
        None if matches!(name, "ieee" | "ver" | "cntlid") => u128::from_str_radix(&word, 16).ok(),
        None => word.parse().ok(),
    }
}

/// Kelvin from `96 °F (309 K)`, `36 °C (309 K)` or `36 C`. nvme-cli's difference between the scales is 273.
fn parse_kelvin(text: &str) -> Option<u16> {
    if let Some((_, kelvin)) = text.split_once('(') {
        return kelvin.split_whitespace().next()?.parse().ok();
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    let celsius: i32 = text[..end].parse().ok()?;
    let is_celsius = text[end..].trim_start_matches([' ', '°']).starts_with('C');
    u16::try_from(celsius.checked_add(273)?).ok().filter(|_| is_celsius)
}

/// `mp:1.80W operational enlat:0 exlat:0 rrt:0 rrl:0 rwt:0 rwl:0 idle_power:0.6000W active_power:1.80W`
fn write_power_state(line: &str, bytes: &mut [u8]) {
    let value = |name: &str| line.split_whitespace().find_map(|word| word.strip_prefix(name));
    let plain = |name: &str| value(name).and_then(|n| n.parse::<u128>().ok()).unwrap_or(0);
    let power = |name: &str| value(name).and_then(power_steps);
    let (most, scale) = power("mp:").unwrap_or((0, 2));
    write_number(most, &mut bytes[0..2]);
    // Flags: steps of 0.1 mW; not operational.
    bytes[3] = u8::from(scale == 1) | u8::from(line.contains("non-operational")) << 1;
    write_number(plain("enlat:"), &mut bytes[4..8]);
    write_number(plain("exlat:"), &mut bytes[8..12]);
    for (at, name) in [(12, "rrt:"), (13, "rrl:"), (14, "rwt:"), (15, "rwl:")] {
        write_number(plain(name), &mut bytes[at..=at]);
    }
    for (at, name) in [(16, "idle_power:"), (20, "active_power:")] {
        if let Some((steps, scale)) = power(name) {
            write_number(steps, &mut bytes[at..at + 2]);
            bytes[at + 2] = scale << 6;
        }
    }
}

/// Watts as steps and their scale: 1 is 0.1 mW, or 2 is 10 mW for a power that the finer scale cannot hold.
fn power_steps(text: &str) -> Option<(u128, u8)> {
    let watts: f64 = text.strip_suffix('W')?.parse().ok().filter(|w: &f64| w.is_finite() && *w >= 0.0)?;
    let fine = (watts * 10_000.0).round();
    let fits = fine <= f64::from(u16::MAX);
    Some(if fits { (fine as u128, 1) } else { ((watts * 100.0).round() as u128, 2) })
}
