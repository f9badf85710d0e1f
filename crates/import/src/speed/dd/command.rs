//! A dd command that stands before its output: which way it copies, in which blocks, past which cache.

use cardscope_model::test_name::Op;
use cardscope_model::units::parse_size;

/// What a command tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Command {
    pub(super) op: Option<Op>,
    pub(super) block: Option<u64>,
    pub(super) direct: bool,
}

impl Command {
    /// The commands of a line in their order: `dd if=/dev/zero of=a … && dd if=a of=/dev/null …` are two.
    pub(super) fn all(line: &str) -> Vec<Self> {
        line.split("&&").flat_map(|part| part.split(';')).filter_map(Command::of).collect()
    }

    /// Reads a line such as `sudo dd if=/dev/zero of=test bs=8k count=50k conv=fsync`; `None` where it is no dd.
    fn of(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let operand = |name: &str| {
            words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('=')).filter(|v| !v.is_empty())
        };
        let is_dd = words.iter().any(|word| *word == "dd" || word.ends_with("/dd"));
        let (source, sink) = (operand("if"), operand("of"));
        (is_dd && (source.is_some() || sink.is_some())).then(|| Command {
            op: direction(source, sink),
            block: operand("bs").or(operand("ibs")).and_then(block),
            direct: [operand("oflag"), operand("iflag")]
                .iter()
                .flatten()
                .any(|flags| flags.contains("direct")),
        })
    }
}

/// Zeros and random data are written, what goes to /dev/null was read; a card is read into a file, and a file written to a
/// card. Between two files, or two cards, nobody can tell.
fn direction(source: Option<&str>, sink: Option<&str>) -> Option<Op> {
    const SOURCES: [&str; 3] = ["/dev/zero", "/dev/urandom", "/dev/random"];
    match (source, sink) {
        (_, Some("/dev/null")) => Some(Op::Read),
        (Some(source), _) if SOURCES.contains(&source) => Some(Op::Write),
        (Some(source), sink) if is_card(source) && !sink.is_some_and(is_card) => Some(Op::Read),
        (source, Some(sink)) if is_card(sink) && !source.is_some_and(is_card) => Some(Op::Write),
        _ => None,
    }
}

/// As Linux and macOS name what a card shows up as.
fn is_card(path: &str) -> bool {
    ["/dev/mmcblk", "/dev/sd", "/dev/disk", "/dev/rdisk", "/dev/nvme"]
        .iter()
        .any(|name| path.starts_with(name))
}

/// dd's sizes: `k`, `M` and `KiB` are powers of 1024, `kB` and `MB` of 1000; a lone `K` too.
fn block(text: &str) -> Option<u64> {
    parse_size(text).ok().filter(|bytes| *bytes > 0)
}
