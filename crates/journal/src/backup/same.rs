//! Before an image is put back: is this still the card that it was taken of? Somebody may have changed it meanwhile, and
//! then nothing may be written.
//!
//! The device is opened again, which fails where the kernel saw another medium; the card is asked anew what it says of
//! itself; and places that the test did not write to are held against the image.

use super::Backup;
use super::put::read_chunk;
use super::sums::CHUNK;
use crate::error::Error;
use cardscope_engine::card::{Answer, Card, Stop, extents};
use cardscope_engine::content::Content;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::target::{Plan, Target};
use cardscope_model::recipe::Path;
use std::time::{Duration, Instant};

/// So many places are looked at.
const SAMPLES: usize = 16;

/// So long a card may take to end what was begun: the kernel's own limit of a command (SD_TIMEOUT, scsi/sd.h).
const SETTLE: Duration = Duration::from_secs(30);

/// Bytes of each.
const SAMPLE: u32 = 4096;

impl Backup {
    /// Refuses another card than the one that the image is of. Nothing is written.
    pub(super) fn same_card(
        &self,
        target: &mut dyn Target,
        key_now: Option<&str>,
        interrupt: &Interrupt,
    ) -> Result<(), Error> {
        let (name, bytes) = (target.info().name.clone(), target.info().bytes);
        let another =
            |why: &str| {
                Error::Io(format!(
                "{name} is another card than the one that was saved ({why}); nothing was put back onto it"
            ).into())
            };
        if bytes != self.sums.about.bytes {
            return Err(another("it has another size"));
        }
        let was = self.sums.about.card_key.as_deref();
        if key_now.is_some_and(|is| was.is_some_and(|was| was != is)) {
            return Err(another("it says so of itself"));
        }
        settle(target);
        let mut card = Card::new(target, interrupt, SAMPLE, 1)?;
        card.reopen()?;
        let (same, other) = self.samples(&mut card)?;
        // A card that loses some of its data is still the same card.
        match other > same {
            true => Err(another("where the test wrote nothing it holds something else")),
            false => Ok(()),
        }
    }

    /// How many places outside of what was overwritten hold what the image has, and how many do not.
    fn samples(&self, card: &mut Card<'_>) -> Result<(usize, usize), Stop> {
        let places = self.untouched();
        let step = places.len().div_ceil(SAMPLES).max(1);
        let (mut same, mut other) = (0, 0);
        for start in places.into_iter().step_by(step) {
            let end = (start + u64::from(SAMPLE)).min(self.sums.about.bytes);
            let Ok(wanted) = read_chunk(&self.image, start, end) else { continue };
            card.read(extents(start, end, SAMPLE), Content::Buffer, |_, _, answer| {
                match answer {
                    Answer::Differs { bytes, .. } if *bytes == wanted[..] => same += 1,
                    Answer::Differs { .. } => other += 1,
                    Answer::Same | Answer::Failed(_) => {}
                }
                Ok(())
            })?;
        }
        Ok((same, other))
    }

    /// Where chunks begin that hold data and that the test did not write to.
    fn untouched(&self) -> Vec<u64> {
        let Some((from, to)) = self.overwritten else { return Vec::new() };
        let held = self.sums.chunks.iter().zip((0..).step_by(CHUNK as usize));
        let whole = held.filter(|(crc, _)| crc.is_some()).map(|(_, start)| start);
        whole.filter(|start| start + u64::from(CHUNK) <= from || *start >= to).collect()
    }
}

/// Takes what a test that was interrupted left in flight; a card that does not answer for so long is told by planning.
fn settle(target: &mut dyn Target) {
    let plan =
        Plan { depth: 1, block: u64::from(SAMPLE), path: Path::Direct, sync_each: false, own_buffers: true };
    let until = Instant::now() + SETTLE;
    let mut done = Vec::new();
    while target.plan(&plan).is_err() && Instant::now() < until {
        let _ = target.complete(1, &mut done);
        std::thread::sleep(Duration::from_millis(1));
    }
}
