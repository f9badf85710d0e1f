//! What is asked for by name: the files that come with the program, and the name that somebody meant who mistyped it.

/// The files of one kind that come with the program, by name: recipes, jobs, hosts, simulated cards, the collection.
///
/// [`builtin_files!`](crate::builtin_files) makes the list, with one name a file; nothing else knows the folder.
#[derive(Debug)]
pub struct BuiltinFiles {
    /// What one of them is called: `recipe`.
    pub kind: &'static str,
    /// Name and text of each, in the order in which they are told.
    pub files: &'static [(&'static str, &'static str)],
    /// What can be named beside them, as the end of the sentence that lists them; empty where nothing can.
    pub also: &'static str,
}

/// Nothing that comes with the program has the name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {kind} {name:?}; {meant}there are: {there}{also}")]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    meant: String,
    there: String,
    also: &'static str,
}

impl BuiltinFiles {
    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.files.iter().map(|(name, _)| *name)
    }

    /// The text of the file with this name.
    ///
    /// # Errors
    /// If there is none; the message lists all, and the one that was probably meant.
    pub fn find(&self, name: &str) -> Result<&'static str, UnknownName> {
        let found = self.files.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| *text).ok_or_else(|| UnknownName {
            kind: self.kind,
            name: name.to_owned(),
            meant: did_you_mean(name, self.names()),
            there: self.names().collect::<Vec<_>>().join(", "),
            also: self.also,
        })
    }

    /// Every file, read by `parse`.
    ///
    /// # Errors
    /// If one of them is wrong.
    pub fn all<T, E>(&self, parse: impl Fn(&str) -> Result<T, E>) -> Result<Vec<T>, E> {
        self.files.iter().map(|(_, text)| parse(text)).collect()
    }
}

/// Files of a folder beside `crates/`, built into the program: their names without the extension, and their texts, for a
/// [`BuiltinFiles`]. They end in `.toml` where no other extension is given.
#[macro_export]
macro_rules! builtin_files {
    ($folder:literal: $($name:literal),* $(,)?) => { $crate::builtin_files!($folder, ".toml": $($name),*) };
    ($folder:literal, $extension:literal: $($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $folder, "/", $name, $extension)),
        )),*]
    };
}

/// `did you mean "quick"? `, or nothing where no candidate is near.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or(String::new(), |meant| format!("did you mean {meant:?}? "))
}

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
