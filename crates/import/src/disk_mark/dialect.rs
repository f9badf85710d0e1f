//! The programs of the family: how their headings and result lines are known, and what their MB/s are worth.

use super::line::{self, Line};
use cardscope_model::log::{Log, Tool};
use cardscope_model::run::Figure;
use cardscope_model::test_name::{Op, Order};

/// CrystalDiskMark 3 to 9, and AmorphousDiskMark, which took its form over on the Mac. Their MB/s are true: 10^6 bytes a
/// second, and IOPS times block agrees. The text is the same in every language of the program; translated ones come from
/// people and forums.
pub(super) static CRYSTALDISKMARK: Dialect =
    Dialect { format: "crystaldiskmark", programs: &["CrystalDiskMark", "AmorphousDiskMark"], mb_s: 1.0 };

/// KDiskMark 1.6 to 3.3. It prints fio's `bw`, which is KiB/s, divided by 1000 as MB/s: 1.024 MB/s each. Its IOPS are true,
/// and agree with the speed only then. Before 3.3.0 it halved tests of several threads; its mix is a mean of read and write
/// speed weighted by the share of reads, where the card moved their sum.
pub(super) static KDISKMARK: Dialect = Dialect { format: "kdiskmark", programs: &["KDiskMark"], mb_s: 1.024 };

/// What tells one program of the family from the others.
#[derive(Debug)]
pub(super) struct Dialect {
    /// Name of the format.
    pub(super) format: &'static str,
    /// Names that stand before the version in a heading, the usual one first.
    pub(super) programs: &'static [&'static str],
    /// MB/s (10^6) in one printed MB/s.
    pub(super) mb_s: f64,
}

impl Dialect {
    /// Program and version, where the line is a heading: `KDiskMark (3.0.0): …`, `CrystalDiskMark 8.0.4 x64 …`.
    pub(super) fn heading(&self, line: &str) -> Option<Tool> {
        self.programs.iter().find_map(|program| {
            let rest = line.split_once(program)?.1.trim_start_matches([' ', '(']);
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let version = rest[..end].trim_end_matches('.');
            let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.');
            is_version.then(|| Tool { name: (*program).to_owned(), version: Some(version.to_owned()) })
        })
    }
}

/// True for a result that nobody else prints so: with its queue in brackets, or sequential to three decimals. In prose and
/// in source code stand lines such as `Sequential Read: 100 MB/s`, too.
pub(super) fn is_sure_result(line: &str) -> bool {
    let sure = |result: &Line<'_>| {
        let queue = line.split_once('(').is_some_and(|(_, rest)| rest.contains('='));
        queue || (result.pattern.order == Order::Sequential && has_three_decimals(line))
    };
    line::read(line).is_some_and(|result| sure(&result))
}

/// Whether a number stands in it as these programs write all of theirs: `20.505`, `91,559`.
fn has_three_decimals(line: &str) -> bool {
    let decimals =
        |number: &str| number.rsplit_once(['.', ',']).is_some_and(|(_, decimals)| decimals.len() == 3);
    line.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').any(decimals)
}

/// What makes a report of KDiskMark doubtful.
pub(super) fn doubts(log: &Log) -> Vec<String> {
    let any = |test: fn(&Figure) -> bool| log.runs.iter().flat_map(|run| &run.results).any(test);
    let halved = any(|figure| figure.test.threads > 1) && !log.tool.as_ref().is_some_and(counts_all_threads);
    let mixed = any(|figure| matches!(figure.op, Op::Mix(_)));
    let whys = [
        (halved, "this version of KDiskMark prints tests of several threads at half their speed"),
        (
            mixed,
            "KDiskMark's mix is a weighted mean of read and write speed; the card moved more than it says",
        ),
    ];
    whys.iter().filter(|(is, _)| *is).map(|(_, why)| (*why).to_owned()).collect()
}

/// Since 3.3.0.
fn counts_all_threads(tool: &Tool) -> bool {
    let version = tool.version.as_deref().unwrap_or_default();
    let numbers: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
    numbers.as_slice() >= [3, 3].as_slice()
}
