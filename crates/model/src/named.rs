//! What is asked for by name: the files that come with the program, and the name that somebody meant who mistyped it.

/// The files of one kind that come with the program, by name: recipes, jobs, hosts, simulated cards, the collection.
///
/// [`builtin_files!`](crate::builtin_files) lists them.
#[derive(Debug)]
pub struct BuiltinFiles {
    /// What one of them is called: `recipe`.
    pub kind: &'static str,
    /// Name and text of each, in the order in which lists show them.
    pub files: &'static [(&'static str, &'static str)],
    /// What can be named beside them, as the end of the sentence that lists them; empty where nothing can.
    pub also: &'static str,
}

/// Nothing that comes with the program has the name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {kind} {name:?}; {meant}{there}{also}")]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    meant: String,
    there: String,
    also: &'static str,
}

/// A file of such a kind that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// No TOML, or none of this kind: the kind, why, and what the reader of TOML said.
    #[error("the {0} cannot be read: {1}")]
    Syntax(&'static str, String, #[source] Box<toml::de::Error>),
    /// A number in it means nothing: the kind, the name, and what is wrong.
    #[error("{0} {1:?}: {2}")]
    Odd(&'static str, String, String),
    /// No file of the name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
}

impl BuiltinFiles {
    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.files.iter().map(|(name, _)| *name)
    }

    /// The text of the file with this name.
    ///
    /// # Errors
    /// If there is none; the message lists the nearest, and the one that was probably meant.
    pub fn find(&self, name: &str) -> Result<&'static str, UnknownName> {
        let found = self.files.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| *text).ok_or_else(|| UnknownName {
            kind: self.kind,
            name: name.to_owned(),
            meant: did_you_mean(name, self.names()),
            there: listed(name, &self.names().collect::<Vec<_>>()),
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

/// Files of a folder beside `crates/`, for a [`BuiltinFiles`]. The crate's build script lists the folder
/// (`crates/model/build/embed.rs`).
#[macro_export]
macro_rules! builtin_files {
    ($folder:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $folder, ".rs"))
    };
}

/// Bytes of a name that are compared with others: comparing takes time by the length of both, and no name is as long.
const COMPARED: usize = 100;

/// The beginning of a word, in lower case, as it is compared.
fn compared(word: &str) -> String {
    word[..word.floor_char_boundary(COMPARED)].to_lowercase()
}

/// `did you mean "quick"? `, or nothing where no candidate is near.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or(String::new(), |meant| format!("did you mean {meant:?}? "))
}

/// So many names are listed where nothing has the name that was asked for.
const LISTED: usize = 8;

/// `there are: cdm3, quick`; of more than have room the nearest.
fn listed(word: &str, names: &[&str]) -> String {
    match names.len().saturating_sub(LISTED) {
        0 => format!("there are: {}", names.join(", ")),
        others => {
            let near = nearest_first(word, names.to_vec());
            format!("there are: {} and {} others", near[..LISTED - 4].join(", "), others + 4)
        }
    }
}

/// Names by the edits that lead to them; of a dotted path its last part counts as well.
pub fn nearest_first<'a>(word: &str, mut names: Vec<&'a str>) -> Vec<&'a str> {
    let lower = compared(word);
    names.sort_by_cached_key(|name| {
        let name = name.to_lowercase();
        let last = name.rsplit('.').next().unwrap_or(&name);
        strsim::levenshtein(&lower, &name).min(strsim::levenshtein(&lower, last))
    });
    names
}

/// The candidate that begins with `word`, else the one that is fewest edits away, if that is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > COMPARED {
        return None;
    }
    let near_enough = word.chars().count().max(3) / 3 + 1;
    let lower = compared(word);
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
    fn a_slip_is_understood_and_nonsense_is_not() {
        let names = ["cdm3", "cdm8-default", "kdiskmark", "quick"];
        assert_eq!(nearest("cdm8-defualt", names), Some("cdm8-default"));
        assert_eq!(nearest("quik", names), Some("quick"));
        assert_eq!(nearest("cdm8", names), Some("cdm8-default"));
        assert_eq!(nearest("QUICK", names), Some("quick"));
        assert_eq!(nearest("elephant-parade", names), None);
        assert_eq!(listed("quik", &names), "there are: cdm3, cdm8-default, kdiskmark, quick");
        let many = [&names[..], &["a", "b", "c", "d", "e", "f"]].concat();
        assert_eq!(listed("quik", &many), "there are: quick, cdm3, a, b and 6 others");
    }
}
