//! The heading of iozone's table, and which number of a row stands under which column.

/// A column, in the program's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Write,
    Rewrite,
    Read,
    Reread,
    RandomRead,
    RandomWrite,
    BackwardRead,
    RecordRewrite,
    StrideRead,
    Fwrite,
    Frewrite,
    Fread,
    Freread,
}

/// All of them, with the word in the heading's second line, the name in ours, and the `-i` that asks for it.
const COLUMNS: [(Column, &str, &str, u8); 13] = [
    (Column::Write, "write", "write", 0),
    (Column::Rewrite, "rewrite", "rewrite", 0),
    (Column::Read, "read", "read", 1),
    (Column::Reread, "reread", "reread", 1),
    (Column::RandomRead, "read", "random read", 2),
    (Column::RandomWrite, "write", "random write", 2),
    (Column::BackwardRead, "read", "backward read", 3),
    (Column::RecordRewrite, "rewrite", "record rewrite", 4),
    (Column::StrideRead, "read", "stride read", 5),
    (Column::Fwrite, "fwrite", "fwrite", 6),
    (Column::Frewrite, "frewrite", "frewrite", 6),
    (Column::Fread, "fread", "fread", 7),
    (Column::Freread, "freread", "freread", 7),
];

impl Column {
    /// Its name in words.
    pub(super) fn name(self) -> &'static str {
        COLUMNS.iter().find(|(column, ..)| *column == self).map_or("", |(_, _, name, _)| name)
    }
}

/// The heading's second line: where each column ends.
#[derive(Debug, Clone)]
pub(super) struct Heading {
    size_end: usize,
    ends: Vec<usize>,
    /// False where blanks were lost in copying, so that places mean nothing.
    aligned: bool,
}

/// A row's numbers under their columns.
pub(super) struct Cells {
    pub(super) file_kib: u64,
    pub(super) record_kib: u64,
    pub(super) speeds: Vec<(Column, u64)>,
}

impl Heading {
    /// Reads the line `kB  reclen    write  rewrite …`; `None` where it is none.
    pub(super) fn of(line: &str) -> Option<Self> {
        let words = words(line);
        let [(size, size_end), (reclen, _), columns @ ..] = &words[..] else { return None };
        let known = columns.iter().zip(&COLUMNS).all(|((word, _), (_, expected, ..))| word == expected);
        let heading = size.eq_ignore_ascii_case("kB") && *reclen == "reclen" && known;
        (heading && !columns.is_empty()).then(|| Heading {
            size_end: *size_end,
            ends: columns.iter().map(|(_, end)| *end).take(COLUMNS.len()).collect(),
            aligned: line.contains("B  reclen"),
        })
    }

    /// Sorts a row's numbers; `None` where the line is no row. `asked` are the numbers of the command's `-i`, for rows
    /// that lost their blanks.
    pub(super) fn cells(&self, line: &str, asked: &[u8]) -> Option<Cells> {
        let words = words(line);
        let numbers: Vec<(u64, usize)> =
            words.iter().map(|(word, end)| Some((word.parse().ok()?, *end))).collect::<Option<_>>()?;
        let [(file_kib, size_end), (record_kib, _), speeds @ ..] = &numbers[..] else { return None };
        let placed = if self.aligned { self.by_place(speeds, *size_end) } else { None }
            .or_else(|| by_flags(speeds, asked))?;
        Some(Cells { file_kib: *file_kib, record_kib: *record_kib, speeds: placed })
    }

    /// Each number under the column that ends nearest; all shifted as far as the file's size is.
    fn by_place(&self, speeds: &[(u64, usize)], size_end: usize) -> Option<Vec<(Column, u64)>> {
        let mut placed: Vec<(Column, u64)> = Vec::new();
        for (speed, end) in speeds {
            let end = (end + self.size_end).checked_sub(size_end)?;
            let nearest = (0..self.ends.len()).min_by_key(|at| self.ends[*at].abs_diff(end))?;
            let column = COLUMNS[nearest].0;
            // A field is eight or nine wide: farther than half of it stands in no column.
            let fits = self.ends[nearest].abs_diff(end) <= 4
                && placed.last().is_none_or(|(last, _)| *last != column);
            if !fits {
                return None;
            }
            placed.push((column, *speed));
        }
        Some(placed)
    }
}

/// Numbers in order under the columns that were asked for; without a command only a row of the first columns is clear.
fn by_flags(speeds: &[(u64, usize)], asked: &[u8]) -> Option<Vec<(Column, u64)>> {
    let wanted = |flag: u8| asked.is_empty() || asked.contains(&flag);
    let columns: Vec<Column> =
        COLUMNS.iter().filter(|(.., flag)| wanted(*flag)).map(|(column, ..)| *column).collect();
    let clear = if asked.is_empty() { matches!(speeds.len(), 6 | 13) } else { speeds.len() == columns.len() };
    clear.then(|| columns.iter().copied().zip(speeds.iter().map(|(speed, _)| *speed)).collect())
}

/// The words of a line, each with the place where it ends, in characters.
fn words(line: &str) -> Vec<(&str, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    for (place, (at, c)) in line.char_indices().chain([(line.len(), ' ')]).enumerate() {
        match (start, c.is_whitespace()) {
            (None, false) => start = Some(at),
            (Some(from), true) => {
                words.push((&line[from..at], place));
                start = None;
            }
            _ => {}
        }
    }
    words
}
