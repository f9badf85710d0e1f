//! Checksum file of an image: its card, a CRC32C of each MiB, and unreadable ranges. It is text, one fact a line, with
//! a checksum of itself at the end.

use cardscope_files::{FileError, FileUse};
use cardscope_model::untrusted_text;
use crc32c::Crc32cWriter;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Bytes of an I/O and of the range of a checksum.
pub(super) const CHUNK: u32 = 1 << 20;

const TITLE: &str = "cardscope backup 1";

/// Header of a checksum file: the card and when its image was taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackupFacts {
    pub tool_version: String,
    /// Target as typed by the user.
    pub target: String,
    /// Key that identifies the card, if it has an identity.
    pub card_key: Option<String>,
    /// Name of the card for people.
    pub card: Option<String>,
    pub bytes: u64,
    /// Time of the backup, UTC.
    pub taken: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnreadRange {
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) reason: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ImageSums {
    pub(super) about: BackupFacts,
    /// CRC32C of each chunk; `None` for zeros.
    pub(super) chunks: Vec<Option<u32>>,
    pub(super) unread: Vec<UnreadRange>,
}

/// Path of the checksum file of an image.
pub fn checksum_path(image: &Path) -> PathBuf {
    let mut name: OsString = image.as_os_str().to_owned();
    name.push(".sums");
    PathBuf::from(name)
}

pub(super) fn write_sums(file: &File, sums: &ImageSums) -> std::io::Result<()> {
    let mut out = Crc32cWriter::new(BufWriter::new(file));
    writeln!(out, "{TITLE}")?;
    writeln!(out, "{}", untrusted_text::escape_json(&serde_json::to_string(&sums.about)?))?;
    for run in sums.chunks.chunk_by(|a, b| a.is_none() && b.is_none()) {
        match run[0] {
            None => writeln!(out, "zero {}", run.len())?,
            Some(crc) => writeln!(out, "crc {crc:08x}")?,
        }
    }
    for UnreadRange { offset, len, reason } in &sums.unread {
        writeln!(out, "unread {offset} {len} {}", untrusted_text::escape_line(reason))?;
    }
    let crc = out.crc32c();
    writeln!(out, "end {crc:08x}")?;
    out.into_inner().into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
}

pub(super) fn read_sums(path: &Path) -> Result<ImageSums, String> {
    let shown = path.display();
    let cannot = |e: FileError| format!("its checksums {shown} cannot be read: {e}");
    let damaged = || format!("its checksums {shown} are damaged; the image alone can be written with dd");
    let file = cardscope_files::open_file(path, FileUse::Read).map_err(cannot)?;
    let mut lines = SumLines { file: BufReader::new(file), line: String::new(), crc: 0 };
    let title = lines.next_line().map_err(cannot)?.ok_or_else(damaged)?;
    if title != TITLE {
        return Err(match title.strip_prefix("cardscope backup ") {
            Some(version) => format!(
                "the backup has version {version}, and this Cardscope knows version 1; use the one that took it"
            ),
            None => format!("{shown} is not a checksum file of a backup"),
        });
    }
    let head = lines.next_line().map_err(cannot)?;
    let about = head.and_then(|line| serde_json::from_str::<BackupFacts>(line).ok()).ok_or_else(damaged)?;
    let mut sums = ImageSums { about, chunks: Vec::new(), unread: Vec::new() };
    let all = sums.about.bytes.div_ceil(u64::from(CHUNK));
    loop {
        let crc = lines.crc;
        let line = lines.next_line().map_err(cannot)?.ok_or_else(damaged)?;
        if let Some(end) = line.strip_prefix("end ") {
            let valid = u32::from_str_radix(end, 16) == Ok(crc) && sums.chunks.len() as u64 == all;
            return if valid { Ok(sums) } else { Err(damaged()) };
        }
        parse_line(&mut sums, line, all).ok_or_else(damaged)?;
    }
}

fn parse_line(sums: &mut ImageSums, line: &str, all: u64) -> Option<()> {
    let (word, rest) = line.split_once(' ')?;
    match word {
        "crc" => sums.chunks.push(Some(u32::from_str_radix(rest, 16).ok()?)),
        "zero" => {
            let more: u64 = rest.parse().ok()?;
            let len = (sums.chunks.len() as u64).checked_add(more).filter(|len| *len <= all)?;
            sums.chunks.resize(usize::try_from(len).ok()?, None);
        }
        "unread" => {
            let mut fields = rest.splitn(3, ' ');
            let (offset, len) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
            let reason = fields.next().unwrap_or_default().to_owned();
            sums.unread.push(UnreadRange { offset, len, reason });
        }
        _ => return None,
    }
    Some(())
}

struct SumLines {
    file: BufReader<File>,
    line: String,
    crc: u32,
}

impl SumLines {
    fn next_line(&mut self) -> Result<Option<&str>, FileError> {
        self.line.clear();
        self.file.read_line(&mut self.line)?;
        self.crc = crc32c::crc32c_append(self.crc, self.line.as_bytes());
        Ok(self.line.strip_suffix('\n'))
    }
}
