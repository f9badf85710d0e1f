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

static FORMATS: &[Format] = &[
    Format {
        name: "plotly-page",
        title: "pages with Plotly charts of runs",
        recognise: chart_page::recognise,
        read: chart_page::read,
    },
    Format { name: "cdm_fio", title: "cdm_fio.sh", recognise: cdm_fio::recognise, read: cdm_fio::read },
    Format { name: "fio-json", title: "fio, JSON", recognise: fio::json::recognise, read: fio::json::read },
    Format {
        name: "fio-text",
        title: "fio, normal output",
        recognise: fio::text::recognise,
        read: fio::text::read,
    },
    Format { name: "kdiskmark", title: "KDiskMark", recognise: kdiskmark::recognise, read: kdiskmark::read },
    Format {
        name: "crystaldiskmark",
        title: "CrystalDiskMark and AmorphousDiskMark",
        recognise: crystaldiskmark::recognise,
        read: crystaldiskmark::read,
    },
    Format { name: "as-ssd", title: "AS SSD Benchmark", recognise: as_ssd::recognise, read: as_ssd::read },
    Format {
        name: "flashbench",
        title: "flashbench, and the result files of sdcard_benchmark",
        recognise: flashbench::recognise,
        read: flashbench::read,
    },
    Format { name: "f3", title: "f3probe, f3write, f3read", recognise: f3::recognise, read: f3::read },
    Format { name: "h2testw", title: "H2testw", recognise: h2testw::recognise, read: h2testw::read },
    Format { name: "mfst", title: "mfst's statistics, CSV", recognise: mfst::recognise, read: mfst::read },
    Format {
        name: "pibenchmarks",
        title: "PiBenchmarks' Storage.sh",
        recognise: pibenchmarks::recognise,
        read: pibenchmarks::read,
    },
    Format {
        name: "agnostics",
        title: "Raspberry Pi agnostics: sdtest.sh",
        recognise: agnostics::recognise,
        read: agnostics::read,
    },
    Format {
        name: "disk-benchmark",
        title: "disk-benchmark.sh of pi-cluster: its Markdown table",
        recognise: disk_benchmark::recognise,
        read: disk_benchmark::read,
    },
    Format { name: "bonnie++", title: "bonnie++", recognise: bonnie::recognise, read: bonnie::read },
    Format { name: "ioping", title: "ioping", recognise: ioping::recognise, read: ioping::read },
    Format {
        name: "microsd-benchmarks",
        title: "microsd-benchmarks.sh: hdparm, dd and iozone",
        recognise: microsd_benchmarks::recognise,
        read: microsd_benchmarks::read,
    },
    Format {
        name: "nvme",
        title: "nvme-cli: id-ctrl, smart-log, get-feature",
        recognise: nvme::recognise,
        read: nvme::read,
    },
    Format { name: "lspci", title: "lspci -vv", recognise: lspci::recognise, read: lspci::read },
    Format {
        name: "mmc-ios",
        title: "debugfs ios of an SD slot",
        recognise: mmc_ios::recognise,
        read: mmc_ios::read,
    },
    Format {
        name: "mmc-utils",
        title: "mmc-utils: cid, csd, extcsd",
        recognise: mmc_utils::recognise,
        read: mmc_utils::read,
    },
    Format { name: "sysfs", title: "registers in sysfs", recognise: sysfs::recognise, read: sysfs::read },
    Format {
        name: "figures",
        title: "tables of figures, CSV: typed, or written by `cardscope report`",
        recognise: figures::recognise,
        read: figures::read,
    },
    Format { name: "iozone", title: "iozone", recognise: iozone::recognise, read: iozone::read },
    Format { name: "hdparm", title: "hdparm -t and -T", recognise: hdparm::recognise, read: hdparm::read },
    Format { name: "dd", title: "dd, in any language", recognise: dd::recognise, read: dd::read },
];
