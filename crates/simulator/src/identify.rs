//! Identity of a simulated card: the bytes that a real card would send (SD registers, NVMe Identify Controller, SMART
//! log, USB descriptors), decoded by the same decoders.

use crate::archetype::{
    Archetype, ArchetypeError, NvmeDescription as Described, PowerState, SdRegisters, UsbIdentity,
};
use crate::card::LifetimeCounters;
use crate::card::thermal::HeatCounters;
use cardscope_model::identity::{HexRegisters, Identity, from_hex};
use cardscope_model::usb::{UsbProtocol, UsbReader};
use cardscope_sd::bus::PcieLink;
use cardscope_sd::nvme::{ExpressIdentity, IdentifyController, NvmeIdentity, SmartLog, ThermalFeatures};

/// Decodes the card's identity. Findings about it are up to the caller, since they need today's date. Fails if the
/// archetype's registers are malformed.
pub fn decode_identity(card: &Archetype) -> Result<Identity, ArchetypeError> {
    let broken = |reason: String| ArchetypeError::Value(card.name.clone(), reason);
    let mut identity = Identity::default();
    if let Some(SdRegisters { cid, csd, scr, ssr, ocr }) = &card.identity.sd {
        let [cid, csd, scr, ssr, ocr] = [cid, csd, scr, ssr, ocr].map(|text| Some(text.as_str()));
        let registers = HexRegisters { cid, csd, scr, ssr, ocr, kind: None };
        identity = from_hex(registers).map_err(|e| broken(e.to_string()))?;
    }
    if let Some(described) = &card.identity.nvme {
        identity.nvme = Some(decode_nvme(described, room_celsius(card)).map_err(broken)?);
        identity.pcie = Some(pcie_link(described));
    }
    identity.usb = card.identity.usb.as_ref().map(usb_reader);
    identity.capacity_bytes = Some(card.shown_bytes());
    identity.derive_fields();
    Ok(identity)
}

/// Temperature around the card in °C.
pub(crate) fn room_celsius(card: &Archetype) -> f64 {
    card.thermal.map_or(25.0, |thermal| thermal.ambient_c)
}

fn decode_nvme(described: &Described, celsius: f64) -> Result<NvmeIdentity, String> {
    let identify = IdentifyController::decode(&controller_bytes(described)).map_err(|e| e.to_string())?;
    let feature_10 = u32::from(described.tmt1_k) << 16 | u32::from(described.tmt2_k);
    let new = SmartInputs { celsius, spare_percent: 100, ..SmartInputs::default() };
    Ok(NvmeIdentity {
        sd_express: ExpressIdentity::from_names(&identify),
        identify: Some(identify),
        smart: smart_log(described, &new),
        features: ThermalFeatures::from_results(Some(described.tmpth_k.into()), Some(feature_10)),
        ..NvmeIdentity::default()
    })
}

/// Identify Controller as the card sends it (NVMe Base Specification, Identify Controller data structure).
fn controller_bytes(d: &Described) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    let mut put = |offset: usize, field: &[u8]| bytes[offset..offset + field.len()].copy_from_slice(field);
    put(0, &d.vid.to_le_bytes());
    put(2, &d.ssvid.to_le_bytes());
    put(4, &pad_text::<20>(&d.sn));
    put(24, &pad_text::<40>(&d.mn));
    put(64, &pad_text::<8>(&d.fr));
    put(72, &[d.rab]);
    put(73, &d.ieee.to_le_bytes()[..3]);
    put(77, &[d.mdts]);
    put(80, &0x0001_0300u32.to_le_bytes());
    put(256, &d.oacs.to_le_bytes());
    put(263, &[d.power_states.len().clamp(1, 32) as u8 - 1]);
    put(266, &d.wctemp_k.to_le_bytes());
    put(268, &d.cctemp_k.to_le_bytes());
    put(272, &d.hmpre.to_le_bytes());
    put(276, &d.hmmin.to_le_bytes());
    put(280, &u128::from(d.tnvmcap).to_le_bytes());
    put(322, &1u16.to_le_bytes());
    put(324, &d.mntmt_k.to_le_bytes());
    put(326, &d.mxtmt_k.to_le_bytes());
    put(516, &1u32.to_le_bytes());
    put(520, &d.oncs.to_le_bytes());
    put(525, &[u8::from(d.vwc)]);
    for (n, state) in d.power_states.iter().take(32).enumerate() {
        put(2048 + 32 * n, &power_state(state));
    }
    bytes
}

/// Power state descriptor; the power is in steps of 0.1 mW.
fn power_state(state: &PowerState) -> [u8; 32] {
    let mut bytes = [0; 32];
    let steps = (state.max_w * 10_000.0).round().clamp(0.0, f64::from(u16::MAX)) as u16;
    bytes[..2].copy_from_slice(&steps.to_le_bytes());
    bytes[3] = 1 | u8::from(!state.operational) << 1;
    bytes[4..8].copy_from_slice(&state.enter_us.to_le_bytes());
    bytes[8..12].copy_from_slice(&state.exit_us.to_le_bytes());
    bytes
}

/// USB descriptors as in sysfs, and the answer to INQUIRY.
fn usb_reader(d: &UsbIdentity) -> UsbReader {
    let mut reader = UsbReader {
        vendor_id: Some(format!("{:04x}", d.vendor_id)),
        product_id: Some(format!("{:04x}", d.product_id)),
        vendor: Some(d.vendor.clone()),
        product: Some(d.product.clone()),
        serial: Some(d.serial.clone()),
        protocol: Some(d.protocol),
        driver: Some(if d.protocol == UsbProtocol::Uas { "uas" } else { "usb-storage" }.to_owned()),
        inquiry_vendor: Some(d.inquiry_vendor.clone()),
        inquiry_model: Some(d.inquiry_model.clone()),
        inquiry_rev: Some(d.inquiry_rev.clone()),
        ..UsbReader::default()
    };
    reader.set_speed(&d.speed_mbit_s.to_string());
    reader
}

/// Pads text with blanks, as NVMe does, and cuts it if it is too long.
fn pad_text<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = text.bytes();
    std::array::from_fn(|_| bytes.next().unwrap_or(b' '))
}

fn pcie_link(d: &Described) -> PcieLink {
    let (speed, width) = (format!("{:.1} GT/s PCIe", d.pcie_gt_s), d.pcie_lanes.to_string());
    let now = (Some(speed.as_str()), Some(width.as_str()));
    PcieLink::from_sysfs(now, now)
}

/// Bytes of a data unit: a thousand blocks of 512 bytes.
const SMART_DATA_UNIT: u64 = 512_000;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SmartInputs {
    /// Temperature in °C; that of the room without a heat model.
    pub(crate) celsius: f64,
    pub(crate) counters: LifetimeCounters,
    pub(crate) heat: HeatCounters,
    /// Seconds since the card was inserted.
    pub(crate) seconds: f64,
    /// Spare blocks left, in percent.
    pub(crate) spare_percent: u8,
}

/// SMART log (NVMe Base Specification, log page 02h: SMART / Health Information), encoded and decoded.
pub(crate) fn smart_log(identity: &Described, f: &SmartInputs) -> Option<SmartLog> {
    let mut bytes = vec![0; 512];
    let mut put = |offset: usize, field: &[u8]| bytes[offset..offset + field.len()].copy_from_slice(field);
    let kelvin = (f.celsius + 273.0).round().clamp(0.0, f64::from(u16::MAX)) as u16;
    let used = f.counters.percent_used.unwrap_or(0.0).clamp(0.0, 255.0) as u8;
    // Critical warning: bit 0 for too few spare blocks, bit 1 for a temperature at or above the threshold.
    let few_spares = f.spare_percent < identity.spare_threshold;
    put(0, &[u8::from(few_spares) | u8::from(kelvin >= identity.tmpth_k) << 1]);
    put(1, &kelvin.to_le_bytes());
    put(3, &[f.spare_percent, identity.spare_threshold, used]);
    // Counters of 128 bits; units are rounded up.
    let counters = [
        (32, f.counters.tally.read_bytes.div_ceil(SMART_DATA_UNIT)),
        (48, f.counters.tally.written_bytes.div_ceil(SMART_DATA_UNIT)),
        (64, f.counters.tally.reads),
        (80, f.counters.tally.writes),
        (96, (f.heat.busy_s / 60.0) as u64),
        (112, 1),
        (128, (f.seconds / 3600.0) as u64),
    ];
    for (offset, value) in counters {
        put(offset, &u128::from(value).to_le_bytes());
    }
    let seconds = [
        (192, (f.heat.warning_s / 60.0) as u32),
        (196, (f.heat.critical_s / 60.0) as u32),
        (216, f.heat.t1_transitions),
        (220, f.heat.t2_transitions),
        (224, f.heat.t1_s as u32),
        (228, f.heat.t2_s as u32),
    ];
    for (offset, value) in seconds {
        put(offset, &value.to_le_bytes());
    }
    SmartLog::decode(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimTarget;
    use cardscope_engine::content::IoContent;
    use cardscope_engine::target::{IoDirection, IoRequest, LanePlan, Target};
    use cardscope_model::recipe::KernelPath;
    use cardscope_sd::registers::CrcStatus;

    #[test]
    fn lexar_express_reports_thermal_limits() {
        let card = Archetype::load("lexar-1tb-express").unwrap();
        let identity = decode_identity(&card).unwrap();
        let nvme = identity.nvme.as_ref().unwrap();
        let limits = (nvme.features.tmpth_celsius, nvme.features.tmt1_celsius, nvme.features.tmt2_celsius);
        assert_eq!(limits, (Some(83), Some(81), Some(85)));
        let thermal = card.thermal.unwrap();
        assert_eq!((thermal.tmt1_c, thermal.tmt2_c), (81.0, 85.0), "as the model keeps them");
        assert_eq!(nvme.identify.as_ref().map(|i| i.fr.trim().to_owned()).as_deref(), Some("X0705A"));
        assert_eq!(identity.ceiling_mb_s().map(f64::round), Some(985.0));
        assert_eq!(identity.capacity_bytes, Some(1_000_865_792_000));
    }

    #[test]
    fn adata_identity_matches_nvme_cli_output() {
        let card = Archetype::load("adata-256g-express").unwrap();
        let nvme = decode_identity(&card).unwrap().nvme.unwrap();
        let id = nvme.identify.unwrap();
        assert_eq!(
            (id.vid_hex.as_str(), id.ieee.as_str(), id.mdts_bytes),
            ("0x1cc1", "486834", Some(256 << 10))
        );
        assert_eq!((id.mn.as_str(), id.fr.as_str(), id.oncs), ("SD   71", "W0926A", 0x15));
        let states: Vec<_> = id.power_states.iter().map(|s| (s.max_power_w, s.operational)).collect();
        assert_eq!(states, [(1.8, true), (1.8, true), (1.8, true), (1.44, false), (0.72, false)]);
        assert_eq!(nvme.smart.map(|s| (s.temperature_celsius, s.available_spare)), Some((Some(28), 100)));
    }

    #[test]
    fn stick_has_usb_identity_only() {
        let card = Archetype::load("usb-stick-tlc").unwrap();
        let identity = decode_identity(&card).unwrap();
        let usb = identity.usb.as_ref().unwrap();
        assert_eq!((usb.protocol, usb.driver.as_deref()), (Some(UsbProtocol::Bot), Some("usb-storage")));
        assert_eq!(identity.bus_mode().as_deref(), Some("USB 5000 Mbit/s BOT"));
        assert!(identity.cid.is_none() && identity.nvme.is_none());
    }

    #[test]
    fn registers_are_valid_and_match_capacity() {
        for card in crate::load_builtin().unwrap().into_iter().chain((0..200).map(crate::random::random_card))
        {
            let identity = decode_identity(&card).unwrap().judged((2026, 11));
            assert_eq!(identity.capacity_bytes, Some(card.announced_bytes), "{}", card.name);
            if let Some(csd) = &identity.csd {
                assert_eq!(
                    (csd.capacity_bytes, csd.crc),
                    (Some(card.announced_bytes), CrcStatus::Ok),
                    "{}",
                    card.name
                );
            }
            assert!(identity.cid.is_none_or(|cid| cid.crc == CrcStatus::Ok), "{}", card.name);
        }
    }

    #[test]
    fn overridden_capacity_is_in_the_csd() {
        for archetype in crate::load_builtin().unwrap() {
            for bytes in [1 << 19, 2 << 20, 8 << 30, 1 << 40, 2 << 40, 4_002_909_519_872] {
                // Some cards cannot have every size.
                let name = format!("sim:{}?announced_bytes={bytes}", archetype.name);
                let Ok(spec) = crate::target_spec::parse(&name) else { continue };
                let Some(csd) = decode_identity(&spec.archetype).unwrap().csd else { continue };
                assert_eq!((csd.capacity_bytes, csd.crc), (Some(bytes), CrcStatus::Ok), "{name}");
            }
        }
        let spec = crate::target_spec::parse("sim:constant?announced_bytes=8589938688").unwrap();
        let csd = decode_identity(&spec.archetype).unwrap().csd.unwrap();
        assert_eq!(csd.capacity_bytes, Some(8 << 30), "in units of 512 KiB");
    }

    /// Reads and writes until `minutes` of card time have passed.
    fn work(card: &mut SimTarget, minutes: u64) {
        let block = 64 << 20;
        card.plan(&LanePlan {
            depth: 1,
            block,
            path: KernelPath::Direct,
            sync_each: false,
            own_buffers: false,
        })
        .unwrap();
        let mut done = Vec::new();
        for i in 0.. {
            let direction = if i % 2 == 0 { IoDirection::Write } else { IoDirection::Read };
            let io =
                IoRequest { slot: 0, direction, offset: 0, len: block as u32, content: IoContent::Noise };
            card.submit(&io).unwrap();
            card.complete(1, &mut done).unwrap();
            if card.now() > minutes * 60_000_000_000 {
                return;
            }
        }
    }

    #[test]
    fn new_card_has_zero_counters_and_full_spare() {
        let log = SimTarget::open_named("sim:adata-256g-express").unwrap().health().unwrap();
        assert_eq!((log.host_read_commands, log.data_written_bytes, log.power_on_hours), (0, 0, 0));
        assert_eq!((log.available_spare, log.available_spare_threshold, log.percentage_used), (100, 5, 0));
        assert_eq!((log.critical_warning, log.thermal_management_t1_transitions), (0, 0));
    }

    #[test]
    fn smart_log_counts_throttling_without_a_fan() {
        let mut card = SimTarget::open_named("sim:lexar-1tb-express?cooling=passive").unwrap();
        work(&mut card, 60);
        let log = card.health().unwrap();
        assert!(log.thermal_management_t1_transitions > 0, "{log:?}");
        assert!((60..3600).contains(&log.thermal_management_t1_seconds), "{log:?}");
        assert_eq!(log.power_on_hours, 1);
        assert!(log.temperature_celsius.is_some_and(|c| (75..=90).contains(&c)), "{log:?}");
        let units = (log.host_write_commands * (64 << 20)).div_ceil(512_000);
        assert_eq!(log.data_units_written, units);
        assert!(log.controller_busy_minutes >= 59, "{log:?}");
    }

    #[test]
    fn no_transitions_without_heat_model() {
        let mut card = SimTarget::open_named("sim:lexar-1tb-express?cooling=passive&heat=off").unwrap();
        work(&mut card, 60);
        let log = card.health().unwrap();
        assert_eq!((log.thermal_management_t1_transitions, log.thermal_management_t1_seconds), (0, 0));
    }

    #[test]
    fn sd_card_has_no_smart_log() {
        assert!(SimTarget::open_named("sim:lexar-16g-c10").unwrap().health().is_none());
    }
}
