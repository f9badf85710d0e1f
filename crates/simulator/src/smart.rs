//! The SMART log (NVMe log page 02h) of a simulated card: the same 512 bytes that a real one would send, decoded by
//! the same decoder. A card from the factory has counted nothing.

use crate::archetype::NvmeIdentity;
use crate::card::counters::Counters;
use crate::card::thermal::HeatCounters;
use cardscope_sd::nvme::SmartLog;

/// Bytes of a data unit: a thousand blocks of 512 bytes.
const UNIT: u64 = 512_000;

/// What the log is made of.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Facts {
    /// Now, in °C; room temperature where the card does not know.
    pub(crate) celsius: f64,
    pub(crate) counters: Counters,
    pub(crate) heat: HeatCounters,
    /// Seconds since the card was put in.
    pub(crate) seconds: f64,
    /// Spare blocks that are left, in percent.
    pub(crate) spare: u8,
}

/// The log, decoded.
pub(crate) fn smart(identity: &NvmeIdentity, facts: &Facts) -> Option<SmartLog> {
    SmartLog::decode(&log_bytes(identity, facts)).ok()
}

/// NVMe Base Specification, SMART / Health Information log.
fn log_bytes(identity: &NvmeIdentity, f: &Facts) -> Vec<u8> {
    let mut bytes = vec![0; 512];
    let mut put = |offset: usize, field: &[u8]| bytes[offset..offset + field.len()].copy_from_slice(field);
    let kelvin = (f.celsius + 273.0).round().clamp(0.0, f64::from(u16::MAX)) as u16;
    let used = f.counters.percent_used.unwrap_or(0.0).clamp(0.0, 255.0) as u8;
    put(0, &[warnings(identity, kelvin, f.spare)]);
    put(1, &kelvin.to_le_bytes());
    put(3, &[f.spare, identity.spare_threshold, used]);
    // Counters of 128 bits; units are rounded up.
    let counters = [
        (32, f.counters.tally.read_bytes.div_ceil(UNIT)),
        (48, f.counters.tally.written_bytes.div_ceil(UNIT)),
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
    bytes
}

/// Bit 0: too few spare blocks; bit 1: warmer than the threshold.
fn warnings(identity: &NvmeIdentity, kelvin: u16, spare: u8) -> u8 {
    u8::from(spare < identity.spare_threshold) | u8::from(kelvin >= identity.tmpth_k) << 1
}

#[cfg(test)]
mod tests {
    use crate::SimTarget;
    use cardscope_engine::content::Content;
    use cardscope_engine::target::{Direction, Io, Plan, Target};
    use cardscope_model::recipe::Path;

    /// Reads and writes until `minutes` of the card's clock have passed.
    fn work(card: &mut SimTarget, minutes: u64) {
        let block = 64 << 20;
        card.plan(&Plan { depth: 1, block, path: Path::Direct, sync_each: false, own_buffers: false })
            .unwrap();
        let mut done = Vec::new();
        for i in 0.. {
            let direction = if i % 2 == 0 { Direction::Write } else { Direction::Read };
            let io = Io { slot: 0, direction, offset: 0, len: block as u32, content: Content::Noise };
            card.submit(&io).unwrap();
            card.complete(1, &mut done).unwrap();
            if card.now() > minutes * 60_000_000_000 {
                return;
            }
        }
    }

    #[test]
    fn a_fresh_express_card_has_counted_nothing_and_has_all_of_its_spare() {
        let log = SimTarget::named("sim:adata-256g-express").unwrap().health().unwrap();
        assert_eq!((log.host_read_commands, log.data_written_bytes, log.power_on_hours), (0, 0, 0));
        assert_eq!((log.available_spare, log.available_spare_threshold, log.percentage_used), (100, 5, 0));
        assert_eq!((log.critical_warning, log.thermal_management_t1_transitions), (0, 0));
    }

    #[test]
    fn without_a_fan_the_log_tells_that_and_how_long_the_card_throttled() {
        let mut card = SimTarget::named("sim:lexar-1tb-express?cooling=passive").unwrap();
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
    fn a_card_without_heat_never_counts_a_transition() {
        let mut card = SimTarget::named("sim:lexar-1tb-express?cooling=passive&heat=off").unwrap();
        work(&mut card, 60);
        let log = card.health().unwrap();
        assert_eq!((log.thermal_management_t1_transitions, log.thermal_management_t1_seconds), (0, 0));
    }

    #[test]
    fn an_sd_card_has_no_such_log() {
        assert!(SimTarget::named("sim:lexar-16g-c10").unwrap().health().is_none());
    }
}
