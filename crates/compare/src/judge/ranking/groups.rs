//! Groups of ranked cards by what is printed on them: mark, maker, year, capacity.

use cardscope_model::archive_rows::StoredCard;
use cardscope_model::card::{CardEvent, CardFacts, EventKind};
use cardscope_model::ranking::GroupDivision;
use cardscope_sd::mark::Mark;
use cardscope_statistics::significance::{self, UNKNOWN_GROUP};

/// Seed of the permutations, so that the same cards always give the same result.
const SEED: u64 = 11;

/// Property by which cards are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// Highest sequential mark: V, else U, else C.
    Mark,
    /// Application mark: A1, A2.
    AppMark,
    /// Brand, else the maker according to the registers.
    Maker,
    /// Year of manufacture, else of purchase.
    Year,
    Capacity,
}

impl GroupBy {
    /// All properties with their words.
    pub const ALL: [(&'static str, GroupBy); 5] = [
        ("mark", GroupBy::Mark),
        ("app-mark", GroupBy::AppMark),
        ("maker", GroupBy::Maker),
        ("year", GroupBy::Year),
        ("capacity", GroupBy::Capacity),
    ];

    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, by)| *by == self).map_or("", |(word, _)| word)
    }

    fn group_name(self, facts: &CardFacts, bought: Option<&str>) -> Option<String> {
        match self {
            GroupBy::Mark => highest_mark(facts, &['V', 'U', 'C']),
            GroupBy::AppMark => highest_mark(facts, &['A']),
            GroupBy::Maker => facts.brand.clone().or_else(|| facts.maker.clone()),
            GroupBy::Year => Some(facts.made.as_deref().or(bought)?.get(..4)?.to_owned()),
            GroupBy::Capacity => facts.capacity_label.clone().or_else(|| {
                let capacity_bytes = Some(facts.capacity_bytes?);
                Some(CardFacts { capacity_bytes, ..CardFacts::default() }.title())
            }),
        }
    }
}

/// Highest mark of the first of these letters that the card has.
fn highest_mark(facts: &CardFacts, letters: &[char]) -> Option<String> {
    let marks: Vec<Mark> = facts.marks.iter().flat_map(|text| Mark::parse_label(text)).collect();
    let of = |letter: &char| marks.iter().filter(|m| m.letter() == *letter).max_by_key(|m| m.number());
    letters.iter().find_map(of).map(|mark| format!("{}{}", mark.letter(), mark.number()))
}

/// Groups ranked cards, and tests how much of the spread of `what` the groups explain.
pub fn group_cards(by: GroupBy, cards: &[(&StoredCard, Option<String>, f64)], what: &str) -> GroupDivision {
    let value = |(card, bought, value): &(&StoredCard, Option<String>, f64)| {
        let name = by.group_name(&card.facts, bought.as_deref());
        (name.unwrap_or_else(|| UNKNOWN_GROUP.to_owned()), *value)
    };
    let values: Vec<(String, f64)> = cards.iter().map(value).collect();
    let significance::DivisionEffect { groups, explained, p, .. } =
        significance::divide_by_group(&values, SEED);
    let known = values.iter().filter(|(name, _)| name != UNKNOWN_GROUP).count();
    let verdict = group_verdict(by, explained, p, known, what);
    GroupDivision { by: by.word().to_owned(), groups, explained, p, verdict }
}

/// Sentence on the explained share of the spread and its probability by chance. `cards` have a known group.
fn group_verdict(by: GroupBy, explained: Option<f64>, p: Option<f64>, cards: usize, what: &str) -> String {
    let word = match by {
        GroupBy::Mark => "the mark",
        GroupBy::AppMark => "the application mark",
        GroupBy::Maker => "the maker",
        GroupBy::Year => "the year",
        GroupBy::Capacity => "the capacity",
    };
    let (Some(explained), Some(p)) = (explained, p) else {
        return format!("too few cards to link {word} and {what}");
    };
    let chance = if p < 0.001 { "below 0.1 %".to_owned() } else { format!("{:.1} %", 100.0 * p) };
    let share = |between: &str| {
        let percent = 100.0 * explained.max(0.0);
        format!("it explains {percent:.0} % of the spread{between} (as much by chance alone: {chance})")
    };
    let between = format!(" between {cards} cards");
    match (p < significance::SIGNIFICANCE_LEVEL, explained) {
        // A lack of significance among few cards is not evidence of no effect.
        (false, _) => format!("{cards} cards are too few to link {word} and {what}: {}", share("")),
        (true, e) if e < 0.25 => format!("{word} hardly predicts {what}: {}", share(&between)),
        (true, e) if e < 0.6 => format!("{word} predicts {what} in part: {}", share(&between)),
        (true, _) => format!("{word} predicts {what} well: {}", share(&between)),
    }
}

/// Date of the first purchase.
pub fn first_purchase(events: &[CardEvent]) -> Option<String> {
    events.iter().filter(|e| e.kind == EventKind::Bought).filter_map(|e| e.date.clone()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(marks: &[&str]) -> CardFacts {
        CardFacts { marks: marks.iter().map(|m| (*m).to_owned()).collect(), ..CardFacts::default() }
    }

    #[test]
    fn card_is_grouped_by_its_highest_mark() {
        assert_eq!(
            GroupBy::Mark.group_name(&facts(&["C10", "U3", "V30", "A2"]), None).as_deref(),
            Some("V30")
        );
        assert_eq!(GroupBy::Mark.group_name(&facts(&["C10", "U1"]), None).as_deref(), Some("U1"));
        assert_eq!(GroupBy::AppMark.group_name(&facts(&["U3", "A1"]), None).as_deref(), Some("A1"));
        assert_eq!(GroupBy::AppMark.group_name(&facts(&["U3"]), None), None);
    }

    #[test]
    fn few_cards_do_not_prove_the_absence_of_an_effect() {
        let of = |by, explained, p| group_verdict(by, explained, p, 6, "4K writes");
        assert_eq!(
            of(GroupBy::Mark, Some(0.05), Some(0.4)),
            "6 cards are too few to link the mark and 4K writes: it explains 5 % of the spread (as \
             much by chance alone: 40.0 %)"
        );
        assert!(of(GroupBy::Mark, Some(0.1), Some(0.01)).contains("hardly predicts"));
        assert!(
            of(GroupBy::Mark, Some(0.7), Some(0.0001)).ends_with("(as much by chance alone: below 0.1 %)")
        );
        assert!(of(GroupBy::Year, None, None).contains("too few"));
    }
}
