//! Findings about a printed label: contradictions with the specification, the card's registers and measurements.
//!
//! Makers count in powers of ten and keep spare blocks: 19 cards have 96.8 to 101.6 % of the printed size
//! (docs/reference/sd.md#printed-sizes). A printed "up to" is a maximum under the maker's conditions. So only a card
//! that stays far below in every run contradicts it, and only if reader and bus allow the printed speed.

mod speed;

pub use speed::{JudgedSpeed, MeasuredSpeeds, judge_speeds};

use crate::finding::{AdvisedVerb, Finding, FindingWeight};
use crate::identity::Identity;
use crate::units::{DecimalSize, SpeedMbS};
use crate::verify::SURE_CONFIDENCE;
use cardscope_sd::label::{CardLabel, PrintedBus, PrintedCapacity, PrintedSpeed, SpeedDirection};
use cardscope_sd::mark::Mark;
use cardscope_sd::registers::CsdFamily;
use speed::SPEED;

#[derive(Debug, Clone, Default)]
pub struct LabelEvidence<'a> {
    pub announced_bytes: Option<u64>,
    pub usable_bytes: Option<u64>,
    /// Confidence of `usable_bytes`, 0 to 1.
    pub usable_confidence: f64,
    pub identity: Option<&'a Identity>,
    pub measured: MeasuredSpeeds,
}

pub fn judge_label(label: &CardLabel, seen: &LabelEvidence<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = check_family(label).into_iter().collect();
    if let Some(printed) = &label.capacity {
        findings.extend(seen.announced_bytes.map(|bytes| announced_finding(printed, bytes)));
        findings.extend(usable_finding(printed, seen));
    }
    let marks = || label.marks.iter().copied();
    findings.extend(label.false_marks.iter().map(|word| unknown_mark_finding(word)));
    findings.extend(marks().filter_map(|mark| doubled_mark_finding(label, mark)));
    findings.extend(marks().filter_map(|mark| mark_against_bus(label, mark)));
    findings.extend(conflicting_marks_finding(label));
    findings.extend(marks().filter_map(|mark| mark_against_card(mark, seen.identity?)));
    findings.extend(marks().filter_map(|mark| mark_against_speed(mark, seen)));
    findings.extend(rating_against_speed(label));
    findings.extend(speed_beyond_bus(label));
    findings.extend(judge_speeds(label, &seen.measured).iter().map(JudgedSpeed::finding));
    findings
}

const CAPACITY: &str = "label-capacity";
const PRINTED: &str = "printed_bytes";
const ANNOUNCED: &str = "announced_bytes";

/// Printed capacity far above the announced one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FalseCapacity {
    pub printed_bytes: u64,
    pub announced_bytes: u64,
}

impl FalseCapacity {
    /// Parses a finding of [`judge_label`], also a stored one. Returns None for other findings.
    pub fn from_finding(finding: &Finding) -> Option<Self> {
        let is_false = finding.claim == CAPACITY && finding.weight == FindingWeight::Bad;
        let bytes = |name| finding.evidence_value(name).filter(|_| is_false)?.parse().ok();
        Some(FalseCapacity { printed_bytes: bytes(PRINTED)?, announced_bytes: bytes(ANNOUNCED)? })
    }
}

fn label_hint(claim: &str, confidence: f64, text: String) -> Finding {
    Finding::new(claim, FindingWeight::Hint, confidence, text)
}

/// Smallest share of the printed size among genuine cards …
const USUAL_SHARE_FROM: f64 = 0.93;
/// … and the largest; 2^30 bytes are 1.074 GB.
const USUAL_SHARE_TO: f64 = 1.08;
/// Smallest share that rounding or units can explain: 10^12 is 0.909 of 2^40.
const MIN_EXPLAINED_SHARE: f64 = 0.90;

/// Largest printed size of each family (Physical Layer Specification 3.3), with a margin because 32 GB may mean GiB.
const FAMILIES: [(CsdFamily, u64, &str); 4] = [
    (CsdFamily::Sdsc, 2_147_483_648, "up to 2 GB"),
    (CsdFamily::Sdhc, 34_359_738_368, "over 2 GB to 32 GB"),
    (CsdFamily::Sdxc, 2_199_023_255_552, "over 32 GB to 2 TB"),
    (CsdFamily::Sduc, 140_737_488_355_328, "over 2 TB to 128 TB"),
];

fn check_family(label: &CardLabel) -> Option<Finding> {
    let claim = "label-family";
    if let [first, second, ..] = label.families[..] {
        let text = format!("The label names two families, {first} and {second}.");
        return Some(label_hint(claim, 0.8, text));
    }
    let (family, capacity) = (label.families.first()?, label.capacity.as_ref()?);
    let (right, _, range) = FAMILIES.iter().find(|(_, most, _)| capacity.bytes <= *most)?;
    let printed = &capacity.printed;
    let text = format!("A {printed} card is {right} ({range}), not {family}.");
    let hint = label_hint(claim, 0.8, text).because("printed family", family);
    (family != right).then(|| hint.because("printed capacity", printed))
}

fn deviation_text(printed: &PrintedCapacity, bytes: u64) -> String {
    let print = &printed.printed;
    let percent = |difference: u64| 100.0 * difference as f64 / printed.bytes as f64;
    match printed.bytes.checked_sub(bytes) {
        Some(0) => format!("exactly the printed {print}"),
        Some(less) => format!("{:.1} % less than the printed {print}", percent(less)),
        None => format!("{:.1} % more than the printed {print}", percent(bytes - printed.bytes)),
    }
}

fn announced_finding(printed: &PrintedCapacity, bytes: u64) -> Finding {
    let share = bytes as f64 / printed.bytes as f64;
    let text = format!("The card announces {}, {}", DecimalSize(bytes), deviation_text(printed, bytes));
    let (weight, confidence, usual) = match share {
        s if s < MIN_EXPLAINED_SHARE => (FindingWeight::Bad, 0.95, "far too little for a genuine card"),
        s if s < USUAL_SHARE_FROM => (FindingWeight::Hint, 0.6, "less than usual"),
        s if s <= USUAL_SHARE_TO => (FindingWeight::Note, 1.0, "as usual"),
        _ => (FindingWeight::Hint, 0.6, "the label may be of another card"),
    };
    Finding::new(CAPACITY, weight, confidence, format!("{text}: {usual}."))
        .because(PRINTED, printed.bytes)
        .because(ANNOUNCED, bytes)
        .because("usual share of the printed capacity", format!("{USUAL_SHARE_FROM} to {USUAL_SHARE_TO}"))
}

fn usable_finding(printed: &PrintedCapacity, seen: &LabelEvidence<'_>) -> Option<Finding> {
    let (bytes, confidence) = (seen.usable_bytes?, seen.usable_confidence);
    let less = seen.announced_bytes.is_none_or(|announced| bytes < announced);
    if !less || bytes as f64 >= MIN_EXPLAINED_SHARE * printed.bytes as f64 {
        return None;
    }
    let text = format!("The card really holds {}, {}.", DecimalSize(bytes), deviation_text(printed, bytes));
    // The finding about the capacity itself has the advice.
    let weight = if confidence >= SURE_CONFIDENCE { FindingWeight::Bad } else { FindingWeight::Hint };
    let finding = Finding::new(CAPACITY, weight, confidence, text).because(PRINTED, printed.bytes);
    Some(finding.because("usable_bytes", bytes))
}

const NEED_UHS_II: [u16; 2] = [60, 90];

fn unknown_mark_finding(word: &str) -> Finding {
    let all: Vec<String> = Mark::all().map(String::from).collect();
    let text = format!("The printed {word} is not a mark of the SD Association and promises nothing.");
    label_hint("label-mark-unknown", 0.8, text).because("printed", word).because("valid marks", all.join(" "))
}

fn combination_hint(text: String) -> Finding {
    label_hint("label-mark-combination", 0.7, text)
}

/// Reports a lower mark next to a higher one of its letter, which includes it.
fn doubled_mark_finding(label: &CardLabel, mark: Mark) -> Option<Finding> {
    let lower = label.marks.iter().find(|other| mark.implied_marks().any(|implied| implied == **other))?;
    let text = format!("The label has both {lower} and {mark}, although {mark} includes {lower}.");
    Some(combination_hint(text))
}

fn mark_against_bus(label: &CardLabel, mark: Mark) -> Option<Finding> {
    let needs = &mark.demand().bus;
    let text = match (mark.letter(), mark.number(), &label.buses[..]) {
        ('V', number, [PrintedBus::UhsI]) if NEED_UHS_II.contains(&number) => {
            format!("{mark} needs {needs}, but the label says UHS-I only.")
        }
        ('E', _, [first, ..]) if !label.buses.contains(&PrintedBus::Express) => {
            format!("{mark} is for SD Express cards only, but the label says {first}.")
        }
        _ => return None,
    };
    Some(combination_hint(text).because("mark", mark).because("needs", needs))
}

/// Reports marks of different letters that promise different write speeds, e.g. C4 and U1, or U1 and V30.
fn conflicting_marks_finding(label: &CardLabel) -> Option<Finding> {
    let of = |letter| label.marks.iter().filter(|m| m.letter() == letter).max().copied();
    let writes = |mark: Mark| mark.demand().write_mb_s;
    let (slow, fast) = [('C', 'U'), ('U', 'V')].iter().find_map(|(a, b)| {
        let (slow, fast) = (of(*a)?, of(*b)?);
        // C10 and U3 (30 MB/s) are the highest of their letters, so they do not contradict faster marks.
        let most = Mark::all().filter(|m| m.letter() == *a).map(writes).fold(0.0, f64::max);
        (writes(slow) < writes(fast).min(most)).then_some((slow, fast))
    })?;
    let (slow_mb_s, fast_mb_s, letter) = (writes(slow), writes(fast), slow.letter());
    let speeds = format!("{slow} promises {slow_mb_s} MB/s writes and {fast} {fast_mb_s} MB/s");
    let text = format!("{speeds}; a genuine card has a higher {letter} mark.");
    Some(combination_hint(text).because("marks", format!("{slow} {fast}")))
}

/// Compares a printed mark with the one in SSR or NVMe data.
fn mark_against_card(mark: Mark, identity: &Identity) -> Option<Finding> {
    let speaks = match mark.letter() {
        'E' => identity.nvme.as_ref().is_some_and(|nvme| nvme.express_area.is_some()),
        _ => identity.ssr.as_ref().is_some_and(|ssr| ssr.blank.is_none()),
    };
    let own = identity.marks.iter().find(|own| own.letter() == mark.letter());
    if !speaks || own.is_some_and(|own| own.number() >= mark.number()) {
        return None;
    }
    let says = own.map_or_else(|| format!("no {} mark", mark.letter()), |own| format!("{own} only"));
    let text = format!("The label says {mark}, but the card itself reports {says}.");
    let found = label_hint("label-mark-against-card", 0.8, text).because("printed", mark);
    let found = found.because("reported by the card", says);
    Some(found.with_verb_advice(AdvisedVerb::Check, "Run `cardscope check` to measure it."))
}

/// Compares a mark with measured speeds. Only a hint, because a mark is a minimum under special conditions.
fn mark_against_speed(mark: Mark, seen: &LabelEvidence<'_>) -> Option<Finding> {
    let (least, runs) = (mark.demand().write_mb_s, &seen.measured.write_mb_s);
    let best = runs.iter().copied().reduce(f64::max)?;
    let testable = seen.measured.ceiling_mb_s.is_none_or(|ceiling| ceiling > least);
    let fastest = SpeedMbS(best);
    let text = format!("{mark} promises {least} MB/s writes, but the fastest run reached {fastest}.");
    let found = label_hint("label-mark-speed", 0.5, text).because("runs", runs.len());
    (testable && best < least).then(|| found.because("conditions of the mark", &mark.demand().notes))
}

/// Share by which two printed figures for the same thing may differ because of rounding.
const ROUNDING_SHARE: f64 = 0.1;

/// Compares an x rating with a printed speed: `633x` next to `200 MB/s` means 95 MB/s.
fn rating_against_speed(label: &CardLabel) -> Option<Finding> {
    let rating = label.speeds.iter().find(|s| s.printed.ends_with('x'))?;
    let reading = |s: &&PrintedSpeed| !s.printed.ends_with('x') && s.direction != Some(SpeedDirection::Write);
    let speed = label.speeds.iter().find(reading)?;
    let apart = (rating.mb_s - speed.mb_s).abs() > ROUNDING_SHARE * rating.mb_s.max(speed.mb_s);
    let (rated, mb_s, printed) = (&rating.printed, rating.mb_s, &speed.printed);
    let text = format!("{rated} means {mb_s:.0} MB/s, but the label also says {printed}.");
    apart.then(|| label_hint(SPEED, 0.6, text).because("rating", rated).because("speed", printed))
}

fn speed_beyond_bus(label: &CardLabel) -> Option<Finding> {
    let carries = label.buses.iter().map(|bus| bus.ceiling_mb_s()).reduce(f64::max)?;
    let fastest = label.speeds.iter().max_by(|a, b| a.mb_s.total_cmp(&b.mb_s))?;
    let (bus, printed) = (label.buses.iter().max()?, &fastest.printed);
    let own_mode = match bus {
        PrintedBus::UhsI => "; up to 208 MB/s need the maker's own reader (DDR200)",
        _ => "",
    };
    let text = format!("The printed {printed} exceeds {bus} ({carries} MB/s){own_mode}.");
    let note = Finding::new(SPEED, FindingWeight::Note, 0.9, text).because("printed", printed);
    (fastest.mb_s > carries).then(|| note.because("bus", bus))
}

#[cfg(test)]
mod tests;
