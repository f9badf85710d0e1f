//! What an SD card counts of its own wear: the page that some makers answer CMD56 (GEN_CMD) with.
//!
//! The specification leaves the content to the maker (Physical Layer Specification 4.7.4, class 8 commands), so a page
//! says something only in its maker's layout. Layouts: SanDisk's and Western Digital's product manuals for industrial
//! cards, Micron's technical note TN-SD-02, Swissbit's signature `Sw`, Longsys's 0x70 0x58, and the one that cards of
//! Apacer, Kingston, Viofo and Goodram share; offsets as users of these cards have read them.
//!
//! Not asked unless the user wants it: CMD56 with another maker's argument has made a card vanish until it was
//! replugged, and cards that do not know the command answer with zeros, ones, or whatever their buffer held last.

mod layouts;
mod page;

pub use page::{CardHealth, HealthFields, HealthLayout, HealthQuery, PAGE_BYTES};

use crate::registers::{BlankRegister, RawRegister, RegisterError, hex};

/// A block that is not a health page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HealthError {
    /// Nothing in it.
    #[error("the page holds {0}: the card keeps no health page, or another maker's")]
    Blank(BlankRegister),
    /// No known signature, and nothing that could be one without.
    #[error(
        "the page begins with {:02x} {:02x} and fits none of the known layouts ({names})",
        .0[0], .0[1], names = HealthLayout::ALL.map(|layout| layout.to_string()).join("; ")
    )]
    Unknown([u8; 2]),
    /// Text that is not 512 bytes.
    #[error(transparent)]
    Text(#[from] RegisterError),
}

impl CardHealth {
    /// Decodes the 512 bytes in the layout whose signature they carry; Apacer's has none, and is told by figures that go
    /// together.
    ///
    /// # Errors
    /// If they are blank or fit no layout.
    pub fn decode(page: [u8; PAGE_BYTES]) -> Result<CardHealth, HealthError> {
        let raw = RawRegister(page);
        if let Some(blank) = raw.blank() {
            return Err(HealthError::Blank(blank));
        }
        layouts::decode(raw).ok_or(HealthError::Unknown([page[0], page[1]]))
    }

    /// Reads the page from hex text.
    ///
    /// # Errors
    /// As [`Self::decode`], and if the text is not 1024 hex digits.
    pub fn from_hex(text: &str) -> Result<CardHealth, HealthError> {
        Self::decode(hex::parse("health page", text)?)
    }
}

#[cfg(test)]
mod tests;
