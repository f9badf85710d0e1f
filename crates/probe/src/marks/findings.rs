//! What follows from the judged marks: a promise that is broken, one that is smaller than the card, and a bus that is
//! faster than the card says (seed 002).

use cardscope_model::finding::{Finding, Weight};
use cardscope_model::judged_mark::{ClaimedBy, JudgedMark, MarksMeasured, Outcome};
use cardscope_sd::mark::Mark;

/// Writes the findings anew.
pub(super) fn draw(into: &mut MarksMeasured) {
    let mut findings: Vec<Finding> = claimed(into).filter_map(|judged| of_claim(judged, into)).collect();
    findings.extend(undersold(into));
    findings.extend(bus(into));
    into.findings = findings;
}

fn claimed(found: &MarksMeasured) -> impl Iterator<Item = &JudgedMark> {
    found.judged.iter().filter(|judged| !judged.claimed_by.is_empty())
}

fn of_claim(judged: &JudgedMark, found: &MarksMeasured) -> Option<Finding> {
    let mark = judged.mark;
    let by = claimers(&judged.claimed_by);
    let finding = match judged.outcome {
        Outcome::Met => return None,
        Outcome::NotTestable => Finding::new(
            "mark-not-testable",
            Weight::Note,
            0.9,
            format!("{mark}, claimed by {by}, is not testable here because {}.", judged.because),
        ),
        Outcome::Borderline => Finding::new(
            "mark-borderline",
            Weight::Hint,
            judged.confidence,
            format!("{mark}, claimed by {by}, is borderline: {}.", judged.because),
        )
        .advise(nearer(found)),
        Outcome::Missed => Finding::new(
            "mark-missed",
            Weight::Bad,
            judged.confidence,
            format!("{mark}, claimed by {by}, is missed: {}.", judged.because),
        )
        .advise(if found.bus.reader {
            "Try another reader before you complain: a slow reader misses the same marks."
        } else {
            "Return the card: it does not meet what is printed on it."
        }),
    };
    let measured = judged.parts.iter().filter_map(|part| Some((part, part.measured?)));
    Some(measured.fold(finding, |finding, (part, value)| {
        finding.because(&part.what, format!("{value:.1} {}, {:.1} demanded", part.unit, part.demanded))
    }))
}

/// What comes nearer to the specification's own test.
fn nearer(found: &MarksMeasured) -> &'static str {
    if found.bus.reader {
        "Format the card and test it again with `check --erase`, in another reader or in a slot for SD cards."
    } else {
        "Format the card and test it again with `check --erase`, which comes nearer to the specification's test."
    }
}

fn claimers(by: &[ClaimedBy]) -> &'static str {
    match (by.contains(&ClaimedBy::Card), by.contains(&ClaimedBy::Label)) {
        (true, true) => "card and label",
        (false, true) => "the label",
        _ => "the card",
    }
}

/// Letters in which the card would meet more than anybody claims.
fn undersold(found: &MarksMeasured) -> Option<Finding> {
    if found.claims.is_empty() {
        return None;
    }
    let claimed = |letter| found.claims.iter().map(|c| c.mark).filter(|m| m.letter() == letter).max();
    let more: Vec<(Mark, Option<Mark>)> = found
        .highest
        .iter()
        .filter_map(|highest| Some((highest.mark?, claimed(highest.letter))))
        .filter(|(would, claims)| claims.is_none_or(|claims| would.number() > claims.number()))
        .filter(|(would, _)| !borderline(found, *would))
        .collect();
    if more.is_empty() {
        return None;
    }
    let names: Vec<String> = more.iter().map(|(would, _)| would.to_string()).collect();
    let finding = Finding::new(
        "mark-undersold",
        Weight::Note,
        0.8,
        format!("The card meets {}, which neither it nor its label claims.", names.join(" and ")),
    );
    Some(more.iter().fold(finding, |finding, (would, claims)| {
        let claims = claims.map_or("nothing".to_owned(), |claims| claims.to_string());
        finding.because(&format!("{} claimed", would.letter()), format!("{claims}, {would} would be met"))
    }))
}

fn borderline(found: &MarksMeasured, mark: Mark) -> bool {
    found.judged.iter().any(|judged| judged.mark == mark && judged.borderline)
}

fn bus(found: &MarksMeasured) -> Option<Finding> {
    let bus = found.implied_bus.as_ref().filter(|bus| bus.above_claim)?;
    let marks: Vec<String> = found.claims.iter().map(|claim| claim.mark.to_string()).collect();
    Some(
        Finding::new(
            "bus-mode-implied",
            Weight::Note,
            0.9,
            format!(
                "The card uses {1}, although it claims only {2}: {0:.1} MB/s is more than High Speed carries (25 MB/s).",
                bus.mb_s,
                bus.family,
                marks.join(" ")
            ),
        )
        .because("fastest speed", format!("{:.1} MB/s", bus.mb_s))
        .because("slowest mode that carries it", format!("{}, {:.1} MB/s", bus.mode, bus.ceiling_mb_s)),
    )
}
