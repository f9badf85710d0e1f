//! Judges marks by their measured figures, finds the highest mark of each letter, and derives findings: a missed mark,
//! a card better than its label, a bus faster than the label implies (docs/reference/reports.md#sd-card-round-up).

use super::bus;
use super::demand_parts::demand_parts;
use super::margin::DemandFacts;
use super::options::MarkOptions;
use super::other_tools;
use super::tester::CapacityFamily;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::mark_result::{
    ClaimedBy, HighestMark, JudgedMark, MarkDemand, MarkOutcome, MarksMeasured, TestForm, deciding_demand,
};
use cardscope_model::units::{SpeedMbS, decimal_places};
use cardscope_sd::mark::Mark;

/// Order in which outcomes of parts decide. A miss outweighs untested parts; a bus that hides the card outweighs a
/// lack of time, because more time would not help.
const WORST_FIRST: [MarkOutcome; 5] = [
    MarkOutcome::Missed,
    MarkOutcome::Borderline,
    MarkOutcome::NotTestable,
    MarkOutcome::NotTested,
    MarkOutcome::Met,
];

const LETTERS: [char; 5] = ['C', 'U', 'V', 'A', 'E'];

/// Judges every mark that is claimed, or that this host can test at all.
pub(super) fn judge_all(into: &mut MarksMeasured, options: &MarkOptions, card_bytes: u64) {
    let family = CapacityFamily::from_bytes(card_bytes);
    into.implied_bus = bus::implied_bus(into);
    let facts = DemandFacts { found: into, family, in_file: !options.card_addresses };
    let express = into.bus.pcie || options.claims_letter('E');
    let marks = Mark::all().filter(|mark| mark.letter() != 'E' || express);
    let mut judged: Vec<JudgedMark> = marks.map(|mark| judge_mark(mark, &facts, options)).collect();
    mark_implied(&mut judged);
    into.highest = LETTERS.iter().filter_map(|letter| highest_met(*letter, &judged)).collect();
    into.judged = judged;
    into.other_tests = other_tools::predicted_results(into);
    into.findings = mark_findings(into);
}

fn judge_mark(mark: Mark, facts: &DemandFacts<'_>, options: &MarkOptions) -> JudgedMark {
    let parts = demand_parts(mark, facts);
    let lacking = bus::missing_requirement(facts.found, mark);
    let part = WORST_FIRST.into_iter().find_map(|outcome| deciding_demand(&parts, outcome));
    let outcome = match lacking {
        Some(_) => MarkOutcome::NotTestable,
        None => part.map_or(MarkOutcome::NotTested, |part| part.outcome),
    };
    let judged = JudgedMark {
        mark,
        claimed_by: options.claimed_by(mark),
        outcome,
        because: lacking.or_else(|| part.map(part_text)).unwrap_or_default(),
        margin: part.and_then(|part| part.margin),
        borderline: outcome != MarkOutcome::NotTestable && part.is_some_and(|part| part.borderline),
        confidence: outcome_confidence(outcome, &parts),
        parts,
    };
    weaken_by_failures(judged, facts.found.failed_ios.failed_for_mark(mark))
}

/// Weakens an outcome if I/Os failed: they have no time and cost some, so the mark counts as neither met nor missed.
fn weaken_by_failures(judged: JudgedMark, failed: u64) -> JudgedMark {
    let outcome = match judged.outcome {
        MarkOutcome::Met => MarkOutcome::NotTested,
        MarkOutcome::Missed => MarkOutcome::Borderline,
        _ => return judged,
    };
    if failed == 0 {
        return judged;
    }
    let ios = if failed == 1 { "1 I/O".to_owned() } else { format!("{failed} I/Os") };
    let because = format!("{ios} failed while it was measured ({})", judged.because);
    JudgedMark { outcome, because, borderline: outcome == MarkOutcome::Borderline, confidence: 0.0, ..judged }
}

fn part_text(part: &MarkDemand) -> String {
    match (part.figure_text(), part.outcome, &part.because) {
        (None, _, why) => format!("{}: {}", part.what, why.as_deref().unwrap_or("not measured")),
        (Some(figure), MarkOutcome::Borderline, Some(why)) => format!("{figure}; {why}"),
        (Some(figure), MarkOutcome::Met | MarkOutcome::Missed, _) | (Some(figure), _, None) => figure,
        (Some(figure), _, Some(why)) => format!("{why} ({figure})"),
    }
}

fn outcome_confidence(outcome: MarkOutcome, parts: &[MarkDemand]) -> f64 {
    let of = |wanted: MarkOutcome| parts.iter().filter(move |p| p.outcome == wanted).map(|p| p.confidence);
    match outcome {
        MarkOutcome::Met => of(MarkOutcome::Met).fold(1.0, f64::min),
        MarkOutcome::Missed | MarkOutcome::Borderline => of(outcome).fold(0.0, f64::max),
        MarkOutcome::NotTested | MarkOutcome::NotTestable => 0.0,
    }
}

/// Marks as met all lower marks of a letter, whatever their own recording unit showed.
fn mark_implied(judged: &mut [JudgedMark]) {
    let met: Vec<Mark> = judged.iter().filter(|j| j.outcome == MarkOutcome::Met).map(|j| j.mark).collect();
    for lower in judged.iter_mut().filter(|j| j.outcome != MarkOutcome::Met) {
        let higher = met.iter().find(|mark| mark.implied_marks().any(|implied| implied == lower.mark));
        if let Some(higher) = higher {
            lower.outcome = MarkOutcome::Met;
            lower.borderline = false;
            lower.because = format!("met by {higher}, which includes it");
            lower.confidence = 0.9;
        }
    }
}

fn highest_met(letter: char, judged: &[JudgedMark]) -> Option<HighestMark> {
    let mut of: Vec<&JudgedMark> = judged.iter().filter(|j| j.mark.letter() == letter).collect();
    of.sort_by_key(|j| j.mark.number());
    let met = of.iter().rposition(|j| j.outcome == MarkOutcome::Met);
    let next = of.get(met.map_or(0, |i| i + 1));
    let remark = next.map_or_else(String::new, |next| {
        let outcome = match next.outcome {
            MarkOutcome::NotTested | MarkOutcome::NotTestable => "not tested",
            MarkOutcome::Borderline => "borderline",
            _ => "missed",
        };
        format!("{} {outcome}: {}", next.mark, next.because)
    });
    (!of.is_empty()).then(|| HighestMark { letter, mark: met.map(|i| of[i].mark), remark })
}

fn mark_findings(found: &MarksMeasured) -> Vec<Finding> {
    let claimed = found.judged.iter().filter(|judged| judged.is_claimed());
    let of_claims = claimed.filter_map(|judged| claim_finding(judged, found));
    of_claims.chain(undersold_finding(found)).chain(fast_bus_finding(found)).collect()
}

fn claim_finding(judged: &JudgedMark, found: &MarksMeasured) -> Option<Finding> {
    let mark = judged.mark;
    let by = claimant_words(&judged.claimed_by);
    let verdict = |what: &str| format!("{mark} (from {by}) is {what} {}.", judged.because);
    let note = |claim, what| Finding::new(claim, FindingWeight::Note, 0.9, verdict(what));
    let sure = judged.confidence;
    let finding = match judged.outcome {
        MarkOutcome::Met => return None,
        MarkOutcome::NotTested => note("mark-not-tested", "not tested:"),
        MarkOutcome::NotTestable => note("mark-not-testable", "not testable here:"),
        MarkOutcome::Borderline => {
            Finding::new("mark-borderline", FindingWeight::Hint, sure, verdict("borderline:"))
                .with_advice(better_test_advice(found))
        }
        MarkOutcome::Missed => Finding::new("mark-missed", FindingWeight::Bad, sure, verdict("missed:"))
            .with_advice(match (found.bus.reader, found.form) {
                (true, _) => "Try another reader: a slow reader misses the same marks.",
                (_, TestForm::Short) => {
                    "Return the card: no difference to the specification's test explains so much."
                }
                _ => "Return the card: it does not meet its label.",
            }),
    };
    let other = found.other_tests.iter().find(|test| test.mark == mark);
    let finding = other.into_iter().fold(finding, |finding, test| {
        let (does, depth) = (if test.passes { "passes" } else { "fails" }, test.queue_depth);
        let writes = test.random_write_iops;
        finding.because(&test.tool, format!("{does}: {writes:.0} IOPS writes at queue depth {depth}"))
    });
    let measured = judged.parts.iter().filter_map(|part| Some((part, part.measured?)));
    Some(measured.fold(finding, |finding, (part, value)| {
        let (decimals, unit, needed) = (decimal_places(value), &part.unit, part.demanded);
        finding.because(&part.what, format!("{value:.decimals$} {unit} (needs {needed})"))
    }))
}

/// Advice for a test that is closer to the specification.
fn better_test_advice(found: &MarksMeasured) -> String {
    let again = "Test it again with `cardscope check --marks --erase`, in";
    match (found.bus.reader, found.form) {
        (true, TestForm::Specification) => "Test it again in another reader or an SD slot.".to_owned(),
        (true, _) => format!("{again} another reader or an SD slot."),
        (false, TestForm::Specification) => "Another run may end on the other side.".to_owned(),
        (false, _) => format!("{again} the conditions of the specification."),
    }
}

fn claimant_words(by: &[ClaimedBy]) -> &'static str {
    match (by.contains(&ClaimedBy::Card), by.contains(&ClaimedBy::Label)) {
        (true, true) => "card and label",
        (false, true) => "the label",
        _ => "the card",
    }
}

/// Finding on letters in which the card meets more than it claims.
fn undersold_finding(found: &MarksMeasured) -> Option<Finding> {
    if found.claims.is_empty() {
        return None;
    }
    let claimed = |letter| found.claims.iter().map(|c| c.mark).filter(|m| m.letter() == letter).max();
    let borderline = |mark| found.judged.iter().any(|judged| judged.mark == mark && judged.borderline);
    let more = found.highest.iter().filter_map(|highest| Some((highest.mark?, claimed(highest.letter))));
    let more = more.filter(|(would, claims)| claims.is_none_or(|claims| would.number() > claims.number()));
    let more: Vec<(Mark, Option<Mark>)> = more.filter(|(would, _)| !borderline(*would)).collect();
    if more.is_empty() {
        return None;
    }
    let names: Vec<String> = more.iter().map(|(would, _)| would.to_string()).collect();
    let verdict = format!("The card meets {}, beyond its own claims.", names.join(" and "));
    let finding = Finding::new("mark-undersold", FindingWeight::Note, 0.8, verdict);
    Some(more.iter().fold(finding, |finding, (would, claims)| {
        let claims = claims.map_or("no such class".to_owned(), |claims| claims.to_string());
        finding.because(&format!("measured {would}"), format!("claims {claims}"))
    }))
}

fn fast_bus_finding(found: &MarksMeasured) -> Option<Finding> {
    let bus = found.implied_bus.as_ref().filter(|bus| bus.above_claim)?;
    let marks: Vec<String> = found.claims.iter().map(|claim| claim.mark.to_string()).collect();
    let (uses, claims, speed) = (&bus.family, marks.join(" "), SpeedMbS(bus.mb_s));
    let verdict = format!(
        "The card uses {uses}, although it claims only {claims}: {speed} exceeds High Speed (25 MB/s)."
    );
    let mode = format!("{}, {}", bus.mode, SpeedMbS(bus.ceiling_mb_s));
    let finding = Finding::new("bus-mode-implied", FindingWeight::Note, 0.9, verdict);
    Some(finding.because("fastest speed", speed).because("slowest mode that carries it", mode))
}
