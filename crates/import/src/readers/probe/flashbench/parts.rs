//! Splits the script's result file into its headings and their lines.
//!
//! Headings are framed by `====`: a section (`Linear read speed (dd, 4M block, skip 10)`), a test of it (`Align test: 1`,
//! `AU=3, random access`, in old files without the frame), or a bare number, which is the run.

use crate::readers::LogText;
use cardscope_model::test_name::TestOp;
use cardscope_model::units::parse_size;

/// Longest heading of a dd section, in bytes; the script's have sixty.
const LONGEST_TITLE: usize = 200;

/// Kind of a heading: for dd the operation, block size and step, for tables the number of the test.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum PartHeading {
    /// Text before the first heading, or all of a terminal's record.
    Start,
    Device,
    Partitions,
    FileSystem,
    Dd(TestOp, u64, String),
    Hdparm,
    Align(u32),
    Fat(u32),
    OpenAu {
        count: Option<u32>,
        random: bool,
    },
    #[default]
    Unknown,
}

#[derive(Debug)]
pub(super) struct LogPart<'a> {
    pub(super) heading: PartHeading,
    /// Heading as printed, without its frame.
    pub(super) title: Option<&'a str>,
    /// Section that this test or run belongs to.
    pub(super) parent: Option<&'a str>,
    /// Counts from 1.
    pub(super) run: u32,
    /// Lines that are not blank.
    pub(super) lines: Vec<&'a str>,
}

impl PartHeading {
    /// True if the lines may be rows of flashbench's tables.
    pub(super) fn holds_rows(&self) -> bool {
        use PartHeading::{Align, Fat, OpenAu, Start, Unknown};
        matches!(self, Start | Unknown | Align(_) | Fat(_) | OpenAu { .. })
    }

    /// True if the lines should be results.
    pub(super) fn holds_results(&self) -> bool {
        use PartHeading::{Align, Dd, Fat, Hdparm, OpenAu};
        matches!(self, Dd(..) | Hdparm | Align(_) | Fat(_) | OpenAu { .. })
    }

    fn parse(title: &str) -> Self {
        let number = |prefix: &str| -> Option<u32> { title.strip_prefix(prefix)?.trim().parse().ok() };
        let (align, fat) = (number("Align test:"), number("find FAT:"));
        let test = align.map(PartHeading::Align).or(fat.map(PartHeading::Fat));
        test.or_else(|| parse_open_au(title)).unwrap_or_else(|| match title {
            "Align test" => PartHeading::Align(1),
            "Find FAT" => PartHeading::Fat(1),
            "Linear access" => PartHeading::OpenAu { count: None, random: false },
            "Random access" => PartHeading::OpenAu { count: None, random: true },
            "Partition table" => PartHeading::Partitions,
            "Examining first partition" => PartHeading::FileSystem,
            _ if title.starts_with("Device:") => PartHeading::Device,
            _ if title.contains("(hdparm") => PartHeading::Hdparm,
            _ => parse_dd(title).unwrap_or(PartHeading::Unknown),
        })
    }
}

/// `AU=3, random access`.
fn parse_open_au(title: &str) -> Option<PartHeading> {
    let (count, order) = title.strip_prefix("AU=")?.split_once(',')?;
    let random = order.trim() == "random access";
    let count = Some(count.trim().parse().ok()?);
    (random || order.trim() == "linear access").then_some(PartHeading::OpenAu { count, random })
}

/// `Linear write speed (dd, 64kb block, seek 1024)`.
fn parse_dd(title: &str) -> Option<PartHeading> {
    // Every copy below it repeats the title.
    let (head, rest) = title.split_once("(dd, ").filter(|_| title.len() <= LONGEST_TITLE)?;
    let op = head.split_whitespace().nth(1)?.parse().ok()?;
    let mut words = rest.trim_end_matches(')').split(", ");
    let size = words.next()?.strip_suffix(" block")?;
    let step = words.fold("dd".to_owned(), |step, word| format!("{step} {word}"));
    // The script's `64kb` is dd's bs=64k.
    Some(PartHeading::Dd(op, parse_size(size.trim_end_matches('b')).ok()?, step))
}

/// True for headings that only this script has.
pub(super) fn is_script_heading(line: &str) -> bool {
    heading_text(line).is_some_and(|title| PartHeading::parse(title) != PartHeading::Unknown)
}

/// Text of a heading inside its frame of `=`, or of a bare `AU=1, linear access`.
fn heading_text(line: &str) -> Option<&str> {
    let line = line.trim();
    let inner = line.trim_matches('=').trim();
    let framed = line.starts_with("====") && line.ends_with("====") && !inner.is_empty();
    (framed || parse_open_au(line).is_some()).then_some(inner)
}

pub(super) fn split_parts<'a>(text: &'a LogText<'_>) -> Vec<LogPart<'a>> {
    let part = |heading, title, parent, run| LogPart { heading, title, parent, run, lines: Vec::new() };
    let mut parts = vec![part(PartHeading::Start, None, None, 1)];
    let mut section: Option<&str> = None;
    for line in text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()) {
        match heading_text(line) {
            None => parts.last_mut().expect("repeated").lines.push(line),
            Some(title) => match title.parse::<u32>() {
                Ok(run) => {
                    let heading = section.map_or(PartHeading::Unknown, PartHeading::parse);
                    parts.push(part(heading, section, section, run.max(1)));
                }
                Err(_) => {
                    let is_named = title.contains(": ") && !title.starts_with("Device");
                    let parent = section.filter(|_| is_named || title.starts_with("AU="));
                    let is_test = is_named || title.starts_with("AU=");
                    section = if is_test { section } else { Some(title) };
                    parts.push(part(PartHeading::parse(title), Some(title), parent, 1));
                }
            },
        }
    }
    parts
}
