//! Bytes that were given as such (file systems, foreign tools), by pages of 4 KiB.

use crate::chance::mix;
use cardscope_files::Folder;
use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Page numbers are no passwords: one round of mixing spreads them.
#[derive(Debug, Default)]
pub(crate) struct MixHasher(u64);

impl Hasher for MixHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = mix(self.0 ^ u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0 ^ number);
    }
}

/// A map by page or block number.
pub(crate) type NumberMap<T> = HashMap<u64, T, BuildHasherDefault<MixHasher>>;

/// Pages by number; one that is absent holds zeros.
#[derive(Debug)]
pub(crate) struct Bytes {
    index: NumberMap<u32>,
    pages: Pages,
}

impl Bytes {
    /// Keeps them in `pages`.
    pub(crate) fn new(pages: Pages) -> Self {
        Bytes { index: NumberMap::default(), pages }
    }

    /// Stores `bytes` at `offset`. Fails if there is no room for a page; what stood elsewhere is untouched.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let within = (at % PAGE as u64) as usize;
            let (part, tail) = rest.split_at(rest.len().min(PAGE - within));
            self.write_page(at / PAGE as u64, within, part)?;
            at += part.len() as u64;
            rest = tail;
        }
        Ok(())
    }

    fn write_page(&mut self, number: u64, within: usize, part: &[u8]) -> io::Result<()> {
        if let Some(place) = self.index.get(&number) {
            return self.pages.write(*place, within, part);
        }
        let mut page = [0; PAGE];
        page[within..within + part.len()].copy_from_slice(part);
        let place = self.pages.add(&page)?;
        self.index.insert(number, place);
        Ok(())
    }

    /// Fetches the bytes at `offset`. Fails if the file that memory spilled to cannot be read.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let (mut at, mut rest) = (offset, out);
        while !rest.is_empty() {
            let within = (at % PAGE as u64) as usize;
            let room = rest.len().min(PAGE - within);
            let (part, tail) = rest.split_at_mut(room);
            match self.index.get(&(at / PAGE as u64)) {
                Some(place) => self.pages.read(*place, within, part)?,
                None => part.fill(0),
            }
            at += room as u64;
            rest = tail;
        }
        Ok(())
    }

    /// Drops the pages that lie whole in the range: something else stands there now.
    #[inline]
    pub(crate) fn drop_pages(&mut self, start: u64, end: u64) {
        if !self.index.is_empty() {
            self.drop_some(start.div_ceil(PAGE as u64), end / PAGE as u64);
        }
    }

    #[inline(never)]
    fn drop_some(&mut self, start: u64, end: u64) {
        let Bytes { index, pages } = self;
        // A discard of the whole card must not look at each page number of a terabyte.
        if end.saturating_sub(start) > index.len() as u64 {
            index.retain(|number, place| {
                let stays = !(start..end).contains(number);
                if !stays {
                    pages.drop(*place);
                }
                stays
            });
        } else {
            (start..end).filter_map(|number| index.remove(&number)).for_each(|place| pages.drop(place));
        }
    }

    /// Numbers of all pages, in order.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let mut numbers: Vec<_> = self.index.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }
}

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

/// Pages that memory is asked for at a time.
const SLAB: u32 = 256;

/// Pages by number: the first of them in memory, the others in a file.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    slabs: Vec<Box<[u8]>>,
    /// Pages that memory has room for.
    most: u32,
    file: Option<File>,
    /// Pages that were ever in use.
    taken: u32,
    free: Vec<u32>,
}

impl Pages {
    /// Keeps up to `budget` bytes in memory.
    pub(crate) fn new(budget: u64) -> Self {
        Pages { most: u32::try_from(budget / PAGE as u64).unwrap_or(u32::MAX), ..Pages::default() }
    }

    /// Keeps a new page and gives its number. Fails if neither memory nor disk has room; nothing else is lost by it.
    pub(crate) fn add(&mut self, page: &[u8; PAGE]) -> io::Result<u32> {
        let number = self.free.last().copied().unwrap_or(self.taken);
        if number >= self.most && self.file.is_none() {
            self.file = Some(unnamed()?);
        } else if number < self.most && self.slabs.len() == (number / SLAB) as usize {
            self.slabs.push(vec![0; SLAB as usize * PAGE].into_boxed_slice());
        }
        self.write(number, 0, page)?;
        // Only a page that is written is taken: a full disk costs nothing but this one.
        if self.free.pop().is_none() {
            self.taken = self.taken.checked_add(1).ok_or(io::ErrorKind::StorageFull)?;
        }
        Ok(number)
    }

    /// Overwrites part of a page. Fails with what the file's disk reports.
    pub(crate) fn write(&mut self, number: u32, within: usize, part: &[u8]) -> io::Result<()> {
        match &self.file {
            Some(file) if number >= self.most => file.write_all_at(part, self.offset(number, within)),
            _ => {
                let at = (number % SLAB) as usize * PAGE + within;
                self.slabs[(number / SLAB) as usize][at..at + part.len()].copy_from_slice(part);
                Ok(())
            }
        }
    }

    /// Fetches part of a page. Fails with what the file's disk reports.
    pub(crate) fn read(&self, number: u32, within: usize, part: &mut [u8]) -> io::Result<()> {
        match &self.file {
            Some(file) if number >= self.most => file.read_exact_at(part, self.offset(number, within)),
            _ => {
                let at = (number % SLAB) as usize * PAGE + within;
                part.copy_from_slice(&self.slabs[(number / SLAB) as usize][at..at + part.len()]);
                Ok(())
            }
        }
    }

    /// Gives a page up.
    pub(crate) fn drop(&mut self, number: u32) {
        self.free.push(number);
    }

    fn offset(&self, number: u32, within: usize) -> u64 {
        u64::from(number - self.most) * PAGE as u64 + within as u64
    }

    /// Spills to this file.
    #[cfg(test)]
    pub(crate) fn spilling_to(file: File) -> Self {
        Pages { file: Some(file), ..Pages::default() }
    }
}

/// A file without a name: `$TMPDIR` where it is set, else the user's cache folder, since `/tmp` is memory on many
/// hosts.
fn unnamed() -> io::Result<File> {
    let folder = folder();
    Folder::make(&folder, 0o700)
        .map_err(io::Error::from)
        .and_then(|held| tempfile::tempfile_in(held.by_descriptor()))
        .map_err(|e| io::Error::new(e.kind(), format!("no file can be made in {}: {e}", folder.display())))
}

fn folder() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("TMPDIR")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("cardscope")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/cardscope")))
        .unwrap_or_else(std::env::temp_dir)
}
