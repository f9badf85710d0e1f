//! Which files of a folder belong to the pattern: `1.h2w`, `2.h2w` and so on, as h2testw and f3write name them.

use cardscope_engine::content::h2w::FILE_BYTES;
use cardscope_files::{FileError, Folder};

/// The number behind which offsets would not fit 64 bits.
const HIGHEST: u64 = u64::MAX / FILE_BYTES;

/// A file with a name of the pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) number: u64,
    /// Bytes, as the file system says; 0 where it would not.
    pub(super) bytes: u64,
}

impl Named {
    pub(super) fn name(&self) -> String {
        file_name(self.number)
    }
}

/// `7.h2w`.
pub(super) fn file_name(number: u64) -> String {
    format!("{number}.h2w")
}

/// The number of a name, where it is one that the writers give: no leading zero, small letters.
pub(super) fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".h2w")?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
    plain.then(|| digits.parse().ok()).flatten().filter(|n| (1..=HIGHEST).contains(n))
}

/// All of them in a folder, by number; and the names that only look like it.
pub(super) fn find(folder: &Folder) -> Result<(Vec<Named>, Vec<String>), FileError> {
    let (mut found, mut alike) = (Vec::new(), Vec::new());
    for name in folder.names()? {
        let seen = folder.look(&name).ok().flatten();
        let name = name.to_string_lossy().into_owned();
        match number(&name) {
            Some(number) => {
                let bytes = seen.map_or(0, |found| u64::try_from(found.st_size).unwrap_or_default());
                found.push(Named { number, bytes });
            }
            None if name.to_ascii_lowercase().ends_with(".h2w") => alike.push(name),
            None => {}
        }
    }
    found.sort_by_key(|file| file.number);
    alike.sort();
    Ok((found, alike))
}

/// The numbers below the highest of which there is no file, as ranges.
pub(super) fn gaps(files: &[Named]) -> Vec<(u64, u64)> {
    let mut next = 1;
    let mut gaps = Vec::new();
    for file in files {
        if file.number > next {
            gaps.push((next, file.number - 1));
        }
        next = file.number + 1;
    }
    gaps
}

/// A list of names that stays short: `1.h2w, 2.h2w, 3.h2w and 9 more`.
pub(super) fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    match names.len().checked_sub(MOST) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..MOST].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_the_writers_give_are_taken() {
        assert_eq!(number("1.h2w"), Some(1));
        assert_eq!(number("1024.h2w"), Some(1024));
        for other in ["0.h2w", "01.h2w", "1.H2W", ".h2w", "a.h2w", "1.h2w.bak", "+1.h2w", "99999999999.h2w"] {
            assert_eq!(number(other), None, "{other}");
        }
    }

    #[test]
    fn gaps_in_the_numbering_are_ranges() {
        let named = |number| Named { number, bytes: 0 };
        let of = |numbers: &[u64]| gaps(&numbers.iter().map(|n| named(*n)).collect::<Vec<_>>());
        assert_eq!(of(&[1, 2, 3]), []);
        assert_eq!(of(&[3, 4, 9]), [(1, 2), (5, 8)]);
    }
}
