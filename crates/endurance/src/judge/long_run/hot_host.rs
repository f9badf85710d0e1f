//! Overheating of the reader or host controller (docs/reference/reports.md#raspberry-pi-comparison), judged by reads that
//! slow down in a long run on USB, by the command without flash access, and by thermometers of the setup.

use cardscope_model::condition::Condition;
use cardscope_model::finding::Finding;
use cardscope_model::statistics::median;
use cardscope_model::sustain::{PlacedTemperature, RunPhase, SustainSample};
use cardscope_statistics::anomaly::{UsbLoad, hot_host_finding, is_over_usb};
use std::collections::BTreeSet;

/// Start and end of a run are a fifth of it each.
const RUN_PARTS: usize = 5;

/// Least samples of each part.
const MIN_PART_SAMPLES: usize = 3;

/// Words in the name of a thermometer that is not at the card.
const HOST_PLACES: [&str; 4] = ["reader", "host", "soc", "controller"];

/// Finding about the reader or host controller, None for a card that is not on USB.
pub(super) fn run_hot_host_finding(condition: &Condition, series: &[SustainSample]) -> Option<Finding> {
    hot_host_finding(&usb_load(series).filter(|_| is_over_usb(condition))?)
}

/// Compares start and end of the workload's reads, since only reads have no cache that could end.
fn usb_load(series: &[SustainSample]) -> Option<UsbLoad> {
    let read = |s: &&SustainSample| s.phase == RunPhase::Main && s.read_mb_s.is_some();
    let all: Vec<&SustainSample> = series.iter().filter(read).collect();
    let part = all.len() / RUN_PARTS;
    if part < MIN_PART_SAMPLES {
        return None;
    }
    let (first, last) = (&all[..part], &all[all.len() - part..]);
    let rise = |of: &dyn Fn(&SustainSample) -> Option<f64>| median_of(first, of).zip(median_of(last, of));
    let (first_mb_s, last_mb_s) = rise(&|s| s.read_mb_s)?;
    let pings = rise(&|s| s.ping_us).filter(|(before, _)| *before > 0.0);
    let places = host_places(&all);
    let host_rises = places
        .iter()
        .filter_map(|place| rise(&|s| s.temperatures.iter().find(|r| r.place == *place).map(|r| r.celsius)));
    let of_card = last.iter().flat_map(|s| &s.temperatures).filter(|r| r.is_of_card());
    Some(UsbLoad {
        seconds: all.last()?.at_s,
        first_mb_s,
        last_mb_s,
        null_rise: pings.map(|(before, after)| after / before - 1.0),
        host_rise_k: host_rises.map(|(before, after)| after - before).reduce(f64::max),
        card_c: of_card.map(|r| r.celsius).reduce(f64::max),
    })
}

fn median_of(part: &[&SustainSample], of: &dyn Fn(&SustainSample) -> Option<f64>) -> Option<f64> {
    median(&part.iter().filter_map(|s| of(s)).collect::<Vec<f64>>())
}

/// Names of the thermometers that are at the reader or host.
fn host_places<'a>(all: &[&'a SustainSample]) -> BTreeSet<&'a str> {
    let of_host = |reading: &&PlacedTemperature| {
        let place = reading.place.to_lowercase();
        !reading.is_of_card() && HOST_PLACES.iter().any(|word| place.contains(word))
    };
    all.iter().flat_map(|s| &s.temperatures).filter(of_host).map(|r| r.place.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/reference/reports.md#raspberry-pi-comparison: over 300 MB/s, and 2 to 3 times slower with a hot controller.
    fn run(ping_after: f64, host_after: f64, place: &str) -> Vec<SustainSample> {
        let sample = |second: u32| {
            let hot = second > 60;
            let pick = |cool: f64, warm: f64| if hot { warm } else { cool };
            SustainSample {
                at_s: f64::from(second),
                read_mb_s: Some(pick(310.0, 125.0)),
                ping_us: Some(pick(100.0, ping_after)),
                temperatures: vec![PlacedTemperature {
                    place: place.into(),
                    celsius: pick(45.0, host_after),
                }],
                ..SustainSample::default()
            }
        };
        (1..=180).map(sample).collect()
    }

    #[test]
    fn hot_controller_is_reported() {
        let load = usb_load(&run(140.0, 70.0, "host controller")).unwrap();
        assert!((load.null_rise.unwrap() - 0.4).abs() < 1e-9 && load.host_rise_k == Some(25.0), "{load:?}");
        assert!(hot_host_finding(&load).unwrap().confidence > 0.9);
    }

    #[test]
    fn warm_card_is_not_a_hot_host() {
        let load = usb_load(&run(100.0, 82.0, "card reader side")).unwrap();
        assert_eq!((load.host_rise_k, load.card_c), (None, Some(82.0)));
        assert_eq!(hot_host_finding(&load), None);
    }

    #[test]
    fn short_run_has_no_hot_host() {
        assert_eq!(usb_load(&run(140.0, 70.0, "soc")[..10]), None);
    }
}
