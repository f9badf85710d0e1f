//! From figures to outcomes: each mark by its demands, and for each letter the highest mark that the card would meet.

use super::bus;
use super::margin::Facts;
use super::options::{Family, Options};
use super::parts::parts;
use cardscope_model::judged_mark::{Highest, JudgedMark, MarksMeasured, Outcome, Part};
use cardscope_sd::mark::Mark;

const LETTERS: [char; 5] = ['C', 'U', 'V', 'A', 'E'];

/// Judges every mark that is claimed or whose letter this host can test at all.
pub(super) fn all(into: &mut MarksMeasured, options: &Options, family: Family) {
    into.implied_bus = bus::implied(into);
    let facts = Facts { found: into, family, thorough: options.thorough, in_file: !options.card_addresses };
    let mut judged = Vec::new();
    for mark in Mark::all() {
        if mark.letter() != 'E' || into.bus.pcie || options.claims('E') {
            judged.push(one(mark, &facts, options));
        }
    }
    imply(&mut judged);
    into.highest = LETTERS.iter().filter_map(|letter| highest(*letter, &judged)).collect();
    into.judged = judged;
}

fn one(mark: Mark, facts: &Facts<'_>, options: &Options) -> JudgedMark {
    let parts = parts(mark, facts);
    let deciding = |outcome: Outcome| parts.iter().find(|part| part.outcome == outcome);
    let lacking = bus::lacks(facts.found, mark);
    let weakest = weakest(&parts);
    // What is below its demand tells more than what could not be tested.
    let short = [Outcome::Missed, Outcome::Borderline, Outcome::NotTestable].into_iter().find_map(deciding);
    let (outcome, because) = match (lacking, short) {
        (Some(why), _) => (Outcome::NotTestable, why),
        (None, Some(part)) => (part.outcome, words(part)),
        (None, None) => (Outcome::Met, weakest.map_or_else(String::new, words)),
    };
    JudgedMark {
        mark,
        claimed_by: options.claimed_by(mark),
        outcome,
        because,
        margin: weakest.and_then(|part| part.margin),
        borderline: outcome == Outcome::Borderline
            || outcome != Outcome::NotTestable && weakest.is_some_and(|part| part.borderline),
        confidence: confidence(outcome, &parts),
        parts,
    }
}

/// The demand with the smallest margin: of the speeds and rates, since it is them that a mark promises; the limits of
/// single times are so wide that nearly every card keeps them.
fn weakest(parts: &[Part]) -> Option<&Part> {
    parts
        .iter()
        .filter(|part| part.margin.is_some() && part.unit != "ms")
        .min_by(|a, b| a.margin.unwrap_or(0.0).total_cmp(&b.margin.unwrap_or(0.0)))
}

fn words(part: &Part) -> String {
    match (part.figure(), part.outcome, &part.because) {
        (Some(figure), Outcome::NotTestable, Some(why)) => format!("{why} ({figure})"),
        (Some(figure), Outcome::Borderline, Some(why)) => format!("{figure}; {why}"),
        (Some(figure), ..) => figure,
        (None, _, why) => format!("{}: {}", part.what, why.as_deref().unwrap_or("not measured")),
    }
}

fn confidence(outcome: Outcome, parts: &[Part]) -> f64 {
    let of = |wanted: Outcome| parts.iter().filter(move |p| p.outcome == wanted).map(|p| p.confidence);
    match outcome {
        Outcome::Met => of(Outcome::Met).fold(1.0, f64::min),
        Outcome::Missed => of(Outcome::Missed).fold(0.0, f64::max),
        Outcome::Borderline => of(Outcome::Borderline).fold(0.0, f64::max),
        Outcome::NotTestable => 0.0,
    }
}

/// A mark that is met includes the lower ones of its letter, whatever their own recording unit showed.
fn imply(judged: &mut [JudgedMark]) {
    let met: Vec<Mark> = judged.iter().filter(|j| j.outcome == Outcome::Met).map(|j| j.mark).collect();
    for lower in judged.iter_mut().filter(|j| j.outcome != Outcome::Met) {
        let higher = met.iter().find(|mark| mark.implied().any(|implied| implied == lower.mark));
        if let Some(higher) = higher {
            lower.outcome = Outcome::Met;
            lower.borderline = false;
            lower.because = format!("{higher} is met, which includes it");
            lower.confidence = 0.9;
        }
    }
}

fn highest(letter: char, judged: &[JudgedMark]) -> Option<Highest> {
    let mut of: Vec<&JudgedMark> = judged.iter().filter(|j| j.mark.letter() == letter).collect();
    of.sort_by_key(|j| j.mark.number());
    let met = of.iter().rposition(|j| j.outcome == Outcome::Met);
    let next = of.get(met.map_or(0, |i| i + 1));
    let remark = next.map_or_else(String::new, |next| match next.outcome {
        Outcome::NotTestable => format!("{} is not testable here: {}", next.mark, next.because),
        Outcome::Borderline => format!("{} is borderline: {}", next.mark, next.because),
        _ => format!("{} is missed: {}", next.mark, next.because),
    });
    (!of.is_empty()).then(|| Highest { letter, mark: met.map(|i| of[i].mark), remark })
}
