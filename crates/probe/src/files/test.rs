//! One test of files: what is written and read, in order, and what is known of the file system around it.

use super::folder::{FilesError, TestFolder};
use super::pass::Pass;
use super::reading::{self, ToRead};
use super::{folding, there, writing};
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use std::time::Duration;

/// What is known of the file system from outside.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The directory that is tested, as the user named it.
    pub directory: String,
    /// Name of the file system: `vfat`.
    pub file_system: String,
    /// Where it is mounted.
    pub mounted_at: Option<String>,
    /// Bytes of all of it.
    pub total_bytes: u64,
    /// Bytes of it that were free before the test.
    pub free_bytes: u64,
}

/// A test of the files in one folder.
pub struct FilesTest<'a, F> {
    pub(super) pass: Pass<'a, F>,
    pub(super) facts: Facts,
    /// False where the files were there before and are only read.
    pub(super) writes: bool,
    pub(super) files: Vec<ToRead>,
    pub(super) foreign: Vec<String>,
    /// Extents that gave another answer at the second look.
    pub(super) otherwise: u64,
    /// In which period the card's addresses repeat, where they do.
    pub(super) wrap: Option<u64>,
}

impl<'a, F: TestFolder> FilesTest<'a, F> {
    /// Nothing is written or read yet. Of a `budget` writing may take half.
    pub fn new(
        folder: F,
        facts: Facts,
        writes: bool,
        interrupt: &Interrupt,
        listener: &'a mut dyn Listener,
        budget: Option<Duration>,
    ) -> Self {
        FilesTest {
            pass: Pass::new(folder, interrupt, listener, budget),
            facts,
            writes,
            files: Vec::new(),
            foreign: Vec::new(),
            otherwise: 0,
            wrap: None,
        }
    }

    /// The folder, to tidy up in it.
    pub fn folder(&mut self) -> &mut F {
        &mut self.pass.folder
    }

    /// Tells whoever listens.
    pub fn note(&mut self, text: String) {
        self.pass.note(text);
    }

    /// Something that the reader of the document must know too.
    pub fn doubt(&mut self, text: String) {
        self.pass.doubt(text);
    }

    /// Writes files until `total` bytes are written, nothing more fits, or half of the budget is over.
    ///
    /// # Errors
    /// What ended it; what was written until then can be read.
    pub fn write(&mut self, total: u64) -> Result<(), FilesError> {
        let outcome = writing::write_all(&mut self.pass, total);
        self.files = there::written(&self.pass);
        outcome
    }

    /// Reads back what was written, or what was there before, looks a second time at what was not as written, and finds
    /// out how a card that wraps repeats.
    ///
    /// # Errors
    /// What ended it; what was read until then counts.
    pub fn read(&mut self) -> Result<(), FilesError> {
        if !self.writes {
            (self.files, self.foreign) = there::to_read(&self.pass);
        }
        self.pass.sorted.tested = self.files.iter().map(ToRead::range).collect();
        reading::read_all(&mut self.pass, &mut self.files)?;
        self.otherwise = reading::second_look(&mut self.pass, &self.files)?;
        self.wrap = folding::period(&self.pass, &self.files);
        Ok(())
    }
}
