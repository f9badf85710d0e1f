//! The eleven verdicts on a capacity as text: first word, colour, answer, reason and advice, shared by `verify`,
//! `check` and publications.

use cardscope_model::answer::Answer;
use cardscope_model::capacity::nominal_size;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::label_check::{FalseCapacity, JudgedSpeed};
use cardscope_model::report::{ExitStatus, NewsTone, ReportBody as _};
use cardscope_model::units::three_digits as speed;
use cardscope_model::units::{BinarySize, DecimalSize, group_digits};
use cardscope_model::verify::{
    CapacityCause, ExcludedShare, PROVEN_CONFIDENCE, SURE_CONFIDENCE, TestMethod, Verdict, Verification,
};
use cardscope_page::figure::{join_names, percent, pluralize};

fn verdict_tone(found: &Verification) -> NewsTone {
    match found.exit_status() {
        ExitStatus::Good => NewsTone::Good,
        ExitStatus::NotProven => NewsTone::Warning,
        ExitStatus::Bad => NewsTone::Bad,
    }
}

fn first_word(found: &Verification) -> &'static str {
    match found.verdict {
        Verdict::Genuine if found.confidence < PROVEN_CONFIDENCE => "NOT PROVEN",
        Verdict::Genuine if found.method == TestMethod::Full => "GENUINE",
        Verdict::Genuine => "PASSED",
        Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted => "FAKE",
        Verdict::Damaged => "DAMAGED",
        Verdict::Dead => "DEAD",
        Verdict::ReadOnly => "READ-ONLY",
        Verdict::Unstable => "UNSTABLE",
        Verdict::ReaderSuspect => "SUSPECT READER",
        Verdict::Inconclusive if found.proven_bytes == 0 && found.disproofs.is_empty() => "NOT TESTED",
        Verdict::Inconclusive => "NOT PROVEN",
    }
}

/// Answer of a page and its colour: the capacity, then the printed claims that the card misses. `missed` names
/// marks that a check judged as missed.
pub fn headline(found: &Verification, findings: &[Finding], missed: Option<String>) -> (NewsTone, Answer) {
    let unaccused = matches!(found.verdict, Verdict::Genuine | Verdict::Inconclusive);
    if let Some(lie) = findings.iter().filter(|_| unaccused).find_map(false_label_answer) {
        return (NewsTone::Bad, lie);
    }
    let bad = findings.iter().filter(|finding| finding.weight == FindingWeight::Bad).count();
    let short = missed.or_else(|| speed_shortfalls(findings)).filter(|_| !found.verdict.is_bad());
    let (flaw, detail) = match short {
        Some(short) => ("slower than printed".to_owned(), format!(": {short}")),
        None if found.verdict == Verdict::Genuine && bad > 0 => {
            (format!("with {}", pluralize(bad as u64, "problem")), String::new())
        }
        None => return (verdict_tone(found), capacity_answer(found)),
    };
    let but = if found.exit_status() == ExitStatus::Good { "but" } else { "and" };
    let word = first_word(found);
    let answer = Answer::with_verdict(word, &format!(", {but} {flaw}{detail}."));
    (NewsTone::Warning, answer.with_brief(format!("{word}, {but} {flaw}")))
}

/// Answer for a printed capacity far above the announced one.
fn false_label_answer(finding: &Finding) -> Option<Answer> {
    let FalseCapacity { printed_bytes, announced_bytes } = FalseCapacity::from_finding(finding)?;
    let (announced, printed) = (DecimalSize(announced_bytes), nominal_size(printed_bytes));
    let printed = printed.unwrap_or_else(|| DecimalSize(printed_bytes).to_string());
    let answer = Answer::with_verdict("FAKE LABEL", &format!(": announces {announced}, printed {printed}."));
    Some(answer.with_advice(RETURN_ADVICE))
}

/// Printed speeds that were not reached, such as `reads 117 of 300 MB/s`.
fn speed_shortfalls(findings: &[Finding]) -> Option<String> {
    let short: Vec<String> = findings.iter().filter_map(JudgedSpeed::shortfall_text).collect();
    (!short.is_empty()).then(|| join_names(&short))
}

const RETURN_ADVICE: &str = "Return it.";
const NO_DATA_ADVICE: &str = "Do not keep data on it.";

fn capacity_answer(found: &Verification) -> Answer {
    let announced = DecimalSize(tested_capacity(found));
    let word = first_word(found);
    let mut in_table = None;
    let (said, advice) = match found.verdict {
        Verdict::Genuine => (genuine_text(found), None),
        Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted => {
            let (holds, what) = match (found.usable_bytes, found.good_bytes) {
                (Some(bytes), _) if DecimalSize(bytes).to_string() == announced.to_string() => {
                    let missing = DecimalSize(found.announced_bytes.saturating_sub(bytes));
                    ("", format!("the last {missing} of {announced} are missing"))
                }
                (Some(bytes), _) => ("holds ", format!("{} of {announced}", DecimalSize(bytes))),
                (None, Some(bytes)) => ("holds ", format!("about {} of {announced}", DecimalSize(bytes))),
                (None, None) => ("", format!("does not hold its {announced}")),
            };
            // Only for fakes do tables show more than the verdict: the two sizes.
            in_table = Some(format!("{word}: {what}"));
            (format!("{holds}{what}."), Some(RETURN_ADVICE.to_owned()))
        }
        Verdict::Damaged => (damaged_text(found), Some(NO_DATA_ADVICE.to_owned())),
        Verdict::Dead => {
            let said = match found.cause {
                Some(CapacityCause::LostFlash { card_bytes, .. }) => {
                    let all = DecimalSize(card_bytes);
                    format!("shows {announced} of {all}: its controller lost the flash.")
                }
                _ => "keeps nothing.".to_owned(),
            };
            (said, Some("Discard it.".to_owned()))
        }
        Verdict::ReadOnly => ("accepts no writes.".to_owned(), Some("Copy what is on it.".to_owned())),
        Verdict::Unstable => {
            let advice = "Try another reader, then discard it.".to_owned();
            ("answers differ from read to read.".to_owned(), Some(advice))
        }
        Verdict::ReaderSuspect => {
            let other = found.cause.map_or("another", CapacityCause::reader_to_try);
            (reader_suspect_text(found), Some(format!("Try {other} reader.")))
        }
        Verdict::Inconclusive => (inconclusive_text(found), None),
    };
    // Below this confidence the card is not accused; the next steps lead to certainty.
    if found.verdict.is_bad() && found.confidence < SURE_CONFIDENCE {
        let (word, sure) = (format!("LIKELY {word}"), format!(" ({})", percent(found.confidence)));
        return Answer::with_verdict(&word, &format!("{sure}: {said}")).with_brief(format!("{word}{sure}"));
    }
    let errors = error_suffix(found);
    let answer = Answer::with_verdict(word, &format!("{errors}: {said}"));
    let answer = answer.with_brief(in_table.unwrap_or_else(|| format!("{word}{errors}")));
    match advice {
        Some(advice) => answer.with_advice(&advice),
        None => answer,
    }
}

/// Number of failed I/Os on a card that passed.
fn error_suffix(found: &Verification) -> String {
    match found.moved.counts.failed() {
        failed @ 1.. if found.verdict == Verdict::Genuine => format!(" with {}", pluralize(failed, "error")),
        _ => String::new(),
    }
}

/// Bytes under test; for files the free space.
pub fn tested_capacity(found: &Verification) -> u64 {
    found.files.as_ref().map_or(found.announced_bytes, |files| files.free_bytes)
}

fn genuine_text(found: &Verification) -> String {
    let (proven, announced) = (DecimalSize(found.proven_bytes), DecimalSize(tested_capacity(found)));
    let sure = (found.confidence < SURE_CONFIDENCE).then(|| format!("{} sure", percent(found.confidence)));
    let (claim, extent) = match (found.method, sure) {
        (TestMethod::Full, None) => ("every byte verified", announced.to_string()),
        (TestMethod::Full, Some(sure)) => ("every byte verified", format!("{announced}, {sure}")),
        (TestMethod::Files, None) => (FREE_SPACE_HOLDS, proven.as_part_of(announced)),
        (TestMethod::Files, Some(sure)) => (FREE_SPACE_HOLDS, format!("short test, {sure}")),
        (TestMethod::Quick, None) => {
            (NOTHING_MISSING, format!("quick test, {}", proven.as_part_of(announced)))
        }
        (TestMethod::Quick, Some(sure)) => (NOTHING_MISSING, format!("short test, {sure}")),
    };
    format!("{claim} ({extent}).")
}

const NOTHING_MISSING: &str = "no missing capacity found";
const FREE_SPACE_HOLDS: &str = "the free space holds what is written";

fn reader_suspect_text(found: &Verification) -> String {
    use CapacityCause::{AddressLimit, DroppedBits, ExcessCapacity, ExtraSectors};
    let shown = DecimalSize(tested_capacity(found));
    let said = match (found.cause, found.max_usable_bytes()) {
        (Some(ExtraSectors { .. }), _) => "it counts one sector too many".to_owned(),
        (Some(DroppedBits { card_bytes: all, .. }), _) => {
            format!("it shows {shown} of the card's {}", DecimalSize(all))
        }
        (Some(ExcessCapacity { card_bytes: all, .. }), _) => {
            format!("it shows {shown} of a card of {}", DecimalSize(all))
        }
        (Some(AddressLimit { limit_bytes }), _) => {
            let fails = if tested_capacity(found) > limit_bytes { "fails" } else { "ends" };
            format!("the card {fails} exactly at {}", BinarySize(limit_bytes.next_power_of_two()))
        }
        (_, Some(bytes)) => format!("the card fails exactly at {}", BinarySize(bytes)),
        (_, None) => "the reader may cause the errors".to_owned(),
    };
    format!("{said}.")
}

fn damaged_text(found: &Verification) -> String {
    if let (true, Some(end)) = (found.fails_beyond, found.usable_bytes) {
        return format!("everything beyond {} fails.", DecimalSize(end));
    }
    let lost = match (found.method, found.good_bytes, &found.share) {
        // Positions that a quick test read in search of a boundary are no fair sample.
        (TestMethod::Full | TestMethod::Files, Some(good), _) if good < found.announced_bytes => {
            let all = found.announced_bytes;
            format!("loses {} of {}", DecimalSize(all - good), DecimalSize(all))
        }
        (_, _, Some(share)) if share.bad > 0 => {
            let (bad, all) = (group_digits(share.bad), group_digits(share.samples));
            format!("{bad} of {all} sampled places lose data")
        }
        _ => "loses data in scattered blocks".to_owned(),
    };
    format!("{lost}.")
}

fn inconclusive_text(found: &Verification) -> String {
    let reason = found.reason.as_deref().unwrap_or("the test ended early");
    let tested = |n| DecimalSize(n).as_part_of(DecimalSize(tested_capacity(found)));
    match (found.disproofs.len() as u64, found.proven_bytes) {
        (0, 0) => format!("{reason}."),
        (0, bytes) => format!("tested {}, {reason}.", tested(bytes)),
        (lost, _) => {
            format!("at least {} lost data; the test ended too early to say why.", pluralize(lost, "block"))
        }
    }
}

/// Share of bad blocks from which on a sample that could miss it counts as weak.
const WEAK_SHARE: f64 = 0.1;

/// Reason of the verdict in one line, with its colour.
pub fn verdict_reason(found: &Verification) -> Option<(NewsTone, String)> {
    let weak = found.share.as_ref().is_some_and(|share| share.excluded_above > WEAK_SHARE);
    let weak = weak && found.verdict == Verdict::Genuine;
    Some((if weak { NewsTone::Warning } else { verdict_tone(found) }, reason_text(found)?))
}

fn reason_text(found: &Verification) -> Option<String> {
    let cause = found.cause.filter(|cause| !matches!(cause, CapacityCause::AddressLimit { .. }));
    if let Some((cause, stated)) = cause.zip(found.stated.as_ref()) {
        return Some(cause.finding(stated).verdict);
    }
    let boundary = found.usable_bytes.map(DecimalSize);
    let share = found.share.as_ref().filter(|share| share.excluded_above > 0.0);
    // Text and the name of the kind, which precedes the confidence.
    let (text, kind) = match (found.verdict, boundary) {
        (Verdict::Genuine, _) => match share {
            Some(share) => return Some(detection_limit(found, share)),
            None if found.method == TestMethod::Files => {
                ("All files that were written read back whole".into(), "")
            }
            None => ("All of it was written and read back".into(), ""),
        },
        (Verdict::Limbo, Some(end)) => (format!("Writes beyond {end} are lost"), "limbo, "),
        (Verdict::Limbo, None) => ("Writes beyond some address are lost".into(), "limbo, "),
        (Verdict::Wraparound, _) => match found.wrap_bytes.map(DecimalSize) {
            Some(_) if found.dead_address_line => {
                ("One address line is dead: two addresses share each place".into(), "")
            }
            Some(period) => {
                (format!("Addresses repeat every {period}: new data overwrites old"), "wraparound, ")
            }
            None => ("Addresses repeat: new data overwrites old".into(), "wraparound, "),
        },
        (Verdict::Chain, _) => ("Addresses repeat, and part of the rest is lost".into(), "chain, "),
        (Verdict::Overcommitted, _) => {
            ("Any address works until too many are in use".into(), "overcommitted, ")
        }
        (Verdict::Damaged, Some(end)) if found.fails_beyond => {
            (format!("Every read or write beyond {end} fails with an error"), "")
        }
        (Verdict::Damaged, _) => ("Some blocks lose or change what is written to them".into(), ""),
        (Verdict::Dead, _) => ("No block keeps what is written to it".into(), ""),
        (Verdict::ReadOnly, _) => {
            let fails = found.moved.io_errors.iter().any(|error| error.operation == "write");
            (format!("Writes {}", if fails { "fail" } else { "are accepted and dropped" }), "")
        }
        (Verdict::Unstable, _) => ("Reads of the same place gave different answers".into(), ""),
        (Verdict::ReaderSuspect, _) if found.max_usable_bytes().is_none() => return None,
        (Verdict::ReaderSuspect, _) => {
            ("Old readers stop at such a boundary; the card may be genuine".into(), "")
        }
        (Verdict::Inconclusive, _) => return None,
    };
    Some(format!("{text} ({kind}{} sure).", percent(found.confidence)))
}

fn detection_limit(found: &Verification, share: &ExcludedShare) -> String {
    let caches = found.excluded_cache_bytes.map(|bytes| BinarySize(bytes >> 20 << 20));
    let caches = caches.map(|cache| format!(" and caches up to {cache}")).unwrap_or_default();
    let (places, bound) = (pluralize(share.samples, "place"), speed(share.excluded_above * 100.0));
    format!("Sampled {places}: would detect ≥ {bound} % bad blocks{caches} (95 % confidence).")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ExitStatus::{Bad, Good, NotProven};
    use TestMethod::{Files, Full, Quick};
    use Verdict::*;

    fn found(verdict: Verdict, method: TestMethod, confidence: f64) -> Verification {
        Verification {
            verdict,
            method,
            confidence,
            announced_bytes: 256_060_514_304,
            usable_bytes: Some(52_000_002_048),
            proven_bytes: 592_949_248,
            ..Verification::default()
        }
    }

    /// The page agrees with the exit status, for every verdict, method and confidence.
    #[test]
    fn verdict_method_and_confidence_decide_first_word_tone_and_exit() {
        let accused = [
            (Limbo, "FAKE"),
            (Wraparound, "FAKE"),
            (Chain, "FAKE"),
            (Overcommitted, "FAKE"),
            (Damaged, "DAMAGED"),
            (Dead, "DEAD"),
            (ReadOnly, "READ-ONLY"),
            (Unstable, "UNSTABLE"),
        ];
        let check = |found: &Verification, word: &str, status: ExitStatus| {
            let (tone, answer) = headline(found, &[], None);
            assert!(answer.starts_with(&format!("{word}: ")), "{word}: {answer}");
            let expected = match status {
                Good => NewsTone::Good,
                NotProven => NewsTone::Warning,
                Bad => NewsTone::Bad,
            };
            assert_eq!((tone, found.exit_status()), (expected, status), "{answer}");
            assert!(answer.len() <= 80 && answer.ends_with('.'), "{answer}");
        };
        for method in [Quick, Full, Files] {
            let passed = if method == Full { "GENUINE" } else { "PASSED" };
            for (confidence, word, status) in [
                (0.999, passed, Good),
                (0.95, passed, Good),
                (0.9, passed, Good),
                (0.8, passed, Good),
                (0.79, "NOT PROVEN", NotProven),
                (0.0, "NOT PROVEN", NotProven),
            ] {
                check(&found(Genuine, method, confidence), word, status);
            }
            for confidence in [0.0, 0.5, 0.99] {
                check(&found(ReaderSuspect, method, confidence), "SUSPECT READER", NotProven);
                check(&found(Inconclusive, method, confidence), "NOT PROVEN", NotProven);
                let untested = Verification { proven_bytes: 0, ..found(Inconclusive, method, confidence) };
                check(&untested, "NOT TESTED", NotProven);
            }
            for (verdict, word) in accused {
                check(&found(verdict, method, 0.95), word, Bad);
                check(&found(verdict, method, 0.85), &format!("LIKELY {word} (85 %)"), Bad);
            }
        }
    }

    #[test]
    fn answers_state_extent_and_confidence() {
        let said = |found: &Verification| headline(found, &[], None).1;
        let terabyte =
            |verdict| Verification { announced_bytes: 1_000_000_192_512, ..found(verdict, Quick, 0.99) };
        let because = |reason: &str| Some(reason.to_owned());
        for (found, answer) in [
            (found(Genuine, Quick, 0.99), "PASSED: no missing capacity found (quick test, 0.6 of 256 GB)."),
            (found(Genuine, Quick, 0.9), "PASSED: no missing capacity found (short test, 90 % sure)."),
            (found(Genuine, Quick, 0.7), "NOT PROVEN: no missing capacity found (short test, 70 % sure)."),
            (found(Genuine, Full, 0.99), "GENUINE: every byte verified (256 GB)."),
            (found(Genuine, Full, 0.9), "GENUINE: every byte verified (256 GB, 90 % sure)."),
            (found(Genuine, Files, 0.99), "PASSED: the free space holds what is written (0.6 of 256 GB)."),
            (terabyte(Limbo), "FAKE: holds 52 GB of 1 TB. Return it."),
            (found(Limbo, Quick, 0.85), "LIKELY FAKE (85 %): holds 52 GB of 256 GB."),
            (
                Verification { usable_bytes: Some(1 << 37), ..found(ReaderSuspect, Quick, 0.9) },
                "SUSPECT READER: the card fails exactly at 128 GiB. Try another reader.",
            ),
            (
                Verification { reason: because("time limit reached"), ..found(Inconclusive, Quick, 0.5) },
                "NOT PROVEN: tested 0.6 of 256 GB, time limit reached.",
            ),
            (
                Verification { reason: because("interrupted"), ..Verification::default() },
                "NOT TESTED: interrupted.",
            ),
        ] {
            assert_eq!(said(&found), answer);
        }
    }

    #[test]
    fn tables_show_the_verdict_and_the_sizes_of_a_fake() {
        let brief = |found: &Verification, missed: Option<&str>| {
            headline(found, &[], missed.map(str::to_owned)).1.brief().to_owned()
        };
        for (found, missed, shown) in [
            (found(Limbo, Quick, 0.99), None, "FAKE: 52 GB of 256 GB"),
            (found(Limbo, Quick, 0.85), None, "LIKELY FAKE (85 %)"),
            (found(Damaged, Quick, 0.99), None, "DAMAGED"),
            (found(ReaderSuspect, Quick, 0.99), None, "SUSPECT READER"),
            (found(Genuine, Quick, 0.99), Some("U3 missed"), "PASSED, but slower than printed"),
        ] {
            assert_eq!(brief(&found, missed), shown);
        }
    }

    #[test]
    fn missed_marks_follow_the_verdict_of_a_good_card() {
        let said = |found: &Verification| headline(found, &[], Some("U3 and V30 missed".to_owned()));
        for (verdict, answer) in [
            (Genuine, "PASSED, but slower than printed: U3 and V30 missed."),
            (Inconclusive, "NOT PROVEN, and slower than printed: U3 and V30 missed."),
            (ReaderSuspect, "SUSPECT READER, and slower than printed: U3 and V30 missed."),
        ] {
            let (tone, found) = said(&found(verdict, Quick, 0.99));
            assert_eq!((tone, found.as_ref()), (NewsTone::Warning, answer));
        }
        let fake = found(Limbo, Quick, 0.99);
        assert_eq!(said(&fake), headline(&fake, &[], None));
    }
}
