//! Health pages of SD cards: wear counters that some makers return for CMD56 (GEN_CMD).
//!
//! The specification leaves the content to the maker (Physical Layer Specification 4.7.4, class 8 commands), so each
//! page is decoded in its maker's layout. Sources: SanDisk's and Western Digital's product manuals for industrial
//! cards, Micron's technical note TN-SD-02, Swissbit's signature `Sw`, Longsys's 0x70 0x58, and the layout that cards
//! of Apacer, Kingston, Viofo and Goodram share; offsets as users of these cards reported them.
//!
//! The command is sent only on the user's request: with another maker's argument it has made a card vanish until it
//! was replugged, and cards that do not know it answer with zeros, ones or stale buffer contents.

mod layouts;
mod page;

pub use page::{CardHealth, HealthFields, HealthLayout, HealthQuery, PAGE_BYTES};

use crate::registers::{BlankRegister, RawRegister, RegisterError, hex};

/// Error of a block that is not a health page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HealthError {
    #[error("the page holds {0}: the card keeps no health page, or another maker's")]
    Blank(BlankRegister),
    /// No signature of a maker, and no plausible figures of a layout without one. Holds the first two bytes.
    #[error(
        "the page begins with {:02x} {:02x} and fits none of the known layouts ({names})",
        .0[0], .0[1], names = HealthLayout::ALL.map(|layout| layout.to_string()).join("; ")
    )]
    Unknown([u8; 2]),
    /// Text that is not 512 bytes in hex.
    #[error(transparent)]
    Text(#[from] RegisterError),
}

impl CardHealth {
    /// Decodes the 512 bytes in the layout of their signature, or in Apacer's if its figures are plausible.
    ///
    /// # Errors
    /// If the page is blank or fits no layout.
    pub fn decode(page: [u8; PAGE_BYTES]) -> Result<CardHealth, HealthError> {
        let raw = RawRegister(page);
        if let Some(blank) = raw.blank() {
            return Err(HealthError::Blank(blank));
        }
        layouts::decode_page(raw).ok_or(HealthError::Unknown([page[0], page[1]]))
    }

    /// Decodes a page from hex text.
    ///
    /// # Errors
    /// As [`Self::decode`], and if the text is not 1024 hex digits.
    pub fn from_hex(text: &str) -> Result<CardHealth, HealthError> {
        Self::decode(hex::parse("health page", text)?)
    }
}

#[cfg(test)]
mod tests;
