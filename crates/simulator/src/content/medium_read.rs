//! Reads of the medium: data that is kept, data that a fake's cache still holds, substitutes for lost data, wrong bits.

use super::faults::{CardIoError, CardResult, MediumLocation};
use super::read_content::{ContentPiece, ReadContent};
use super::store::StoreLayer;
use super::{BLOCK, CardMedium, split_blocks};
use crate::archetype::LostRead;
use cardscope_engine::content::IoContent;
use std::ops::Range;

impl CardMedium {
    /// Appends the content of read number `number`. Fails if a part is lost and the card returns errors for lost
    /// blocks.
    pub(crate) fn read(&mut self, offset: u64, len: u64, number: u64, found: &mut ReadContent) -> CardResult {
        self.read_number = number;
        let (mut address, end) = (offset, offset + len);
        while address < end {
            let route = self.route(address, end - address);
            match route.place {
                MediumLocation::Kept(at) if self.pool.is_some() => self.read_pooled(at, route.len, found)?,
                MediumLocation::Kept(at) => self.read_layer(StoreLayer::Flash, at, route.len, found),
                MediumLocation::Bad(at) => self.read_lost(address, route.len, Some(at), found)?,
                MediumLocation::Nowhere => self.read_lost(address, route.len, None, found)?,
            }
            address += route.len;
        }
        // Random flips follow the number of the read, so that the same history gives the same bits.
        if let Some(once) = self.read_flips.filter(|_| self.map.begun) {
            once.for_each_in_read(number, len, |byte, mask| found.flips.push((byte, mask)));
        }
        Ok(())
    }

    fn read_layer(&self, layer: StoreLayer, at: u64, len: u64, found: &mut ReadContent) {
        let mut place = at;
        while place < at + len {
            let (run, piece) = self.store.piece_at(layer, place, at + len - place);
            let before = found.len;
            found.push(piece.unwrap_or_else(|| constant_piece(run, self.unwritten, place)));
            // Weak cells show only in written flash.
            let weak = self.weak.filter(|_| piece.is_some() && layer == StoreLayer::Flash && self.map.begun);
            if let Some(weak) = weak {
                let flips = &mut found.flips;
                let mut flip = |byte, mask| flips.push((before + byte - place, mask));
                weak.for_each_weak(place, place + run, &mut flip);
            }
            place += run;
        }
    }

    /// Reads from an overcommitted card, on which a block that found no room is lost.
    fn read_pooled(&self, at: u64, len: u64, found: &mut ReadContent) -> CardResult {
        let full = self.pool.as_ref().filter(|pool| pool.is_full());
        for Range { start, end } in split_blocks(at, len) {
            if full.is_none_or(|pool| pool.live.contains(start / BLOCK)) {
                self.read_layer(StoreLayer::Flash, start, end - start, found);
            } else {
                self.append_lost(start, end - start, Some(start), found)?;
            }
        }
        Ok(())
    }

    /// Reads a lost range, some blocks of which may be in the cache.
    fn read_lost(&mut self, address: u64, len: u64, old: Option<u64>, found: &mut ReadContent) -> CardResult {
        if self.cache.is_none() {
            return self.append_lost(address, len, old, found);
        }
        for Range { start, end } in split_blocks(address, len) {
            if let Some(cache) = self.cache.as_mut().filter(|cache| cache.contains(start / BLOCK)) {
                cache.touch_block(start / BLOCK);
                self.read_layer(StoreLayer::Cache, start, end - start, found);
            } else {
                self.append_lost(start, end - start, old.map(|at| at + (start - address)), found)?;
            }
        }
        Ok(())
    }

    /// Appends the substitute for a lost range; `old` is the place of older data, if there is one.
    fn append_lost(&self, address: u64, len: u64, old: Option<u64>, found: &mut ReadContent) -> CardResult {
        let random = |number| stream_piece(len, self.lost_data.number_at(number), address);
        match (self.fake.lost, old) {
            (LostRead::Zeros, _) => found.push(constant_piece(len, 0, address)),
            (LostRead::Ones, _) => found.push(constant_piece(len, 0xff, address)),
            (LostRead::Noise, _) => found.push(random(!self.read_number)),
            (LostRead::Garbage, _) => found.push(random(u64::MAX)),
            (LostRead::Last, _) => {
                for Range { start, end } in split_blocks(address, len) {
                    let at = self.last_block_at + start % BLOCK;
                    self.read_layer(StoreLayer::Cache, at, end - start, found);
                }
            }
            (LostRead::Error, _) => return CardIoError::command_failed("the card cannot read this block"),
            (LostRead::Stale, Some(at)) => self.read_layer(StoreLayer::Flash, at, len, found),
            (LostRead::Stale, None) => {
                for Range { start, end } in split_blocks(address, len) {
                    self.append_other_block(start, end - start, found);
                }
            }
        }
        Ok(())
    }

    /// Appends the data of another block: the one in the same slot of a direct-mapped cache, or any real one.
    fn append_other_block(&self, address: u64, len: u64, found: &mut ReadContent) {
        let (block, within) = (address / BLOCK, address % BLOCK);
        let real = self.map.real / BLOCK;
        if let Some(same_slot) = self.cache.as_ref().and_then(|cache| cache.block_in_same_slot(block)) {
            let other = same_slot * BLOCK + within;
            match self.map.route(other, len).place {
                MediumLocation::Kept(at) => self.read_layer(StoreLayer::Flash, at, len, found),
                _ => self.read_layer(StoreLayer::Cache, other, len, found),
            }
        } else if real > 0 {
            let other = self.lost_data.number_at(block) % real * BLOCK + within;
            self.read_layer(StoreLayer::Flash, other, len, found);
        } else {
            found.push(constant_piece(len, self.unwritten, address));
        }
    }

    /// Copies the pieces that are stored as bytes to their places in `out`. Fails if the host cannot read them.
    pub(crate) fn copy_stored(&self, found: &ReadContent, out: &mut [u8]) -> CardResult {
        let mut at = 0;
        for piece in &found.pieces {
            let end = at + piece.len as usize;
            if piece.description == IoContent::Buffer {
                self.store.copy_piece(piece, &mut out[at..end])?;
            }
            at = end;
        }
        Ok(())
    }
}

fn constant_piece(len: u64, byte: u8, at: u64) -> ContentPiece {
    ContentPiece { len, description: IoContent::Constant(byte), at, origin: at }
}

fn stream_piece(len: u64, seed: u64, at: u64) -> ContentPiece {
    ContentPiece { len, description: IoContent::Stream { seed }, at, origin: at }
}
