//! What a saved state keeps of the content: descriptions in one piece, pages of bytes one by one.

use super::Medium;
use super::Trouble;
use super::extents::Extents;
use super::live::LiveBlocks;
use super::pages::PAGE;
use serde::{Deserialize, Serialize};
use std::io;

/// Bytes of a page.
pub(crate) const PAGE_BYTES: usize = PAGE;

/// The content of a card, to be written to a file.
#[derive(Debug, Serialize)]
pub(crate) struct ContentRef<'a> {
    flash: &'a Extents,
    cache: &'a Extents,
    cached: Vec<u64>,
    live: Option<&'a LiveBlocks>,
    worn: Option<&'a LiveBlocks>,
}

/// The same as it comes from a file.
#[derive(Debug, Deserialize)]
pub(crate) struct ContentState {
    flash: Extents,
    cache: Extents,
    /// Blocks in the cache, in the order in which they give way.
    cached: Vec<u64>,
    live: Option<LiveBlocks>,
    /// Blocks that wear has taken.
    worn: Option<LiveBlocks>,
}

impl Medium {
    /// Everything but the pages of bytes.
    pub(crate) fn content(&self) -> ContentRef<'_> {
        ContentRef {
            flash: &self.store.flash,
            cache: &self.store.cache,
            cached: self.cache.as_ref().map(|cache| cache.blocks()).unwrap_or_default(),
            live: self.pool.as_ref().map(|pool| &pool.live),
            worn: self.worn.as_ref(),
        }
    }

    /// Takes back what a file kept, on a card on which nothing stands. False if it cannot be this card's.
    #[must_use]
    pub(crate) fn restore(&mut self, state: ContentState) -> bool {
        self.store.flash = state.flash;
        self.store.cache = state.cache;
        match (&mut self.cache, state.cached.as_slice()) {
            (Some(cache), blocks) => {
                for block in blocks {
                    cache.take(*block);
                }
            }
            (None, []) => {}
            (None, _) => return false,
        }
        match (&mut self.pool, state.live) {
            (Some(pool), Some(live)) if live.sound() => pool.live = live,
            (None, None) => {}
            _ => return false,
        }
        self.take_worn(state.worn)
    }

    fn take_worn(&mut self, worn: Option<LiveBlocks>) -> bool {
        self.honest &= worn.is_none();
        self.worn = worn;
        self.worn.as_ref().is_none_or(LiveBlocks::sound)
    }

    /// Numbers of the pages of bytes, in order.
    pub(crate) fn pages(&self) -> Vec<u64> {
        self.store.bytes.numbers()
    }

    /// Fetches a page.
    ///
    /// # Errors
    /// If the host cannot read it any more.
    pub(crate) fn page(&self, number: u64, out: &mut [u8; PAGE]) -> io::Result<()> {
        self.store.bytes.read(number * PAGE as u64, out)
    }

    /// Takes back a page.
    ///
    /// # Errors
    /// If there is no room for it.
    pub(crate) fn put_page(&mut self, number: u64, page: &[u8; PAGE]) -> Result<(), Trouble> {
        let offset = number.checked_mul(PAGE as u64).unwrap_or_default();
        self.store.bytes.write(offset, page).map_err(super::store::no_room)
    }
}
