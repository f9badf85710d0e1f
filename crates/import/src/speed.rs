//! Tools that measure speed: one module each.

pub(crate) mod agnostics;
pub(crate) mod bonnie;
pub(crate) mod dd;
pub(crate) mod disk_benchmark;
pub(crate) mod hdparm;
pub(crate) mod ioping;
pub(crate) mod iozone;
pub(crate) mod microsd_benchmarks;
pub(crate) mod pibenchmarks;
