//! Putting an image back: written, then read again after opening the card anew, and compared.

use super::sums::{CHUNK, Unread};
use super::{Backup, DEPTH};
use crate::error::Error;
use crate::put_back::PutBack;
use cardscope_engine::card::{Answer, Card, Extent, Stop, extents};
use cardscope_engine::cause::Cause;
use cardscope_engine::content::Content;
use cardscope_engine::event::{Listener, Steps};
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::journal::SavedRange;
use cardscope_engine::ranges::Ranges;
use cardscope_engine::target::Target;
use cardscope_model::units::seconds;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// A stretch of the image: zero, or one chunk of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stretch {
    Zero { start: u64, end: u64 },
    Bytes { start: u64, end: u64, crc: u32 },
}

impl Backup {
    /// Puts the image back onto its own card and compares. After Ctrl-C it does so all the same, since the card's
    /// content is gone otherwise; a second Ctrl-C ends the program, and the image stays. `key_now` is by what the card is
    /// known when it is asked anew.
    ///
    /// # Errors
    /// If the card is gone or another one, or the image cannot be read; it stays, and is named.
    pub fn put_back(
        self,
        target: &mut dyn Target,
        key_now: Option<&str>,
        listener: &mut dyn Listener,
    ) -> Result<PutBack, Error> {
        let own = Interrupt::default();
        self.same_card(target, key_now, &own)
            .map_err(|error| Error::Io(Cause::worded(format!("{error}; {}", self.whereabouts()), error)))?;
        self.put(target, &own, listener)
    }

    /// Puts the image onto a card, as far as both reach; ends when the interrupt is raised.
    pub fn put(
        &self,
        target: &mut dyn Target,
        interrupt: &Interrupt,
        listener: &mut dyn Listener,
    ) -> Result<PutBack, Error> {
        let mut card = Card::new(target, interrupt, CHUNK, DEPTH).map_err(|s| self.ended(s))?;
        self.write_and_compare(&mut card, listener).map_err(|s| self.ended(s))
    }

    fn ended(&self, stop: Stop) -> Error {
        match stop {
            Stop::Interrupted => Error::Stop(stop),
            other => Error::Io(Cause::worded(format!("{other}; {}", self.whereabouts()), other)),
        }
    }

    fn write_and_compare(&self, card: &mut Card<'_>, listener: &mut dyn Listener) -> Result<PutBack, Stop> {
        let mut result = PutBack::default();
        let mut steps = Steps::begin("putting the card's image back", card.bytes(), card.seconds(), listener);
        for stretch in self.stretches(card.bytes()) {
            card.go_on()?;
            self.write(card, stretch, &mut result, &mut steps, listener)?;
        }
        card.flush()?;
        card.reopen()?;
        let mut steps = Steps::begin("comparing what was put back", card.bytes(), card.seconds(), listener);
        for stretch in self.stretches(card.bytes()) {
            self.compare(card, stretch, &mut result.lost, &mut steps, listener)?;
        }
        for Unread { offset, len, reason } in &self.sums.unread {
            let why = format!("could not be read when the image was taken: {reason}");
            result.unreadable.push((SavedRange { offset: *offset, len: *len }, why));
        }
        Ok(result)
    }

    /// The image up to a size, runs of zero in one.
    fn stretches(&self, most: u64) -> impl Iterator<Item = Stretch> {
        let end = self.sums.about.bytes.min(most);
        let mut at = 0;
        self.sums.chunks.chunk_by(|a, b| a.is_none() && b.is_none()).map_while(move |run| {
            let start = at;
            at = (at + run.len() as u64 * u64::from(CHUNK)).min(end);
            let stretch = match run[0] {
                None => Stretch::Zero { start, end: at },
                Some(crc) => Stretch::Bytes { start, end: at, crc },
            };
            (start < at).then_some(stretch)
        })
    }

    fn write(
        &self,
        card: &mut Card<'_>,
        stretch: Stretch,
        result: &mut PutBack,
        steps: &mut Steps,
        listener: &mut dyn Listener,
    ) -> Result<(), Stop> {
        match stretch {
            Stretch::Zero { start, end } => {
                // What the card does not take is found by the comparison.
                card.write(extents(start, end, CHUNK), Content::Constant(0), |extent, at, _| {
                    steps.done(u64::from(extent.len), seconds(at), listener);
                })?;
                result.bytes += end - start;
            }
            Stretch::Bytes { start, end, crc } => match self.bytes(start, end, crc) {
                Ok(bytes) => {
                    for (from, to) in self.readable(start, end) {
                        card.put_back(from, &bytes[(from - start) as usize..(to - start) as usize])?;
                        result.bytes += to - from;
                    }
                    steps.done(end - start, card.seconds(), listener);
                }
                Err(why) => result.unreadable.push((SavedRange { offset: start, len: end - start }, why)),
            },
        }
        Ok(())
    }

    fn compare(
        &self,
        card: &mut Card<'_>,
        stretch: Stretch,
        lost: &mut Vec<SavedRange>,
        steps: &mut Steps,
        listener: &mut dyn Listener,
    ) -> Result<(), Stop> {
        let (start, end, bytes) = match stretch {
            Stretch::Zero { start, end } => (start, end, None),
            Stretch::Bytes { start, end, crc } => match self.bytes(start, end, crc) {
                Ok(bytes) => (start, end, Some(bytes)),
                Err(_) => return Ok(()),
            },
        };
        let expected = if bytes.is_some() { Content::Buffer } else { Content::Constant(0) };
        let mut bad: Vec<Extent> = Vec::new();
        for (from, to) in self.readable(start, end) {
            card.read(extents(from, to, CHUNK), expected, |extent, at, answer| {
                let same = match answer {
                    Answer::Same => true,
                    Answer::Differs { bytes: found, .. } => bytes.as_ref().is_some_and(|bytes| {
                        let at = (extent.offset - start) as usize;
                        &bytes[at..at + extent.len as usize] == found
                    }),
                    Answer::Failed(_) => false,
                };
                bad.extend((!same).then_some(extent));
                steps.done(u64::from(extent.len), seconds(at), listener);
                Ok(())
            })?;
        }
        bad.sort_unstable();
        for extent in bad {
            SavedRange { offset: extent.offset, len: u64::from(extent.len) }.join(lost);
        }
        Ok(())
    }

    /// A chunk of the image, checked as a whole and cut to what the card has room for.
    fn bytes(&self, start: u64, end: u64, crc: u32) -> Result<Vec<u8>, String> {
        let whole = (start + u64::from(CHUNK)).min(self.sums.about.bytes);
        let mut bytes = read_chunk(&self.image, start, whole).map_err(|e| e.to_string())?;
        if crc32c::crc32c(&bytes) != crc {
            return Err("damaged in the image: its checksum is wrong".to_owned());
        }
        bytes.truncate((end - start) as usize);
        Ok(bytes)
    }

    /// The parts of a range that could be read when the image was taken.
    fn readable(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut unread = Ranges::default();
        for Unread { offset, len, .. } in &self.sums.unread {
            unread.add(*offset, offset + len);
        }
        unread.missing(start, end)
    }
}

pub(super) fn read_chunk(image: &File, start: u64, end: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; (end - start) as usize];
    image.read_exact_at(&mut bytes, start)?;
    Ok(bytes)
}
