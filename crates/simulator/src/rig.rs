//! Reader, bus and host between the card and the measuring tool: separate from the card, so that one card has its own
//! speed in one rig and less in another (docs/simulator.md#the-model). The bus speed is applied inside the card, where
//! the transfers are.

use crate::archetype::{Archetype, CardFaults, StaleReads, TestRig};
use crate::card::{CardCommand, CardModel};
use crate::content::ReadContent;
use crate::seeded_choice::SeededChance;
use cardscope_model::random::SeededRandom;
use std::ops::Range;

/// Card in its rig. Times are nanoseconds since it was inserted.
#[derive(Debug)]
pub(crate) struct RiggedCard {
    pub(crate) card: CardModel,
    overhead: f64,
    split: u64,
    /// Nanoseconds for each byte of the tool's own data source.
    source_per_byte: f64,
    source_free: f64,
    /// True if the rig adds nothing, so that commands go straight to the card.
    is_transparent: bool,
    cache_bytes: u64,
    /// Range in the reader's memory; ends where the last read ended.
    cached: Range<u64>,
    address_limit: u64,
    /// Offset from which a reader with the last-sector bug fails reads of several sectors.
    single_from: u64,
    /// End of the addresses that the reader can use; u64::MAX without a limit.
    reach: u64,
    stall: Option<StallTimes>,
    /// Set after an overcommitted card has run out of blocks.
    slow: Option<WriteSlowdown>,
    /// Other traffic on reader, bus or host.
    disturbance: Option<BusDisturbance>,
    /// Nanoseconds of a command that needs no flash.
    path: f64,
    /// Scatter of `path`.
    jitter: SeededRandom,
}

/// Default time of a command that needs no flash: a few bytes on the bus and an interrupt of the host; 50 to 120 µs are
/// common.
const DEFAULT_PATH_S: f64 = 60e-6;

/// Scatter of a command that needs no flash, as a share (assumed).
const PATH_JITTER: f64 = 0.05;

/// Times of a card whose writes have become slow, without and with the slowdown.
#[derive(Debug, Clone, Copy)]
struct WriteSlowdown {
    factor: f64,
    /// End of the last command without the slowdown.
    by_itself: f64,
    /// End of the last command with it.
    free: f64,
}

/// Sectors at the end of the card where some readers fail reads of more than one sector (the kernel's
/// `last_sector_bug`, docs/reference/linux.md#usb-readers).
const LAST_SECTORS: u64 = 8;

const SECTOR: u64 = 512;

impl RiggedCard {
    pub(crate) fn new(a: &Archetype, seed: u64) -> Self {
        RiggedCard::with_card(CardModel::new(a, seed), a, seed)
    }

    pub(crate) fn change_rig(&mut self, a: &Archetype, seed: u64) {
        let card = std::mem::replace(&mut self.card, CardModel::new(a, seed));
        *self = RiggedCard { slow: self.slow, ..RiggedCard::with_card(card, a, seed) };
        self.is_transparent &= self.slow.is_none();
    }

    fn with_card(card: CardModel, a: &Archetype, seed: u64) -> Self {
        let (rig, shown, reachable) = (&a.rig, a.shown_bytes(), a.reachable_bytes());
        let last_sectors = shown.saturating_sub(LAST_SECTORS * SECTOR);
        RiggedCard {
            card,
            overhead: rig.overhead_s * 1e9,
            split: rig.split_bytes.unwrap_or(u64::MAX),
            source_per_byte: rig.host_source_mb_s.map_or(0.0, |mb_s| 1e3 / mb_s),
            source_free: 0.0,
            is_transparent: rig.overhead_s == 0.0
                && rig.split_bytes.is_none()
                && rig.host_source_mb_s.is_none()
                && rig.reader_cache_bytes == 0
                && rig.disturb_every_s == 0.0
                && a.faults.stall_every_ios == 0
                && reachable >= shown,
            cache_bytes: rig.reader_cache_bytes,
            cached: 0..0,
            address_limit: rig.address_limit_bytes.unwrap_or(u64::MAX),
            single_from: if rig.last_sector_bug { last_sectors } else { u64::MAX },
            reach: if reachable < shown { reachable } else { u64::MAX },
            stall: StallTimes::new(&a.faults),
            slow: None,
            disturbance: BusDisturbance::new(&a.rig),
            path: 1e9 * if a.front.path_s > 0.0 { a.front.path_s } else { DEFAULT_PATH_S },
            jitter: SeededRandom::from_state(seed ^ 0x7069_6e67),
        }
    }

    /// Command that the controller answers without its flash, at `now`; returns its end. Heat does not slow it.
    pub(crate) fn ping(&mut self, now: f64) -> f64 {
        let scatter = 1.0 + PATH_JITTER * (2.0 * self.jitter.above_zero() - 1.0);
        let end = now + self.overhead + self.path * scatter;
        self.disturbance.as_mut().map_or(end, |other| other.stretch(now, end))
    }

    pub(crate) fn slow_writes(&mut self, factor: f64) {
        self.is_transparent = false;
        self.slow = Some(WriteSlowdown { factor, by_itself: 0.0, free: 0.0 });
    }

    /// Executes a command of the measuring tool at `now`; returns its end.
    #[inline]
    pub(crate) fn command(&mut self, now: f64, command: CardCommand) -> f64 {
        if self.is_transparent {
            return self.card.execute_command(now, command);
        }
        let ready = if command.write { self.source_ready(now, command.len) } else { now };
        self.transfer(ready, command)
    }

    /// Returns when the tool's data source has generated `len` bytes that it needs at `now`.
    pub(crate) fn source_ready(&mut self, now: f64, len: u64) -> f64 {
        if self.source_per_byte == 0.0 {
            return now;
        }
        self.source_free = self.source_free.max(now) + len as f64 * self.source_per_byte;
        self.source_free
    }

    /// Card address that the reader uses for a host's address.
    #[inline]
    pub(crate) fn card_address(&self, offset: u64) -> u64 {
        if offset < self.address_limit { offset } else { offset % self.address_limit }
    }

    /// Reason why the reader itself fails a command; None if it does not.
    pub(crate) fn refusal_reason(&self, command: &CardCommand) -> Option<&'static str> {
        let end = command.offset + command.len;
        if end > self.reach {
            return Some("the reader reaches no such place of the card");
        }
        let fails = !command.write && command.len > SECTOR && end > self.single_from;
        fails.then_some("the reader fails reads of several sectors at the end of the card")
    }

    /// True if the reader itself fails some commands.
    pub(crate) fn refuses_commands(&self) -> bool {
        self.single_from != u64::MAX || self.reach != u64::MAX
    }

    pub(crate) fn reach(&self) -> u64 {
        self.reach
    }

    /// Command whose data is ready, through the reader; returns its end.
    pub(crate) fn transfer(&mut self, now: f64, command: CardCommand) -> f64 {
        let now = self.stall.as_mut().map_or(now, |stall| stall.start_time(now));
        let arrival = now + self.overhead;
        let mut end = arrival;
        // Some commands the reader answers itself.
        if command.offset + command.len <= self.reach && !self.read_from_cache(&command) {
            let mut done = 0;
            while done < command.len {
                let len = self.split.min(command.len - done);
                let part = CardCommand { offset: command.offset + done, len, ..command };
                end = self.card.execute_command(arrival, part);
                done += len;
            }
            end = self.slow.as_mut().map_or(end, |slow| slow.stretch(now, end, command.write));
        }
        self.disturbance.as_mut().map_or(end, |other| other.stretch(now, end))
    }

    /// True if the reader's memory holds the whole range; updates that memory.
    fn read_from_cache(&mut self, command: &CardCommand) -> bool {
        let end = command.offset + command.len;
        if self.cache_bytes == 0 {
            return false;
        }
        if command.write {
            self.cached = 0..0;
            return false;
        }
        let held = self.cached.start <= command.offset && end <= self.cached.end;
        let start = if command.offset == self.cached.end { self.cached.start } else { command.offset };
        if !held {
            self.cached = start.max(end.saturating_sub(self.cache_bytes))..end;
        }
        held
    }
}

impl WriteSlowdown {
    fn stretch(&mut self, now: f64, end: f64, write: bool) -> f64 {
        let own = (end - now.max(self.by_itself)).max(0.0);
        self.by_itself = end;
        self.free = now.max(self.free) + own * if write { self.factor } else { 1.0 };
        self.free.max(end)
    }
}

/// Stalls, in which the card answers nothing. Times are nanoseconds since the card was inserted.
#[derive(Debug, Clone, Copy)]
struct StallTimes {
    every: u64,
    lasts: f64,
    ios: u64,
    until: f64,
}

impl StallTimes {
    fn new(faults: &CardFaults) -> Option<Self> {
        let (every, lasts) = (faults.stall_every_ios, faults.stall_s * 1e9);
        (every > 0).then_some(StallTimes { every, lasts, ios: 0, until: 0.0 })
    }

    /// Returns when a command that arrives at `now` begins.
    fn start_time(&mut self, now: f64) -> f64 {
        self.ios += 1;
        if self.ios.is_multiple_of(self.every) {
            self.until = now.max(self.until) + self.lasts;
        }
        now.max(self.until)
    }
}

/// Other traffic on reader, bus or host: bursts at a fixed period, in which every command takes longer. Times are
/// nanoseconds since the card was inserted.
#[derive(Debug, Clone, Copy)]
struct BusDisturbance {
    every: f64,
    lasts: f64,
    /// Share of the speed that a burst leaves, 0.05 to 1.
    remaining_speed: f64,
    /// End of the last command without other traffic.
    by_itself: f64,
    /// End of the last command with it.
    free: f64,
}

impl BusDisturbance {
    fn new(rig: &TestRig) -> Option<Self> {
        let bursts = rig.disturb_every_s > 0.0 && rig.disturb_for_s > 0.0 && rig.disturb_share > 0.0;
        bursts.then_some(BusDisturbance {
            every: rig.disturb_every_s * 1e9,
            lasts: rig.disturb_for_s * 1e9,
            remaining_speed: 1.0 - rig.disturb_share,
            by_itself: 0.0,
            free: 0.0,
        })
    }

    /// Returns the end of a command of `now` that would end at `end` without other traffic.
    fn stretch(&mut self, now: f64, end: f64) -> f64 {
        let own = (end - now.max(self.by_itself)).max(0.0);
        self.by_itself = end;
        self.free = self.end_of_work(now.max(self.free), own).max(end);
        self.free
    }

    /// Returns when `work` nanoseconds of work that begin at `start` are done.
    fn end_of_work(&self, start: f64, mut work: f64) -> f64 {
        let mut at = start;
        while work > 0.0 {
            let (in_burst, until) = self.burst_at(at);
            let speed = if in_burst { self.remaining_speed } else { 1.0 };
            let done = (until - at) * speed;
            if done >= work {
                return at + work / speed;
            }
            work -= done;
            // Rounding may leave no progress; a nanosecond more keeps the loop from running forever.
            at = until.max(at + 1.0);
        }
        at
    }

    /// Returns whether a burst is on at `at`, and when that changes.
    fn burst_at(&self, at: f64) -> (bool, f64) {
        let number = (at / self.every).floor();
        let begun = number * self.every;
        // The first burst begins after a whole period.
        let in_burst = number >= 1.0 && at < begun + self.lasts;
        (in_burst, begun + if in_burst { self.lasts } else { self.every })
    }
}

/// Purpose number of the choice of flipped reads.
const FLIPPED_READS: u64 = 0x666c_6970;

/// Reader that returns other data than the card's: it repeats the start of long reads, flips a bit, drops low bits of
/// the address, or returns the data of the read before. Reported in Sinetek-rtsx#9, CapacityTester#17 and
/// rpi-imager#626.
#[derive(Debug)]
pub(crate) struct LyingReader {
    /// Longest read that is answered in full; longer ones repeat it.
    longest: u64,
    align: u64,
    flip_every: u64,
    flips: SeededChance,
    stale: StaleReads,
    reads: u64,
    last: Range<u64>,
    /// Data of the last read, for readers that return it again.
    memory: Vec<u8>,
}

impl LyingReader {
    /// None for a reader that returns the card's own data.
    pub(crate) fn new(rig: &TestRig, seed: u64) -> Option<Self> {
        rig.falsifies_reads().then(|| LyingReader {
            longest: rig.repeat_bytes.unwrap_or(u64::MAX),
            align: rig.align_bytes.unwrap_or(1),
            flip_every: rig.flip_read_every,
            flips: SeededChance::new(seed, FLIPPED_READS),
            stale: rig.stale_reads,
            reads: 0,
            last: 0..0,
            memory: Vec::new(),
        })
    }

    /// Offset and length of the read that reaches the card.
    pub(crate) fn request_range(&self, offset: u64, len: u64) -> (u64, u64) {
        (offset - offset % self.align, len.min(self.longest))
    }

    pub(crate) fn has_memory(&self) -> bool {
        self.stale != StaleReads::None
    }

    /// Turns the card's answer to a read of `len` bytes into the reader's. `answer` is empty for readers without
    /// memory.
    pub(crate) fn falsify_read(&mut self, found: &mut ReadContent, len: u64, answer: Vec<u8>) {
        let asked = found.offset..found.offset + len;
        let is_stale = match self.stale {
            StaleReads::None => false,
            StaleReads::Backwards => asked.start < self.last.start,
            StaleReads::Following => asked.start == self.last.end,
        };
        let mut before = std::mem::replace(&mut self.memory, answer);
        if is_stale {
            before.truncate(len as usize);
            found.stale = before;
        }
        self.last = asked.clone();
        self.reads += 1;
        // Two draws for each read: the even one decides whether a bit flips, the odd one chooses the bit.
        found.misread = is_stale || !asked.start.is_multiple_of(self.align) || len > self.longest;
        if self.flip_every > 0 && self.flips.number_at(2 * self.reads).is_multiple_of(self.flip_every) {
            let bit = self.flips.number_at(2 * self.reads + 1) % (len * 8);
            found.flips.push((bit / 8, 1 << (bit % 8)));
            found.misread = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target_spec;

    fn rig(overrides: &str) -> RiggedCard {
        RiggedCard::new(&target_spec::parse(&format!("sim:constant?{overrides}")).unwrap().archetype, 1)
    }

    fn read(offset: u64, len: u64) -> CardCommand {
        CardCommand { write: false, offset, len, in_flight: 1 }
    }

    #[test]
    fn reader_cache_answers_repeated_reads() {
        let mut rig = rig("reader_cache_bytes=32KiB&overhead_s=0.0001");
        let mut now = 0.0;
        let mut time = |command| {
            let end = rig.command(now, command);
            (end - std::mem::replace(&mut now, end)).round()
        };
        assert_eq!(time(read(0, 16384)), 927_680.0, "0.1 ms, 0.5 ms and 16 KiB at 50 MB/s");
        assert_eq!(time(read(4096, 4096)), 100_000.0);
        assert!(time(read(16384, 32768)) > 1e6, "larger than its memory");
        assert!(time(read(0, 4096)) > 500_000.0, "pushed out");
        assert_eq!(time(read(0, 4096)), 100_000.0);
        time(CardCommand { write: true, ..read(0, 4096) });
        assert!(time(read(0, 4096)) > 500_000.0, "a write empties it");
    }

    #[test]
    fn last_sector_bug_and_address_limit_apply() {
        let bytes = 8_000_634_880u64;
        let odd = rig("last_sector_bug=on&address_limit_bytes=4GiB");
        let fails = |command| odd.refusal_reason(&command).is_some();
        assert!(fails(read(bytes - 8 * 512, 1024)) && fails(read(bytes - 9 * 512, 1024)));
        assert!(!fails(read(bytes - 512, 512)) && !fails(read(bytes - 10 * 512, 1024)));
        assert!(!fails(CardCommand { write: true, ..read(bytes - 1024, 1024) }));
        assert_eq!((odd.card_address(4096), odd.card_address((4 << 30) + 4096)), (4096, 4096));
        let sane = rig("");
        assert!(!sane.refuses_commands() && sane.card_address(bytes) == bytes);
    }

    fn bursts() -> BusDisturbance {
        let rig =
            TestRig { disturb_every_s: 10.0, disturb_for_s: 2.0, disturb_share: 0.75, ..TestRig::default() };
        BusDisturbance::new(&rig).unwrap()
    }

    #[test]
    fn burst_slows_commands_inside_only() {
        let second = 1e9;
        assert_eq!(bursts().stretch(5.0 * second, 5.1 * second), 5.1 * second);
        let slowed = bursts().stretch(10.0 * second, 10.1 * second);
        assert!((slowed - 10.4 * second).abs() < 1.0, "{slowed}");
        assert_eq!(bursts().stretch(12.0 * second, 12.1 * second), 12.1 * second);
    }

    #[test]
    fn burst_slows_overlapping_part_only() {
        let second = 1e9;
        // Half a second before the burst, then 2 s that do the work of 0.5 s, then the last half second.
        let end = bursts().stretch(9.5 * second, 11.0 * second);
        assert!((end - 12.5 * second).abs() < 1.0, "{end}");
    }

    #[test]
    fn no_disturbance_by_default() {
        assert!(BusDisturbance::new(&TestRig::default()).is_none());
    }
}
