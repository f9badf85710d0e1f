//! Bytes that were given as such (file systems, foreign tools), by pages of 4 KiB.

use super::pages::{PAGE, Pages};
use crate::chance::mix;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;

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

    /// Stores `bytes` at `offset`.
    ///
    /// # Errors
    /// If there is no room for a page; what stood elsewhere is untouched.
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

    /// Fetches the bytes at `offset`.
    ///
    /// # Errors
    /// If the file that memory spilled to cannot be read.
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
