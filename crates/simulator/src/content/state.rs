//! What a saved state keeps of the content: descriptions in one piece, pages of bytes one by one.

use super::Medium;
use super::blocks::LiveBlocks;
use super::bytes::PAGE;
use super::extents::Extents;
use super::faults::IoError;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;

/// Bytes of a page.
pub(crate) const PAGE_BYTES: usize = PAGE;

/// The content of a card: borrowed on its way to a file, owned when it comes from one.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ContentState<'a> {
    flash: Cow<'a, Extents>,
    cache: Cow<'a, Extents>,
    /// Blocks in the cache, in the order in which they give way.
    cached: Vec<u64>,
    live: Option<Cow<'a, LiveBlocks>>,
    /// Blocks that wear has taken.
    worn: Option<Cow<'a, LiveBlocks>>,
}

impl Medium {
    /// Everything but the pages of bytes.
    pub(crate) fn content(&self) -> ContentState<'_> {
        ContentState {
            flash: Cow::Borrowed(&self.store.flash),
            cache: Cow::Borrowed(&self.store.cache),
            cached: self.cache.as_ref().map(|cache| cache.blocks()).unwrap_or_default(),
            live: self.pool.as_ref().map(|pool| Cow::Borrowed(&pool.live)),
            worn: self.worn.as_ref().map(Cow::Borrowed),
        }
    }

    /// Takes back what a file kept, on a card on which nothing stands. False if it cannot be this card's.
    pub(crate) fn restore(&mut self, state: ContentState<'_>) -> bool {
        self.store.flash = state.flash.into_owned();
        self.store.cache = state.cache.into_owned();
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
            (Some(pool), Some(live)) if live.is_valid() => pool.live = live.into_owned(),
            (None, None) => {}
            _ => return false,
        }
        self.honest &= state.worn.is_none();
        self.worn = state.worn.map(Cow::into_owned);
        self.worn.as_ref().is_none_or(LiveBlocks::is_valid)
    }

    /// Numbers of the pages of bytes, in order.
    pub(crate) fn pages(&self) -> Vec<u64> {
        self.store.bytes.numbers()
    }

    /// Fetches a page. Fails if the host cannot read it any more.
    pub(crate) fn page(&self, number: u64, out: &mut [u8; PAGE]) -> io::Result<()> {
        self.store.bytes.read(number * PAGE as u64, out)
    }

    /// Takes back a page. Fails if there is no room for it.
    pub(crate) fn put_page(&mut self, number: u64, page: &[u8; PAGE]) -> Result<(), IoError> {
        let offset = number.checked_mul(PAGE as u64).unwrap_or_default();
        self.store.bytes.write(offset, page).map_err(super::store::no_room)
    }
}
