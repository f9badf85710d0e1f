//! Reading the files back, several I/Os at a time, past the page cache or with it emptied first; and a second look at
//! what was not as written, since nobody is accused on one observation.

use super::READING;
use super::meter::SpeedMeter;
use super::pass::{FilesError, FilesPass, TestFolder, TestedFile};
use super::sorting::{ContentShift, SortedSectors, SuspectExtent};
use cardscope_engine::card::{CardExtent, IoDriver, ProbeStop, ReadAnswer, extents};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::target::Target;
use cardscope_model::caveat::Caveat;
use cardscope_model::units::seconds;
use cardscope_model::verify::SectorCounts;
use cardscope_probing::common_distance::common;
use cardscope_probing::sector::SECTOR;

const DEPTH: u32 = 4;
const BLOCK: u32 = 1 << 20;

/// What failed twice is read in parts of this size, so that one bad sector does not take a mebibyte with it.
const PART: u32 = 16 << 10;

/// Distances of fewer sectors than this share of the overwritten ones are remains of something else.
const LEAST_SHARE: f64 = 0.01;

/// No card is so small: what has only smaller divisors in common is no period.
const LEAST_PERIOD: u64 = 1 << 20;

impl<F: TestFolder> FilesPass<'_, F> {
    /// Reads the files in order, then once more what was not as written; what the budget leaves no time for stays
    /// unread.
    ///
    /// # Errors
    /// If the card is gone, the user stopped it, or a file cannot be looked at again.
    pub fn read_all(&mut self) -> Result<(), FilesError> {
        self.sorted.tested = self.files.iter().map(TestedFile::range).collect();
        self.stage(READING, self.files.iter().map(|file| file.result.bytes).sum());
        let mut files = std::mem::take(&mut self.files);
        let read = self.read_files(&mut files);
        self.files = files;
        read?;
        self.second_look()?;
        self.wrap = self.period();
        Ok(())
    }

    fn read_files(&mut self, files: &mut [TestedFile]) -> Result<(), ProbeStop> {
        let end = self.end();
        for file in files {
            if !end.is_over() {
                self.read_file(file)?;
            }
            if end.is_over() && file.is_unread() {
                self.note("the budget ends reading");
                break;
            }
        }
        Ok(())
    }

    fn read_file(&mut self, file: &mut TestedFile) -> Result<(), ProbeStop> {
        let mut target = match self.folder.open(file.result.number) {
            Ok(target) => target,
            Err(reason) => {
                file.result.remark = Some(format!("not read: {reason}"));
                self.doubt(format!("{} was not read: {reason}", file.result.name));
                return Ok(());
            }
        };
        uncached(target.as_mut(), &self.interrupt)?;
        let outcome = self.read_target(file, target.as_mut());
        self.heard(target.as_ref());
        outcome?;
        self.read_tail(file, target.info().sector);
        Ok(())
    }

    fn read_target(&mut self, file: &mut TestedFile, target: &mut dyn Target) -> Result<(), ProbeStop> {
        let interrupt = self.interrupt.clone();
        let whole = file.result.bytes - file.result.bytes % u64::from(target.info().sector);
        let mut card = IoDriver::new(target, &interrupt, BLOCK, DEPTH)?;
        let (mut meter, now) = (SpeedMeter::default(), card.seconds());
        meter.begin(now);
        self.read_meter.begin(now);
        let mut failed: Vec<CardExtent> = Vec::new();
        let end = self.end();
        let extents = extents(0, whole, BLOCK).take_while(|_| !end.is_over());
        let outcome = card.read(extents, file.expected(), |extent, at, answer| {
            let len = u64::from(extent.len);
            meter.moved(seconds(at), len);
            self.read_meter.moved(seconds(at), len);
            match answer {
                ReadAnswer::Failed(_) => failed.push(extent),
                other => self.sort(file, extent, &other),
            }
            self.read();
            Ok(())
        });
        let outcome = outcome.and_then(|()| self.in_parts(file, &mut card, &failed));
        self.moved.bytes_read += card.tally().read;
        self.count_failed(&card);
        file.result.read = meter.pace();
        outcome
    }

    /// Sorts what a read found.
    fn sort(&mut self, file: &mut TestedFile, extent: CardExtent, answer: &ReadAnswer<'_>) {
        let len = u64::from(extent.len);
        let counts = self.sorted.take(file.place(extent.offset), len, answer);
        file.result.sectors.add(&counts);
        file.result.read_bytes += len;
    }

    fn in_parts(
        &mut self,
        file: &mut TestedFile,
        card: &mut IoDriver<'_>,
        failed: &[CardExtent],
    ) -> Result<(), ProbeStop> {
        let part = PART.max(card.sector());
        let parts = failed.iter().flat_map(|extent| extents(extent.offset, extent.end(), part));
        let expected = file.expected();
        card.read(parts, expected, |extent, _, answer| {
            self.sort(file, extent, &answer);
            Ok(())
        })
    }

    /// What direct I/O cannot reach at the end of an odd-sized file: a few sectors, and less than one.
    fn read_tail(&mut self, file: &mut TestedFile, sector: u32) {
        let odd = file.result.bytes % u64::from(sector);
        let (start, sectors) = (file.result.bytes - odd, odd - odd % SECTOR as u64);
        if !odd.is_multiple_of(SECTOR as u64) {
            let text =
                format!("skipped its last {} bytes, which are not a whole sector", odd % SECTOR as u64);
            file.result.remark.get_or_insert(text);
        }
        let mut bytes = vec![0; sectors as usize];
        if bytes.is_empty() {
            return;
        }
        let counts = match self.folder.read_at(file.result.number, start, &mut bytes) {
            Ok(()) => self.sorted.differs(file.place(start), &bytes),
            Err(_) => self.sorted.unreadable(file.place(start), sectors),
        };
        file.result.sectors.add(&counts);
        file.result.read_bytes += sectors;
        self.moved.bytes_read += sectors;
    }

    /// Reads what was not as written once more, from files opened afresh, and counts what gave another answer than
    /// before.
    fn second_look(&mut self) -> Result<(), FilesError> {
        for suspect in std::mem::take(&mut self.sorted.suspects) {
            let file = self.files.iter().find(|file| file.result.number == suspect.number).cloned();
            let Some(file) = file else { continue };
            self.wavering += u64::from(self.look_again(&file, &suspect)? != suspect.counts);
        }
        if self.wavering == 0 {
            self.sorted.disproofs.iter_mut().for_each(|disproof| disproof.seen = 2);
        }
        Ok(())
    }

    fn look_again(&mut self, file: &TestedFile, suspect: &SuspectExtent) -> Result<SectorCounts, FilesError> {
        let mut target = self.folder.open(file.result.number)?;
        uncached(target.as_mut(), &self.interrupt)?;
        let mut card = IoDriver::new(target.as_mut(), &self.interrupt, BLOCK, 1)?;
        let mut again = SortedSectors { tested: self.sorted.tested.clone(), ..SortedSectors::default() };
        let start = suspect.offset_in_file;
        let end = start + u64::from(suspect.len);
        if !end.is_multiple_of(u64::from(card.sector())) {
            return Ok(suspect.counts);
        }
        let looked = card.read(extents(start, end, BLOCK), file.expected(), |extent, _, answer| {
            again.take(file.place(extent.offset), u64::from(extent.len), &answer);
            Ok(())
        });
        self.moved.bytes_read += card.tally().read;
        self.count_failed(&card);
        looked?;
        Ok(again.counts)
    }

    /// The period in which the card's addresses repeat, in bytes; `None` where the file system does not tell where files
    /// lie, or the distances have nothing in common.
    ///
    /// Distances in the files do not tell: a file system leaves gaps for its tables and cuts files into pieces. So it is
    /// asked where on the card the sector lies and where the one whose content stands in it; of a wrapping card all such
    /// distances are multiples of the period.
    fn period(&self) -> Option<u64> {
        let all = self.sorted.counts.overwritten;
        let counts = |shift: &&ContentShift| shift.count as f64 >= LEAST_SHARE * all as f64;
        let shifts = self.sorted.shifts.values().filter(counts);
        let distance =
            |shift: &ContentShift| Some(self.on_card(shift.expected)?.abs_diff(self.on_card(shift.found)?));
        let distances: Option<Vec<u64>> = shifts.map(distance).collect();
        common(distances?).filter(|period| *period >= LEAST_PERIOD)
    }

    /// Where on the card a byte of the whole data lies.
    fn on_card(&self, offset: u64) -> Option<u64> {
        let file = self.files.iter().find(|file| file.range().contains(&offset))?;
        self.folder.on_card(file.result.number, offset - file.range().start)
    }
}

/// Where direct I/O does not go, the page cache is emptied first. Only a planned target knows which it is.
fn uncached(target: &mut dyn Target, interrupt: &InterruptFlag) -> Result<(), ProbeStop> {
    drop(IoDriver::new(target, interrupt, BLOCK, DEPTH)?);
    if target.caveats().iter().any(|caveat| matches!(caveat, Caveat::NoDirectIo { .. })) {
        let _ = target.drop_caches();
    }
    Ok(())
}
