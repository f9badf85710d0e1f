//! The list of formats. A new one is a module of its own, its logs in `tests/layouts` and `fuzz/corpus`, and a line here.

use crate::readers::disk_mark::report::{crystaldiskmark, kdiskmark};
use crate::readers::identity::{lspci, mmc_ios, mmc_utils, nvme, sysfs};
use crate::readers::page::{chart_page, table_page};
use crate::readers::probe::{f3, flashbench, h2testw, mfst};
use crate::readers::speed::{
    agnostics, bonnie, dd, disk_benchmark, hdparm, ioping, iozone, microsd_benchmarks, pibenchmarks,
};
use crate::readers::{LogText, ReaderOutcome, as_ssd, cdm_fio, figures, fio, sanitize};
use cardscope_model::log::CardLog;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No reader recognises the text.
    #[error(
        "unknown log: {0}; `cardscope import --formats` lists the supported formats, please report it if it \
         should be supported"
    )]
    Unknown(String),
    /// A reader recognises the text, but it has no results.
    #[error("a {format} log without results: {why}")]
    Empty { format: &'static str, why: String },
}

#[derive(Debug, Clone, Copy)]
pub struct LogFormat {
    /// Name in output, e.g. `cdm_fio`.
    pub name: &'static str,
    pub title: &'static str,
    /// Versions and layouts that are read.
    pub layouts: &'static str,
    /// Units that it prints, and what they stand for.
    pub units: &'static str,
    /// Logs that the reader was compared with.
    pub checked_with: &'static str,
    /// True if a text is of this format. The first format in the list that returns true reads the text.
    pub recognise: fn(&LogText) -> bool,
    read: fn(&LogText) -> ReaderOutcome,
}

impl LogFormat {
    /// Reads a text as this format; fails if nothing in it can be read.
    pub fn read(&self, text: &LogText) -> Result<Vec<CardLog>, ImportError> {
        let mut logs = (self.read)(text).map_err(|why| ImportError::Empty { format: self.name, why })?;
        for log in logs.iter_mut().filter(|log| log.format.is_empty()) {
            log.format = self.name.to_owned();
        }
        Ok(logs)
    }

    /// Reads a text, and removes values that no log can mean.
    pub(crate) fn read_plausible(&self, text: &LogText) -> Result<Vec<CardLog>, ImportError> {
        let mut logs = self.read(text)?;
        logs.iter_mut().for_each(sanitize::sanitize_log);
        logs.retain(|log| !log.is_empty());
        if logs.is_empty() {
            let why = "it has no result lines; it may be truncated".to_owned();
            return Err(ImportError::Empty { format: self.name, why });
        }
        for log in &mut logs {
            log.doubts.extend(text.doubts().iter().cloned());
        }
        Ok(logs)
    }
}

/// All formats; those that contain parts of others come first.
pub fn formats() -> &'static [LogFormat] {
    FORMATS
}

/// The formats, each with a module that has `recognise` and `read`.
macro_rules! formats {
    ($($name:literal, $title:literal, $($module:ident)::+: $layouts:literal, $units:literal, $checked_with:literal;)*) => {
        static FORMATS: &[LogFormat] = &[$(LogFormat {
            name: $name,
            title: $title,
            layouts: $layouts,
            units: $units,
            checked_with: $checked_with,
            recognise: $($module)::+::recognise,
            read: $($module)::+::read,
        }),*];
    };
}

formats! {
    "plotly-page", "pages with Plotly charts of runs", chart_page:
        "Hugo pages: `cardscope report -o x.plotly.md`, and those in which cdm_fio.sh is published",
        "MB/s is MiB/s where the page names cdm_fio as its method", "own reports, and the published page";
    "cdm_fio", "cdm_fio.sh", cdm_fio: "both label styles", "MB/s is MiB/s, rounded down", "real logs";
    "fio-json", "fio, JSON", fio::json:
        "fio 2 and 3, any job", "KiB/s, or B/s in `bw_bytes`, as named", "real logs and fio itself";
    "fio-text", "fio, normal output", fio::text: "fio 2 and 3, any job", "as named", "real logs and fio itself";
    "kdiskmark", "KDiskMark", kdiskmark:
        "1.6 to 3.3", "MB/s is KiB/s / 1000: 1.024 MB/s each; before 3.3.0 tests of several threads are halved",
        "two reports of its own README";
    "crystaldiskmark", "CrystalDiskMark and AmorphousDiskMark", crystaldiskmark:
        "CrystalDiskMark 3 to 9", "MB/s is MB/s", "real logs, 3.0.1 to 8.0.4; 9 by its layout";
    "as-ssd", "AS SSD Benchmark", as_ssd:
        "English and German", "MB/s is MiB/s", "no log seen in public: layout as described";
    "flashbench", "flashbench, and the result files of sdcard_benchmark", flashbench:
        "-a, -f, -O", "M/s is 10^6 bytes/s, three digits, cut to seven bytes", "38 real files";
    "f3", "f3probe, f3write, f3read", f3: "f3 6 to 10", "MB/s and GB are MiB/s and GiB", "real logs";
    "h2testw", "H2testw", h2testw: "1.4, English and German", "MByte/s is MiB/s", "real logs (English)";
    "mfst", "mfst's statistics, CSV", mfst: "CSV", "columns as in its source", "no log seen in public";
    "pibenchmarks", "PiBenchmarks' Storage.sh", pibenchmarks:
        "its output", "KB/s is KiB/s; hdparm's MB/s is MiB/s", "real logs";
    "agnostics", "Raspberry Pi agnostics: sdtest.sh", agnostics:
        "its output", "KB/sec is KiB/s", "no log seen in public";
    "disk-benchmark", "disk-benchmark.sh of pi-cluster: its Markdown table", disk_benchmark:
        "its Markdown table", "MB/s is MiB/s where iozone's figures were divided", "the table by its script";
    "bonnie++", "bonnie++", bonnie:
        "CSV 1.96 to 2.00, and the table", "K/sec is KiB/s; +++++ is not a result", "real logs";
    "ioping", "ioping", ioping: "text and JSON", "MiB/s is MiB/s", "the program itself (1.3)";
    "microsd-benchmarks", "microsd-benchmarks.sh: hdparm, dd and iozone", microsd_benchmarks:
        "its output", "MB/s is MiB/s where iozone's figures were divided", "real logs";
    "nvme", "nvme-cli: id-ctrl, smart-log, get-feature", nvme:
        "text and JSON", "data units are 512 000 bytes; temperatures are kelvin",
        "real logs (text); JSON on own fixtures";
    "lspci", "lspci -vv", lspci: "PCIe link", "", "real logs";
    "mmc-ios", "debugfs ios of an SD slot", mmc_ios: "bus mode", "", "real logs";
    "mmc-utils", "mmc-utils: cid, csd, extcsd", mmc_utils: "registers", "", "own fixtures";
    "sysfs", "registers in sysfs", sysfs: "registers", "", "real logs";
    "figures", "tables of figures, CSV: typed, or written by `cardscope report`", figures:
        "one figure a row", "as named: MB/s is 10^6, MiB/s 2^20", "own fixtures, own reports";
    "table-page", "Markdown tables of results, as they are pasted", table_page:
        "tests in rows or columns; cards in rows, columns or the heading; heads and rows without a result are named",
        "as named: MB/s is 10^6; hdparm's is MiB/s", "own fixtures";
    "iozone", "iozone", iozone: "its table", "kBytes/sec is KiB/s", "real logs";
    "hdparm", "hdparm -t and -T", hdparm:
        "-t and -T", "MB/sec is MiB/s; -T is the host's memory and no figure of the card", "real logs";
    "dd", "dd, in any language", dd:
        "GNU and busybox dd", "MB/s is MB/s, computed from bytes and seconds where it prints them",
        "real logs, and both programs";
}
