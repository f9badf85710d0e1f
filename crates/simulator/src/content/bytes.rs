//! Bytes that were given as such (file systems, foreign tools), in pages of 4 KiB; a page of one repeated byte
//! costs no page.

use std::collections::HashMap;

const PAGE: u64 = 4096;

#[derive(Debug)]
enum Page {
    Constant(u8),
    Bytes(Box<[u8; PAGE as usize]>),
}

/// Pages by number; one that is absent holds zeros.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    pages: HashMap<u64, Page>,
}

impl Bytes {
    /// Stores `bytes` at `offset`.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let within = (at % PAGE) as usize;
            let (part, tail) = rest.split_at(rest.len().min(PAGE as usize - within));
            self.write_page(at / PAGE, within, part);
            at += part.len() as u64;
            rest = tail;
        }
    }

    fn write_page(&mut self, number: u64, within: usize, part: &[u8]) {
        let constant = part.iter().all(|b| *b == part[0]).then_some(part[0]);
        if let Some(byte) = constant.filter(|_| part.len() == PAGE as usize) {
            self.pages.insert(number, Page::Constant(byte));
            return;
        }
        let page = self.pages.entry(number).or_insert(Page::Constant(0));
        match page {
            Page::Constant(old) if constant == Some(*old) => {}
            Page::Constant(old) => {
                let mut bytes = Box::new([*old; PAGE as usize]);
                bytes[within..within + part.len()].copy_from_slice(part);
                *page = Page::Bytes(bytes);
            }
            Page::Bytes(bytes) => bytes[within..within + part.len()].copy_from_slice(part),
        }
    }

    /// Fetches the bytes at `offset`.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) {
        let (mut at, mut rest) = (offset, out);
        while !rest.is_empty() {
            let within = (at % PAGE) as usize;
            let room = rest.len().min(PAGE as usize - within);
            let (part, tail) = rest.split_at_mut(room);
            match self.pages.get(&(at / PAGE)) {
                Some(Page::Bytes(bytes)) => part.copy_from_slice(&bytes[within..within + room]),
                Some(Page::Constant(byte)) => part.fill(*byte),
                None => part.fill(0),
            }
            at += room as u64;
            rest = tail;
        }
    }

    /// Drops the pages that lie whole in the range: something else stands there now.
    pub(crate) fn drop_pages(&mut self, start: u64, end: u64) {
        let pages = start.div_ceil(PAGE)..end / PAGE;
        // A discard of the whole card must not look at each page number of a terabyte.
        if pages.end.saturating_sub(pages.start) > self.pages.len() as u64 {
            self.pages.retain(|number, _| !pages.contains(number));
        } else {
            for number in pages {
                self.pages.remove(&number);
            }
        }
    }

    /// Pages that cost memory.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.pages.values().filter(|p| matches!(p, Page::Bytes(_))).count()
    }
}
