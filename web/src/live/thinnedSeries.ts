// What a task measured over time, for its charts: at most LIMIT points however long it runs. When they are full, two neighbours
// become one and each later point gathers twice as long. Plain arrays: reactive ones are slow, and charts trip over them.

import type { ProgressSample } from '../api/types';

const LIMIT = 720;

export type SeriesColumn = 'mb_s' | 'latency_us' | 'celsius';
const COLUMNS: SeriesColumn[] = ['mb_s', 'latency_us', 'celsius'];

type Values = (number | null)[];

/** The mean of `a`, which stands for `n` values, and one more. */
function mean(a: number | null | undefined, b: number | null | undefined, n = 1): number | null {
  if (a == null) return b ?? null;
  return b == null ? a : a + (b - a) / (n + 1);
}

export class ThinnedSeries {
  at: number[] = [];
  values: Record<SeriesColumn, Values> = { mb_s: [], latency_us: [], celsius: [] };
  /** Which of them were ever measured. */
  measured: Record<SeriesColumn, boolean> = { mb_s: false, latency_us: false, celsius: false };
  /** Seconds that a point gathers. */
  #step = 0;
  /** Moments that the last point gathered so far. */
  #gathered = 1;

  push(moment: ProgressSample): void {
    const last = this.at.length - 1;
    const before = this.at[last];
    // A repeated or earlier moment tells nothing new.
    if (before !== undefined && moment.at <= before) return;
    if (before !== undefined && moment.at - before < this.#step) {
      // It falls into the last point's time.
      for (const column of COLUMNS)
        this.values[column][last] = mean(this.values[column][last], moment[column], this.#gathered);
      this.#gathered += 1;
    } else {
      this.#gathered = 1;
      this.at.push(moment.at);
      for (const column of COLUMNS) this.values[column].push(moment[column] ?? null);
    }
    for (const column of COLUMNS) this.measured[column] ||= moment[column] != null;
    if (this.at.length > LIMIT) this.#halve();
  }

  #halve(): void {
    const half = Math.ceil(this.at.length / 2);
    const pairs = Array.from({ length: half }, (_, i) => 2 * i);
    for (const column of COLUMNS) {
      const values = this.values[column];
      this.values[column] = pairs.map((i) => mean(values[i], values[i + 1]));
    }
    this.at = pairs.map((i) => this.at[i] ?? 0);
    const span = (this.at[half - 1] ?? 0) - (this.at[0] ?? 0);
    this.#step = span / Math.max(1, half - 1);
  }
}
