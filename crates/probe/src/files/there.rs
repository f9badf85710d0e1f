//! Files that are there already, written by whomever: which of them belong to the pattern, and whose content each
//! holds. A file that somebody renamed is whole all the same; a card that wraps gives one file's content under another
//! name while that other file is there, too.

use super::folder::TestFolder;
use super::names::{self, Named};
use super::pass::Pass;
use super::reading::ToRead;
use super::sector::{self, Class, SECTOR};
use cardscope_engine::content::h2w::FILE_BYTES;
use cardscope_model::verify::{FileResult, SectorCounts};
use std::collections::HashMap;

/// Places of a file that are looked at to tell whose content it holds.
const PEEKS: u64 = 5;

/// What a first look at a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Glance {
    /// Sectors of the pattern that belong to this number.
    Content(u64),
    /// Sectors of the pattern of several numbers, or of none.
    Unclear { sectors: u64 },
    /// It could not be opened or read; reading it in earnest will tell.
    Unknown,
}

/// The files to read, and those that have such a name but are none, with the reason.
pub(super) fn to_read(pass: &Pass<'_, impl TestFolder>) -> (Vec<ToRead>, Vec<String>) {
    let (found, alike) = pass.folder.there();
    let glances: Vec<(Named, Glance)> =
        found.into_iter().map(|named| (named.clone(), glance(&pass.folder, &named))).collect();
    let at_home: HashMap<u64, bool> =
        glances.iter().map(|(named, seen)| (named.number, *seen == Glance::Content(named.number))).collect();
    let (mut files, mut foreign) = (Vec::new(), Vec::new());
    for (named, seen) in glances {
        if let Some(reason) = foreigner(&named, seen) {
            foreign.push(format!("{}: {reason}", named.name()));
            continue;
        }
        let content = match seen {
            // The file to which this content belongs is not there, or holds another's too.
            Glance::Content(other) if !at_home.get(&other).copied().unwrap_or(false) => other,
            _ => named.number,
        };
        files.push(prepared(named, content));
    }
    shortened(&mut files);
    foreign.extend(alike.into_iter().map(|name| format!("{name}: not a name that h2testw or f3write gives")));
    (files, foreign)
}

/// Why a file is none of the pattern.
fn foreigner(named: &Named, seen: Glance) -> Option<String> {
    match seen {
        _ if !named.is_plain => Some("no plain file".into()),
        _ if named.bytes > FILE_BYTES => {
            Some(format!("{} bytes long, more than such a file ever is", named.bytes))
        }
        _ if named.bytes == 0 => Some("empty".into()),
        Glance::Unclear { sectors: 0 } if !named.bytes.is_multiple_of(SECTOR as u64) => {
            Some("of an odd length and without a sector of the pattern".into())
        }
        _ => None,
    }
}

fn prepared(named: Named, content: u64) -> ToRead {
    let renamed = (content != named.number).then(|| {
        format!(
            "holds the content of {}: renamed or copied; it was verified as that",
            names::file_name(content)
        )
    });
    let result = FileResult {
        name: named.name(),
        number: named.number,
        bytes: named.bytes,
        read_bytes: 0,
        sectors: SectorCounts::default(),
        write: None,
        read: None,
        remark: renamed,
    };
    ToRead { named, content, result }
}

/// Only the last file may be shorter than 1 GiB.
fn shortened(files: &mut [ToRead]) {
    let last = files.iter().map(|file| file.named.number).max();
    for file in files.iter_mut().filter(|file| file.named.bytes < FILE_BYTES) {
        if Some(file.named.number) != last {
            let lacks = FILE_BYTES - file.named.bytes;
            let text =
                format!("{lacks} bytes short of 1 GiB though it is not the last: cut off, or interrupted");
            file.result.remark.get_or_insert(text);
        }
    }
}

fn glance(folder: &impl TestFolder, named: &Named) -> Glance {
    let sectors = named.bytes / SECTOR as u64;
    let mut owners = Vec::new();
    for n in 0..PEEKS.min(sectors) {
        let offset = sectors.saturating_sub(1) * n / (PEEKS - 1) * SECTOR as u64;
        let mut sector = [0; SECTOR];
        if folder.read_at(named.number, offset, &mut sector).is_err() {
            return Glance::Unknown;
        }
        owners.extend(owner(&sector, offset));
    }
    match owners.first() {
        Some(first) if owners.len() as u64 == PEEKS.min(sectors) && owners.iter().all(|o| o == first) => {
            Glance::Content(*first)
        }
        _ => Glance::Unclear { sectors: owners.len() as u64 },
    }
}

/// The number of the file to which a sector belongs, where it lies at the same place in that file.
fn owner(sector: &[u8; SECTOR], offset_in_file: u64) -> Option<u64> {
    let claims = sector::first_word(sector);
    let at_home = sector::look(sector, claims) == Class::Ok && claims % FILE_BYTES == offset_in_file;
    at_home.then(|| claims / FILE_BYTES + 1)
}

/// The files that this run wrote.
pub(super) fn written<F>(pass: &Pass<'_, F>) -> Vec<ToRead> {
    let to_read = |result: &FileResult| ToRead {
        named: Named { number: result.number, bytes: result.bytes, is_plain: true },
        content: result.number,
        result: result.clone(),
    };
    pass.written.iter().map(to_read).collect()
}
