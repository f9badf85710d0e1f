//! Two layers of content: the flash, by place, and the cache of a fake, by address. Both store descriptions, and share
//! the memory for bytes.

use super::extents::{ContentExtents, ExtentKind};
use super::faults::{CardIoError, CardResult};
use super::read_content::ContentPiece;
use crate::seeded_choice::splitmix_step;
use cardscope_engine::content::{IoContent, constant_byte};
use cardscope_files::ResolvedFolder;
use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreLayer {
    Flash,
    Cache,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum WrittenData<'a> {
    /// Description, and the host's address minus the address that reaches the card.
    Described(IoContent, i64),
    Bytes(&'a [u8]),
}

impl WrittenData<'_> {
    pub(crate) fn described(what: IoContent) -> Self {
        WrittenData::Described(what, 0)
    }

    /// Data that a reader sends to `place` for the host's `address`.
    pub(crate) fn shifted_to(self, place: u64, address: u64) -> Self {
        match self {
            Self::Described(what, shift) => Self::Described(what, shift + address as i64 - place as i64),
            Self::Bytes(_) => self,
        }
    }

    /// Part of `len` bytes from `from`.
    pub(crate) fn part(&self, from: u64, len: u64) -> Self {
        match *self {
            Self::Described(..) => *self,
            Self::Bytes(bytes) => Self::Bytes(&bytes[from as usize..(from + len) as usize]),
        }
    }
}

/// Layers by [`StoreLayer`].
#[derive(Debug)]
pub(crate) struct ContentStore {
    pub(crate) layers: [ContentExtents; 2],
    pub(crate) bytes: PageStore,
}

/// Offset of the bytes of the cache's layer, beyond those of any flash.
const CACHE_OFFSET: u64 = 1 << 62;

fn byte_key(layer: StoreLayer, at: u64) -> u64 {
    match layer {
        StoreLayer::Flash => at,
        StoreLayer::Cache => CACHE_OFFSET + at,
    }
}

impl ContentStore {
    /// Holds up to `budget` bytes of pages in memory.
    pub(crate) fn new(budget: u64) -> Self {
        ContentStore { layers: Default::default(), bytes: PageStore::new(budget) }
    }

    /// Stores data at a place, written to address `from`. Fails if there is no room for bytes.
    #[inline]
    pub(crate) fn put(
        &mut self,
        layer: StoreLayer,
        at: Range<u64>,
        from: u64,
        data: WrittenData,
    ) -> CardResult {
        match data {
            WrittenData::Described(what, shift) => {
                let shift = shift + from as i64 - at.start as i64;
                self.describe(layer, at, ExtentKind { what, shift });
                Ok(())
            }
            WrittenData::Bytes(bytes) => self.put_bytes(layer, at.start, bytes).map_err(no_room_error),
        }
    }

    #[inline]
    fn describe(&mut self, layer: StoreLayer, range: Range<u64>, kind: ExtentKind) {
        let (start, end) = (byte_key(layer, range.start), byte_key(layer, range.end));
        if !self.layers[layer as usize].write(range, kind) {
            self.bytes.drop_pages(start, end);
        }
    }

    /// Stores bytes page by page. A page of one repeated byte, as most of a file system is, is stored as a description.
    fn put_bytes(&mut self, layer: StoreLayer, at: u64, bytes: &[u8]) -> io::Result<()> {
        let (mut place, mut rest) = (at, bytes);
        while !rest.is_empty() {
            let room = PAGE - (place % PAGE as u64) as usize;
            let (part, tail) = rest.split_at(rest.len().min(room));
            let end = place + part.len() as u64;
            if let Some(byte) = constant_byte(part) {
                self.describe(layer, place..end, ExtentKind { what: IoContent::Constant(byte), shift: 0 });
            } else {
                self.bytes.write(byte_key(layer, place), part)?;
                let kind = ExtentKind { what: IoContent::Buffer, shift: 0 };
                self.layers[layer as usize].write(place..end, kind);
            }
            (place, rest) = (end, tail);
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, layer: StoreLayer, range: Range<u64>) {
        self.bytes.drop_pages(byte_key(layer, range.start), byte_key(layer, range.end));
        self.layers[layer as usize].remove(range);
    }

    /// Piece at a place, None if it was never written, and the length for which that holds.
    pub(crate) fn piece_at(&self, layer: StoreLayer, at: u64, len: u64) -> (u64, Option<ContentPiece>) {
        let (end, kind) = self.layers[layer as usize].kind_at(at, at + len);
        let (len, key) = (end - at, byte_key(layer, at));
        let piece = |ExtentKind { what, shift }| ContentPiece {
            len,
            description: what,
            at: key,
            origin: at.wrapping_add_signed(shift),
        };
        (len, kind.map(piece))
    }

    /// Copies the bytes of a piece. Fails if the spill file cannot be read.
    pub(crate) fn copy_piece(&self, piece: &ContentPiece, out: &mut [u8]) -> CardResult {
        self.bytes.read(piece.at, out).map_err(|e| CardIoError::Failed {
            reason: format!("the simulation's file of spilled data cannot be read: {e}"),
            errno: e.raw_os_error().unwrap_or(libc::EIO),
        })
    }
}

pub(super) fn no_room_error(error: io::Error) -> CardIoError {
    let full = error.kind() == io::ErrorKind::StorageFull;
    let errno = if full { libc::ENOSPC } else { error.raw_os_error().unwrap_or(libc::EIO) };
    let reason = format!(
        "the simulation has no room left for what is written ({error}); free some, or set TMPDIR to a larger disk"
    );
    CardIoError::Failed { reason, errno }
}

/// Hasher for page numbers, which need no protection against collisions: one round of mixing.
#[derive(Debug, Default)]
pub(crate) struct MixHasher(u64);

impl Hasher for MixHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = splitmix_step(self.0 ^ u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = splitmix_step(self.0 ^ number);
    }
}

pub(crate) type NumberMap<T> = HashMap<u64, T, BuildHasherDefault<MixHasher>>;

pub(crate) const PAGE: usize = 4096;

/// Slots that are allocated at a time.
const SLAB_SLOTS: usize = 256;

/// Pages by number; absent pages hold zeros. The first slots are in memory, the others in a spill file.
#[derive(Debug, Default)]
pub(crate) struct PageStore {
    /// Slot of each page.
    index: NumberMap<u32>,
    slabs: Vec<Box<[u8]>>,
    memory_slots: u32,
    pub(super) file: Option<File>,
    used_slots: u32,
    free: Vec<u32>,
}

impl PageStore {
    pub(crate) fn new(budget: u64) -> Self {
        let memory_slots = u32::try_from(budget / PAGE as u64).unwrap_or(u32::MAX);
        PageStore { memory_slots, ..PageStore::default() }
    }

    /// Stores bytes within one page. Fails if there is no room for a page; all else is unchanged then.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let (number, within) = (offset / PAGE as u64, (offset % PAGE as u64) as usize);
        if let Some(slot) = self.index.get(&number) {
            return self.write_slot(*slot, within, bytes);
        }
        let mut page = [0; PAGE];
        page[within..within + bytes.len()].copy_from_slice(bytes);
        let slot = self.add_page(&page)?;
        self.index.insert(number, slot);
        Ok(())
    }

    /// Copies the bytes at `offset`. Fails if the spill file cannot be read.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let (mut at, mut rest) = (offset, out);
        while !rest.is_empty() {
            let within = (at % PAGE as u64) as usize;
            let room = rest.len().min(PAGE - within);
            let (part, tail) = rest.split_at_mut(room);
            match self.index.get(&(at / PAGE as u64)) {
                Some(slot) => self.read_slot(*slot, within, part)?,
                None => part.fill(0),
            }
            at += room as u64;
            rest = tail;
        }
        Ok(())
    }

    /// Drops the pages that lie entirely in the range, since a description replaces them.
    #[inline]
    pub(crate) fn drop_pages(&mut self, start: u64, end: u64) {
        if !self.index.is_empty() {
            self.drop_page_range(start.div_ceil(PAGE as u64)..end / PAGE as u64);
        }
    }

    #[inline(never)]
    fn drop_page_range(&mut self, range: Range<u64>) {
        let PageStore { index, free, .. } = self;
        // A discard of the whole card must not iterate over each page number of a terabyte.
        if range.end.saturating_sub(range.start) > index.len() as u64 {
            free.extend(index.extract_if(|number, _| range.contains(number)).map(|(_, slot)| slot));
        } else {
            free.extend(range.filter_map(|number| index.remove(&number)));
        }
    }

    pub(crate) fn page_numbers(&self) -> Vec<u64> {
        let mut numbers: Vec<_> = self.index.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }

    /// Stores a new page and returns its slot. Fails if neither memory nor disk has room; all else is unchanged then.
    fn add_page(&mut self, page: &[u8; PAGE]) -> io::Result<u32> {
        let slot = self.free.last().copied().unwrap_or(self.used_slots);
        // The spill file is created only when memory is used up.
        if slot >= self.memory_slots && self.file.is_none() {
            self.file = Some(create_spill_file()?);
        } else if slot < self.memory_slots && self.slabs.len() == slot as usize / SLAB_SLOTS {
            self.slabs.push(vec![0; SLAB_SLOTS * PAGE].into_boxed_slice());
        }
        self.write_slot(slot, 0, page)?;
        // The slot is taken after the write, so that a full disk costs only this page.
        if self.free.pop().is_none() {
            self.used_slots = self.used_slots.checked_add(1).ok_or(io::ErrorKind::StorageFull)?;
        }
        Ok(slot)
    }

    fn write_slot(&mut self, slot: u32, within: usize, part: &[u8]) -> io::Result<()> {
        match &self.file {
            Some(file) if slot >= self.memory_slots => file.write_all_at(part, self.offset(slot, within)),
            _ => {
                let at = slot as usize % SLAB_SLOTS * PAGE + within;
                self.slabs[slot as usize / SLAB_SLOTS][at..at + part.len()].copy_from_slice(part);
                Ok(())
            }
        }
    }

    fn read_slot(&self, slot: u32, within: usize, part: &mut [u8]) -> io::Result<()> {
        match &self.file {
            Some(file) if slot >= self.memory_slots => file.read_exact_at(part, self.offset(slot, within)),
            _ => {
                let at = slot as usize % SLAB_SLOTS * PAGE + within;
                part.copy_from_slice(&self.slabs[slot as usize / SLAB_SLOTS][at..at + part.len()]);
                Ok(())
            }
        }
    }

    fn offset(&self, slot: u32, within: usize) -> u64 {
        u64::from(slot - self.memory_slots) * PAGE as u64 + within as u64
    }
}

/// Creates an unnamed file in `$TMPDIR`, or else in the user's cache folder, since `/tmp` is in memory on many hosts.
fn create_spill_file() -> io::Result<File> {
    let folder = spill_folder();
    ResolvedFolder::open_or_create(&folder, 0o700)
        .map_err(io::Error::from)
        .and_then(|held| tempfile::tempfile_in(held.proc_path()))
        .map_err(|e| io::Error::new(e.kind(), format!("no file can be made in {}: {e}", folder.display())))
}

fn spill_folder() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("TMPDIR")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("cardscope")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/cardscope")))
        .unwrap_or_else(std::env::temp_dir)
}
