//! Registers of an SD card, decoded field by field.
//!
//! Layouts are those of the SD Physical Layer Simplified Specification 9.10 (chapters 4.10 and 5). Bit numbers in the
//! code are the specification's own, so that a line can be checked against its table. Reserved bits are ignored,
//! since real cards set some of them.

pub mod cid;
pub mod crc7;
pub mod csd;
pub mod hex;
pub mod ocr;
pub(crate) mod raw;
pub mod scr;
pub mod ssr;

pub use cid::{Cid, EmmcCid};
pub use crc7::CrcStatus;
pub use csd::{Csd, CsdFamily};
pub use hex::{HexFault, RegisterError};
pub use ocr::Ocr;
pub use raw::{BlankRegister, RawRegister};
pub use scr::Scr;
pub use ssr::Ssr;
