//! Printed speeds compared with measured ones. "Up to" is a maximum under the maker's conditions, so it is missed
//! only if bus and reader allow it and every run stayed far below.

use crate::finding::{Finding, FindingWeight};
use crate::mark_result::MarkOutcome;
use crate::units::{SpeedMbS, three_digits};
use cardscope_sd::label::{CardLabel, PrintedSpeed, SpeedDirection};
use serde::{Deserialize, Serialize};

const READING: &str = "reading";
const WRITING: &str = "writing";

pub(super) const SPEED: &str = "label-speed";

/// Least share of a printed speed that a run must reach: bus overhead takes up to 20 %.
const REACHED_SHARE: f64 = 0.8;
/// Share below which a run is far from the printed speed.
const FAR_BELOW_SHARE: f64 = 0.5;
/// Least number of runs for a missed speed.
const MIN_RUNS: usize = 3;
const MAX_LISTED_RUNS: usize = 10;

const TEST_FASTER: &str = "Test again in a faster reader: \"up to\" is a maximum.";
const UP_TO_ALLOWS: &str = "\"up to\" allows for what a bus needs itself";

/// Sequential speeds, one figure per run, in MB/s (10^6).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeasuredSpeeds {
    pub read_mb_s: Vec<f64>,
    pub write_mb_s: Vec<f64>,
    pub bus: Option<String>,
    pub ceiling_mb_s: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedSpeed {
    pub printed: String,
    pub promised_mb_s: f64,
    /// Reading unless the label says writing.
    pub direction: SpeedDirection,
    pub measured_mb_s: f64,
    pub runs_mb_s: Vec<f64>,
    pub ceiling_mb_s: Option<f64>,
    pub outcome: MarkOutcome,
    pub because: String,
}

pub fn judge_speeds(label: &CardLabel, measured: &MeasuredSpeeds) -> Vec<JudgedSpeed> {
    label.speeds.iter().filter_map(|speed| judge_speed(speed, measured)).collect()
}

fn judge_speed(speed: &PrintedSpeed, measured: &MeasuredSpeeds) -> Option<JudgedSpeed> {
    let direction = speed.direction.unwrap_or(SpeedDirection::Read);
    let runs = match direction {
        SpeedDirection::Write => &measured.write_mb_s,
        SpeedDirection::Read => &measured.read_mb_s,
    };
    let best = runs.iter().copied().reduce(f64::max)?;
    let share = best / speed.mb_s.max(f64::MIN_POSITIVE);
    let bus = measured.bus.as_ref().map_or(String::new(), |mode| format!(" ({mode})"));
    let (outcome, because) = match measured.ceiling_mb_s {
        _ if share >= REACHED_SHARE => (MarkOutcome::Met, UP_TO_ALLOWS.to_owned()),
        None => (MarkOutcome::NotTestable, "what reader and bus carry is unknown".to_owned()),
        Some(carries) if carries < speed.mb_s => {
            (MarkOutcome::NotTestable, format!("the bus{bus} carries {}", SpeedMbS(carries)))
        }
        Some(carries) => {
            let far = share < FAR_BELOW_SHARE && runs.len() >= MIN_RUNS;
            let outcome = if far { MarkOutcome::Missed } else { MarkOutcome::Borderline };
            (outcome, format!("the bus{bus} carries {}, so it is not the limit", SpeedMbS(carries)))
        }
    };
    Some(JudgedSpeed {
        printed: speed.printed.clone(),
        promised_mb_s: speed.mb_s,
        direction,
        measured_mb_s: best,
        runs_mb_s: runs.clone(),
        ceiling_mb_s: measured.ceiling_mb_s,
        outcome,
        because,
    })
}

impl JudgedSpeed {
    /// Returns the text of a finding, also a stored one, about a printed speed that was not reached: `reads 117 of
    /// 300 MB/s`.
    pub fn shortfall_text(finding: &Finding) -> Option<String> {
        let is_short = finding.claim == SPEED && finding.weight != FindingWeight::Note;
        let value = |name| finding.evidence_value(name).filter(|_| is_short);
        let of = |verb: &str, name| Some(format!("{verb} {}", value(name)?));
        of("reads", READING).or_else(|| of("writes", WRITING))
    }

    pub fn operation_word(&self) -> &'static str {
        match self.direction {
            SpeedDirection::Read => READING,
            SpeedDirection::Write => WRITING,
        }
    }

    pub fn finding(&self) -> Finding {
        let (printed, word, best) = (&self.printed, self.operation_word(), SpeedMbS(self.measured_mb_s));
        let share = self.measured_mb_s / self.promised_mb_s.max(f64::MIN_POSITIVE);
        let (why, percent) = (&self.because, 100.0 * share);
        let below = format!("The label promises {printed}, but {word} reached {best} ({percent:.0} %).");
        let (weight, confidence, text) = match self.outcome {
            MarkOutcome::Met => {
                let text = format!("The card reaches its printed {printed}: {word} at {best}.");
                (FindingWeight::Note, 1.0, text)
            }
            MarkOutcome::Missed => (FindingWeight::Bad, 0.8, below),
            MarkOutcome::NotTestable if self.ceiling_mb_s.is_some() => {
                let needs = format!("The printed {printed} needs a faster bus: {why}");
                (FindingWeight::Note, 1.0, format!("{needs}, and {word} reached {best}."))
            }
            _ => (FindingWeight::Hint, if share < FAR_BELOW_SHARE { 0.5 } else { 0.3 }, below),
        };
        let runs = self.runs_mb_s.iter().take(MAX_LISTED_RUNS);
        let runs: Vec<String> = runs.map(|mb_s| format!("{mb_s:.1}")).collect();
        let promised = SpeedMbS(self.promised_mb_s);
        let found = Finding::new(SPEED, weight, confidence, text)
            .because("printed", format!("{printed} = {promised}"))
            .because(word, format!("{} of {promised}", three_digits(self.measured_mb_s)))
            .because("limit", why)
            .because("runs in MB/s", runs.join(", "));
        match weight {
            FindingWeight::Hint => found.with_advice(TEST_FASTER),
            _ => found,
        }
    }
}
