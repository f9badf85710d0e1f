//! Rows of flashbench. It cuts each number to seven bytes, so a unit may lack its end: `-13790n`, `1e+03µ`.
//!
//! Two forms of `-a`: `align 4194304 pre 741µs on 1.08ms post 788µs diff 317µs`, and a fork's
//! `Aligned @ 4194304 Delay: 741000ns`. Rows of `-f` and `-O` are a block size and speeds.

use super::parts::PartHeading;
use crate::readers::parse_number;
use cardscope_model::flashbench::{AlignRow, FatRow, FlashbenchTables, OpenAu};
use cardscope_model::units::parse_size;

#[derive(Debug, Default)]
pub(super) struct TableReader {
    pub(super) tables: FlashbenchTables,
    /// Announced by the last heading or command.
    section: PartHeading,
    /// True after a command or heading: the next row begins a table.
    table_begins: bool,
    /// Beginning of a command that continues in the next line.
    command: String,
}

impl TableReader {
    pub(super) fn from_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut reader = TableReader::default();
        lines.for_each(|line| reader.read_line(line));
        reader
    }

    /// Begins the section that a heading of the script, or a command, announces.
    pub(super) fn begin_section(&mut self, heading: PartHeading) {
        (self.table_begins, self.section) = (true, heading);
    }

    /// Reads a line: a row, a command, or other text.
    pub(super) fn read_line(&mut self, line: &str) {
        if let Some(row) = parse_align(line).or_else(|| parse_delay(line)) {
            self.add_align_row(row);
        } else if let Some((block_bytes, mb_s)) = parse_speeds(line) {
            self.add_speed_row(block_bytes, mb_s);
        } else {
            self.read_command_line(line);
        }
    }

    fn add_align_row(&mut self, mut row: AlignRow) {
        let last = self.tables.align.last().map(|last| (last.test, last.align_bytes));
        row.test = match (&self.section, last) {
            (PartHeading::Align(test @ 1..), _) => *test,
            // Alignments fall within a table, so a larger one begins the next table.
            (_, Some((test, align_bytes))) => test.saturating_add(u32::from(row.align_bytes >= align_bytes)),
            (_, None) => 1,
        };
        self.tables.align.push(row);
    }

    fn add_speed_row(&mut self, block_bytes: u64, mb_s: Vec<f64>) {
        let next = |l: Option<u32>| l.map_or(1, |test| test.saturating_add(u32::from(self.table_begins)));
        match (&self.section, &mb_s[..]) {
            (PartHeading::Fat(test @ 1..), _) => {
                self.tables.fat.push(FatRow { block_bytes, mb_s, test: *test })
            }
            (PartHeading::OpenAu { .. }, [_, _, ..]) => {}
            (section, [mb_s]) if !matches!(section, PartHeading::Fat(_)) => {
                let test = next(self.tables.open_au.last().map(|last| last.test));
                let before = self.tables.open_au.last().filter(|last| last.test == test);
                let au_bytes = before.map_or(block_bytes, |before| before.au_bytes);
                let (au_count, random) = match section {
                    PartHeading::OpenAu { count, random } => (*count, *random),
                    _ => (None, false),
                };
                let mb_s = *mb_s;
                self.tables.open_au.push(OpenAu { au_count, random, au_bytes, block_bytes, mb_s, test });
            }
            _ => {
                let test = next(self.tables.fat.last().map(|last| last.test));
                self.tables.fat.push(FatRow { block_bytes, mb_s, test });
            }
        }
        self.table_begins = false;
    }

    fn read_command_line(&mut self, line: &str) {
        let begins = line.contains("flashbench ");
        if !begins && self.command.is_empty() {
            return;
        }
        self.command += &format!("{} ", line.trim_end_matches('\\'));
        if !line.trim_end().ends_with('\\') {
            let command = std::mem::take(&mut self.command);
            self.apply_command(&command);
        }
    }

    fn apply_command(&mut self, command: &str) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let has = |names: [&str; 2]| words.iter().any(|word| names.contains(word));
        let at = words.iter().position(|word| word.starts_with("--open-au-nr"));
        let number =
            at.and_then(|at| words[at].split_once('=').map(|(_, n)| n).or(words.get(at + 1).copied()));
        let number = number.and_then(|n| n.parse().ok());
        // flashbench's default is two.
        let open_au = PartHeading::OpenAu { count: number.or(Some(2)), random: has(["-r", "--random"]) };
        self.begin_section(match () {
            () if has(["-O", "--open-au"]) => open_au,
            () if has(["-f", "--find-fat"]) => PartHeading::Fat(0),
            () => PartHeading::Unknown,
        });
    }
}

/// True for a row of `-a`, which no other tool prints.
pub(super) fn is_align_row(line: &str) -> bool {
    parse_align(line).or_else(|| parse_delay(line)).is_some()
}

fn parse_align(line: &str) -> Option<AlignRow> {
    let words: Vec<&str> = line.trim().strip_prefix("align ")?.split_whitespace().collect();
    let align_bytes = words.first()?.parse().ok()?;
    let us = |name: &str| parse_micros(words.get(words.iter().position(|word| *word == name)? + 1)?);
    let [pre_us, on_us, post_us, diff_us] = ["pre", "on", "post", "diff"].map(us);
    on_us.map(|_| AlignRow { align_bytes, pre_us, on_us, post_us, diff_us, test: 0 })
}

fn parse_delay(line: &str) -> Option<AlignRow> {
    let (align_bytes, rest) = line.trim().strip_prefix("Aligned @")?.split_once("Delay:")?;
    let (align_bytes, on_us) = (align_bytes.trim().parse().ok()?, Some(parse_micros(rest.trim())?));
    Some(AlignRow { align_bytes, pre_us: None, on_us, post_us: None, diff_us: None, test: 0 })
}

/// Parses `741µs`, `1.08ms`, `-13790n` or `1e+03µ` as microseconds.
pub(super) fn parse_micros(text: &str) -> Option<f64> {
    let (value, unit) = split_number(text)?;
    Some(match unit.trim_end_matches('s') {
        "" if unit == "s" => value * 1e6,
        // Negative times are printed in nanoseconds, so one without a unit was in these.
        "" if value < 0.0 => value / 1e3,
        "n" => value / 1e3,
        "u" | "µ" | "μ" | "Âµ" => value,
        "m" => value * 1e3,
        _ => return None,
    })
}

/// Block size and its speeds in MB/s; an incomplete last speed in a cut file is dropped.
fn parse_speeds(line: &str) -> Option<(u64, Vec<f64>)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (block, words) = words.split_first()?;
    if !block.ends_with('B') || !block.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mb_s: Vec<f64> = words.iter().map_while(|word| parse_mb_s(word)).collect();
    let whole = !mb_s.is_empty() && words.len() <= mb_s.len() + 1;
    Some((parse_size(block).ok()?, mb_s)).filter(|_| whole)
}

fn parse_mb_s(word: &str) -> Option<f64> {
    let (value, unit) = split_number(word)?;
    let mb_s = match unit {
        "B/s" | "B/" => value / 1e6,
        "K/s" | "K/" => value / 1e3,
        "M/s" | "M/" => value,
        "G/s" | "G/" => value * 1e3,
        _ => return None,
    };
    Some(mb_s).filter(|mb_s| *mb_s >= 0.0)
}

fn split_number(text: &str) -> Option<(f64, &str)> {
    let exponent = text.find("e+").or_else(|| text.find("e-"));
    let from = exponent.map_or(usize::from(text.starts_with('-')), |at| at + 2);
    let digits = text[from..].find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, rest) = text.split_at(digits.map_or(text.len(), |at| at + from));
    Some((parse_number(number)?, rest))
}
