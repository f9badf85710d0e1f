//! How what is on a card is laid out: where its partitions and their files begin. Reads a few sectors, disturbs nobody.

use super::reader::{Bytes, FileBytes};
use super::{Contents, Part, Table, examine};
use cardscope_model::present_layout::{PresentLayout, Read, Unit};
use cardscope_sd::layout::boot::{self, Volume};
use std::fs::File;

/// The layout on an open device or image of `bytes` bytes; `stated` is the card's own allocation unit, where known.
/// `None` where its first blocks cannot be read.
pub fn present_of(file: &File, bytes: u64, stated: Option<Unit>) -> Option<PresentLayout> {
    present(&FileBytes { file, bytes }, stated)
}

/// The layout of anything that bytes can be read from.
pub fn present(source: &dyn Bytes, stated: Option<Unit>) -> Option<PresentLayout> {
    let contents = examine(source);
    if contents.unreadable {
        return None;
    }
    let table = contents.table.map(|table| match table {
        Table::Mbr => "mbr".to_owned(),
        Table::Gpt => "gpt".to_owned(),
    });
    let read = if contents.table.is_some() { partitions(source, &contents) } else { whole(source) };
    Some(PresentLayout::new(source.len(), table, read, stated))
}

fn partitions(source: &dyn Bytes, contents: &Contents) -> Vec<Read> {
    let read = |p: &Part| (Some(p.number), p.start, p.bytes, volume(source, p.start));
    contents.partitions.iter().filter(|p| !p.extended()).map(read).collect()
}

/// A volume over the whole card, without a table.
fn whole(source: &dyn Bytes) -> Vec<Read> {
    volume(source, 0).map(|volume| (None, 0, source.len(), Some(volume))).into_iter().collect()
}

fn volume(source: &dyn Bytes, start: u64) -> Option<Volume> {
    let room = source.len().checked_sub(start)?;
    boot::read(&source.read(start, room.min(boot::HEAD as u64))?)
}
