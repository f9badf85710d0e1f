//! Reading the files back, several I/Os at a time, past the page cache or with it emptied first; and a second look at
//! what was not as written, since nobody is accused on one observation.

use super::folder::{FilesError, TestFolder};
use super::meter::Meter;
use super::names::Named;
use super::pass::Pass;
use super::sector::SECTOR;
use super::sorting::{Place, Suspect};
use cardscope_engine::card::{Answer, Card, Extent, Stop, extents};
use cardscope_engine::content::Content;
use cardscope_engine::content::h2w::FILE_BYTES;
use cardscope_engine::target::Target;
use cardscope_model::caveat::Caveat;
use cardscope_model::units::seconds;
use cardscope_model::verify::{FileResult, SectorCounts};

const DEPTH: u32 = 4;
const BLOCK: u32 = 1 << 20;

/// What failed twice is read in parts of this size, so that one bad sector does not take a mebibyte with it.
const PART: u32 = 16 << 10;

/// A file to be read: by its name, and by what it holds.
#[derive(Debug, Clone)]
pub(super) struct ToRead {
    pub(super) named: Named,
    /// The number whose content is expected; another than that of the name where a file was renamed.
    pub(super) content: u64,
    pub(super) result: FileResult,
}

impl ToRead {
    /// The part of the whole data that it holds.
    pub(super) fn range(&self) -> std::ops::Range<u64> {
        let start = (self.content - 1) * FILE_BYTES;
        start..start.saturating_add(self.named.bytes)
    }
}

impl ToRead {
    fn place(&self, offset_in_file: u64) -> Place {
        Place { number: self.named.number, content: self.content, offset_in_file }
    }

    fn base(&self) -> Content {
        Content::H2w { base: (self.content - 1) * FILE_BYTES }
    }
}

/// Reads the files in order; those that the budget left no time for stay unread.
pub(super) fn read_all(pass: &mut Pass<'_, impl TestFolder>, files: &mut [ToRead]) -> Result<(), FilesError> {
    pass.phase("reading", files.iter().map(|file| file.named.bytes).sum());
    for file in files {
        if pass.is_over() {
            pass.note("the time for reading is over".into());
            break;
        }
        read_file(pass, file)?;
    }
    Ok(())
}

fn read_file(pass: &mut Pass<'_, impl TestFolder>, file: &mut ToRead) -> Result<(), FilesError> {
    let mut target = match pass.folder.open(file.named.number) {
        Ok(target) => target,
        Err(reason) => {
            file.result.remark = Some(format!("not read: {reason}"));
            pass.doubt(format!("{} was not read: {reason}", file.named.name()));
            return Ok(());
        }
    };
    uncached(target.as_mut(), pass)?;
    let outcome = read_target(pass, file, target.as_mut());
    pass.heard(target.as_ref());
    outcome?;
    read_tail(pass, file, target.info().sector);
    Ok(())
}

/// Where direct I/O does not go, the page cache is emptied first. Only a planned target knows which it is.
fn uncached<F>(target: &mut dyn Target, pass: &Pass<'_, F>) -> Result<(), Stop> {
    drop(Card::new(target, &pass.interrupt, BLOCK, DEPTH)?);
    if target.caveats().iter().any(|caveat| matches!(caveat, Caveat::NoDirectIo { .. })) {
        let _ = target.drop_caches();
    }
    Ok(())
}

fn read_target(
    pass: &mut Pass<'_, impl TestFolder>,
    file: &mut ToRead,
    target: &mut dyn Target,
) -> Result<(), Stop> {
    let interrupt = pass.interrupt.clone();
    let whole = file.named.bytes - file.named.bytes % u64::from(target.info().sector);
    let mut card = Card::new(target, &interrupt, BLOCK, DEPTH)?;
    let (mut meter, now) = (Meter::default(), card.seconds());
    meter.begin(now);
    pass.read_meter.begin(now);
    let mut failed: Vec<Extent> = Vec::new();
    let outcome = card.read(extents(0, whole, BLOCK), file.base(), |extent, at, answer| {
        let len = u64::from(extent.len);
        meter.moved(seconds(at), len);
        pass.read_meter.moved(seconds(at), len);
        match answer {
            Answer::Failed(_) => failed.push(extent),
            other => take(pass, file, extent, &other),
        }
        pass.read();
        Ok(())
    });
    let outcome = outcome.and_then(|()| in_parts(pass, file, &mut card, &failed));
    pass.bytes_read += card.tally().read;
    pass.io_errors(card.io_errors().iter().cloned());
    file.result.read = meter.pace();
    outcome
}

/// Sorts what a read found.
fn take(pass: &mut Pass<'_, impl TestFolder>, file: &mut ToRead, extent: Extent, answer: &Answer<'_>) {
    let place = file.place(extent.offset);
    let counts = match answer {
        Answer::Same => pass.sorted.same(u64::from(extent.len)),
        Answer::Differs { bytes, .. } => pass.sorted.differs(place, bytes),
        Answer::Failed(_) => pass.sorted.unreadable(place, u64::from(extent.len)),
    };
    file.result.sectors.add(&counts);
    file.result.read_bytes += u64::from(extent.len);
}

fn in_parts(
    pass: &mut Pass<'_, impl TestFolder>,
    file: &mut ToRead,
    card: &mut Card<'_>,
    failed: &[Extent],
) -> Result<(), Stop> {
    let part = PART.max(card.sector());
    let parts = failed.iter().flat_map(|extent| extents(extent.offset, extent.end(), part));
    let expected = file.base();
    card.read(parts, expected, |extent, _, answer| {
        take(pass, file, extent, &answer);
        Ok(())
    })
}

/// What direct I/O cannot reach at the end of an odd-sized file: a few sectors, and less than one.
fn read_tail(pass: &mut Pass<'_, impl TestFolder>, file: &mut ToRead, sector: u32) {
    let odd = file.named.bytes % u64::from(sector);
    let (start, sectors) = (file.named.bytes - odd, odd - odd % SECTOR as u64);
    if !odd.is_multiple_of(SECTOR as u64) {
        let text = format!("its last {} bytes are no whole sector and were left out", odd % SECTOR as u64);
        file.result.remark.get_or_insert(text);
    }
    let mut bytes = vec![0; sectors as usize];
    if bytes.is_empty() {
        return;
    }
    let read = pass.folder.read_at(file.named.number, start, &mut bytes);
    let extent = Extent { offset: start, len: sectors as u32 };
    match read {
        Ok(()) => take(pass, file, extent, &Answer::Differs { bytes: &bytes, first: 0 }),
        Err(_) => {
            let counts = pass.sorted.unreadable(file.place(start), sectors);
            file.result.sectors.add(&counts);
            file.result.read_bytes += sectors;
        }
    }
    pass.bytes_read += sectors;
}

/// Reads pieces that were not as written once more, from files opened afresh; gives how many of them gave another
/// answer than before.
pub(super) fn second_look(pass: &mut Pass<'_, impl TestFolder>, files: &[ToRead]) -> Result<u64, FilesError> {
    let suspects = std::mem::take(&mut pass.sorted.suspects);
    let mut otherwise = 0;
    for suspect in &suspects {
        let Some(file) = files.iter().find(|file| file.named.number == suspect.number) else { continue };
        if look_again(pass, file, suspect)? != suspect.counts {
            otherwise += 1;
        }
    }
    if otherwise == 0 {
        pass.sorted.disproofs.iter_mut().for_each(|disproof| disproof.seen = 2);
    }
    Ok(otherwise)
}

fn look_again(
    pass: &mut Pass<'_, impl TestFolder>,
    file: &ToRead,
    suspect: &Suspect,
) -> Result<SectorCounts, FilesError> {
    let mut target = pass.folder.open(file.named.number).map_err(FilesError::Folder)?;
    uncached(target.as_mut(), pass)?;
    let interrupt = pass.interrupt.clone();
    let mut card = Card::new(target.as_mut(), &interrupt, BLOCK, 1)?;
    let mut again = super::sorting::Sorted { tested: pass.sorted.tested.clone(), ..Default::default() };
    let start = suspect.offset_in_file;
    let end = start + u64::from(suspect.len);
    let sector = u64::from(card.sector());
    if !end.is_multiple_of(sector) {
        return Ok(suspect.counts);
    }
    card.read(extents(start, end, BLOCK), file.base(), |extent, _, answer| {
        let place = file.place(extent.offset);
        match answer {
            Answer::Same => again.same(u64::from(extent.len)),
            Answer::Differs { bytes, .. } => again.differs(place, bytes),
            Answer::Failed(_) => again.unreadable(place, u64::from(extent.len)),
        };
        Ok(())
    })?;
    pass.bytes_read += card.tally().read;
    Ok(again.counts)
}
