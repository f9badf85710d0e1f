//! An image's exact size, and how much of it is in use.

use crate::error::Failure;
use cardscope_device::contents;
use cardscope_engine::input;
use rustix::fs::SeekFrom;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Read at a time.
const CHUNK: u64 = 1 << 20;

/// Packed files by their first bytes, and how to learn the size of what is in them.
const PACKED: &[(&[u8], &str)] = &[
    (b"\xfd7zXZ\0", "xz -l"),
    (b"\x1f\x8b", "gzip -cd … | wc -c"),
    (b"\x28\xb5\x2f\xfd", "zstd -l"),
    (b"BZh", "bzip2 -cd … | wc -c"),
    (b"PK\x03\x04", "unzip -l"),
    (b"7z\xbc\xaf\x27\x1c", "7z l"),
];

/// What is known of an image.
pub(super) struct Image {
    pub(super) bytes: u64,
    pub(super) in_use: u64,
    pub(super) partitions_end: Option<u64>,
}

/// Looks at an image.
pub(super) fn look(path: &Path) -> Result<Image, Failure> {
    let failed =
        |e: std::io::Error| Failure::refused_for(format!("{} cannot be read: {e}", path.display()), e);
    let file = input::open(path).map_err(|e| failed(std::io::Error::other(e)))?;
    let bytes = file.metadata().map_err(failed)?.len();
    refuse_packed(&file, path)?;
    let listed = contents::describe(&file, bytes);
    let partitions_end = listed.partitions.iter().filter_map(|p| p.start.checked_add(p.bytes)).max();
    Ok(Image { bytes, in_use: in_use(&file, bytes).map_err(failed)?, partitions_end })
}

fn refuse_packed(file: &File, path: &Path) -> Result<(), Failure> {
    let mut head = [0u8; 8];
    let read = file.read_at(&mut head, 0).unwrap_or(0);
    let Some((_, tool)) = PACKED.iter().find(|(magic, _)| head[..read].starts_with(magic)) else {
        return Ok(());
    };
    let path = path.display();
    Err(Failure::refused(format!(
        "{path} is packed: what counts is its size when unpacked; unpack it, or learn the size with `{tool}` and give that instead"
    )))
}

/// Up to the last byte that is not zero, sought from the end; holes are passed over.
fn in_use(file: &File, bytes: u64) -> std::io::Result<u64> {
    let mut end = bytes;
    let mut chunk = vec![0u8; CHUNK as usize];
    while end > 0 {
        let start = (end - 1) / CHUNK * CHUNK;
        // A file system that knows no holes says that everything is data.
        let data = rustix::fs::seek(file, SeekFrom::Data(start));
        if data.is_ok_and(|at| at < end) {
            let part = &mut chunk[..(end - start) as usize];
            file.read_exact_at(part, start)?;
            if let Some(last) = part.iter().rposition(|byte| *byte != 0) {
                return Ok(start + last as u64 + 1);
            }
        }
        end = start;
    }
    Ok(0)
}
