//! Built-in files by name, and suggestions for mistyped names.

/// Built-in files of one kind: recipes, jobs, hosts, simulated cards or the collection.
///
/// Filled by [`builtin_files!`](crate::builtin_files).
#[derive(Debug)]
pub struct BuiltinFiles {
    pub kind: &'static str,
    pub files: &'static [(&'static str, &'static str)],
    /// End of the sentence that lists the names: other things that can be named; empty if there are none.
    pub also: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {kind} {name:?}; {meant}{there}{also}")]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    meant: String,
    there: String,
    also: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// Invalid TOML, or not of this kind. Holds kind, reason and the parser's error.
    #[error("the {0} cannot be read: {1}")]
    Syntax(&'static str, String, #[source] Box<toml::de::Error>),
    /// Value out of range. Holds kind, name and reason.
    #[error("{0} {1:?}: {2}")]
    Invalid(&'static str, String, String),
    #[error(transparent)]
    Unknown(#[from] UnknownName),
}

impl BuiltinFiles {
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.files.iter().map(|(name, _)| *name)
    }

    pub fn find_text(&self, name: &str) -> Result<&'static str, UnknownName> {
        let found = self.files.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| *text).ok_or_else(|| UnknownName {
            kind: self.kind,
            name: name.to_owned(),
            meant: did_you_mean(name, self.names()),
            there: list_names(name, &self.names().collect::<Vec<_>>()),
            also: self.also,
        })
    }

    pub fn parse_all<T, E>(&self, parse: impl Fn(&str) -> Result<T, E>) -> Result<Vec<T>, E> {
        self.files.iter().map(|(_, text)| parse(text)).collect()
    }
}

/// Includes the files of a folder next to `crates/`, for a [`BuiltinFiles`]. The build script writes the list
/// (`crates/model/build/embed.rs`).
#[macro_export]
macro_rules! builtin_files {
    ($folder:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $folder, ".rs"))
    };
}

/// Bytes of a name that are compared. Comparison takes time by the product of both lengths, and no name is longer.
const MAX_COMPARED_BYTES: usize = 100;

fn comparison_key(word: &str) -> String {
    word[..word.floor_char_boundary(MAX_COMPARED_BYTES)].to_lowercase()
}

pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest_name(word, candidates).map_or(String::new(), |meant| format!("did you mean {meant:?}? "))
}

const MAX_LISTED_NAMES: usize = 8;

fn list_names(word: &str, names: &[&str]) -> String {
    match names.len().saturating_sub(MAX_LISTED_NAMES) {
        0 => format!("there are: {}", names.join(", ")),
        others => {
            // Of many names only the nearest four are listed, so that the message stays short.
            let near = sort_by_distance(word, names.to_vec());
            format!("there are: {} and {} others", near[..MAX_LISTED_NAMES - 4].join(", "), others + 4)
        }
    }
}

/// Sorts names by edit distance to a word. Of a dotted path the last part counts as well.
pub fn sort_by_distance<'a>(word: &str, mut names: Vec<&'a str>) -> Vec<&'a str> {
    let lower = comparison_key(word);
    names.sort_by_cached_key(|name| {
        let name = name.to_lowercase();
        let last = name.rsplit('.').next().unwrap_or(&name);
        strsim::levenshtein(&lower, &name).min(strsim::levenshtein(&lower, last))
    });
    names
}

/// Returns the candidate that begins with `word`, else the one with the least edit distance, if it is small enough.
pub(crate) fn nearest_name<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_COMPARED_BYTES {
        return None;
    }
    let near_enough = word.chars().count().max(3) / 3 + 1;
    let lower = comparison_key(word);
    let edits = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let begun = word.len() >= 3 && candidate.starts_with(&lower);
        if begun { 0 } else { strsim::levenshtein(&lower, &candidate) }
    };
    let measured = candidates.into_iter().map(|candidate| (edits(candidate), candidate));
    let (edits, candidate) = measured.min_by_key(|(edits, _)| *edits)?;
    (edits <= near_enough).then_some(candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistyped_name_gets_nearest_candidate() {
        let names = ["cdm3", "cdm8-default", "kdiskmark", "quick"];
        assert_eq!(nearest_name("cdm8-defualt", names), Some("cdm8-default"));
        assert_eq!(nearest_name("quik", names), Some("quick"));
        assert_eq!(nearest_name("cdm8", names), Some("cdm8-default"));
        assert_eq!(nearest_name("QUICK", names), Some("quick"));
        assert_eq!(nearest_name("elephant-parade", names), None);
        assert_eq!(list_names("quik", &names), "there are: cdm3, cdm8-default, kdiskmark, quick");
        let many = [&names[..], &["a", "b", "c", "d", "e", "f"]].concat();
        assert_eq!(list_names("quik", &many), "there are: quick, cdm3, a, b and 6 others");
    }
}
