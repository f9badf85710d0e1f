//! Readers of other tools' logs: one module for each format, each a pure function from text to logs.
//!
//! Formats are recognised by content, never by a file's name. Figures have true units (MB/s is 10^6 bytes a second) and
//! keep the printed value; each reader and `docs/import.md` describe the tool's units. Nothing here reads a file or opens
//! a database.
#![forbid(unsafe_code)]

mod as_ssd;
mod cdm_fio;
mod figures;
mod fio;
mod formats;
pub mod invariants;
mod json;
mod log_builder;
mod printed_values;
#[cfg(test)]
mod properties;
mod sanitize;
mod several_tools;
mod table;
mod text;

mod disk_mark {
    //! Reports of the CrystalDiskMark family: one reader, and the differences between the programs.

    mod footer;
    mod line;
    pub(crate) mod report;
}

mod identity {
    //! Data that a card and its bus report: registers, NVMe pages, links, in the layouts of the tools that print them.

    pub(crate) mod facts;
    pub(crate) mod lspci;
    pub(crate) mod mmc_ios;
    pub(crate) mod mmc_utils;
    pub(crate) mod nvme;
    pub(crate) mod sysfs;
}

mod page {
    //! Pages with charts of runs, and tables of results. Only text in a fixed form is read, no sentences.

    mod chart;
    pub(crate) mod chart_page;
    mod described;
    mod markdown;
    mod table_label;
    pub(crate) mod table_page;
}

mod probe {
    //! Tools that measure a card's structure or check its capacity: one module each.

    pub(crate) mod f3;
    pub(crate) mod flashbench;
    pub(crate) mod h2testw;
    pub(crate) mod mfst;
}

mod speed {
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
}

pub use formats::{ImportError, LogFormat, formats};
pub(crate) use log_builder::{
    ReaderOutcome, RunBuilder, add_doubts, add_note, add_other, name_reports, new_log, parse_cooling,
    read_by_device, read_by_heading, read_each, set_word,
};
pub(crate) use printed_values::{
    KIB_S, MIB_S, PrintedAmount, binary_bytes, binary_mb_s, binary_size, decimal_mb_s, parse_amount,
    parse_date, parse_day, parse_hex, parse_month, parse_number, parse_scaled, parse_seconds, parse_speed,
    power_of_thousand, printed_figure, random_test, sequential_test, step_figure, true_mb_s,
};
pub use several_tools::read_logs;
pub use text::LogText;
pub(crate) use text::{strip_start, text_between, trimmed_text};
