import { expect, test } from 'vitest';
import {
  countNoun,
  formatClock,
  formatDate,
  formatDuration,
  formatLatency,
  formatPercent,
  formatPrice,
  formatSize,
  formatSpeed,
  formatTimeLeft,
  significant3,
} from './units';

test('figures have three significant digits and no exponent', () => {
  const figures = [0, 0.0001, 0.00123, 1, 9.999, 12.34, 99.94, 99.95, 1234.5, 1e9, -5.678];
  expect(figures.map(significant3)).toEqual([
    ...['0', '0', '0.00123', '1.00', '10.0', '12.3', '99.9', '100', '1235', '1000000000', '-5.68'],
  ]);
});

test('a figure that is not finite is a dash', () => {
  expect([Number.NaN, Number.POSITIVE_INFINITY].map(significant3)).toEqual(['–', '–']);
});

test('sizes use powers of ten and the unit in which they round', () => {
  const bytes = [0, 512, 999, 1000, 999_499, 999_500, 1e6, 52e9, 256e9, 999.6e9, 1.02e12];
  expect(bytes.map(formatSize)).toEqual([
    ...['0 bytes', '512 bytes', '999 bytes', '1 kB', '999 kB', '1 MB', '1 MB', '52 GB', '256 GB', '1 TB', '1.02 TB'],
  ]);
});

test('speeds are MB/s of 10^6 bytes', () => {
  expect(formatSpeed(89.951)).toBe('90.0 MB/s');
});

test('a latency changes its unit before it needs four digits', () => {
  expect([1, 999.4, 999.5, 1500, 999_499, 999_500].map(formatLatency)).toEqual([
    ...['1.00 µs', '999 µs', '1.00 ms', '1.50 ms', '999 ms', '1.00 s'],
  ]);
});

test('durations name at most two units', () => {
  expect([-1, 0, 59.4, 60, 200, 599, 600, 3599, 3600, 7500].map(formatDuration)).toEqual([
    ...['0 s', '0 s', '59 s', '1 min', '3 min 20 s', '9 min 59 s', '10 min', '60 min', '1 h', '2 h 5 min'],
  ]);
});

test('time left moves in steps of five and ten seconds', () => {
  expect([19, 22, 88, 93].map(formatTimeLeft)).toEqual(['19 s', '20 s', '1 min 30 s', '1 min 30 s']);
});

test('an axis of time shows hours only where there are some', () => {
  expect([5, 245, 3729].map(formatClock)).toEqual(['0:05', '4:05', '1:02:09']);
});

test('a date without a time stays what it is, whatever the zone of the reader', () => {
  expect(formatDate('2026-11-26')).toBe('2026-11-26');
  expect(formatDate('no date')).toBe('no date');
});

test('prices, counts and shares', () => {
  expect(formatPrice({ amount: 12.5, currency: 'EUR' })).toBe('12.50 EUR');
  expect(formatPrice(null)).toBe('');
  expect([countNoun(1, 'card'), countNoun(0, 'card'), countNoun(2, 'entry', 'entries')]).toEqual([
    ...['1 card', '0 cards', '2 entries'],
  ]);
  expect(formatPercent(0.505)).toBe('51 %');
});
