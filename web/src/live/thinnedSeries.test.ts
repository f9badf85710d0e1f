import { expect, test } from 'vitest';
import type { ProgressSample } from '../api/types';
import { ThinnedSeries } from './thinnedSeries';

const sample = (at: number, rest: Partial<ProgressSample> = {}) => ({ at, stage: 'test', ...rest }) as ProgressSample;

test('a short series keeps every sample', () => {
  const series = new ThinnedSeries();
  for (let at = 0; at < 700; at++) series.push(sample(at, { mb_s: at }));
  expect(series.at).toEqual(Array.from({ length: 700 }, (_, at) => at));
  expect(series.values.mb_s).toEqual(series.at);
});

test('a long series stays bounded, in order, and keeps its mean', () => {
  const series = new ThinnedSeries();
  const count = 100_000;
  for (let at = 0; at < count; at++) series.push(sample(at, { mb_s: at % 2 ? 30 : 10 }));
  expect(series.at.length).toBeGreaterThan(300);
  expect(series.at.length).toBeLessThanOrEqual(720);
  expect(series.at).toEqual([...series.at].sort((a, b) => a - b));
  for (const value of series.values.mb_s.slice(0, -1)) expect(value).toBeCloseTo(20, 0);
});

test('a repeated or earlier sample changes nothing', () => {
  const series = new ThinnedSeries();
  for (const at of [1, 2, 2, 1.5]) series.push(sample(at, { mb_s: at }));
  expect(series.at).toEqual([1, 2]);
});

test('a missing figure is null, and only measured columns are marked', () => {
  const series = new ThinnedSeries();
  series.push(sample(1, { mb_s: 5 }));
  series.push(sample(2));
  expect(series.values.mb_s).toEqual([5, null]);
  expect(series.measured).toEqual({ mb_s: true, latency_us: false, celsius: false });
});
