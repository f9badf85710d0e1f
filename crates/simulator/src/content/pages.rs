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

    /// Keeps a new page and gives its number.
    ///
    /// # Errors
    /// If neither memory nor disk has room; nothing else is lost by it.
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

    /// Overwrites part of a page.
    ///
    /// # Errors
    /// As the file's disk reports.
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

    /// Fetches part of a page.
    ///
    /// # Errors
    /// As the file's disk reports.
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
