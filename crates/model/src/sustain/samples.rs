//! The samples of a long run in a bounded number: where they run out, neighbours are put together, so that neither memory nor
//! the document grows with days. The longest wait, the highest temperatures and what was moved are kept; speeds and latencies
//! are means over the time.

use super::{Reading, Sample};
use serde::{Deserialize, Serialize};

/// Samples of a run at most: one a second for six hours.
pub const MOST_SAMPLES: usize = 21_600;

/// Samples in the order of time; [`MOST_SAMPLES`] at most.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Samples {
    samples: Vec<Sample>,
    /// Seconds that a sample is filled up to; 0 while each stands as it came.
    #[serde(skip)]
    every_s: f64,
}

/// They are equal where their samples are: how they were filled says nothing about what was measured.
impl PartialEq for Samples {
    fn eq(&self, other: &Self) -> bool {
        self.samples == other.samples
    }
}

impl std::ops::Deref for Samples {
    type Target = [Sample];

    fn deref(&self) -> &[Sample] {
        &self.samples
    }
}

impl Samples {
    /// Adds what came next.
    pub fn push(&mut self, next: Sample) {
        if let Some(last) = self.samples.pop() {
            let began_s = self.samples.last().map_or(0.0, |before| before.at_s);
            if last.phase == next.phase && next.at_s - began_s <= self.every_s {
                return self.samples.push(last.with_next(next, began_s));
            }
            self.samples.push(last);
        }
        if self.samples.len() >= MOST_SAMPLES {
            self.coarsen();
        }
        self.samples.push(next);
    }

    /// Puts neighbours together, two and two, where the run was at the same.
    fn coarsen(&mut self) {
        let mut began_s = 0.0;
        let mut coarser: Vec<Sample> = Vec::with_capacity(self.samples.len());
        let mut left = std::mem::take(&mut self.samples).into_iter().peekable();
        while let Some(sample) = left.next() {
            let next = left.next_if(|next| next.phase == sample.phase);
            let sample = next.map_or_else(|| sample.clone(), |next| sample.clone().with_next(next, began_s));
            began_s = sample.at_s;
            coarser.push(sample);
        }
        // A hundredth more than they are apart: no two seconds are of one length.
        self.every_s = 1.01 * began_s / coarser.len().max(1) as f64;
        self.samples = coarser;
    }
}

impl Sample {
    /// One sample in place of itself, which began at `began_s`, and the one after it.
    fn with_next(self, next: Sample, began_s: f64) -> Sample {
        let (here, there) = (self.at_s - began_s, next.at_s - self.at_s);
        let mean = |here_is: Option<f64>, there_is: Option<f64>| match (here_is, there_is) {
            (Some(a), Some(b)) if here + there > 0.0 => Some((a * here + b * there) / (here + there)),
            (a, b) => b.or(a),
        };
        Sample {
            write_mb_s: mean(self.write_mb_s, next.write_mb_s),
            read_mb_s: mean(self.read_mb_s, next.read_mb_s),
            read_us: mean(self.read_us, next.read_us),
            read_while_writing_us: mean(self.read_while_writing_us, next.read_while_writing_us),
            ping_us: mean(self.ping_us, next.ping_us),
            longest_gap_s: self.longest_gap_s.max(next.longest_gap_s),
            temperatures: hottest(self.temperatures, next.temperatures),
            t1_transitions: next.t1_transitions.or(self.t1_transitions),
            t2_transitions: next.t2_transitions.or(self.t2_transitions),
            at_s: next.at_s,
            phase: next.phase,
            bytes_written: next.bytes_written,
            bytes_read: next.bytes_read,
        }
    }
}

/// Each place as hot as it was in either.
fn hottest(mut of: Vec<Reading>, then: Vec<Reading>) -> Vec<Reading> {
    for reading in then {
        match of.iter_mut().find(|known| known.place == reading.place) {
            Some(known) => known.celsius = known.celsius.max(reading.celsius),
            None => of.push(reading),
        }
    }
    of
}

impl FromIterator<Sample> for Samples {
    fn from_iter<I: IntoIterator<Item = Sample>>(samples: I) -> Self {
        let mut all = Samples::default();
        samples.into_iter().for_each(|sample| all.push(sample));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::Phase;
    use super::*;

    /// The second with the longest wait, and the hottest one.
    const LONG: u32 = 54_321;

    fn second(at: u32) -> Sample {
        Sample {
            at_s: f64::from(at) * 1.17,
            write_mb_s: Some(if at.is_multiple_of(2) { 30.0 } else { 50.0 }),
            bytes_written: u64::from(at) * 40_000_000,
            longest_gap_s: if at == LONG { 9.0 } else { 0.0 },
            temperatures: vec![Reading {
                place: "card".into(),
                celsius: if at == LONG { 71.5 } else { 40.0 },
            }],
            ..Sample::default()
        }
    }

    #[test]
    fn six_hours_stand_as_they_came() {
        let all: Vec<Sample> = (1..=MOST_SAMPLES as u32).map(second).collect();
        assert_eq!(all.iter().cloned().collect::<Samples>()[..], all);
    }

    #[test]
    fn a_week_fits_evenly_and_its_worst_second_still_stands_where_it_was() {
        let last = 600_000;
        let samples: Samples = (1..=last).map(second).collect();
        assert!((MOST_SAMPLES / 2 - 1..=MOST_SAMPLES).contains(&samples.len()), "{}", samples.len());
        let end = samples.last().unwrap();
        assert_eq!((end.at_s, end.bytes_written), (f64::from(last) * 1.17, u64::from(last) * 40_000_000));
        let apart: Vec<f64> = samples.windows(2).map(|two| two[1].at_s - two[0].at_s).collect();
        let (least, most) =
            (apart.iter().copied().fold(1e9, f64::min), apart.iter().copied().fold(0.0, f64::max));
        assert!(least > 0.0 && most < 2.1 * apart[0], "{least} to {most}, at first {}", apart[0]);
        let long = samples.iter().position(|sample| sample.longest_gap_s == 9.0).unwrap();
        assert!((samples[long - 1].at_s..=samples[long].at_s).contains(&second(LONG).at_s));
        let hot = samples.iter().position(|sample| sample.temperatures[0].celsius == 71.5);
        assert_eq!(hot, Some(long));
        let speeds = || samples.iter().filter_map(|sample| sample.write_mb_s);
        assert!(speeds().take(100).all(|speed| (speed - 40.0).abs() < 1.0));
        let mean = speeds().sum::<f64>() / samples.len() as f64;
        assert!((mean - 40.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn what_is_read_back_is_what_was_written_and_phases_stay_apart() {
        let phase = |at: u32| {
            if (MOST_SAMPLES as u32 - 9..MOST_SAMPLES as u32).contains(&at) {
                Phase::Pause
            } else {
                Phase::Main
            }
        };
        let samples: Samples = (1..=30_000).map(|at| Sample { phase: phase(at), ..second(at) }).collect();
        let pause: Vec<&Sample> = samples.iter().filter(|sample| sample.phase == Phase::Pause).collect();
        assert_eq!(pause.last().unwrap().at_s, second(MOST_SAMPLES as u32 - 1).at_s);
        assert!(samples.windows(2).all(|two| two[0].at_s < two[1].at_s));
        let text = serde_json::to_string(&samples).unwrap();
        assert!(text.starts_with('['), "{}", &text[..20]);
        assert_eq!(serde_json::from_str::<Samples>(&text).unwrap(), samples);
    }
}
