//! Findings of a long run, each with its numbers and advice.

mod baseline;
mod hot_host;

pub use baseline::compare_runs;

use cardscope_model::card_map::property::PropertyStatus;
use cardscope_model::condition::Condition;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::report::IoTotals;
use cardscope_model::sustain::{EventKind, MeasuredRun, PlacedTemperature, SustainEvent, SustainSample};
use cardscope_model::units::{DecimalSize, MB, SpeedMbS, WaitTime, three_digits};
use cardscope_statistics::io_errors;

/// Stall in seconds that is noticeable: a camera's buffer overflows, a screen freezes.
const NOTICEABLE_STALL_S: f64 = 1.0;

/// Confidence below which a finding is worded as probable.
const MIN_CERTAIN: f64 = 0.7;

/// Share of time in stalls that is worth a hint.
const NOTABLE_STALL_SHARE: f64 = 0.05;

/// All findings about card, reader and host.
pub fn long_run_findings(
    measured: &MeasuredRun,
    moved: &IoTotals,
    card_bytes: Option<u64>,
    condition: &Condition,
) -> Vec<Finding> {
    let too_hot = ("too-hot", 1.0, "The card became too hot, which ended the run.");
    let slower = ("slower", 0.7, "The card became slower for an unknown reason.");
    let raise_limit = "Cool the card, or raise --max-temp if the maker allows it.";
    let measure_again = "Measure again after a pause, with --thermometer card=….";
    [
        refused_io_finding(measured, moved.bytes_written),
        no_answer_finding(measured),
        io_errors::io_error_finding(moved, card_bytes, "under a long load"),
        cache_finding(measured),
        throttling_finding(measured),
        event_finding(measured, EventKind::TooHot, too_hot, raise_limit),
        stall_finding(measured),
        interference_finding(measured),
        event_finding(measured, EventKind::Slower, slower, measure_again),
        hot_host::run_hot_host_finding(condition, &measured.series),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Data that the run lacks to distinguish heat and other load from the card itself.
pub fn missing_evidence(series: &[SustainSample]) -> Vec<String> {
    let warm = |s: &SustainSample| s.temperatures.iter().any(PlacedTemperature::is_of_card);
    let doubts = [
        (
            series.iter().any(warm),
            "the card's temperature is unknown, so heat is judged by its reads; add a sensor with \
             --thermometer card=…",
        ),
        (
            series.iter().any(|s| s.ping_us.is_some()),
            "the card has no command that needs no flash, so other load on the bus looks like heat",
        ),
    ];
    let missing = doubts.into_iter().filter(|(measured, _)| !series.is_empty() && !measured);
    missing.map(|(_, text)| text.to_owned()).collect()
}

fn find_event(measured: &MeasuredRun, kind: EventKind) -> Option<&SustainEvent> {
    measured.events.iter().find(|event| event.kind == kind)
}

/// The card failed all writes or all reads until the run ended.
fn refused_io_finding(measured: &MeasuredRun, bytes_written: u64) -> Option<Finding> {
    let refused = |e: &&SustainEvent| matches!(e.kind, EventKind::NoMoreWrites | EventKind::NoMoreReads);
    let event = measured.events.iter().find(refused)?;
    let (claim, verdict, helps) = match event.kind {
        EventKind::NoMoreWrites => (
            "no-more-writes",
            "The card accepts no more writes.",
            "Copy your data now; then check the lock switch and try another reader.",
        ),
        _ => (
            "no-more-reads",
            "The card answers no more reads.",
            "Try another reader; if reads fail there too, the data is lost.",
        ),
    };
    let finding = Finding::new(claim, FindingWeight::Bad, event.confidence, verdict)
        .because("after", format!("{:.0} s", event.at_s))
        .because("written until then", DecimalSize(bytes_written))
        .because_all(&event.evidence)
        .with_advice(helps);
    Some(finding)
}

/// Reports a time without an answer after which hosts reset the card or give it up.
fn no_answer_finding(measured: &MeasuredRun) -> Option<Finding> {
    let event = find_event(measured, EventKind::NoAnswer)?;
    let (_, length) = event.evidence.first()?;
    let verdict = format!("The card did not answer for {length}; hosts give up after 30 s.");
    let finding = Finding::new("no-answer", FindingWeight::Bad, 0.99, verdict)
        .because("longest wait", length)
        .because("over at", format!("{:.0} s", event.at_s))
        .with_advice("Try another reader and another cable, or replace the card.");
    Some(finding)
}

fn cache_finding(measured: &MeasuredRun) -> Option<Finding> {
    let cache = &measured.cache_bytes;
    let bytes = cache.value.filter(|_| cache.status == PropertyStatus::Measured)?;
    let after = measured.after_cache_mb_s.value?;
    let before = cache.evidence.numbers.iter().find(|n| n.what == "speed before")?;
    let size = DecimalSize(bytes);
    let why = if cache.confidence < MIN_CERTAIN { ", probably because" } else { ":" };
    let verdict = format!("The card slows down after {size} of writes{why} its cache is full.");
    let mut finding = Finding::new("cache-end", FindingWeight::Note, cache.confidence, verdict)
        .because("cache", size)
        .because("before", SpeedMbS(before.value))
        .because("after", SpeedMbS(after));
    let advice = match &measured.recovery {
        Some(recovery) if recovery.bytes > 0 => {
            finding = finding
                .because("freed by a pause", DecimalSize(recovery.bytes))
                .because("pause", format!("{:.0} s", recovery.pause_s));
            let freed = DecimalSize((recovery.mb_s * MB) as u64);
            format!("Write in smaller bursts; each second of pause frees {freed}.")
        }
        Some(recovery) => format!(
            "Write in smaller bursts, with pauses longer than {:.0} s, which freed nothing.",
            recovery.pause_s
        ),
        None => "Write in smaller bursts, with pauses between them.".to_owned(),
    };
    Some(finding.with_advice(advice))
}

fn throttling_finding(measured: &MeasuredRun) -> Option<Finding> {
    let heat = measured.throttling.as_ref()?;
    let slowest = heat.steps.iter().map(|s| s.speed_ratio).fold(1.0, f64::min);
    let why = if heat.confidence < MIN_CERTAIN { ", perhaps from heat" } else { " from heat" };
    let verdict = format!("The card slows to {:.0} % of its cool speed{why}.", slowest * 100.0);
    let limits = &measured.limits;
    let degrees = |celsius: Option<f64>| celsius.map(|c| format!("{c:.0} °C"));
    let counted = heat.t1_transitions.zip(heat.t2_transitions).map(|(t1, t2)| format!("{t1} and {t2}"));
    let finding = Finding::new("throttling", FindingWeight::Hint, heat.confidence, verdict)
        .because("after", format!("{:.0} s", heat.after_s))
        .because("share of the time under load", format!("{:.0} %", heat.share * 100.0))
        .because_some("temperature then", degrees(heat.at_celsius))
        .because_some("TMT1", degrees(limits.tmt1_celsius))
        .because_some("TMT2", degrees(limits.tmt2_celsius))
        .because_some("TMPTH", degrees(limits.tmpth_celsius))
        .because_some("warmest", degrees(measured.max_celsius))
        .because_some("transitions to T1 and T2 that the card counted", counted)
        .with_advice("Cool the card with a fan or a heat sink, or write in shorter bursts.");
    Some(finding)
}

/// Finding of an event that explains itself by its evidence.
fn event_finding(
    measured: &MeasuredRun,
    kind: EventKind,
    (claim, confidence, verdict): (&str, f64, &str),
    advice: &str,
) -> Option<Finding> {
    let event = find_event(measured, kind)?;
    let finding = Finding::new(claim, FindingWeight::Hint, confidence, verdict)
        .because("after", format!("{:.0} s", event.at_s))
        .because_all(&event.evidence);
    Some(finding.with_advice(advice))
}

fn stall_finding(measured: &MeasuredRun) -> Option<Finding> {
    let stalls = measured.stalls.as_ref()?;
    let notable = stalls.longest_s >= NOTICEABLE_STALL_S || stalls.share >= NOTABLE_STALL_SHARE;
    let weight = if notable { FindingWeight::Hint } else { FindingWeight::Note };
    let longest = WaitTime(stalls.longest_s);
    let verdict = format!("The card stalls for up to {longest} during its housekeeping.");
    // Small random writes cause thousands of stalls per GB, so those are counted per MB.
    let (unit, share) = if stalls.per_gb < 1e3 { ("per GB", 1.0) } else { ("per MB", MB / 1e9) };
    let rate = |per_gb: f64| three_digits(per_gb * share);
    let [least, most] = stalls.per_gb_ci95.map(rate);
    let period = stalls.period.as_ref().map(|period| DecimalSize(period.bytes).to_string());
    let finding = Finding::new("stalls", weight, 0.97, verdict)
        .because("stalls", stalls.count)
        .because(unit, format!("{} ({least} to {most})", rate(stalls.per_gb)))
        .because("median", format!("{:.2} s", stalls.median_s))
        .because("99 % up to", format!("{:.2} s", stalls.p99_s))
        .because("share of the time", format!("{:.1} %", stalls.share * 100.0))
        .because("speed between them", SpeedMbS(stalls.between_mb_s))
        .because_some("one every", period)
        .with_advice(
            "Write larger sequential blocks, and buffer the longest stall in programs that must not wait.",
        );
    Some(finding)
}

fn interference_finding(measured: &MeasuredRun) -> Option<Finding> {
    let other = measured.interference.as_ref()?;
    let verdict = "Other load on the bus or this computer slowed the test, not the card.";
    let finding = Finding::new("interference", FindingWeight::Hint, 0.97, verdict)
        .because("bursts", other.bursts)
        .because("in all", format!("{:.1} s", other.seconds))
        .because("command without flash access", format!("{:.2} times as long", other.ping_ratio))
        .because("speed", format!("{:.2} of that outside", other.speed_ratio))
        .with_advice(
            "Stop other programs on the card, reader or USB controller (`cardscope observe` shows them) \
                 and measure again.",
        );
    Some(finding)
}
