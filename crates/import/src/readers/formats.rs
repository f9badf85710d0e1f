//! The list of formats. A new one is a module of its own and a line here.

use crate::readers::disk_mark::report::{crystaldiskmark, kdiskmark};
use crate::readers::error::{ImportError, Outcome};
use crate::readers::identity::{lspci, mmc_ios, mmc_utils, nvme, sysfs};
use crate::readers::page::{chart_page, table_page};
use crate::readers::probe::{f3, flashbench, h2testw, mfst};
use crate::readers::speed::{
    agnostics, bonnie, dd, disk_benchmark, hdparm, ioping, iozone, microsd_benchmarks, pibenchmarks,
};
use crate::readers::text::Text;
use crate::readers::{as_ssd, cdm_fio, figures, fio, sanitize};
use cardscope_model::log::Log;

/// One foreign format.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Its name in output: `cdm_fio`.
    pub name: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// Whether a text is one of it. Sure of its own, shy of others: the first in the list that says yes reads it.
    pub recognise: fn(&Text) -> bool,
    read: fn(&Text) -> Outcome,
}

impl Format {
    /// Reads a text as one of this format.
    ///
    /// # Errors
    /// If nothing in it can be read.
    pub fn read(&self, text: &Text) -> Result<Vec<Log>, ImportError> {
        let mut logs = (self.read)(text).map_err(|why| ImportError::Empty { format: self.name, why })?;
        for log in logs.iter_mut().filter(|log| log.format.is_empty()) {
            log.format = self.name.to_owned();
        }
        Ok(logs)
    }

    /// The same without what no log can mean.
    pub(crate) fn logs(&self, text: &Text) -> Result<Vec<Log>, ImportError> {
        let mut logs = self.read(text)?;
        logs.iter_mut().for_each(sanitize::sanitize);
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

/// All formats, those that hold parts of others first.
pub fn formats() -> &'static [Format] {
    FORMATS
}

/// A format whose module has `recognise` and `read`.
macro_rules! format {
    ($name:literal, $title:literal, $($module:ident)::+) => {
        Format {
            name: $name,
            title: $title,
            recognise: $($module)::+::recognise,
            read: $($module)::+::read,
        }
    };
}

static FORMATS: &[Format] = &[
    format!("plotly-page", "pages with Plotly charts of runs", chart_page),
    format!("cdm_fio", "cdm_fio.sh", cdm_fio),
    format!("fio-json", "fio, JSON", fio::json),
    format!("fio-text", "fio, normal output", fio::text),
    format!("kdiskmark", "KDiskMark", kdiskmark),
    format!("crystaldiskmark", "CrystalDiskMark and AmorphousDiskMark", crystaldiskmark),
    format!("as-ssd", "AS SSD Benchmark", as_ssd),
    format!("flashbench", "flashbench, and the result files of sdcard_benchmark", flashbench),
    format!("f3", "f3probe, f3write, f3read", f3),
    format!("h2testw", "H2testw", h2testw),
    format!("mfst", "mfst's statistics, CSV", mfst),
    format!("pibenchmarks", "PiBenchmarks' Storage.sh", pibenchmarks),
    format!("agnostics", "Raspberry Pi agnostics: sdtest.sh", agnostics),
    format!("disk-benchmark", "disk-benchmark.sh of pi-cluster: its Markdown table", disk_benchmark),
    format!("bonnie++", "bonnie++", bonnie),
    format!("ioping", "ioping", ioping),
    format!("microsd-benchmarks", "microsd-benchmarks.sh: hdparm, dd and iozone", microsd_benchmarks),
    format!("nvme", "nvme-cli: id-ctrl, smart-log, get-feature", nvme),
    format!("lspci", "lspci -vv", lspci),
    format!("mmc-ios", "debugfs ios of an SD slot", mmc_ios),
    format!("mmc-utils", "mmc-utils: cid, csd, extcsd", mmc_utils),
    format!("sysfs", "registers in sysfs", sysfs),
    format!("figures", "tables of figures, CSV: typed, or written by `cardscope report`", figures),
    format!("table-page", "Markdown tables of results, as they are pasted", table_page),
    format!("iozone", "iozone", iozone),
    format!("hdparm", "hdparm -t and -T", hdparm),
    format!("dd", "dd, in any language", dd),
];
