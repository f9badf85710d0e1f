//! What a read of the medium finds: what is kept, what the cache of a fake still holds, what shows in the place of
//! what is lost, and which bits are wrong.

use super::faults::{IoError, Location};
use super::found::{Found, Piece};
use super::medium::{BLOCK, Medium, blocks};
use super::store::Layer;
use crate::archetype::Lost;
use cardscope_engine::content::Content;

impl Medium {
    /// Appends what read number `number` of the card finds. Fails if a part of it is lost and the card fails such
    /// reads.
    pub(crate) fn read(
        &mut self,
        offset: u64,
        len: u64,
        number: u64,
        found: &mut Found,
    ) -> Result<(), IoError> {
        self.reading = number;
        let (mut address, end) = (offset, offset + len);
        while address < end {
            let route = self.route(address, end - address);
            match route.place {
                Location::Kept(at) if self.pool.is_some() => self.find_pooled(at, route.len, found)?,
                Location::Kept(at) => self.find(Layer::Flash, at, route.len, found),
                Location::Bad(at) => self.find_lost(address, route.len, Some(at), found)?,
                Location::Nowhere => self.find_lost(address, route.len, None, found)?,
            }
            address += route.len;
        }
        if let Some(once) = self.once.filter(|_| self.map.begun) {
            once.in_read(number, len, |byte, mask| found.flips.push((byte, mask)));
        }
        Ok(())
    }

    fn find(&self, layer: Layer, at: u64, len: u64, found: &mut Found) {
        let mut place = at;
        while place < at + len {
            let (run, piece) = self.store.at(layer, place, at + len - place);
            let before = found.len;
            match piece {
                Some(piece) => found.push(piece),
                None => found.push(constant(run, self.unwritten, place)),
            }
            if let (Some(weak), Some(_), Layer::Flash, true) = (&self.weak, piece, layer, self.map.begun) {
                weak.each(place, place + run, |byte, mask| found.flips.push((before + byte - place, mask)));
            }
            place += run;
        }
    }

    /// On an overcommitted card a block that found no room is lost.
    fn find_pooled(&self, at: u64, len: u64, found: &mut Found) -> Result<(), IoError> {
        for (from, to) in blocks(at, len) {
            let kept =
                self.pool.as_ref().is_none_or(|p| p.live.count() < p.blocks || p.live.contains(from / BLOCK));
            if kept {
                self.find(Layer::Flash, from, to - from, found);
            } else {
                self.lose(from, to - from, Some(from), found)?;
            }
        }
        Ok(())
    }

    /// A lost range: some of its blocks may still be in the cache.
    fn find_lost(
        &mut self,
        address: u64,
        len: u64,
        old: Option<u64>,
        found: &mut Found,
    ) -> Result<(), IoError> {
        if self.cache.is_none() {
            return self.lose(address, len, old, found);
        }
        for (from, to) in blocks(address, len) {
            let cached = self.cache.as_mut().filter(|cache| cache.contains(from / BLOCK));
            if let Some(cache) = cached {
                cache.used(from / BLOCK);
                self.find(Layer::Cache, from, to - from, found);
            } else {
                self.lose(from, to - from, old.map(|at| at + (from - address)), found)?;
            }
        }
        Ok(())
    }

    /// What a lost range reads as; `old` is the place where something may have stood before.
    fn lose(&self, address: u64, len: u64, old: Option<u64>, found: &mut Found) -> Result<(), IoError> {
        match (self.fake.lost, old) {
            (Lost::Zeros, _) => found.push(constant(len, 0, address)),
            (Lost::Ones, _) => found.push(constant(len, 0xff, address)),
            (Lost::Noise, _) => found.push(stream(len, self.other.draw(!self.reading), address)),
            (Lost::Garbage, _) => found.push(stream(len, self.other.draw(u64::MAX), address)),
            (Lost::Last, _) => {
                for (from, to) in blocks(address, len) {
                    self.find(Layer::Cache, self.last + from % BLOCK, to - from, found);
                }
            }
            (Lost::Error, _) => return Err(IoError::failed("the card cannot read this block")),
            (Lost::Stale, Some(at)) => self.find(Layer::Flash, at, len, found),
            (Lost::Stale, None) => {
                for (from, to) in blocks(address, len) {
                    self.find_other(from, to - from, found);
                }
            }
        }
        Ok(())
    }

    /// The data of another block: of the one in the cache's slot, where each has one, else of any real one.
    fn find_other(&self, address: u64, len: u64, found: &mut Found) {
        let (block, within) = (address / BLOCK, address % BLOCK);
        let real = self.map.real / BLOCK;
        match &self.cache {
            Some(cache) if cache.neighbour(block).is_some() => {
                let other = cache.neighbour(block).unwrap_or_default() * BLOCK + within;
                match self.map.route(other, len).place {
                    Location::Kept(at) => self.find(Layer::Flash, at, len, found),
                    _ => self.find(Layer::Cache, other, len, found),
                }
            }
            _ if real > 0 => {
                let other = self.other.draw(block) % real * BLOCK + within;
                self.find(Layer::Flash, other, len, found);
            }
            _ => found.push(constant(len, self.unwritten, address)),
        }
    }

    /// Fetches what was found as bytes to its place in `out`. Fails if the host cannot read it any more.
    pub(crate) fn fetch(&self, found: &Found, out: &mut [u8]) -> Result<(), IoError> {
        let mut at = 0;
        for piece in &found.pieces {
            let end = at + piece.len as usize;
            if piece.what == Content::Buffer {
                self.store.fetch(piece, &mut out[at..end])?;
            }
            at = end;
        }
        Ok(())
    }
}

fn constant(len: u64, byte: u8, at: u64) -> Piece {
    Piece { len, what: Content::Constant(byte), at, origin: at }
}

fn stream(len: u64, seed: u64, at: u64) -> Piece {
    Piece { len, what: Content::Stream { seed }, at, origin: at }
}
