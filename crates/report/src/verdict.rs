//! The eleven verdicts on a card's capacity as people read them: first word, colour, answer, reason and advice, the same
//! for `verify`, `check` and a publication.

use crate::figure::{count, listing, percent, speed};
use crate::page::Tone;
use cardscope_model::capacity::nominal;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::units::{BinarySize, Size, grouped};
use cardscope_model::verify::{Method, SURE, Verdict, Verification};

/// Its colour.
pub(crate) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Genuine => Tone::Good,
        Verdict::ReaderSuspect | Verdict::Inconclusive => Tone::Warning,
        _ => Tone::Bad,
    }
}

/// The word that the answer begins with.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Genuine => "GENUINE",
        Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted => "FAKE",
        Verdict::Damaged => "DAMAGED",
        Verdict::Dead => "DEAD",
        Verdict::ReadOnly => "READ-ONLY",
        Verdict::Unstable => "UNSTABLE",
        Verdict::ReaderSuspect => "SUSPECT READER",
        Verdict::Inconclusive => "INCONCLUSIVE",
    }
}

/// The answer of a page and its colour: the capacity first, then what is printed on the card; `missed` names the marks
/// that a visit found missed.
pub(crate) fn headline(found: &Verification, findings: &[Finding], missed: Option<String>) -> (Tone, String) {
    let unaccused = matches!(found.verdict, Verdict::Genuine | Verdict::Inconclusive);
    if let Some(lie) = findings.iter().filter(|_| unaccused).find_map(false_label) {
        return (Tone::Bad, lie);
    }
    let bad = findings.iter().filter(|finding| finding.weight == Weight::Bad).count();
    let short =
        missed.or_else(|| slower_than_printed(findings)).filter(|_| found.verdict == Verdict::Genuine);
    match (found.verdict, short) {
        (_, Some(short)) => (Tone::Warning, format!("GENUINE, but slower than printed: {short}.")),
        (Verdict::Genuine, None) if bad > 0 => {
            (Tone::Warning, format!("GENUINE, but with {}.", count(bad as u64, "problem")))
        }
        (Verdict::Genuine, None) if found.confidence < SURE => (Tone::Warning, answer(found)),
        _ => (tone(found.verdict), answer(found)),
    }
}

/// A printed capacity far above the one that the card announces itself.
fn false_label(finding: &Finding) -> Option<String> {
    if finding.claim != "label-capacity" || finding.weight != Weight::Bad {
        return None;
    }
    let bytes = |what| finding.value_of(what)?.parse().ok();
    let (announced, printed) = (bytes("announced_bytes").map(Size)?, bytes("printed_bytes")?);
    let printed = nominal(printed).unwrap_or_else(|| Size(printed).to_string());
    Some(format!("FAKE LABEL: announces {announced}, printed {printed}. Return it."))
}

/// Printed speeds that were not reached: `reads 117 of 300 MB/s`.
fn slower_than_printed(findings: &[Finding]) -> Option<String> {
    let slow = findings.iter().filter(|f| f.claim == "label-speed" && f.weight != Weight::Note);
    let of = |finding: &Finding| {
        [("reads", "reading"), ("writes", "writing")]
            .into_iter()
            .find_map(|(operation, name)| Some(format!("{operation} {}", finding.value_of(name)?)))
    };
    let short: Vec<String> = slow.filter_map(of).collect();
    (!short.is_empty()).then(|| listing(&short))
}

/// The answer about the capacity in a line.
pub(crate) fn answer(found: &Verification) -> String {
    let announced = Size(announced_bytes(found));
    let said = match found.verdict {
        Verdict::Genuine => genuine(found),
        Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted => {
            match (found.usable_bytes, found.good_bytes) {
                (Some(bytes), _) if Size(bytes).to_string() == announced.to_string() => {
                    let missing = Size(found.announced_bytes.saturating_sub(bytes));
                    format!("the last {missing} of {announced} are missing. Return it.")
                }
                (Some(bytes), _) => format!("holds {} of {announced}. Return it.", Size(bytes)),
                (None, Some(bytes)) => format!("holds about {} of {announced}. Return it.", Size(bytes)),
                (None, None) => format!("does not hold its {announced}. Return it."),
            }
        }
        Verdict::Damaged => damaged(found),
        Verdict::Dead => "keeps nothing. Discard it.".to_owned(),
        Verdict::ReadOnly => "accepts no writes. Copy what is on it.".to_owned(),
        Verdict::Unstable => {
            "the same block gives different answers. Try another reader, then discard it.".to_owned()
        }
        Verdict::ReaderSuspect => match found.at_most_usable() {
            Some(bytes) => format!("the card fails exactly at {}. Try another reader.", BinarySize(bytes)),
            None => "the reader may cause the errors. Try another reader.".to_owned(),
        },
        Verdict::Inconclusive => inconclusive(found),
    };
    // Below this confidence nobody is accused, and nothing is certain: the next steps say how to be sure.
    let doubtful = (found.verdict.is_bad() || found.verdict == Verdict::Genuine) && found.confidence < SURE;
    match doubtful {
        true => format!(
            "LIKELY {} ({}): {}",
            word(found.verdict),
            percent(found.confidence),
            without_advice(&said)
        ),
        false => format!("{}: {said}", word(found.verdict)),
    }
}

/// The first sentence.
fn without_advice(said: &str) -> String {
    said.split_once(". ").map_or_else(|| said.to_owned(), |(first, _)| format!("{first}."))
}

/// What there was to test; of files the free space.
pub(crate) fn announced_bytes(found: &Verification) -> u64 {
    found.files.as_ref().map_or(found.announced_bytes, |files| files.free_bytes)
}

fn genuine(found: &Verification) -> String {
    let (proven, announced) = (Size(found.proven_bytes), Size(announced_bytes(found)));
    match found.method {
        Method::Full => format!("every byte verified ({announced})."),
        Method::Files => format!("the free space holds what is written to it ({proven} verified)."),
        Method::Quick if found.confidence < SURE => {
            format!("no missing capacity found; tested {proven} of {announced}.")
        }
        Method::Quick => format!("no missing capacity found (quick test, {proven} of {announced} tested)."),
    }
}

fn damaged(found: &Verification) -> String {
    let lost = match (found.method, found.good_bytes, &found.share) {
        // Places that a quick test came across while it looked for a boundary are no fair sample of all.
        (Method::Full | Method::Files, Some(good), _) if good < found.announced_bytes => {
            format!("loses {} of {}", Size(found.announced_bytes - good), Size(found.announced_bytes))
        }
        (_, _, Some(share)) if share.bad > 0 => {
            format!("{} of {} sampled places lose data", grouped(share.bad), grouped(share.samples))
        }
        _ => "loses data in scattered blocks".to_owned(),
    };
    format!("{lost}. Do not keep data on it.")
}

fn inconclusive(found: &Verification) -> String {
    let announced = Size(announced_bytes(found));
    match (found.disproofs.len() as u64, found.proven_bytes) {
        (0, 0) => format!("nothing of {announced} was tested."),
        (0, bytes) => format!("tested {} of {announced} before it ended.", Size(bytes)),
        (lost, _) => {
            format!("at least {} lost data; the test ended too early to say why.", count(lost, "block"))
        }
    }
}

/// A sampled test that could miss more than this share of bad blocks has seen little.
const WEAK: f64 = 0.1;

/// Why, in a line, with its colour.
pub(crate) fn reason(found: &Verification) -> Option<(Tone, String)> {
    let weak = found.share.as_ref().is_some_and(|share| share.excluded_above > WEAK);
    let tone = if found.verdict == Verdict::Genuine && weak { Tone::Warning } else { tone(found.verdict) };
    Some((tone, why(found)?))
}

fn why(found: &Verification) -> Option<String> {
    let sure = percent(found.confidence);
    let boundary = found.usable_bytes.map(Size);
    Some(match (found.verdict, boundary) {
        (Verdict::Genuine, _) => match found.share.as_ref().filter(|share| share.excluded_above > 0.0) {
            Some(share) => format!(
                "Sampled {}: would detect ≥ {} % bad blocks (95 % confidence).",
                count(share.samples, "place"),
                speed(share.excluded_above * 100.0)
            ),
            None if found.method == Method::Files => {
                format!("All files that were written read back whole ({sure} sure).")
            }
            None => format!("All of it was written and read back ({sure} sure)."),
        },
        (Verdict::Limbo, Some(end)) => format!("Writes beyond {end} are lost (limbo, {sure} sure)."),
        (Verdict::Limbo, None) => format!("Writes beyond some address are lost (limbo, {sure} sure)."),
        (Verdict::Wraparound, _) => match found.wrap_bytes.map(Size) {
            Some(_) if found.dead_address_line => {
                format!("One address line is dead: two addresses share each place ({sure} sure).")
            }
            Some(period) => {
                format!("Addresses repeat every {period}: new data overwrites old (wraparound, {sure} sure).")
            }
            None => format!("Addresses repeat: new data overwrites old (wraparound, {sure} sure)."),
        },
        (Verdict::Chain, _) => {
            format!("Addresses repeat, and part of the rest is lost (chain, {sure} sure).")
        }
        (Verdict::Overcommitted, _) => {
            format!("Any address works until too many are in use (overcommitted, {sure} sure).")
        }
        (Verdict::Damaged, _) => format!("Some blocks lose or change what is written to them ({sure} sure)."),
        (Verdict::Dead, _) => format!("No block keeps what is written to it ({sure} sure)."),
        (Verdict::ReadOnly, _) => {
            match found.moved.io_errors.iter().any(|error| error.operation == "write") {
                true => format!("Writes fail ({sure} sure)."),
                false => format!("Writes are accepted and dropped ({sure} sure)."),
            }
        }
        (Verdict::Unstable, _) => format!("One block did not give the same answer each time ({sure} sure)."),
        (Verdict::ReaderSuspect, _) => {
            format!("Old readers stop at such a boundary; the card may be genuine ({sure} sure).")
        }
        (Verdict::Inconclusive, _) => return None,
    })
}
