//! Files that are there already, written by whomever: which of them belong to the pattern, and whose content each
//! holds. A file that somebody renamed is whole all the same; a card that wraps gives one file's content under another
//! name while that other file is there, too.

use super::names::{NumberedFile, file_name};
use super::pass::{FilesPass, TestFolder, TestedFile};
use super::sorting::{first_word, holds_pattern};
use cardscope_engine::content::h2w::FILE_BYTES;
use cardscope_probing::sector::SECTOR;
use std::collections::HashMap;

/// Places of a file that are looked at to tell whose content it holds.
const PEEKS: u64 = 5;

/// What a first look at a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContentGuess {
    /// Sectors of the pattern that belong to this number.
    Content(u64),
    /// Sectors of the pattern of several numbers, or of none.
    Unclear { sectors: u64 },
    /// It could not be opened or read; reading it in earnest will tell.
    Unknown,
}

impl<F: TestFolder> FilesPass<'_, F> {
    /// Takes files that are there already for those to be read; `alike` are names that only look like the pattern's.
    pub fn take(&mut self, there: &[NumberedFile], alike: &[String]) {
        let glances: Vec<(NumberedFile, ContentGuess)> =
            there.iter().map(|named| (*named, glance(&self.folder, *named))).collect();
        let at_home: HashMap<u64, bool> = glances
            .iter()
            .map(|(named, seen)| (named.number, *seen == ContentGuess::Content(named.number)))
            .collect();
        for (named, seen) in glances {
            if let Some(reason) = foreigner(named, seen) {
                self.foreign.push(format!("{}: {reason}", file_name(named.number)));
                continue;
            }
            let content = match seen {
                // The file to which this content belongs is not there, or holds another's too.
                ContentGuess::Content(other) if !at_home.get(&other).copied().unwrap_or(false) => other,
                _ => named.number,
            };
            self.files.push(prepared(named, content));
        }
        shortened(&mut self.files);
        let alike = alike.iter().map(|name| format!("{name}: not a file name of h2testw or f3write"));
        self.foreign.extend(alike);
    }
}

/// Why a file is none of the pattern.
fn foreigner(named: NumberedFile, seen: ContentGuess) -> Option<String> {
    match seen {
        _ if !named.is_plain => Some("not a plain file".into()),
        _ if named.bytes > FILE_BYTES => {
            Some(format!("{} bytes long, too long for such a file", named.bytes))
        }
        _ if named.bytes == 0 => Some("empty".into()),
        ContentGuess::Unclear { sectors: 0 } if !named.bytes.is_multiple_of(SECTOR as u64) => {
            Some("odd length and no sector with the test pattern".into())
        }
        _ => None,
    }
}

fn prepared(named: NumberedFile, content: u64) -> TestedFile {
    let mut file = TestedFile { content, ..TestedFile::new(named.number, named.bytes) };
    if content != named.number {
        let name = file_name(content);
        let text = format!("holds the content of {name} (renamed or copied); verified as that file");
        file.result.remark = Some(text);
    }
    file
}

/// Only the last file may be shorter than 1 GiB.
fn shortened(files: &mut [TestedFile]) {
    let last = files.iter().map(|file| file.result.number).max();
    for file in files.iter_mut().filter(|file| file.result.bytes < FILE_BYTES) {
        if Some(file.result.number) != last {
            let lacks = FILE_BYTES - file.result.bytes;
            let text = format!("{lacks} bytes short of 1 GiB although it is not the last file: truncated");
            file.result.remark.get_or_insert(text);
        }
    }
}

fn glance(folder: &impl TestFolder, named: NumberedFile) -> ContentGuess {
    let sectors = named.bytes / SECTOR as u64;
    let mut owners = Vec::new();
    for n in 0..PEEKS.min(sectors) {
        let offset = sectors.saturating_sub(1) * n / (PEEKS - 1) * SECTOR as u64;
        let mut sector = [0; SECTOR];
        if folder.read_at(named.number, offset, &mut sector).is_err() {
            return ContentGuess::Unknown;
        }
        owners.extend(owner(&sector, offset));
    }
    match owners.first() {
        Some(first) if owners.len() as u64 == PEEKS.min(sectors) && owners.iter().all(|o| o == first) => {
            ContentGuess::Content(*first)
        }
        _ => ContentGuess::Unclear { sectors: owners.len() as u64 },
    }
}

/// The number of the file to which a sector belongs, where it lies at the same place in that file.
fn owner(sector: &[u8; SECTOR], offset_in_file: u64) -> Option<u64> {
    let claims = first_word(sector);
    let at_home = holds_pattern(sector) && claims % FILE_BYTES == offset_in_file;
    at_home.then(|| claims / FILE_BYTES + 1)
}
