//! The eleven verdicts on a card's capacity as people read them: first word, colour, answer, reason and advice, the same
//! for `verify`, `check` and a publication.

use crate::figure::percent;
use crate::page::Tone;
use cardscope_model::units::{Size, grouped};
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

/// The answer in a line.
pub(crate) fn answer(found: &Verification) -> String {
    let announced = Size(found.announced_bytes);
    let said = match found.verdict {
        Verdict::Genuine => genuine(found),
        Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted => {
            match (found.usable_bytes, found.good_bytes) {
                (Some(bytes), _) => format!("holds {} of {announced}. Return it.", Size(bytes)),
                (None, Some(bytes)) => format!("holds about {} of {announced}. Return it.", Size(bytes)),
                (None, None) => format!("does not hold its {announced}. Return it."),
            }
        }
        Verdict::Damaged => damaged(found),
        Verdict::Dead => "keeps nothing. Discard it.".to_owned(),
        Verdict::ReadOnly => "accepts no writes. Copy what is on it.".to_owned(),
        Verdict::Unstable => {
            "answers differ from read to read. Try another reader, then discard it.".to_owned()
        }
        Verdict::ReaderSuspect => match found.at_most_usable() {
            Some(bytes) => format!("the card fails exactly at {}. Try another reader.", Size(bytes)),
            None => "the reader may cause the errors. Try another reader.".to_owned(),
        },
        Verdict::Inconclusive => inconclusive(found),
    };
    // Below this confidence nobody is accused: the next steps say how to be sure.
    let doubtful = found.verdict.is_bad() && found.confidence < SURE;
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

fn genuine(found: &Verification) -> String {
    let (proven, announced) = (Size(found.proven_bytes), Size(found.announced_bytes));
    match found.method {
        Method::Full => format!("every byte verified ({announced})."),
        Method::Files => format!("the free space holds what is written to it ({proven} verified)."),
        Method::Quick => format!("no missing capacity found (quick test, {proven} of {announced} tested)."),
    }
}

fn damaged(found: &Verification) -> String {
    let lost = match (found.good_bytes, &found.share) {
        (Some(good), _) if good < found.announced_bytes => {
            format!("loses about {} of {}", Size(found.announced_bytes - good), Size(found.announced_bytes))
        }
        (_, Some(share)) if share.bad > 0 => {
            format!("{} of {} tested places lose data", grouped(share.bad), grouped(share.samples))
        }
        _ => "loses data".to_owned(),
    };
    format!("{lost}. Do not keep data on it.")
}

fn inconclusive(found: &Verification) -> String {
    let announced = Size(found.announced_bytes);
    match found.proven_bytes {
        0 => format!("nothing of {announced} was tested."),
        bytes => {
            format!("tested {} of {announced} before it ended.", Size(bytes))
        }
    }
}

/// Why, in a line.
pub(crate) fn reason(found: &Verification) -> Option<String> {
    let sure = percent(found.confidence);
    let boundary = found.usable_bytes.map(Size);
    Some(match (found.verdict, boundary) {
        (Verdict::Genuine, _) => match found.share.as_ref().filter(|share| share.excluded_above > 0.0) {
            Some(share) => format!(
                "{sure} sure; would detect ≥ {:.1} % bad blocks (95 % confidence).",
                share.excluded_above * 100.0
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
        (Verdict::ReadOnly, _) => format!("Writes are accepted and dropped ({sure} sure)."),
        (Verdict::Unstable, _) => format!("The same block reads differently each time ({sure} sure)."),
        (Verdict::ReaderSuspect, _) => {
            format!("Old readers stop at such a boundary; the card may be genuine ({sure} sure).")
        }
        (Verdict::Inconclusive, _) => return None,
    })
}
