//! Marks held against measurements: what each demands, what was measured for it, and what became of it.
//!
//! A host cannot repeat the SD Association's procedures to the letter (Physical Layer Specification 4.13, 3.11, 4.16,
//! 8.4): `docs/marks.md` says what differs. A mark that bus or reader give no chance to is `not_testable`, one for which
//! time or limits left none is `not_tested`; neither is ever missed.

use crate::card_map::property::SearchCost;
use crate::finding::Finding;
use crate::identity::Identity;
use crate::report::{IoTotals, Report, ReportBody};
use cardscope_sd::label::CardLabel;
use cardscope_sd::mark::Mark;
use serde::{Deserialize, Serialize};

/// What became of a mark, or of one of its demands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkOutcome {
    /// The card does what the mark promises.
    Met,
    /// It does not, and nothing but the card explains it.
    Missed,
    /// What was measured is less, but by no more than the measurement or its method may have cost.
    Borderline,
    /// Time or limits left no chance; more of them would.
    #[default]
    NotTested,
    /// This host, this bus or this reader gives no answer, whatever the time.
    NotTestable,
}

/// How near to the specification's own method the marks were measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestForm {
    /// Seconds instead of minutes, on the card as found: what little is written was saved before.
    #[default]
    Short,
    /// The volumes of the specification as far as the time goes, since content may be lost.
    Volumes,
    /// Its conditions: erased, filled to 75 %, ten minutes of random writes and of reads, 1 GiB on the full card.
    Specification,
}

/// Who says that the card has a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimedBy {
    /// Its registers: SSR, or the vendor area of NVMe's identify.
    Card,
    /// What is printed on it.
    Label,
}

/// A mark that somebody says the card has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkClaim {
    /// The mark.
    pub mark: Mark,
    /// Who says so.
    pub by: ClaimedBy,
}

/// All marks that a card's registers and its label claim.
pub fn claims(identity: Option<&Identity>, label: Option<&CardLabel>) -> Vec<MarkClaim> {
    let own = identity.map_or(&[][..], |identity| &identity.marks);
    let printed = label.map_or(&[][..], |label| &label.marks);
    let by = |marks: &[Mark], by| marks.iter().map(|mark| MarkClaim { mark: *mark, by }).collect::<Vec<_>>();
    [by(own, ClaimedBy::Card), by(printed, ClaimedBy::Label)].concat()
}

/// What is known of the way between host and card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BusFacts {
    /// Its mode: `SDR104`, `PCIe 3.0 x1`; `None` where a reader hides it.
    pub mode: Option<String>,
    /// What it carries at most, in MB/s.
    pub ceiling_mb_s: Option<f64>,
    /// True where the card is reached over PCIe.
    pub pcie: bool,
    /// True where a USB reader stands between host and card.
    pub reader: bool,
    /// Whether the host uses the card's command queue; `None` where only a measurement can tell.
    pub queue: Option<bool>,
    /// Commands that the card queues, as it says itself.
    pub queue_depth: Option<u32>,
}

impl BusFacts {
    /// What the identity tells. `ceiling_mb_s` is that of the open target, which may know more.
    pub fn of(identity: Option<&Identity>, ceiling_mb_s: Option<f64>) -> Self {
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

/// One demand of a mark.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MarkDemand {
    /// What is demanded: `writing in order, worst 4 MiB`.
    pub what: String,
    /// At least so much (of times: at most).
    pub demanded: f64,
    /// So much was measured.
    pub measured: Option<f64>,
    /// Where that is less than demanded: what the specification's own test may find at best, as far as the uncertainty of
    /// this one and what differs in its method allow.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at_best: Option<f64>,
    /// The same without the card's queue, where `measured` was with it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub without_queue: Option<f64>,
    /// Unit of all: `MB/s`, `IOPS`, `ms`.
    pub unit: String,
    /// What became of it.
    pub outcome: MarkOutcome,
    /// How far the measured figure is on the good side, as a share of the demanded one; negative on the bad side.
    pub margin: Option<f64>,
    /// So close to the demand that another run may say otherwise.
    pub borderline: bool,
    /// 0 to 1.
    pub confidence: f64,
    /// Why it is as it is, where the number does not say it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub because: Option<String>,
}

impl MarkDemand {
    /// What was measured beside what is demanded: `writing in order, worst 4 MiB: 8.9 MB/s, 10.0 demanded`; `None`
    /// where nothing was.
    pub fn figure(&self) -> Option<String> {
        let alone = self.without_queue.map_or(String::new(), |rate| format!(" ({} without it)", short(rate)));
        let (measured, demanded) = (short(self.measured?), short(self.demanded));
        Some(format!("{}: {measured} {}{alone} (needs {demanded})", self.what, self.unit))
    }
}

/// The demand that decides: of those that came out like their mark the one with the least margin. Speeds and rates come
/// first, since it is them that a mark promises; the limits of single times are so wide that nearly every card keeps them.
pub fn deciding(parts: &[MarkDemand], outcome: MarkOutcome) -> Option<&MarkDemand> {
    let order = |part: &MarkDemand| (part.unit == "ms", part.margin.unwrap_or(f64::INFINITY));
    parts.iter().filter(|part| part.outcome == outcome).min_by(|a, b| {
        let (a, b) = (order(a), order(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}

fn short(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// A mark, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedMark {
    /// The mark.
    pub mark: Mark,
    /// Who claims it; empty for marks that nobody claims.
    pub claimed_by: Vec<ClaimedBy>,
    /// What became of it.
    pub outcome: MarkOutcome,
    /// In a sentence that begins where "met", "missed" or "not tested" ends.
    pub because: String,
    /// The margin of the demand that decides.
    pub margin: Option<f64>,
    /// True where a demand that decides is borderline.
    pub borderline: bool,
    /// 0 to 1.
    pub confidence: f64,
    /// Its demands.
    pub parts: Vec<MarkDemand>,
}

impl JudgedMark {
    /// The demand that decides; `None` where the mark was not tested.
    pub fn deciding(&self) -> Option<&MarkDemand> {
        let tested = !matches!(self.outcome, MarkOutcome::NotTested | MarkOutcome::NotTestable);
        deciding(&self.parts, self.outcome).filter(|part| tested && part.measured.is_some())
    }

    /// Whether somebody says that the card has this mark.
    pub fn is_claimed(&self) -> bool {
        !self.claimed_by.is_empty()
    }
}

/// One allocation unit, written in order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UnitSpeed {
    /// Its first byte.
    pub offset: u64,
    /// Speed over all of it, in MB/s.
    pub mb_s: f64,
    /// Its slowest 4 MiB, in MB/s.
    pub worst_4mib_mb_s: f64,
}

/// Writes in order with one size of I/O.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SequentialWrite {
    /// Bytes of an I/O, the specification's recording unit.
    pub io_bytes: u64,
    /// Bytes of an allocation unit.
    pub au_bytes: u64,
    /// Bytes written in all.
    pub bytes: u64,
    /// Mean speed in MB/s.
    pub mb_s: f64,
    /// Unit by unit.
    pub units: Vec<UnitSpeed>,
    /// Bytes of the range by which video classes are judged.
    pub speed_unit_bytes: u64,
    /// Speed of each such range, in MB/s.
    pub speed_units_mb_s: Vec<f64>,
    /// Units that were slow once and not again when they were written once more.
    pub slow_once: u32,
    /// Longest I/O in seconds.
    pub longest_s: f64,
}

/// Small writes as a file system makes them for a recording: two of 16 KiB and one of a sector.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SmallWrites {
    /// Rounds.
    pub rounds: u32,
    /// Highest average over eight rounds in a row (or all, where there were fewer), in seconds.
    pub worst_average_s: f64,
    /// Longest round in seconds.
    pub longest_s: f64,
    /// True where they went to the start of the card, which many cards treat specially.
    pub at_start: bool,
}

/// Random 4 KiB I/Os in one span at one queue depth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RandomRate {
    /// True for writes.
    pub write: bool,
    /// Bytes over which they were spread.
    pub span_bytes: u64,
    /// I/Os in flight.
    pub depth: u32,
    /// True where the span was written in order before.
    pub preconditioned: bool,
    /// A second, over the part that counts.
    pub iops: f64,
    /// Rates of the slices, in order.
    pub slices_iops: Vec<f64>,
    /// I/Os.
    pub ios: u64,
    /// Seconds of the target's clock.
    pub seconds: f64,
    /// Longest wait of a slice of I/Os beyond what it took on average, in seconds.
    pub longest_stall_s: f64,
}

/// Reads or writes with a queue that is never empty, as SD Express classes are judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct QueuedStream {
    /// True for writes.
    pub write: bool,
    /// Bytes of an I/O.
    pub io_bytes: u64,
    /// Bytes in all.
    pub bytes: u64,
    /// Mean speed in MB/s.
    pub mb_s: f64,
    /// Slowest 600 MB in a row, in MB/s.
    pub worst_mb_s: f64,
    /// Longest time between two ends, in seconds.
    pub longest_s: f64,
}

/// Writing into allocation units of which every second recording unit is in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PartlyUsed {
    /// Share of a unit that was in use.
    pub used_share: f64,
    /// Speed of what was written, in MB/s.
    pub mb_s: f64,
    /// Speed of the card's own copying that follows from it (Pm), in MB/s; `None` where it costs nothing.
    pub move_mb_s: Option<f64>,
    /// The same as the card states it in its SSR.
    pub stated_move_mb_s: Option<f64>,
    /// What the formula makes of half used units with the smaller of the two, in MB/s; for information.
    pub formula_mb_s: f64,
}

/// What the test of another tool prints of the same card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherTest {
    /// The tool.
    pub tool: String,
    /// The mark that it tests for.
    pub mark: Mark,
    /// I/Os in flight.
    pub queue_depth: u32,
    /// Random 4 KiB writes a second.
    pub random_write_iops: f64,
    /// Random 4 KiB reads a second.
    pub random_read_iops: f64,
    /// Writing in order in KiB/s, where it was measured.
    pub write_kib_s: Option<f64>,
    /// Whether it would say that the card passes.
    pub passes: bool,
}

/// The highest mark of a letter that the card would meet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HighestMark {
    /// The letter.
    pub letter: char,
    /// The mark; `None` where it meets not even the lowest.
    pub mark: Option<Mark>,
    /// What stands in the way of a higher one, or what is uncertain.
    pub remark: String,
}

/// The bus mode that a speed implies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImpliedBus {
    /// Highest speed seen, in MB/s.
    pub mb_s: f64,
    /// The slowest standard mode that carries it.
    pub mode: String,
    /// What that mode carries, in MB/s.
    pub ceiling_mb_s: f64,
    /// The bus family: `Default Speed`, `High Speed`, `UHS-I`, `UHS-II`, `SD Express`.
    pub family: String,
    /// True where the card itself claims only slower ones.
    pub above_claim: bool,
}

/// I/Os that failed while the marks were measured, by what they belong to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailedEvidence {
    /// Reads in order and single ones.
    pub reading: u64,
    /// Writes in order, and the small ones between them.
    pub in_order: u64,
    /// Random reads and writes.
    pub random: u64,
    /// Streams with a queue.
    pub queued: u64,
}

impl FailedEvidence {
    /// Those that touch what a mark is judged by.
    pub fn of(self, mark: Mark) -> u64 {
        match mark.letter() {
            'A' => self.in_order + self.random,
            'E' => self.queued,
            _ => self.reading + self.in_order,
        }
    }

    /// True where none failed.
    pub fn is_none(&self) -> bool {
        *self == FailedEvidence::default()
    }
}

/// What was measured for the marks, and what follows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MarksMeasured {
    /// How near to the specification's method this comes.
    #[serde(default)]
    pub form: TestForm,
    /// Who claims what.
    pub claims: Vec<MarkClaim>,
    /// The way between host and card.
    pub bus: BusFacts,
    /// Allocation unit that was taken, in bytes.
    pub au_bytes: u64,
    /// Where it is from.
    pub au_from: String,
    /// How long a command takes that needs no flash, in seconds.
    pub null_command_s: Option<f64>,
    /// Reading in order, in MB/s.
    pub read_mb_s: Option<f64>,
    /// Median and longest single read of 4 KiB, in seconds.
    pub read_4k_s: Option<(f64, f64)>,
    /// Writes in order.
    pub writing: Vec<SequentialWrite>,
    /// Speed after the cache's end where somebody measured it, in MB/s.
    pub after_cache_mb_s: Option<f64>,
    /// Writing 1 GiB in order on the full card, in MB/s, as the A classes ask for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub full_card_mb_s: Option<f64>,
    /// Small writes in between.
    pub small_writes: Option<SmallWrites>,
    /// Units partly in use.
    pub partly_used: Option<PartlyUsed>,
    /// Random I/Os.
    pub random: Vec<RandomRate>,
    /// Queued streams, SD Express only.
    pub streams: Vec<QueuedStream>,
    /// I/Os that failed meanwhile.
    #[serde(skip_serializing_if = "FailedEvidence::is_none", default)]
    pub failed_ios: FailedEvidence,
    /// What was left out, with the reason.
    pub left_out: Vec<String>,
    /// True where some of it would have been measured in a longer time.
    #[serde(default)]
    pub short_of_time: bool,
    /// What it cost.
    pub cost: SearchCost,
    /// The marks, judged: those claimed, and the highest that each letter would reach.
    pub judged: Vec<JudgedMark>,
    /// What other tools print of this card.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub other_tests: Vec<OtherTest>,
    /// Highest mark of each letter.
    pub highest: Vec<HighestMark>,
    /// The bus mode that the speeds imply.
    pub implied_bus: Option<ImpliedBus>,
    /// Conclusions.
    pub findings: Vec<Finding>,
}

/// The marks of a card, judged as a part of a visit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgedMarks {
    /// What was measured.
    pub marks: MarksMeasured,
    /// Bytes moved, and the time it took.
    #[serde(flatten)]
    pub moved: IoTotals,
}

/// The document of a judgement of marks.
pub type MarksReport = Report<JudgedMarks>;

impl ReportBody for JudgedMarks {
    fn moved(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}

impl MarksMeasured {
    /// What became of a mark, where it was judged.
    pub fn outcome(&self, mark: Mark) -> Option<MarkOutcome> {
        self.judged.iter().find(|judged| judged.mark == mark).map(|judged| judged.outcome)
    }

    /// The highest mark of a letter that the card would meet.
    pub fn highest(&self, letter: char) -> Option<Mark> {
        self.highest.iter().find(|highest| highest.letter == letter)?.mark
    }
}
