//! Finds what somebody meant who mistyped a word.

/// The candidate that begins with `word`, else the one that is fewest edits away, if that is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near_enough = word.chars().count().max(3) / 3 + 1;
    let distance = |candidate: &str| {
        let begun = word.len() >= 3 && candidate.to_lowercase().starts_with(&word.to_lowercase());
        if begun { 0 } else { edits(word, candidate) }
    };
    candidates
        .into_iter()
        .map(|candidate| (distance(candidate), candidate))
        .min_by_key(|(edits, _)| *edits)
        .filter(|(edits, _)| *edits <= near_enough)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions and replacements from one word to the other (Levenshtein), case aside.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.to_lowercase().chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted_as_everybody_counts_them() {
        assert_eq!((edits("kitten", "sitting"), edits("", "abc"), edits("Same", "same")), (3, 3, 0));
    }

    #[test]
    fn a_slip_is_understood_and_nonsense_is_not() {
        let names = ["cdm3", "cdm8-default", "kdiskmark", "quick"];
        assert_eq!(nearest("cdm8-defualt", names), Some("cdm8-default"));
        assert_eq!(nearest("quik", names), Some("quick"));
        assert_eq!(nearest("cdm8", names), Some("cdm8-default"));
        assert_eq!(nearest("elephant-parade", names), None);
    }
}
