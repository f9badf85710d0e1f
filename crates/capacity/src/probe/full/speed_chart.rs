//! Speed map over the addresses during a pass: time and bytes of each cell, and the slowest second.

use cardscope_model::units::{NANOS_PER_S, Nanos, mb_per_s, nanos_to_seconds};
use cardscope_model::verify::{MapCell, MapSpeed, SlowestSecond, SpeedMap, cell_bytes};
use std::collections::VecDeque;

/// Completions reported within this time count as simultaneous, since a report is no more accurate. No bus
/// transfers the MiB of an I/O faster.
const RESOLUTION: Nanos = 50_000;

/// Time and bytes in one direction.
#[derive(Debug, Clone)]
pub(crate) struct DirectionSeries {
    cells: Vec<(u64, Nanos)>,
    slowest: Vec<Option<f64>>,
    worst: Option<SlowestSecond>,
    cell: u64,
    window: SecondWindow,
    /// Last completion, on the card's clock.
    last: Nanos,
    batch: CompletedBatch,
}

/// Simultaneous completions.
#[derive(Debug, Clone, Default)]
struct CompletedBatch {
    began: Nanos,
    /// Time that they share.
    took: Nanos,
    /// Cell and bytes of each I/O.
    ios: Vec<(usize, u64)>,
}

impl DirectionSeries {
    fn new(cell: u64, count: usize) -> Self {
        let (cells, slowest) = (vec![(0, 0); count], vec![None; count]);
        DirectionSeries {
            cells,
            slowest,
            worst: None,
            cell,
            window: SecondWindow::default(),
            last: 0,
            batch: CompletedBatch::default(),
        }
    }

    /// Continues at this time; pauses between ranges do not count.
    pub(crate) fn resume(&mut self, now: Nanos) {
        self.last = now;
        self.batch = CompletedBatch::default();
    }

    pub(crate) fn add_completed(&mut self, offset: u64, len: u64, at: Nanos) {
        let took = at.saturating_sub(self.last);
        self.last = self.last.max(at);
        let index = (offset / self.cell) as usize;
        if index >= self.cells.len() {
            return;
        }
        self.add_to_batch(index, len, took, at);
        let Some(mb_s) = self.window.add(len, took) else { return };
        let slowest = &mut self.slowest[index];
        *slowest = Some(slowest.map_or(mb_s, |s| s.min(mb_s)));
        if self.worst.is_none_or(|worst| mb_s < worst.mb_s) {
            self.worst = Some(SlowestSecond { mb_s, address: offset + len });
        }
    }

    /// Divides the time since the previous completions among simultaneous ones by their bytes.
    fn add_to_batch(&mut self, index: usize, len: u64, took: Nanos, at: Nanos) {
        if self.batch.ios.is_empty() || at.saturating_sub(self.batch.began) > RESOLUTION {
            self.batch = CompletedBatch { began: at, ..CompletedBatch::default() };
        }
        self.spread_batch(false);
        self.batch.ios.push((index, len));
        self.batch.took += took;
        self.spread_batch(true);
        self.cells[index].0 += len;
    }

    /// Adds the shares of the batch to its cells, or subtracts them.
    fn spread_batch(&mut self, add: bool) {
        let CompletedBatch { took, ios, .. } = &self.batch;
        let all: u64 = ios.iter().map(|(_, len)| len).sum();
        for (index, len) in ios {
            let share = (u128::from(*took) * u128::from(*len) / u128::from(all.max(1))) as Nanos;
            let time = &mut self.cells[*index].1;
            *time = if add { *time + share } else { time.saturating_sub(share) };
        }
    }

    pub(crate) fn mb_s(&self) -> Option<f64> {
        mean_mb_s(&self.cells)
    }

    /// Mean speed of the measured cells between two addresses, in MB/s.
    pub(crate) fn mb_s_between(&self, from: u64, to: u64) -> Option<f64> {
        let range = (from / self.cell) as usize..(to.div_ceil(self.cell) as usize).min(self.cells.len());
        mean_mb_s(self.cells.get(range)?)
    }

    /// Speed of a cell, or None if it took less time than the clock resolves.
    fn cell_mb_s(&self, index: usize) -> Option<f64> {
        let cell = self.cells.get(index).filter(|(_, time)| *time >= RESOLUTION)?;
        mean_mb_s(std::slice::from_ref(cell))
    }

    fn map_speed(&self) -> Option<MapSpeed> {
        let speeds = || (0..self.cells.len()).filter_map(|index| self.cell_mb_s(index));
        let (min_mb_s, max_mb_s) = (speeds().reduce(f64::min)?, speeds().reduce(f64::max)?);
        Some(MapSpeed { min_mb_s, mean_mb_s: self.mb_s()?, max_mb_s, slowest_second: self.worst })
    }
}

/// Mean speed of some cells in MB/s; `None` if none was measured.
fn mean_mb_s(cells: &[(u64, Nanos)]) -> Option<f64> {
    let (bytes, time) = cells.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
    (time > 0).then(|| mb_per_s(bytes, nanos_to_seconds(time)))
}

/// Sliding second of a clock that runs only during I/O. Bytes are spread evenly between completions, so a long I/O
/// is several slow seconds.
#[derive(Debug, Clone, Default)]
struct SecondWindow {
    /// Time, and bytes completed by then.
    points: VecDeque<(Nanos, u64)>,
    now: Nanos,
    moved: u64,
}

impl SecondWindow {
    /// MB/s in the second up to this completion; None in the first second.
    fn add(&mut self, len: u64, took: Nanos) -> Option<f64> {
        if self.points.is_empty() {
            self.points.push_back((0, 0));
        }
        self.now += took;
        self.moved += len;
        self.points.push_back((self.now, self.moved));
        let start = self.now.checked_sub(NANOS_PER_S)?;
        while self.points.get(1).is_some_and(|point| point.0 <= start) {
            self.points.pop_front();
        }
        let (a, b) = (self.points[0], self.points[1]);
        let share = (start - a.0) as f64 / (b.0 - a.0).max(1) as f64;
        let before = a.1 as f64 + share * (b.1 - a.1) as f64;
        Some((self.moved as f64 - before) / 1e6)
    }
}

/// Speeds of both directions, with bad bytes and errors by cell.
#[derive(Debug, Clone)]
pub(crate) struct PassChart {
    bytes: u64,
    cell: u64,
    pub(crate) write: DirectionSeries,
    pub(crate) read: DirectionSeries,
    bad: Vec<u64>,
    errors: Vec<u64>,
}

impl PassChart {
    pub(crate) fn new(card_bytes: u64) -> Self {
        let cell = cell_bytes(card_bytes);
        let count = card_bytes.div_ceil(cell) as usize;
        let track = || DirectionSeries::new(cell, count);
        PassChart {
            bytes: card_bytes,
            cell,
            write: track(),
            read: track(),
            bad: vec![0; count],
            errors: vec![0; count],
        }
    }

    pub(crate) fn add_bad(&mut self, start: u64, end: u64) {
        let mut at = start;
        while at < end {
            let next = ((at / self.cell + 1) * self.cell).min(end);
            if let Some(cell) = self.bad.get_mut((at / self.cell) as usize) {
                *cell += next - at;
            }
            at = next;
        }
    }

    pub(crate) fn add_error(&mut self, offset: u64) {
        if let Some(cell) = self.errors.get_mut((offset / self.cell) as usize) {
            *cell += 1;
        }
    }

    pub(crate) fn to_map(&self) -> SpeedMap {
        let cells = (0..self.bad.len()).map(|index| {
            let start = index as u64 * self.cell;
            MapCell {
                start,
                bytes: self.cell.min(self.bytes - start),
                write_mb_s: self.write.cell_mb_s(index),
                read_mb_s: self.read.cell_mb_s(index),
                write_slowest_mb_s: self.write.slowest[index],
                read_slowest_mb_s: self.read.slowest[index],
                bad_bytes: self.bad[index],
                errors: self.errors[index],
            }
        });
        let (write, read) = (self.write.map_speed(), self.read.map_speed());
        SpeedMap { cell_bytes: self.cell, cells: cells.collect(), write, read }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn stall_is_the_slowest_second_with_its_address() {
        let mut chart = PassChart::new(64 * MIB);
        chart.write.resume(5 * NANOS_PER_S);
        let mut at = 5 * NANOS_PER_S;
        for n in 0..64 {
            at += if n == 40 { 3 * NANOS_PER_S } else { NANOS_PER_S / 10 };
            chart.write.add_completed(n * MIB, MIB, at);
        }
        let map = chart.to_map();
        let worst = map.write.unwrap().slowest_second.unwrap();
        assert_eq!(worst.address, 41 * MIB);
        assert!((worst.mb_s - 1.048576 / 3.0).abs() < 1e-6, "{worst:?}");
        let usual = map.cells[20].write_mb_s.unwrap();
        assert!((usual - 10.48576).abs() < 1e-6, "{usual}");
        assert_eq!(map.cells[3].read_mb_s, None);
    }

    #[test]
    fn simultaneous_completions_share_the_time() {
        let mut chart = PassChart::new(64 * MIB);
        chart.read.resume(0);
        for n in 0..8 {
            chart.read.add_completed(n * MIB, MIB, NANOS_PER_S / 5);
        }
        let map = chart.to_map();
        for cell in &map.cells[..8] {
            assert!((cell.read_mb_s.unwrap() / 41.943 - 1.0).abs() < 1e-4, "{cell:?}");
        }
    }

    #[test]
    fn late_reported_completions_are_no_faster_cell() {
        let mut chart = PassChart::new(64 * MIB);
        chart.read.resume(0);
        for n in 0..8 {
            // In pairs: the second completion is reported 255 ns after the first.
            chart.read.add_completed(2 * n * MIB, MIB, (n + 1) * 10_000_000);
            chart.read.add_completed((2 * n + 1) * MIB, MIB, (n + 1) * 10_000_000 + 255);
        }
        let whole = chart.to_map().read.unwrap();
        assert!((whole.mean_mb_s / 209.7 - 1.0).abs() < 1e-3, "{whole:?}");
        assert!(
            whole.max_mb_s < 1.001 * whole.mean_mb_s && whole.min_mb_s > 0.999 * whole.mean_mb_s,
            "{whole:?}"
        );
    }

    #[test]
    fn cell_below_the_clock_resolution_has_no_speed() {
        let mut chart = PassChart::new(64 * MIB);
        chart.read.resume(0);
        chart.read.add_completed(0, MIB, 255);
        chart.read.add_completed(MIB, MIB, 10_000_000);
        let map = chart.to_map();
        assert_eq!(map.cells[0].read_mb_s, None);
        assert!(map.read.unwrap().max_mb_s < 105.0, "{:?}", map.read);
    }

    #[test]
    fn bad_bytes_are_divided_among_their_cells() {
        let mut chart = PassChart::new(4 * MIB);
        chart.add_bad(MIB - 512, 3 * MIB + 1024);
        let bad: Vec<u64> = chart.to_map().cells.iter().map(|c| c.bad_bytes).collect();
        assert_eq!(bad, [512, MIB, MIB, 1024]);
    }
}
