//! Merging of samples in long runs. Longest gaps, highest temperatures and byte counts are preserved; speeds and
//! latencies become means weighted by time.

use super::{PlacedTemperature, SustainSample};
use crate::thinned_series::{Thinned, ThinnedSeries};

/// Most samples of a run: one per second for six hours.
const MOST_SAMPLES: usize = 21_600;

pub type SampleSeries = ThinnedSeries<SustainSample>;

impl Thinned for SustainSample {
    const MOST: usize = MOST_SAMPLES;

    fn has_room(&self, next: &SustainSample, width: u32, pushed: u32) -> bool {
        pushed < width && self.can_merge(next)
    }

    fn can_merge(&self, next: &SustainSample) -> bool {
        self.phase == next.phase
    }

    fn merge(self, next: SustainSample, before: Option<&SustainSample>) -> SustainSample {
        let began_s = before.map_or(0.0, |before| before.at_s);
        let (here, there) = (self.at_s - began_s, next.at_s - self.at_s);
        let mean = |here_is: Option<f64>, there_is: Option<f64>| match (here_is, there_is) {
            (Some(a), Some(b)) if here + there > 0.0 => Some((a * here + b * there) / (here + there)),
            (a, b) => b.or(a),
        };
        SustainSample {
            write_mb_s: mean(self.write_mb_s, next.write_mb_s),
            read_mb_s: mean(self.read_mb_s, next.read_mb_s),
            read_us: mean(self.read_us, next.read_us),
            read_while_writing_us: mean(self.read_while_writing_us, next.read_while_writing_us),
            ping_us: mean(self.ping_us, next.ping_us),
            longest_gap_s: self.longest_gap_s.max(next.longest_gap_s),
            temperatures: merge_highest(self.temperatures, next.temperatures),
            t1_transitions: next.t1_transitions.or(self.t1_transitions),
            t2_transitions: next.t2_transitions.or(self.t2_transitions),
            at_s: next.at_s,
            phase: next.phase,
            bytes_written: next.bytes_written,
            bytes_read: next.bytes_read,
        }
    }
}

fn merge_highest(mut of: Vec<PlacedTemperature>, then: Vec<PlacedTemperature>) -> Vec<PlacedTemperature> {
    for reading in then {
        match of.iter_mut().find(|known| known.place == reading.place) {
            Some(known) => known.celsius = known.celsius.max(reading.celsius),
            None => of.push(reading),
        }
    }
    of
}

#[cfg(test)]
mod tests {
    use super::super::RunPhase;
    use super::*;

    const MOST: u32 = MOST_SAMPLES as u32;

    /// Number of the sample with the longest gap and the highest temperature.
    const WORST: u32 = 54_321;

    /// Samples of 1.0 to 1.3 s with 30 or 50 MB/s, and reads in every third.
    fn samples(count: u32) -> Vec<SustainSample> {
        let mut at_s = 0.0;
        let sample = |number: u32| {
            at_s += 1.0 + f64::from(number * 7 % 31) / 100.0;
            SustainSample {
                at_s,
                write_mb_s: Some(if number.is_multiple_of(2) { 30.0 } else { 50.0 }),
                read_us: number.is_multiple_of(3).then_some(800.0),
                bytes_written: u64::from(number) * 40_000_000,
                longest_gap_s: if number == WORST { 9.0 } else { 0.0 },
                temperatures: vec![PlacedTemperature {
                    place: "card".into(),
                    celsius: if number == WORST { 71.5 } else { 40.0 },
                }],
                ..SustainSample::default()
            }
        };
        (1..=count).map(sample).collect()
    }

    #[test]
    fn six_hours_of_samples_are_not_merged() {
        let all = samples(MOST);
        assert_eq!(SampleSeries::from(all.clone())[..], all);
        assert_eq!(SampleSeries::from(samples(MOST + 1)).len(), MOST_SAMPLES / 2 + 1);
    }

    #[test]
    fn week_of_samples_is_merged_and_preserves_extremes() {
        let all = samples(600_000);
        let kept = SampleSeries::from(all.clone());
        assert!((MOST_SAMPLES / 2..=MOST_SAMPLES).contains(&kept.len()), "{}", kept.len());
        let (end, last) = (kept.last().unwrap(), all.last().unwrap());
        assert_eq!((end.at_s, end.bytes_written), (last.at_s, last.bytes_written));
        let each = all.len().div_ceil(kept.len()).next_power_of_two();
        for (row, part) in kept.iter().zip(all.chunks(each)) {
            assert_eq!(row.at_s, part[part.len() - 1].at_s, "each row has as many samples");
        }
        let worst = &all[WORST as usize - 1];
        let row = kept.iter().position(|row| row.longest_gap_s == 9.0).unwrap();
        assert!((kept[row - 1].at_s..=kept[row].at_s).contains(&worst.at_s));
        assert_eq!(kept.iter().position(|row| row.temperatures[0].celsius == 71.5), Some(row));
        let speeds = kept.iter().take(kept.len() - 1).filter_map(|row| row.write_mb_s);
        assert!(speeds.into_iter().all(|speed| (speed - 40.0).abs() < 1.0));
        assert!(kept.iter().all(|row| row.read_us.is_none_or(|us| (us - 800.0).abs() < 1e-6)));
    }

    #[test]
    fn samples_of_two_phases_are_never_merged() {
        let pause = MOST - 9..MOST;
        let phase = |number| if pause.contains(&number) { RunPhase::Pause } else { RunPhase::Main };
        let all = (1..).zip(samples(30_000)).map(|(number, s)| SustainSample { phase: phase(number), ..s });
        let all: Vec<SustainSample> = all.collect();
        let kept: SampleSeries = all.iter().cloned().collect();
        let ends = |rows: &[SustainSample]| {
            let last = rows.iter().rposition(|row| row.phase == RunPhase::Pause).unwrap();
            (rows[last].at_s, rows[last].bytes_written)
        };
        assert_eq!(ends(&kept), ends(&all));
        assert!(kept.windows(2).all(|two| two[0].at_s < two[1].at_s));
    }

    #[test]
    fn unbounded_series_of_earlier_versions_are_thinned() {
        let text = serde_json::to_string(&samples(30_000)).unwrap();
        let read: SampleSeries = serde_json::from_str(&text).unwrap();
        assert_eq!(read.len(), SampleSeries::from(samples(30_000)).len());
        assert!(read.len() < MOST_SAMPLES);
        let again: SampleSeries = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
        assert_eq!(again, read);
    }
}
