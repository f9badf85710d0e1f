//! Saved state of a card: magic, version, the card that it belongs to, content and engine state, pages of bytes, and a
//! BLAKE3 hash over all of it. A draft is renamed into place, so that a complete file exists at any time.

use crate::archetype::{Archetype, CardFaults, FakeCapacity};
use crate::card::state::CardState;
use crate::content::{CardIoError, CardMedium, ContentState, FaultCounters, PAGE};
use cardscope_files::{DraftFile, FileError, FileUse, ResolvedFolder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 16] = b"cardscope state\n";

/// Raised whenever the format changes.
const VERSION: u32 = 1;

/// Longest part that is read into memory; a file that announces more is not a saved state.
const MAX_PART_BYTES: u64 = 1 << 36;

const HASH: usize = 32;

/// Reason why a state cannot be loaded or saved. The first field is the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    #[error("the state file {0} cannot be read: {1}")]
    Unreadable(String, String),
    #[error("{0} is not a state file of a simulated card; give one that save=FILE has written")]
    NotAState(String),
    #[error("the state file {0} has format {1}, this program reads format {VERSION}; save it anew")]
    Version(String, u32),
    #[error("the state file {0} is damaged: {1}; save it anew")]
    Damaged(String, String),
    /// File, the card in it, and the card to be inserted.
    #[error("the state file {0} is of {1}, not of {2}")]
    OtherCard(String, String, String),
    #[error("the state cannot be saved to {0}: {1}")]
    Unwritable(String, String),
}

/// Card that a state belongs to: everything that decides where its content lies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StateHead {
    name: String,
    bytes: u64,
    /// None if the seed decides nothing about the content.
    seed: Option<u64>,
    fake: FakeCapacity,
    faults: CardFaults,
}

impl StateHead {
    fn new(card: &Archetype, seed: u64) -> Self {
        let faults = card.faults.content_faults();
        // A seed that chooses no places may differ.
        let seeded = card.fake != FakeCapacity::default() || !faults.is_faultless();
        let (name, bytes, fake) = (card.name.clone(), card.announced_bytes, card.fake);
        StateHead { name, bytes, seed: seeded.then_some(seed), fake, faults }
    }

    /// Names the first difference from `other`.
    fn describe_difference(&self, other: &StateHead) -> String {
        let StateHead { name, bytes, seed, .. } = self;
        let same_content = self.fake == other.fake && self.faults == other.faults;
        match seed {
            _ if *name != other.name => format!("card {name}"),
            _ if *bytes != other.bytes => format!("a card of {bytes} bytes"),
            Some(_) if !same_content => "a card with other values in [fake] or [faults]".to_owned(),
            None if !same_content => "an honest card without faults".to_owned(),
            _ => format!("seed {}", seed.unwrap_or_default()),
        }
    }
}

/// Everything in the file except the content.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedState {
    pub(crate) card: CardState,
    pub(crate) counters: FaultCounters,
    /// Card time in nanoseconds.
    pub(crate) clock: f64,
}

/// Place to save a card: a folder that is opened before the work begins, and a name in it.
#[derive(Debug)]
pub(crate) struct StateDestination {
    path: PathBuf,
    folder: ResolvedFolder,
    name: OsString,
}

impl StateDestination {
    /// Checks that a state can be saved at `path`, before hours of work depend on it. Fails if no file can be made in
    /// that folder, or the name belongs to a file that is not a saved state.
    pub(crate) fn new(path: &Path) -> Result<StateDestination, StateError> {
        let claimed = || {
            let (folder, name) = ResolvedFolder::parent_of(path)?;
            let destination = StateDestination { path: path.to_owned(), folder, name };
            destination.existing_state()?;
            DraftFile::new(&destination.folder, None, 0o600)?;
            Ok(destination)
        };
        claimed().map_err(|e| unwritable_error(path, &e))
    }

    /// Saves a card. If that fails, an older file of that name remains.
    pub(crate) fn save(
        &self,
        (archetype, seed): (&Archetype, u64),
        saved: &SavedState,
        medium: &CardMedium,
    ) -> Result<(), StateError> {
        let head = StateHead::new(archetype, seed);
        let place = || {
            let draft = DraftFile::new(&self.folder, self.existing_state()?, 0o666)?;
            write_state(draft.file(), &head, saved, medium)?;
            draft.place(&self.name)
        };
        place().map_err(|e| unwritable_error(&self.path, &e))
    }

    /// Saved state of that name, or an empty file. Fails for any other file, which saving would destroy.
    fn existing_state(&self) -> Result<Option<File>, FileError> {
        let Some(mut file) = self.folder.open_existing(&self.name)? else { return Ok(None) };
        let mut magic = [0; MAGIC.len()];
        if file.metadata()?.len() > 0 && (file.read_exact(&mut magic).is_err() || &magic != MAGIC) {
            return Err(io::Error::other("another file has that name").into());
        }
        Ok(Some(file))
    }
}

fn unwritable_error(path: &Path, error: &FileError) -> StateError {
    StateError::Unwritable(path.display().to_string(), error.to_string())
}

fn write_state(file: &File, head: &StateHead, saved: &SavedState, medium: &CardMedium) -> io::Result<()> {
    let mut out = HashedStream { inner: BufWriter::new(file), hash: blake3::Hasher::new() };
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    write_part(&mut out, head)?;
    write_part(&mut out, &(medium.save_content(), saved))?;
    let numbers = medium.page_numbers();
    out.write_all(&(numbers.len() as u64).to_le_bytes())?;
    let mut page = [0; PAGE];
    for number in numbers {
        medium.read_page(number, &mut page)?;
        out.write_all(&number.to_le_bytes())?;
        out.write_all(&page)?;
    }
    let sum = out.hash.finalize();
    out.inner.write_all(sum.as_bytes())?;
    out.inner.flush()
}

/// Writes a part after its length, so that a reader can check the length before it allocates memory.
fn write_part<T: Serialize>(out: &mut impl Write, value: &T) -> io::Result<()> {
    let bytes = postcard::to_allocvec(value).map_err(io::Error::other)?;
    out.write_all(&(bytes.len() as u64).to_le_bytes())?;
    out.write_all(&bytes)
}

/// Loads this card with its content and the rest of its state; content beyond `budget` bytes goes to a file. Fails for
/// a file that is unreadable, foreign, damaged or of another card.
pub(crate) fn load_state(
    path: &Path,
    archetype: &Archetype,
    seed: u64,
    budget: u64,
) -> Result<(CardMedium, SavedState), StateError> {
    let name = path.display().to_string();
    let file = cardscope_files::open_file(path, FileUse::Read)
        .map_err(|e| StateError::Unreadable(name.clone(), e.to_string()))?;
    let input = HashedStream { inner: BufReader::new(file), hash: blake3::Hasher::new() };
    let mut reader = StateReader { path: name, input };
    reader.read_magic()?;
    reader.check_head(&StateHead::new(archetype, seed))?;
    let (content, saved): (ContentState, SavedState) = reader.read_part()?;
    let mut medium = CardMedium::empty(archetype, seed, budget);
    if !medium.restore_content(content) {
        return Err(reader.damaged_error("its content belongs to another card"));
    }
    reader.read_pages(&mut medium)?;
    reader.check_sum()?;
    Ok((medium, saved))
}

/// Error for a state whose engines do not fit the card.
pub(crate) fn other_engines_error(path: &Path) -> StateError {
    let reason = "its engines belong to another card; was the card changed?";
    StateError::Damaged(path.display().to_string(), reason.to_owned())
}

struct StateReader {
    path: String,
    input: HashedStream<BufReader<File>>,
}

impl StateReader {
    fn read_magic(&mut self) -> Result<(), StateError> {
        let mut magic = [0; MAGIC.len()];
        if self.input.read_exact(&mut magic).is_err() || &magic != MAGIC {
            return Err(StateError::NotAState(self.path.clone()));
        }
        match u32::from_le_bytes(self.read_array()?) {
            VERSION => Ok(()),
            found => Err(StateError::Version(self.path.clone(), found)),
        }
    }

    fn check_head(&mut self, wanted: &StateHead) -> Result<(), StateError> {
        let found: StateHead = self.read_part()?;
        let (in_file, inserted) = (found.describe_difference(wanted), wanted.describe_difference(&found));
        let same = found == *wanted;
        if same { Ok(()) } else { Err(StateError::OtherCard(self.path.clone(), in_file, inserted)) }
    }

    fn read_part<T: DeserializeOwned>(&mut self) -> Result<T, StateError> {
        let len = u64::from_le_bytes(self.read_array()?);
        let mut bytes = Vec::new();
        // Memory grows with the bytes that exist, whatever length the file announces.
        let read = (&mut self.input).take(len.min(MAX_PART_BYTES)).read_to_end(&mut bytes);
        if read.ok() != usize::try_from(len).ok() {
            return Err(self.damaged_error("it ends too early"));
        }
        postcard::from_bytes(&bytes).map_err(|e| self.damaged_error(&e.to_string()))
    }

    fn read_pages(&mut self, medium: &mut CardMedium) -> Result<(), StateError> {
        let count = u64::from_le_bytes(self.read_array()?);
        for _ in 0..count {
            let number = u64::from_le_bytes(self.read_array()?);
            let page: [u8; PAGE] = self.read_array()?;
            medium.restore_page(number, &page).map_err(|error| {
                let (CardIoError::Failed { reason, .. } | CardIoError::Gone { reason }) = error;
                StateError::Unreadable(self.path.clone(), reason)
            })?;
        }
        Ok(())
    }

    fn check_sum(&mut self) -> Result<(), StateError> {
        let found = self.input.hash.finalize();
        let kept: [u8; HASH] = self.read_array()?;
        if found != kept {
            return Err(self.damaged_error("its checksum is wrong"));
        }
        let ends = matches!(self.input.read(&mut [0]), Ok(0));
        if ends { Ok(()) } else { Err(self.damaged_error("data after its end")) }
    }

    fn read_array<const N: usize>(&mut self) -> Result<[u8; N], StateError> {
        let mut array = [0; N];
        match self.input.read_exact(&mut array) {
            Ok(()) => Ok(array),
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Err(self.damaged_error("it ends too early")),
            Err(e) => Err(StateError::Unreadable(self.path.clone(), e.to_string())),
        }
    }

    fn damaged_error(&self, reason: &str) -> StateError {
        StateError::Damaged(self.path.clone(), reason.to_owned())
    }
}

struct HashedStream<T> {
    inner: T,
    hash: blake3::Hasher,
}

impl<T: Write> Write for HashedStream<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for HashedStream<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.hash.update(&bytes[..read]);
        Ok(read)
    }
}
