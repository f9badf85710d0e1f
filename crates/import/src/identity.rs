//! What a card and its bus say of themselves: registers, NVMe's pages, links, in the layouts of the tools that print
//! them.

pub(crate) mod facts;
pub(crate) mod lspci;
pub(crate) mod mmc_ios;
pub(crate) mod mmc_utils;
pub(crate) mod nvme;
pub(crate) mod sysfs;
