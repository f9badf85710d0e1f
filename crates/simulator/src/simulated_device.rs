//! Simulated device: a card in its rig, with its content, faults and saved state. The only place where time and content
//! meet, so that a fault is the same in virtual and in real time.

use crate::archetype::{Archetype, EndOfLife, FakeKind, LostRead};
use crate::card::CardCommand;
use crate::card::state::OtherCard;
use crate::content::{CardIoError, CardMedium, CardResult, FaultModel, ReadContent, WrittenData};
use crate::rig::{LyingReader, RiggedCard};
use crate::seeded_choice::{SeededChance, mapped_ranges};
use crate::state_file::{self, SavedState, StateDestination, StateError};
use crate::target_spec::TargetSpec;
use cardscope_engine::content::IoContent;

const SECTOR: u64 = 512;

/// Purpose number of the garbage in torn pages.
const TORN_PAGES: u64 = 0x746f_726e;

/// Distance of two pages that share cells: programming the later one endangers the earlier one (assumed).
const PAIRED_PAGES: u64 = 3;

/// Times are nanoseconds since the card was inserted.
#[derive(Debug)]
pub(crate) struct SimulatedDevice {
    pub(crate) rig: RiggedCard,
    pub(crate) medium: CardMedium,
    /// None if the reader returns the card's own data.
    lying_reader: Option<LyingReader>,
    faults: FaultModel,
    /// True if each command must be checked: the card has faults, or may die.
    check_each: bool,
    slow_factor: Option<f64>,
    gone_reason: Option<String>,
    /// Card time at which the card vanishes; infinity for never.
    pub(crate) vanishes_at: f64,
    /// Card time of the last use; at first that of the loaded state.
    pub(crate) clock: f64,
    spec: TargetSpec,
    /// True after the first command. An unused card is not saved when it is dropped.
    used: bool,
    /// Target of `save=FILE`; None after saving.
    destination: Option<StateDestination>,
}

impl SimulatedDevice {
    /// Inserts a card in the state that its name gives. Fails if that state cannot be loaded, or the place to save it
    /// cannot be written.
    pub(crate) fn new(spec: &TargetSpec) -> Result<Self, StateError> {
        let (a, seed, storage) = (&spec.archetype, spec.seed, &spec.storage);
        let destination = storage.save.as_deref().map(StateDestination::new).transpose()?;
        let mut rig = RiggedCard::new(a, seed);
        let mut faults = FaultModel::new(&a.faults, seed);
        let (medium, clock) = if let Some(path) = &storage.load {
            let (medium, saved) = state_file::load_state(path, a, seed, storage.memory_bytes)?;
            rig.card.restore_state(saved.card).map_err(|OtherCard| state_file::other_engines_error(path))?;
            faults.counters = saved.counters;
            (medium, saved.clock)
        } else {
            rig.card.map_ranges(mapped_ranges(a, seed));
            (CardMedium::new(a, seed, storage.memory_bytes), 0.0)
        };
        let mut device = SimulatedDevice {
            check_each: needs_checks(a, &rig),
            lying_reader: LyingReader::new(&a.rig, seed),
            rig,
            medium,
            clock,
            slow_factor: Some(a.fake.slow_factor),
            gone_reason: None,
            vanishes_at: faults.vanishes_at(),
            faults,
            spec: spec.clone(),
            used: false,
            destination,
        };
        device.begin_late_effects();
        Ok(device)
    }

    /// Moves the card to another rig and replaces the faults of commands; its content stays.
    pub(crate) fn change_rig(&mut self, a: &Archetype) {
        let seed = self.spec.seed;
        self.rig.change_rig(a, seed);
        self.lying_reader = LyingReader::new(&a.rig, seed);
        let counters = self.faults.counters;
        self.faults = FaultModel::new(&a.faults, seed);
        self.faults.counters = counters;
        self.vanishes_at = self.faults.vanishes_at();
        self.check_each = needs_checks(a, &self.rig);
    }

    /// Fails with [`CardIoError::Gone`] if the card no longer answers at `now`.
    #[inline]
    pub(crate) fn check_alive(&mut self, now: f64) -> CardResult {
        self.clock = now;
        self.used = true;
        if self.check_each { self.check_vanished(now) } else { Ok(()) }
    }

    fn check_vanished(&mut self, now: f64) -> CardResult {
        if self.gone_reason.is_none() && (now >= self.vanishes_at || self.faults.has_vanished()) {
            self.gone_reason = Some("it vanished, as its faults say".to_owned());
        }
        self.gone_reason.as_deref().map_or(Ok(()), CardIoError::card_gone)
    }

    /// Writes `len` bytes. Fails if the card refuses them, or the host has no room for them.
    #[inline]
    pub(crate) fn write(&mut self, offset: u64, len: u64, data: WrittenData<'_>) -> CardResult {
        let place = self.rig.card_address(offset);
        let data = data.shifted_to(place, offset);
        if !self.check_each {
            return self.medium.write(place, len, data);
        }
        self.check_reader(true, offset, len)?;
        let struck = self.faults.count_command(true, place, len);
        let result = struck.and_then(|()| self.write_worn(place, len, data));
        if let Err(CardIoError::Gone { reason }) = &result {
            self.gone_reason = Some(reason.clone());
        }
        self.begin_late_effects();
        result
    }

    /// Writes to a card that may lose its power or be worn out.
    fn write_worn(&mut self, offset: u64, len: u64, data: WrittenData<'_>) -> CardResult {
        if self.faults.tears_write() {
            self.tear_write(offset, len, data)?;
            return CardIoError::card_gone("it lost its power during this write");
        }
        let worn = |what: &str| format!("the card is worn out and {what}");
        match self.rig.card.end_of_life() {
            None => self.medium.write(offset, len, data),
            Some(EndOfLife::SwallowsWrites) => Ok(()),
            Some(EndOfLife::ReadOnly) => CardIoError::command_failed(&worn("takes no more writes")),
            Some(EndOfLife::Dead) => CardIoError::card_gone(&worn("answers no more")),
            Some(EndOfLife::LosesBlocks) => {
                // Failed blocks lose this write as well.
                self.rig.card.take_lost_blocks().into_iter().for_each(|block| self.medium.mark_worn(block));
                self.medium.write(offset, len, data)
            }
        }
    }

    /// Loses power during a write: its first half is stored; the page being programmed, and two pages that share its
    /// cells in the same erase block, hold garbage.
    fn tear_write(&mut self, offset: u64, len: u64, data: WrittenData<'_>) -> CardResult {
        let card = &self.spec.archetype;
        let (page, block) = (card.flash.page_bytes, card.flash.au_bytes);
        let half = len / 2 / SECTOR * SECTOR;
        if half > 0 {
            self.medium.write(offset, half, data.part(0, half))?;
        }
        let torn = offset + half;
        let first = torn - torn % block;
        let erase_block = first..(first + block).min(card.announced_bytes);
        let chance = SeededChance::new(self.spec.seed, TORN_PAGES);
        for pages in [0, PAIRED_PAGES, 2 * PAIRED_PAGES] {
            let at = (torn - torn % page).saturating_sub(pages * page);
            let garbage = WrittenData::described(IoContent::Stream { seed: chance.number_at(at) });
            if erase_block.contains(&at) {
                self.medium.write(at, page.min(erase_block.end - at), garbage)?;
            }
        }
        Ok(())
    }

    fn begin_late_effects(&mut self) {
        if self.faults.have_begun() {
            self.medium.begin_faults();
        }
        if self.medium.is_slow()
            && let Some(factor) = self.slow_factor.take()
        {
            self.rig.slow_writes(factor);
        }
    }

    /// Records the content of a read in `found`. Fails if the card cannot read it.
    pub(crate) fn read(&mut self, offset: u64, len: u64, found: &mut ReadContent) -> CardResult {
        found.clear(offset);
        if self.check_each {
            self.check_reader(false, offset, len)?;
            self.faults.count_command(false, self.rig.card_address(offset), len)?;
        }
        let number = self.faults.counters.reads;
        let Some(liar) = &mut self.lying_reader else {
            return self.medium.read(self.rig.card_address(offset), len, number, found);
        };
        let (start, some) = liar.request_range(offset, len);
        self.medium.read(self.rig.card_address(start), some, number, found)?;
        found.repeat_to(len);
        let mut answer = Vec::new();
        if liar.has_memory() {
            answer.resize(len as usize, 0);
            self.medium.copy_stored(found, &mut answer)?;
            found.generate_bytes(&mut answer);
        }
        liar.falsify_read(found, len, answer);
        Ok(())
    }

    /// Fails for commands that the reader refuses.
    fn check_reader(&self, write: bool, offset: u64, len: u64) -> CardResult {
        let reason = self.rig.refusal_reason(&CardCommand { write, offset, len, in_flight: 1 });
        reason.map_or(Ok(()), CardIoError::command_failed)
    }

    pub(crate) fn reads_have_effects(&self) -> bool {
        self.check_each || self.lying_reader.is_some() || self.medium.reads_have_effects()
    }

    /// Discards a range at `now`; returns when the card has noted it.
    pub(crate) fn discard(&mut self, now: f64, offset: u64, len: u64) -> f64 {
        let len = len.min(self.rig.reach().saturating_sub(offset));
        if len == 0 {
            return now;
        }
        // A card that takes no more writes keeps discarded data, too.
        if matches!(self.rig.card.end_of_life(), None | Some(EndOfLife::LosesBlocks)) {
            self.medium.discard(self.rig.card_address(offset), len);
        }
        self.rig.card.discard(now, offset, len)
    }

    pub(crate) fn reset(&mut self) {
        self.medium.reset();
        self.rig.card.reset();
    }

    /// Saves the content and the engine state. Fails if the host cannot write the file.
    pub(crate) fn save(&self, to: &StateDestination) -> Result<(), StateError> {
        let saved = SavedState {
            card: self.rig.card.save_state(),
            counters: self.faults.counters,
            clock: self.clock,
        };
        to.save((&self.spec.archetype, self.spec.seed), &saved, &self.medium)
    }

    /// Saves to the file of `save=FILE`, once.
    pub(crate) fn close(&mut self) -> Result<(), StateError> {
        self.destination.take().map_or(Ok(()), |to| self.save(&to))
    }

    /// Keeps an older saved state, because this card broke.
    pub(crate) fn cancel_save(&mut self) {
        self.destination = None;
    }
}

fn needs_checks(card: &Archetype, rig: &RiggedCard) -> bool {
    !card.faults.is_faultless()
        || card.wear.is_some()
        || card.fake.kind == FakeKind::Overcommitted
        // Noise follows the number of the read, which only checked reads have.
        || card.fake.lost == LostRead::Noise
        || rig.refuses_commands()
}

impl Drop for SimulatedDevice {
    /// Saves a card that was used. An unused one, as after a refused start, must not replace a saved state.
    fn drop(&mut self) {
        if !self.used || std::thread::panicking() {
            return;
        }
        if let Err(error) = self.close() {
            // Callers that handle the error close the card themselves. A state must not be lost in silence.
            eprintln!("{}", cardscope_model::untrusted_text::escape_line(&error.to_string()));
        }
    }
}
