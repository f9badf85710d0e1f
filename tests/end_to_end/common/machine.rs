//! What the loop devices of these tests hold, and what lies in a folder.

pub(crate) use cardscope_testkit::devices::{LoopDevice, SwapArea, TestMount, attempt, tool, undo};
use std::path::{Path, PathBuf};

pub(crate) const MIB: u64 = 1 << 20;

/// A file that stands for a card's content, of so many MiB, with data in it that tells whether it was touched.
pub(crate) fn image(dir: &Path, mib: u64) -> PathBuf {
    let path = dir.join("card.img");
    std::fs::write(&path, data((mib * MIB) as usize)).unwrap();
    path
}

/// Data of which no two blocks of 4 KiB are alike.
pub(crate) fn data(bytes: usize) -> Vec<u8> {
    let words = (1..=512u64).flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    let mut data = words.collect::<Vec<u8>>().repeat(bytes.div_ceil(4096));
    (0u64..).zip(data.chunks_mut(4096)).for_each(|(n, block)| block[..8].copy_from_slice(&n.to_le_bytes()));
    data.truncate(bytes);
    data
}

/// The first byte in which two contents differ.
pub(crate) fn first_difference(a: &[u8], b: &[u8]) -> Option<usize> {
    let differs = |(a, b): (&[u8], &[u8])| a != b;
    let block = a.chunks(4096).zip(b.chunks(4096)).position(differs)? * 4096;
    a[block..].iter().zip(&b[block..]).position(|(a, b)| a != b).map(|byte| block + byte)
}

/// A loop device over an image of so many MiB with such data in it.
#[track_caller]
pub(crate) fn with_data(mib: u64, options: &[&str]) -> LoopDevice {
    LoopDevice::in_memory(options, |dir| image(dir, mib))
}

/// Where a kernel short of memory may write at any time: behind the header of a swap area, up to its end.
pub(crate) const SWAP_PAGES: std::ops::Range<usize> = 4 << 10..64 << 10;

/// Makes a swap area of that size and switches it on.
#[track_caller]
pub(crate) fn swap_on(device: &str) -> SwapArea {
    tool("mkswap", &[device, &(SWAP_PAGES.end >> 10).to_string()]);
    SwapArea::on(device)
}

/// The names in a directory, hidden ones too.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| name != "lost+found");
    names.sort();
    names
}
