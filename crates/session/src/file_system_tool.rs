//! Runs file system tools (dosfstools, exfatprogs, e2fsprogs …) on sparse files in memory.

use crate::error::{Failure, Result};
use rustix::fs::{MemfdFlags, SeekFrom, memfd_create, seek};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Path of a tool. `mkfs.fat` may also be installed as `mkfs.vfat`, its only name on some small systems.
pub fn find_tool(name: &str) -> Option<PathBuf> {
    search_path(name).or_else(|| search_path((name == "mkfs.fat").then_some("mkfs.vfat")?))
}

/// Searches PATH and the `sbin` next to each `bin`, which is often missing in the PATH of normal users.
fn search_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let beside = |dir: &Path| dir.ends_with("bin").then(|| dir.with_file_name("sbin"));
    let places = std::env::split_paths(&path).flat_map(|dir| [beside(&dir), Some(dir)]);
    places.flatten().map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// Sparse file in memory, which uses memory only for the parts that are written.
pub fn sparse_file(bytes: u64) -> Result<File> {
    let failed = |e: std::io::Error| Failure::io_for(format!("not enough memory for the partition: {e}"), e);
    let file = memfd_create("cardscope-format", MemfdFlags::CLOEXEC).map_err(|e| failed(e.into()))?;
    let file = File::from(file);
    file.set_len(bytes).map_err(failed)?;
    Ok(file)
}

pub fn run_tool_on(program: &Path, arguments: &[String], on: &File) -> Result<()> {
    // The file in memory has no path, so the tool opens it through a descriptor of this process.
    let name = format!("/proc/{}/fd/{}", std::process::id(), on.as_raw_fd());
    let ended = Command::new(program)
        .args(arguments)
        .arg(&name)
        // Messages of the tool are quoted in refusals, which are in English.
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| Failure::refused_for(format!("{} could not be started: {e}", program.display()), e))?;
    if ended.status.success() {
        return Ok(());
    }
    let said = [ended.stderr, ended.stdout].concat();
    Err(Failure::refused(format!(
        "{} {} failed: {}; nothing was written to the card",
        program.display(),
        arguments.join(" "),
        String::from_utf8_lossy(&said).trim()
    )))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteRange {
    pub start: u64,
    pub end: u64,
}

pub fn data_ranges(file: &File, bytes: u64) -> std::io::Result<Vec<ByteRange>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes {
        let start = match seek(file, SeekFrom::Data(at)) {
            Err(Errno::NXIO) => break,
            start => start?,
        };
        at = seek(file, SeekFrom::Hole(start))?.min(bytes);
        found.push(ByteRange { start, end: at });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn data_ranges_skip_holes() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 24).unwrap();
        file.write_all_at(&[1; 4096], 1 << 20).unwrap();
        let found = data_ranges(&file, 1 << 24).unwrap();
        let covered = |at: u64| found.iter().any(|range| range.start <= at && at < range.end);
        assert!(covered(1 << 20) && !covered(1 << 22), "{found:?}");
    }
}
