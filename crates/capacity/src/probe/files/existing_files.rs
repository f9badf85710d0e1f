//! Existing files: selects those with the test pattern and determines whose content each holds. A renamed file is
//! intact; on a card that wraps a file shows the content of another one that exists as well.

use super::file_names::{NumberedFile, file_name};
use super::sector_classes::{first_word, holds_pattern};
use super::{FilesPass, TestFolder, TestedFile};
use cardscope_engine::content::h2w::FILE_BYTES;
use cardscope_probing::sector::SECTOR;

/// Most positions that are read to identify the content of a file.
const MAX_SAMPLES: u64 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContentGuess {
    /// All read sectors belong to the file of this number.
    Content(u64),
    /// Sectors belong to several files, or some to none. `sectors` counts those with the pattern.
    Unclear { sectors: u64 },
    /// The file could not be opened or read; the actual test will report it.
    Unknown,
}

impl<F: TestFolder> FilesPass<'_, F> {
    /// Adds existing files to those to be read; `alike` are names that only resemble those of test files.
    pub fn add_existing(&mut self, there: &[NumberedFile], alike: &[String]) {
        let guess = |named: &NumberedFile| (*named, guess_content(&self.folder, *named));
        let guesses: Vec<(NumberedFile, ContentGuess)> = there.iter().map(guess).collect();
        let is_at_home = |number| {
            let own = |(named, seen): &(NumberedFile, ContentGuess)| {
                named.number == number && *seen == ContentGuess::Content(number)
            };
            guesses.iter().any(own)
        };
        for (named, seen) in guesses.iter().copied() {
            if let Some(reason) = exclusion_reason(named, seen) {
                self.excluded_files.push(format!("{}: {reason}", file_name(named.number)));
                continue;
            }
            let content = match seen {
                // The content's own file is missing, or holds other content as well: this one was renamed or
                // copied.
                ContentGuess::Content(other) if !is_at_home(other) => other,
                _ => named.number,
            };
            self.files.push(tested_file(named, content));
        }
        remark_truncated(&mut self.files);
        let alike = alike.iter().map(|name| format!("{name}: not a file name of h2testw or f3write"));
        self.excluded_files.extend(alike);
    }
}

fn exclusion_reason(named: NumberedFile, seen: ContentGuess) -> Option<String> {
    let bytes = named.bytes;
    match seen {
        _ if !named.is_plain => Some("not a plain file".into()),
        _ if bytes > FILE_BYTES => Some(format!("{bytes} bytes long, too long for such a file")),
        _ if bytes == 0 => Some("empty".into()),
        ContentGuess::Unclear { sectors: 0 } if !bytes.is_multiple_of(SECTOR as u64) => {
            Some("odd length and no sector with the test pattern".into())
        }
        _ => None,
    }
}

fn tested_file(named: NumberedFile, content: u64) -> TestedFile {
    let mut file = TestedFile { content, ..TestedFile::new(named.number, named.bytes) };
    if content != named.number {
        let name = file_name(content);
        let text = format!("holds the content of {name} (renamed or copied); verified as that file");
        file.result.remark = Some(text);
    }
    file
}

/// Remarks that a file is truncated: only the last one may be shorter than 1 GiB.
fn remark_truncated(files: &mut [TestedFile]) {
    let last = files.iter().map(|file| file.result.number).max();
    for file in files.iter_mut().filter(|file| file.result.bytes < FILE_BYTES) {
        if Some(file.result.number) != last {
            let lacks = FILE_BYTES - file.result.bytes;
            let text = format!("{lacks} bytes short of 1 GiB although it is not the last file: truncated");
            file.result.remark.get_or_insert(text);
        }
    }
}

fn guess_content(folder: &impl TestFolder, named: NumberedFile) -> ContentGuess {
    let sectors = named.bytes / SECTOR as u64;
    let mut owners = Vec::new();
    for n in 0..MAX_SAMPLES.min(sectors) {
        let offset = sectors.saturating_sub(1) * n / (MAX_SAMPLES - 1) * SECTOR as u64;
        let mut sector = [0; SECTOR];
        if folder.read_at(named.number, offset, &mut sector).is_err() {
            return ContentGuess::Unknown;
        }
        owners.extend(owning_file(&sector, offset));
    }
    let all = owners.len() as u64 == MAX_SAMPLES.min(sectors);
    match owners.first() {
        Some(first) if all && owners.iter().all(|o| o == first) => ContentGuess::Content(*first),
        _ => ContentGuess::Unclear { sectors: owners.len() as u64 },
    }
}

/// Number of the file to which a sector belongs, if it is at its proper offset in that file.
fn owning_file(sector: &[u8; SECTOR], offset_in_file: u64) -> Option<u64> {
    let claims = first_word(sector);
    let at_home = holds_pattern(sector) && claims % FILE_BYTES == offset_in_file;
    at_home.then(|| claims / FILE_BYTES + 1)
}
