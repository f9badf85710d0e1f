//! Reads the files back with several I/Os in flight, past the page cache or after emptying it, and repeats reads
//! that differ, so that no card is accused by a single read.

use super::sector_classes::{ContentShift, SortedSectors, SuspectExtent};
use super::speed_meter::SpeedMeter;
use super::{FilesError, FilesPass, READING, TestFolder, TestedFile};
use crate::probe::Result;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ReadAnswer, split_extents};
use cardscope_engine::target::Target;
use cardscope_model::caveat::Caveat;
use cardscope_model::units::nanos_to_seconds;
use cardscope_model::verify::SectorCounts;
use cardscope_probing::bad_ranges::common_divisor;
use cardscope_probing::sector::SECTOR;

const DEPTH: u32 = 4;
const BLOCK: u32 = 1 << 20;

/// Extents that failed twice are read in parts of this size, so that one bad sector does not cost a whole MiB.
const PART_BYTES: u32 = 16 << 10;

/// Least share of the overwritten sectors for a distance; rarer ones are remains of other data.
const MIN_DISTANCE_SHARE: f64 = 0.01;

/// Smallest plausible period; smaller common divisors are chance.
const MIN_PERIOD: u64 = 1 << 20;

impl<F: TestFolder> FilesPass<'_, F> {
    /// Reads all files in order, then repeats the reads that differed. Data without time left remains unread.
    ///
    /// # Errors
    /// If the card is gone, the user stopped the test, or a file cannot be opened again.
    pub fn read_all(&mut self) -> Result<(), FilesError> {
        self.sorted.tested = self.files.iter().map(TestedFile::range).collect();
        self.events.begin_stage(READING, Some(self.files.iter().map(|file| file.result.bytes).sum()), None);
        let mut files = std::mem::take(&mut self.files);
        let read = self.read_files(&mut files);
        self.files = files;
        read?;
        self.reread_suspects()?;
        self.wrap_bytes = self.wrap_period();
        Ok(())
    }

    fn read_files(&mut self, files: &mut [TestedFile]) -> Result<()> {
        let end = self.read_deadline();
        for file in files {
            if !end.is_over() {
                self.read_file(file)?;
            }
            if end.is_over() && file.is_unread() {
                self.events.report_note("the budget ends reading");
                break;
            }
        }
        Ok(())
    }

    fn read_file(&mut self, file: &mut TestedFile) -> Result<()> {
        let mut target = match self.folder.open(file.result.number) {
            Ok(target) => target,
            Err(reason) => {
                file.result.remark = Some(format!("not read: {reason}"));
                self.add_caveat(format!("{} was not read: {reason}", file.result.name));
                return Ok(());
            }
        };
        bypass_cache(target.as_mut(), &self.interrupt)?;
        let outcome = self.read_target(file, target.as_mut());
        self.add_target_caveats(target.as_ref());
        outcome?;
        self.read_tail(file, target.info().sector);
        Ok(())
    }

    fn read_target(&mut self, file: &mut TestedFile, target: &mut dyn Target) -> Result<()> {
        let interrupt = self.interrupt.clone();
        let whole = file.result.bytes - file.result.bytes % u64::from(target.info().sector);
        let mut card = IoDriver::new(target, &interrupt, BLOCK, DEPTH)?;
        let (mut meter, now) = (SpeedMeter::default(), card.seconds());
        meter.resume_at(now);
        self.read_meter.resume_at(now);
        let mut failed: Vec<CardExtent> = Vec::new();
        let end = self.read_deadline();
        let extents = split_extents(0, whole, BLOCK).take_while(|_| !end.is_over());
        let outcome = card.read(extents, file.expected_content(), |extent, at, answer| {
            let len = u64::from(extent.len);
            meter.add_bytes(nanos_to_seconds(at), len);
            self.read_meter.add_bytes(nanos_to_seconds(at), len);
            match answer {
                ReadAnswer::Failed(_) => failed.push(extent),
                other => self.count_sectors(file, extent, &other),
            }
            self.events.report_bytes(self.read_meter.bytes);
            Ok(())
        });
        let outcome = outcome.and_then(|()| self.read_parts(file, &mut card, &failed));
        self.moved.bytes_read += card.tally().read;
        self.count_failed(&card);
        file.result.read = meter.pace();
        outcome
    }

    fn count_sectors(&mut self, file: &mut TestedFile, extent: CardExtent, answer: &ReadAnswer<'_>) {
        let len = u64::from(extent.len);
        let counts = self.sorted.add_answer(file.file_offset(extent.offset), len, answer);
        file.result.sectors.add_counts(&counts);
        file.result.read_bytes += len;
    }

    fn read_parts(&mut self, file: &mut TestedFile, card: &mut IoDriver, list: &[CardExtent]) -> Result<()> {
        let part = PART_BYTES.max(card.sector());
        let parts = list.iter().flat_map(|extent| split_extents(extent.offset, extent.end(), part));
        card.read(parts, file.expected_content(), |extent, _, answer| {
            self.count_sectors(file, extent, &answer);
            Ok(())
        })
    }

    /// Reads the end of a file of odd size, which direct I/O cannot reach.
    fn read_tail(&mut self, file: &mut TestedFile, sector: u32) {
        let odd = file.result.bytes % u64::from(sector);
        let (start, sectors) = (file.result.bytes - odd, odd - odd % SECTOR as u64);
        if odd > sectors {
            let text = format!("skipped its last {} bytes, which are not a whole sector", odd - sectors);
            file.result.remark.get_or_insert(text);
        }
        let mut bytes = vec![0; sectors as usize];
        if bytes.is_empty() {
            return;
        }
        let counts = match self.folder.read_at(file.result.number, start, &mut bytes) {
            Ok(()) => self.sorted.add_differing(file.file_offset(start), &bytes),
            Err(_) => self.sorted.add_unreadable(file.file_offset(start), sectors),
        };
        file.result.sectors.add_counts(&counts);
        file.result.read_bytes += sectors;
        self.moved.bytes_read += sectors;
    }

    /// Repeats reads that differed on newly opened files, and counts those with another answer.
    fn reread_suspects(&mut self) -> Result<(), FilesError> {
        for suspect in std::mem::take(&mut self.sorted.suspects) {
            let file = self.files.iter().find(|file| file.result.number == suspect.number).cloned();
            let Some(file) = file else { continue };
            self.changed_answers += u64::from(self.reread(&file, &suspect)? != suspect.counts);
        }
        if self.changed_answers == 0 {
            self.sorted.disproofs.iter_mut().for_each(|disproof| disproof.seen = 2);
        }
        Ok(())
    }

    fn reread(&mut self, file: &TestedFile, suspect: &SuspectExtent) -> Result<SectorCounts, FilesError> {
        let mut target = self.folder.open(file.result.number)?;
        bypass_cache(target.as_mut(), &self.interrupt)?;
        let mut card = IoDriver::new(target.as_mut(), &self.interrupt, BLOCK, 1)?;
        let mut again = SortedSectors { tested: self.sorted.tested.clone(), ..SortedSectors::default() };
        let start = suspect.offset_in_file;
        let end = start + u64::from(suspect.len);
        if !end.is_multiple_of(u64::from(card.sector())) {
            return Ok(suspect.counts);
        }
        let looked =
            card.read(split_extents(start, end, BLOCK), file.expected_content(), |extent, _, answer| {
                again.add_answer(file.file_offset(extent.offset), u64::from(extent.len), &answer);
                Ok(())
            });
        self.moved.bytes_read += card.tally().read;
        self.count_failed(&card);
        looked?;
        Ok(again.counts)
    }

    /// Period in bytes at which the card's addresses repeat. `None` if the file system does not report positions,
    /// or the distances have no common divisor.
    ///
    /// Distances within files are not enough, since a file system leaves gaps and fragments files. The file system
    /// is therefore asked for the card address of a sector and of the one whose content it shows; on a wrapping
    /// card all such distances are multiples of the period.
    fn wrap_period(&self) -> Option<u64> {
        let all = self.sorted.counts.overwritten;
        let counts = |shift: &&ContentShift| shift.count as f64 >= MIN_DISTANCE_SHARE * all as f64;
        let shifts = self.sorted.shifts.values().filter(counts);
        let distance = |shift: &ContentShift| {
            Some(self.card_address_of(shift.expected)?.abs_diff(self.card_address_of(shift.found)?))
        };
        let distances: Option<Vec<u64>> = shifts.map(distance).collect();
        common_divisor(distances?).filter(|period| *period >= MIN_PERIOD)
    }

    /// Card address of a byte of the whole data.
    fn card_address_of(&self, offset: u64) -> Option<u64> {
        let file = self.files.iter().find(|file| file.range().contains(&offset))?;
        self.folder.card_address(file.result.number, offset - file.range().start)
    }
}

/// Empties the page cache if direct I/O is unavailable. Only a target with planned I/O knows that.
fn bypass_cache(target: &mut dyn Target, interrupt: &InterruptFlag) -> Result<()> {
    drop(IoDriver::new(target, interrupt, BLOCK, DEPTH)?);
    if target.caveats().iter().any(|caveat| matches!(caveat, Caveat::NoDirectIo { .. })) {
        let _ = target.drop_caches();
    }
    Ok(())
}
