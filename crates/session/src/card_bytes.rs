//! An open card as a byte source for the parsers of partition tables and file systems.

use cardscope_device::contents::ByteSource;
use cardscope_engine::content::IoContent;
use cardscope_engine::io_driver::{IoDriver, ReadAnswer, split_extents};
use std::cell::RefCell;

/// Reads whole sectors of a card. A read that fails in part returns None.
pub struct CardBytes<'a, 't>(RefCell<&'a mut IoDriver<'t>>);

impl<'a, 't> CardBytes<'a, 't> {
    pub fn new(card: &'a mut IoDriver<'t>) -> Self {
        CardBytes(RefCell::new(card))
    }
}

impl ByteSource for CardBytes<'_, '_> {
    fn len(&self) -> u64 {
        self.0.borrow().bytes()
    }

    fn sector(&self) -> u64 {
        self.0.borrow().sector().into()
    }

    fn read(&self, offset: u64, count: u64) -> Option<Vec<u8>> {
        let mut card = self.0.borrow_mut();
        let sector = u64::from(card.sector());
        let end = offset.checked_add(count).filter(|end| *end <= card.bytes())?;
        let start = offset - offset % sector;
        let stop = end.next_multiple_of(sector).min(card.bytes());
        let mut bytes = vec![0u8; usize::try_from(stop - start).ok()?];
        let mut whole = true;
        let block = card.block();
        let read = card.read(split_extents(start, stop, block), IoContent::Buffer, |extent, _, answer| {
            let at = (extent.offset - start) as usize;
            match answer {
                ReadAnswer::Differs { bytes: read, .. } => bytes[at..at + read.len()].copy_from_slice(read),
                _ => whole = false,
            }
            Ok(())
        });
        let from = (offset - start) as usize;
        (read.is_ok() && whole).then(|| bytes[from..from + count as usize].to_vec())
    }
}
