//! The list of formats. A new one is a module of its own and a line here.

use crate::disk_mark::{crystaldiskmark, kdiskmark};
use crate::error::ImportError;
use crate::identity::{lspci, mmc_ios, mmc_utils, nvme, sysfs};
use crate::page::chart_page;
use crate::probe::{f3, flashbench, h2testw, mfst};
use crate::speed::{
    agnostics, bonnie, dd, disk_benchmark, hdparm, ioping, iozone, microsd_benchmarks, pibenchmarks,
};
use crate::text::Text;
use crate::{as_ssd, cdm_fio, figures, fio, sanitize};
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
    /// Reads it.
    pub read: fn(&Text) -> Result<Vec<Log>, ImportError>,
}

impl Format {
    /// Reads a text as one of this format, without what no log can mean.
    pub(crate) fn logs(&self, text: &Text) -> Result<Vec<Log>, ImportError> {
        let mut logs = (self.read)(text)?;
        logs.iter_mut().for_each(sanitize::sanitize);
        logs.retain(|log| !log.is_empty());
        if logs.is_empty() {
            let why = "it has no result lines; perhaps it was cut off".to_owned();
            return Err(ImportError::Empty { format: self.name, why });
        }
        for log in &mut logs {
            log.doubts.extend(text.doubts().iter().cloned());
        }
        Ok(logs)
    }
}

/// All formats, those that hold parts of others first.
#[must_use]
pub fn formats() -> &'static [Format] {
    FORMATS
}

const fn format(
    name: &'static str,
    title: &'static str,
    recognise: fn(&Text) -> bool,
    read: fn(&Text) -> Result<Vec<Log>, ImportError>,
) -> Format {
    Format { name, title, recognise, read }
}

static FORMATS: &[Format] = &[
    format("plotly-page", "pages with Plotly charts of runs", chart_page::recognise, chart_page::read),
    format("cdm_fio", "cdm_fio.sh", cdm_fio::recognise, cdm_fio::read),
    format("fio-json", "fio, JSON", fio::json::recognise, fio::json::read),
    format("fio-text", "fio, normal output", fio::text::recognise, fio::text::read),
    format("kdiskmark", "KDiskMark", kdiskmark::recognise, kdiskmark::read),
    format(
        "crystaldiskmark",
        "CrystalDiskMark and AmorphousDiskMark",
        crystaldiskmark::recognise,
        crystaldiskmark::read,
    ),
    format("as-ssd", "AS SSD Benchmark", as_ssd::recognise, as_ssd::read),
    format(
        "flashbench",
        "flashbench, and the result files of sdcard_benchmark",
        flashbench::recognise,
        flashbench::read,
    ),
    format("f3", "f3probe, f3write, f3read", f3::recognise, f3::read),
    format("h2testw", "H2testw", h2testw::recognise, h2testw::read),
    format("mfst", "mfst's statistics, CSV", mfst::recognise, mfst::read),
    format("pibenchmarks", "PiBenchmarks' Storage.sh", pibenchmarks::recognise, pibenchmarks::read),
    format("agnostics", "Raspberry Pi agnostics: sdtest.sh", agnostics::recognise, agnostics::read),
    format(
        "disk-benchmark",
        "disk-benchmark.sh of pi-cluster: its Markdown table",
        disk_benchmark::recognise,
        disk_benchmark::read,
    ),
    format("bonnie++", "bonnie++", bonnie::recognise, bonnie::read),
    format("ioping", "ioping", ioping::recognise, ioping::read),
    format(
        "microsd-benchmarks",
        "microsd-benchmarks.sh: hdparm, dd and iozone",
        microsd_benchmarks::recognise,
        microsd_benchmarks::read,
    ),
    format("nvme", "nvme-cli: id-ctrl, smart-log, get-feature", nvme::recognise, nvme::read),
    format("lspci", "lspci -vv", lspci::recognise, lspci::read),
    format("mmc-ios", "debugfs ios of an SD slot", mmc_ios::recognise, mmc_ios::read),
    format("mmc-utils", "mmc-utils: cid, csd, extcsd", mmc_utils::recognise, mmc_utils::read),
    format("sysfs", "registers in sysfs", sysfs::recognise, sysfs::read),
    format(
        "figures",
        "tables of figures, CSV: typed, or written by `cardscope report`",
        figures::recognise,
        figures::read,
    ),
    format("iozone", "iozone", iozone::recognise, iozone::read),
    format("hdparm", "hdparm -t and -T", hdparm::recognise, hdparm::read),
    format("dd", "dd, in any language", dd::recognise, dd::read),
];
