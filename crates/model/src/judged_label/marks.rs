//! The printed marks: do they exist, can they stand together, does the card claim them too, does its speed allow them.

use super::seen::Seen;
use crate::finding::{Finding, Weight};
use crate::identity::Identity;
use cardscope_sd::label::{Label, PrintedBus};
use cardscope_sd::mark::Mark;

/// Marks that need more than a bus that may be printed beside them.
const NEED_UHS_II: [u16; 2] = [60, 90];

pub(super) fn judge(label: &Label, seen: &Seen<'_>, findings: &mut Vec<Finding>) {
    findings.extend(label.false_marks.iter().map(|word| unknown(word)));
    findings.extend(label.marks.iter().filter_map(|mark| doubled(label, *mark)));
    findings.extend(label.marks.iter().filter_map(|mark| against_bus(label, *mark)));
    findings.extend(two_minds(label));
    if let Some(identity) = seen.identity {
        findings.extend(label.marks.iter().filter_map(|mark| against_card(*mark, identity)));
    }
    findings.extend(label.marks.iter().filter_map(|mark| against_speed(*mark, seen)));
}

fn unknown(word: &str) -> Finding {
    let all: Vec<String> = Mark::all().map(String::from).collect();
    Finding::new(
        "label-mark-unknown",
        Weight::Hint,
        0.8,
        format!("The printed {word} is not a mark of the SD Association, so it promises nothing."),
    )
    .because("printed", word)
    .because("marks that exist", all.join(" "))
    .advise("Run `cardscope verify`: fakes like such words, and so does honest advertising.")
}

fn impossible(text: String) -> Finding {
    Finding::new("label-mark-combination", Weight::Hint, 0.7, text)
}

/// The higher mark of a letter includes the lower ones, so only it is printed.
fn doubled(label: &Label, mark: Mark) -> Option<Finding> {
    let lower = label.marks.iter().find(|other| mark.implied().any(|implied| implied == **other))?;
    Some(impossible(format!("{lower} and {mark} are both printed, although {mark} includes {lower}.")))
}

fn against_bus(label: &Label, mark: Mark) -> Option<Finding> {
    let has = |bus| label.buses.contains(&bus);
    let demand = mark.demand();
    let text = match (mark.letter(), mark.number()) {
        ('V', number) if NEED_UHS_II.contains(&number) && label.buses == [PrintedBus::UhsI] => {
            format!("{mark} needs {}, but only UHS-I is printed.", demand.bus)
        }
        ('E', _) if !label.buses.is_empty() && !has(PrintedBus::Express) => {
            format!("{mark} is a mark of SD Express cards, but {} is printed.", label.buses[0])
        }
        _ => return None,
    };
    Some(impossible(text).because("mark", mark).because("needs", &demand.bus))
}

/// Marks of different letters that promise the same writing at different speeds: C4 beside U1, U1 beside V30.
fn two_minds(label: &Label) -> Option<Finding> {
    let of = |letter| label.marks.iter().filter(|m| m.letter() == letter).max().copied();
    let pairs = [('C', 'U'), ('U', 'V')];
    let (slow, fast) = pairs.iter().find_map(|(a, b)| {
        let (slow, fast) = (of(*a)?, of(*b)?);
        // The highest C is 10 and the highest U is 3 (30 MB/s): nobody promises less than it can.
        let most =
            Mark::all().filter(|m| m.letter() == *a).map(|m| m.demand().write_mb_s).fold(0.0, f64::max);
        let owed = fast.demand().write_mb_s.min(most);
        (slow.demand().write_mb_s < owed).then_some((slow, fast))
    })?;
    Some(
        impossible(format!(
            "{slow} promises writes at {} MB/s and {fast} at {} MB/s; a card that does the faster one carries a higher {} mark.",
            slow.demand().write_mb_s,
            fast.demand().write_mb_s,
            slow.letter()
        ))
        .because("marks", format!("{slow} {fast}")),
    )
}

/// SSR and NVMe say the marks again, where they can be read.
fn against_card(mark: Mark, identity: &Identity) -> Option<Finding> {
    let speaks = match mark.letter() {
        'E' => identity.nvme.as_ref().is_some_and(|nvme| nvme.express_area.is_some()),
        _ => identity.ssr.as_ref().is_some_and(|ssr| ssr.blank.is_none()),
    };
    let own = identity.marks.iter().find(|own| own.letter() == mark.letter());
    if !speaks || own.is_some_and(|own| own.number() >= mark.number()) {
        return None;
    }
    let says = own.map_or_else(|| format!("no {} mark", mark.letter()), |own| format!("{own} only"));
    Some(
        Finding::new(
            "label-mark-against-card",
            Weight::Hint,
            0.8,
            format!("{mark} is printed, but the card itself claims {says}."),
        )
        .because("printed", mark)
        .because("claimed by the card", says)
        .advise("Run `cardscope check` to measure which of them is right."),
    )
}

/// A mark is a lowest speed under conditions of its own, so a slow run points somewhere and proves nothing.
fn against_speed(mark: Mark, seen: &Seen<'_>) -> Option<Finding> {
    let demand = mark.demand();
    let best = seen.measured.write_mb_s.iter().copied().reduce(f64::max)?;
    let testable = seen.measured.ceiling_mb_s.is_none_or(|ceiling| ceiling > demand.write_mb_s);
    (testable && best < demand.write_mb_s).then(|| {
        Finding::new(
            "label-mark-speed",
            Weight::Hint,
            0.5,
            format!(
                "{mark} promises writes of at least {} MB/s, but the fastest run reached {best:.1} MB/s.",
                demand.write_mb_s
            ),
        )
        .because("runs", seen.measured.write_mb_s.len())
        .because("conditions of the mark", &demand.notes)
    })
}
