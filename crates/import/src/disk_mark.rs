//! Reports of the CrystalDiskMark family: one reader, and what each program does differently.

pub(crate) mod crystaldiskmark;
mod dialect;
mod footer;
pub(crate) mod kdiskmark;
mod line;
mod report;
