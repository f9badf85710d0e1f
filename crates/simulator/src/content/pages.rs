//! Room for pages of 4 KiB: memory up to a budget, then a file that has no name and goes with the process. Freed
//! pages are used again first.

use cardscope_files::Folder;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

/// Pages that memory is asked for at a time.
const SLAB: u32 = 256;

/// Where a page lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Memory(u32),
    File(u32),
}

/// Pages in memory and in a file.
#[derive(Debug)]
pub(crate) struct Pages {
    slabs: Vec<Box<[u8]>>,
    /// Pages in memory that were ever in use.
    taken: u32,
    most: u32,
    free: Vec<u32>,
    spill: Option<Spill>,
}

#[derive(Debug)]
struct Spill {
    file: File,
    taken: u32,
    free: Vec<u32>,
}

impl Pages {
    /// Keeps up to `budget` bytes in memory.
    pub(crate) fn new(budget: u64) -> Self {
        let most = u32::try_from(budget / PAGE as u64).unwrap_or(u32::MAX);
        Pages { slabs: Vec::new(), taken: 0, most, free: Vec::new(), spill: None }
    }

    /// Keeps a new page.
    ///
    /// # Errors
    /// If neither memory nor disk has room; nothing else is lost by it.
    pub(crate) fn add(&mut self, page: &[u8; PAGE]) -> io::Result<Place> {
        if let Some(number) = self.free.pop().or_else(|| self.grow()) {
            self.memory(number).copy_from_slice(page);
            return Ok(Place::Memory(number));
        }
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill { file: unnamed()?, taken: 0, free: Vec::new() }),
        };
        spill.add(page).map(Place::File)
    }

    fn grow(&mut self) -> Option<u32> {
        let number = self.taken;
        if number >= self.most {
            return None;
        }
        if number.is_multiple_of(SLAB) {
            self.slabs.push(vec![0; SLAB as usize * PAGE].into_boxed_slice());
        }
        self.taken += 1;
        Some(number)
    }

    fn memory(&mut self, number: u32) -> &mut [u8] {
        let at = (number % SLAB) as usize * PAGE;
        &mut self.slabs[(number / SLAB) as usize][at..at + PAGE]
    }

    /// Overwrites part of a page.
    ///
    /// # Errors
    /// As the file's disk reports.
    pub(crate) fn write(&mut self, place: Place, within: usize, part: &[u8]) -> io::Result<()> {
        match (place, &self.spill) {
            (Place::Memory(number), _) => {
                self.memory(number)[within..within + part.len()].copy_from_slice(part);
                Ok(())
            }
            (Place::File(number), Some(spill)) => spill.file.write_all_at(part, offset(number, within)),
            (Place::File(_), None) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Fetches part of a page.
    ///
    /// # Errors
    /// As the file's disk reports.
    pub(crate) fn read(&self, place: Place, within: usize, part: &mut [u8]) -> io::Result<()> {
        match (place, &self.spill) {
            (Place::Memory(number), _) => {
                let at = (number % SLAB) as usize * PAGE + within;
                part.copy_from_slice(&self.slabs[(number / SLAB) as usize][at..at + part.len()]);
                Ok(())
            }
            (Place::File(number), Some(spill)) => spill.file.read_exact_at(part, offset(number, within)),
            (Place::File(_), None) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Gives a page up.
    pub(crate) fn drop(&mut self, place: Place) {
        match (place, &mut self.spill) {
            (Place::Memory(number), _) => self.free.push(number),
            (Place::File(number), Some(spill)) => spill.free.push(number),
            (Place::File(_), None) => {}
        }
    }

    /// Spills to this file.
    #[cfg(test)]
    pub(crate) fn spilling_to(file: File) -> Self {
        Pages { spill: Some(Spill { file, taken: 0, free: Vec::new() }), ..Pages::new(0) }
    }
}

impl Spill {
    fn add(&mut self, page: &[u8; PAGE]) -> io::Result<u32> {
        let number = self.free.last().copied().unwrap_or(self.taken);
        self.file.write_all_at(page, offset(number, 0))?;
        // Only a page that is written is taken: a full disk costs nothing but this one.
        if self.free.pop().is_none() {
            self.taken = self.taken.checked_add(1).ok_or(io::ErrorKind::StorageFull)?;
        }
        Ok(number)
    }
}

fn offset(number: u32, within: usize) -> u64 {
    u64::from(number) * PAGE as u64 + within as u64
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
