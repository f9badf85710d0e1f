//! Cells of one character each; what is drawn later does not hide a point of another series.

/// The cells of a picture.
pub(super) struct Canvas {
    cells: Vec<Vec<char>>,
    width: usize,
}

/// Joins two points of a series.
const BETWEEN: char = '·';

/// A place worth a line across.
const ACROSS: char = '┆';

/// Column of a place from 0 to 1.
pub(super) fn column(place: f64, width: usize) -> usize {
    ((place * (width - 1) as f64).round() as usize).min(width - 1)
}

/// Row of a place from 0 (bottom, the last row) to 1.
pub(super) fn row(place: f64, height: usize) -> usize {
    height - 1 - column(place, height)
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Canvas {
        Canvas { cells: vec![vec![' '; width]; height], width }
    }

    pub(super) fn line_across(&mut self, place: f64) {
        let column = column(place, self.width);
        self.cells.iter_mut().for_each(|row| row[column] = ACROSS);
    }

    /// Points with places from 0 to 1, joined in their order where they are fewer than the columns.
    pub(super) fn series(&mut self, places: &[(f64, f64)], glyph: char) {
        let height = self.cells.len();
        let cells: Vec<(usize, usize)> =
            places.iter().map(|(x, y)| (column(*x, self.width), row(*y, height))).collect();
        if cells.len() < self.width {
            cells.windows(2).for_each(|pair| self.join(pair[0], pair[1]));
        }
        for (column, row) in cells {
            self.cells[row][column] = glyph;
        }
    }

    fn join(&mut self, from: (usize, usize), to: (usize, usize)) {
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1));
        let between =
            |a: usize, b: usize, share: f64| (a as f64 + (b as f64 - a as f64) * share).round() as usize;
        for step in 1..steps {
            let share = step as f64 / steps as f64;
            let cell = &mut self.cells[between(from.1, to.1, share)][between(from.0, to.0, share)];
            if matches!(*cell, ' ' | ACROSS) {
                *cell = BETWEEN;
            }
        }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = String> {
        self.cells.iter().map(|row| row.iter().collect())
    }
}
