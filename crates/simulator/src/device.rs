//! A simulated device: a card in its rig, with what stands on it and what is wrong with it: the one place where time and content meet,
//! so that a fault is the same in virtual and in real time.

use crate::archetype::{EndOfLife, FakeKind};
use crate::card::Command;
use crate::chance::mapped_ranges;
use crate::content::{Data, Faults, Found, IoError, Medium};
use crate::rig::Rig;
use crate::state_file::{self, Destination, Saved, StateError};
use crate::target_spec::TargetSpec;

/// A card that somebody uses. Times are nanoseconds since it was put in.
#[derive(Debug)]
pub(crate) struct SimulatedDevice {
    pub(crate) rig: Rig,
    medium: Medium,
    faults: Faults,
    /// True where each command must be looked at: the card has faults, or may die.
    watched: bool,
    slow_factor: Option<f64>,
    gone: Option<String>,
    /// When the card vanishes by its clock; never is infinity.
    pub(crate) vanishes_at: f64,
    /// The card's clock when it was last used; that of its saved state at first.
    pub(crate) clock: f64,
    spec: TargetSpec,
    /// True once anything was asked of it: only then is there something to save when it is dropped.
    used: bool,
    /// Where its name says that it is saved (`save=FILE`), until it was.
    destination: Option<Destination>,
}

impl SimulatedDevice {
    /// Puts a card in, in the state that its name asks for. Fails if that state cannot be loaded, or it could not be
    /// saved where it is to be.
    pub(crate) fn new(spec: &TargetSpec) -> Result<Self, StateError> {
        let (a, seed, storage) = (&spec.archetype, spec.seed, &spec.storage);
        let destination = storage.save.as_deref().map(Destination::new).transpose()?;
        let mut rig = Rig::new(a, seed);
        let mut faults = Faults::new(&a.faults, seed);
        let mut clock = 0.0;
        let medium = match &storage.load {
            Some(path) => {
                let (medium, card, counters, latest) = state_file::load(path, a, seed, storage.memory_bytes)?;
                rig.card.resume(card).map_err(|_| state_file::other_engines(path))?;
                (faults.counters, clock) = (counters, latest);
                medium
            }
            None => {
                rig.card.holds_data(mapped_ranges(a, seed));
                Medium::new(a, seed, storage.memory_bytes)
            }
        };
        let mut device = SimulatedDevice {
            rig,
            medium,
            watched: !a.faults.none() || a.wear.is_some() || a.fake.kind == FakeKind::Overcommitted,
            clock,
            slow_factor: Some(a.fake.slow_factor),
            gone: None,
            vanishes_at: faults.vanishes_at(),
            faults,
            spec: spec.clone(),
            used: false,
            destination,
        };
        device.after_write();
        Ok(device)
    }

    /// Whether the card still answers at `now`. Fails with [`IoError::Gone`] if not.
    #[inline]
    pub(crate) fn alive(&mut self, now: f64) -> Result<(), IoError> {
        self.clock = now;
        self.used = true;
        if self.watched { self.still_there(now) } else { Ok(()) }
    }

    fn still_there(&mut self, now: f64) -> Result<(), IoError> {
        if self.gone.is_none() && (now >= self.vanishes_at || self.faults.vanished()) {
            self.gone = Some("it vanished, as its faults say".to_owned());
        }
        self.gone.clone().map_or(Ok(()), |reason| Err(IoError::Gone { reason }))
    }

    /// Writes `len` bytes. Fails if the card does not take them, or the host has no room to keep them.
    #[inline]
    pub(crate) fn write(&mut self, offset: u64, len: u64, data: Data<'_>) -> Result<(), IoError> {
        let place = self.rig.address(offset);
        let (offset, data) = (place, data.reaching(place, offset));
        if !self.watched {
            return self.medium.write(offset, len, data);
        }
        let struck = self.faults.strike(true, offset, len);
        let result = struck.and_then(|()| self.write_worn(offset, len, data));
        if let Err(IoError::Gone { reason }) = &result {
            self.gone = Some(reason.clone());
        }
        self.after_write();
        result
    }

    /// A write to a card that may have come to its end.
    fn write_worn(&mut self, offset: u64, len: u64, data: Data<'_>) -> Result<(), IoError> {
        let worn = |what: &str| format!("the card is worn out and {what}");
        match self.rig.card.end_of_life() {
            None => self.medium.write(offset, len, data),
            Some(EndOfLife::SwallowsWrites) => Ok(()),
            Some(EndOfLife::ReadOnly) => Err(IoError::failed(&worn("takes no more writes"))),
            Some(EndOfLife::Dead) => Err(IoError::gone(&worn("answers no more"))),
            Some(EndOfLife::LosesBlocks) => {
                for block in self.rig.card.take_lost() {
                    self.medium.wear_out(block);
                }
                self.medium.write(offset, len, data)
            }
        }
    }

    fn after_write(&mut self) {
        if self.faults.begun() {
            self.medium.begin_faults();
        }
        if self.medium.slow()
            && let Some(factor) = self.slow_factor.take()
        {
            self.rig.slow_writes(factor);
        }
    }

    /// Notes in `found` what a read finds. Fails if the card cannot read it.
    pub(crate) fn read(&mut self, offset: u64, len: u64, found: &mut Found) -> Result<(), IoError> {
        found.clear(offset);
        if self.rig.fails(&Command { write: false, offset, len, in_flight: 1 }) {
            return Err(IoError::failed("the reader fails reads of several sectors at the end of the card"));
        }
        if self.watched {
            self.faults.strike(false, offset, len)?;
        }
        let place = self.rig.address(offset);
        self.medium.read(place, len, self.faults.counters.reads, found)
    }

    pub(crate) fn reads_matter(&self) -> bool {
        self.watched || self.medium.reads_matter() || self.rig.fails_some()
    }

    /// Fetches what was found as bytes to its place in `out`. Fails if the host cannot read it any more.
    pub(crate) fn fetch(&self, found: &Found, out: &mut [u8]) -> Result<(), IoError> {
        self.medium.fetch(found, out)
    }

    /// Tells the card at `now` that a range holds nothing of value; returns when it has noted it.
    pub(crate) fn discard(&mut self, now: f64, offset: u64, len: u64) -> f64 {
        // A card that takes no more writes forgets nothing either.
        if matches!(self.rig.card.end_of_life(), None | Some(EndOfLife::LosesBlocks)) {
            self.medium.discard(self.rig.address(offset), len);
        }
        self.rig.card.discard(now, offset, len)
    }

    pub(crate) fn reset(&mut self) {
        self.medium.reset();
        self.rig.card.reset();
    }

    /// Saves everything that stands on the card and the state of its engines. Fails if the host cannot write the file.
    pub(crate) fn save(&self, to: &Destination) -> Result<(), StateError> {
        let whose = (&self.spec.archetype, self.spec.seed);
        let saved = Saved {
            content: self.medium.content(),
            card: self.rig.card.state(),
            counters: self.faults.counters,
            clock: self.clock,
        };
        to.save(whose, &saved, &self.medium)
    }

    /// Saves to where the card's name says, once. Fails as [`SimulatedDevice::save`].
    pub(crate) fn close(&mut self) -> Result<(), StateError> {
        self.destination.take().map_or(Ok(()), |to| self.save(&to))
    }

    /// Leaves an older state as it is: this card broke.
    pub(crate) fn abandon(&mut self) {
        self.destination = None;
    }
}

impl Drop for SimulatedDevice {
    /// A card that nobody used, because something else was refused, must not replace a state that somebody saved.
    fn drop(&mut self) {
        if !self.used || std::thread::panicking() {
            return;
        }
        if let Err(error) = self.close() {
            // Whoever wants to handle it closes the card; a state that is lost in silence would be worse than a line.
            eprintln!("{}", cardscope_model::outside::line(&error.to_string()));
        }
    }
}
