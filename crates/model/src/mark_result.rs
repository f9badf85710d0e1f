//! Document of judged marks: demands, measurements and outcomes.
//!
//! A host cannot repeat the SD Association's procedures exactly (Physical Layer Specification 4.13, 3.11, 4.16, 8.4);
//! `docs/marks.md` lists the differences. A mark that bus or reader make impossible is `not_testable`, one without
//! time is `not_tested`; neither counts as missed.

use crate::card_map::property::SearchCost;
use crate::finding::Finding;
use crate::identity::Identity;
use crate::report::{IoTotals, Report, ReportBody};
use cardscope_sd::label::CardLabel;
use cardscope_sd::mark::Mark;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkOutcome {
    Met,
    /// Not met, and only the card explains it.
    Missed,
    /// Slower than demanded, but within the error of the measurement or its method.
    Borderline,
    /// Time or limits ended before.
    #[default]
    NotTested,
    /// Host, bus or reader make the test impossible.
    NotTestable,
}

/// Closeness of the test to the specification's method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestForm {
    /// Seconds instead of minutes, on the card in its present state; overwritten data is saved and restored.
    #[default]
    Short,
    /// Amounts of data of the specification, as far as time allows; data is lost.
    Volumes,
    /// Conditions of the specification: erased, filled to 75 %, ten minutes of random writes and of reads, 1 GiB on
    /// the full card.
    Specification,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimedBy {
    /// SSR, or the vendor area of NVMe's Identify.
    Card,
    Label,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkClaim {
    pub mark: Mark,
    pub by: ClaimedBy,
}

pub fn collect_claims(identity: Option<&Identity>, label: Option<&CardLabel>) -> Vec<MarkClaim> {
    let own = identity.map_or(&[][..], |identity| &identity.marks);
    let printed = label.map_or(&[][..], |label| &label.marks);
    let by = |marks: &[Mark], by| marks.iter().map(|mark| MarkClaim { mark: *mark, by }).collect::<Vec<_>>();
    [by(own, ClaimedBy::Card), by(printed, ClaimedBy::Label)].concat()
}

/// Connection between host and card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BusFacts {
    /// Bus mode, e.g. `SDR104` or `PCIe 3.0 x1`; None if a reader hides it.
    pub mode: Option<String>,
    pub ceiling_mb_s: Option<f64>,
    pub pcie: bool,
    pub reader: bool,
    /// True if the host uses the card's command queue; None if only a measurement can show it.
    pub queue: Option<bool>,
    pub queue_depth: Option<u32>,
}

impl BusFacts {
    /// Builds the facts from an identity. `ceiling_mb_s` is that of the open target, which takes precedence.
    pub fn from_identity(identity: Option<&Identity>, ceiling_mb_s: Option<f64>) -> Self {
        let Some(identity) = identity else { return BusFacts { ceiling_mb_s, ..BusFacts::default() } };
        let pcie = identity.nvme.is_some() || identity.pcie.is_some();
        let depth = identity.ssr.as_ref().map(|ssr| u32::from(ssr.command_queue_depth)).filter(|d| *d > 0);
        BusFacts {
            mode: identity.bus_mode(),
            ceiling_mb_s: ceiling_mb_s.or_else(|| identity.ceiling_mb_s()),
            pcie,
            reader: identity.usb.is_some(),
            queue: pcie.then_some(true),
            queue_depth: depth,
        }
    }
}

/// Demand of a mark and its measurement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MarkDemand {
    pub what: String,
    /// Least value demanded; of times the greatest.
    pub demanded: f64,
    pub measured: Option<f64>,
    /// Upper bound of the specification's own test, given the uncertainty and method of this one, if the demand is
    /// not met.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at_best: Option<f64>,
    /// Measured value without the card's queue, if `measured` is with it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub without_queue: Option<f64>,
    pub unit: String,
    pub outcome: MarkOutcome,
    /// Distance from the demand as a share of it; negative if not met.
    pub margin: Option<f64>,
    pub borderline: bool,
    /// 0 to 1.
    pub confidence: f64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub because: Option<String>,
}

impl MarkDemand {
    /// Formats the measured and the demanded figure, or returns None if nothing was measured.
    pub fn figure_text(&self) -> Option<String> {
        let alone = self.without_queue.map(|rate| format!(" ({} without it)", short_figure(rate)));
        let alone = alone.unwrap_or_default();
        let (measured, demanded) = (short_figure(self.measured?), short_figure(self.demanded));
        Some(format!("{}: {measured} {}{alone} (needs {demanded})", self.what, self.unit))
    }
}

/// Returns the demand with the least margin among those with the mark's outcome. Speeds and rates take precedence,
/// because limits of single times are so wide that nearly every card meets them.
pub fn deciding_demand(parts: &[MarkDemand], outcome: MarkOutcome) -> Option<&MarkDemand> {
    let margin = |part: &MarkDemand| part.margin.unwrap_or(f64::INFINITY);
    let is_time = |part: &MarkDemand| part.unit == "ms";
    let decisive = parts.iter().filter(|part| part.outcome == outcome);
    decisive.min_by(|a, b| is_time(a).cmp(&is_time(b)).then(margin(a).total_cmp(&margin(b))))
}

fn short_figure(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedMark {
    pub mark: Mark,
    pub claimed_by: Vec<ClaimedBy>,
    pub outcome: MarkOutcome,
    /// Rest of a sentence after "met", "missed" or "not tested".
    pub because: String,
    pub margin: Option<f64>,
    pub borderline: bool,
    pub confidence: f64,
    pub parts: Vec<MarkDemand>,
}

impl JudgedMark {
    pub fn deciding_part(&self) -> Option<&MarkDemand> {
        let tested = !matches!(self.outcome, MarkOutcome::NotTested | MarkOutcome::NotTestable);
        deciding_demand(&self.parts, self.outcome).filter(|part| tested && part.measured.is_some())
    }

    pub fn is_claimed(&self) -> bool {
        !self.claimed_by.is_empty()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UnitSpeed {
    pub offset: u64,
    pub mb_s: f64,
    pub worst_4mib_mb_s: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SequentialWrite {
    /// Bytes of an I/O, the specification's recording unit.
    pub io_bytes: u64,
    pub au_bytes: u64,
    pub bytes: u64,
    pub mb_s: f64,
    pub units: Vec<UnitSpeed>,
    pub speed_unit_bytes: u64,
    pub speed_units_mb_s: Vec<f64>,
    /// Units that were slow once, but not when rewritten.
    pub slow_once: u32,
    pub longest_s: f64,
}

/// Small writes of a file system during a recording: two of 16 KiB and one of a sector per round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SmallWrites {
    pub rounds: u32,
    /// Highest average over eight rounds in a row, or over all if there are fewer, in seconds.
    pub worst_average_s: f64,
    pub longest_s: f64,
    pub at_start: bool,
}

/// Rate of random 4 KiB I/Os in one span at one queue depth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RandomRate {
    pub write: bool,
    pub span_bytes: u64,
    pub depth: u32,
    pub preconditioned: bool,
    /// I/Os per second over the part that counts.
    pub iops: f64,
    pub slices_iops: Vec<f64>,
    pub ios: u64,
    pub seconds: f64,
    /// Longest excess of a slice of I/Os over its average duration, in seconds.
    pub longest_stall_s: f64,
}

/// Sequential reads or writes with a full queue, as SD Express classes are judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct QueuedStream {
    pub write: bool,
    pub io_bytes: u64,
    pub bytes: u64,
    pub mb_s: f64,
    /// Slowest 600 MB in a row.
    pub worst_mb_s: f64,
    pub longest_s: f64,
}

/// Writes into allocation units of which every second recording unit is in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PartlyUsed {
    pub used_share: f64,
    pub mb_s: f64,
    /// Speed of the card's internal copying derived from it (Pm), in MB/s; None if copying costs nothing.
    pub move_mb_s: Option<f64>,
    pub stated_move_mb_s: Option<f64>,
    /// Speed of half-used units by the specification's formula with the smaller Pm, in MB/s; informative.
    pub formula_mb_s: f64,
}

/// Result of another tool's test on the same card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherTest {
    pub tool: String,
    pub mark: Mark,
    pub queue_depth: u32,
    pub random_write_iops: f64,
    pub random_read_iops: f64,
    pub write_kib_s: Option<f64>,
    pub passes: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HighestMark {
    pub letter: char,
    pub mark: Option<Mark>,
    pub remark: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImpliedBus {
    pub mb_s: f64,
    pub mode: String,
    pub ceiling_mb_s: f64,
    pub family: String,
    pub above_claim: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailedEvidence {
    pub reading: u64,
    pub in_order: u64,
    pub random: u64,
    pub queued: u64,
}

impl FailedEvidence {
    pub fn failed_for_mark(self, mark: Mark) -> u64 {
        match mark.letter() {
            'A' => self.in_order + self.random,
            'E' => self.queued,
            _ => self.reading + self.in_order,
        }
    }

    pub fn is_none(&self) -> bool {
        *self == FailedEvidence::default()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MarksMeasured {
    #[serde(default)]
    pub form: TestForm,
    pub claims: Vec<MarkClaim>,
    pub bus: BusFacts,
    pub au_bytes: u64,
    pub au_from: String,
    /// Duration of a command that does not access the flash, in seconds.
    pub null_command_s: Option<f64>,
    pub read_mb_s: Option<f64>,
    pub read_4k_s: Option<(f64, f64)>,
    pub writing: Vec<SequentialWrite>,
    pub after_cache_mb_s: Option<f64>,
    /// Sequential write of 1 GiB on the full card, in MB/s, as the A classes demand.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub full_card_mb_s: Option<f64>,
    pub small_writes: Option<SmallWrites>,
    pub partly_used: Option<PartlyUsed>,
    pub random: Vec<RandomRate>,
    pub streams: Vec<QueuedStream>,
    #[serde(skip_serializing_if = "FailedEvidence::is_none", default)]
    pub failed_ios: FailedEvidence,
    pub left_out: Vec<String>,
    /// True if a longer time would allow more tests.
    #[serde(default)]
    pub short_of_time: bool,
    pub cost: SearchCost,
    pub judged: Vec<JudgedMark>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub other_tests: Vec<OtherTest>,
    pub highest: Vec<HighestMark>,
    pub implied_bus: Option<ImpliedBus>,
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgedMarks {
    pub marks: MarksMeasured,
    #[serde(flatten)]
    pub moved: IoTotals,
}

pub type MarksReport = Report<JudgedMarks>;

impl ReportBody for JudgedMarks {
    fn io_totals(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}

impl MarksMeasured {
    pub fn outcome(&self, mark: Mark) -> Option<MarkOutcome> {
        self.judged.iter().find(|judged| judged.mark == mark).map(|judged| judged.outcome)
    }

    pub fn highest(&self, letter: char) -> Option<Mark> {
        self.highest.iter().find(|highest| highest.letter == letter)?.mark
    }
}
