// Figures as they are written everywhere in Cardscope: three significant digits, MB/s of 10^6 bytes, GB of 10^9.

import type { CardPrice } from '../api/types';

/** Three significant digits, without an exponent. */
export function significant3(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 99.95) return value.toFixed(0);
  return size === 0 || size < 0.001 ? value.toFixed(0) : value.toPrecision(3);
}

const SIZES: [number, string][] = [
  [1e12, 'TB'],
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
];

/** At most three digits, as in the answers of the program: `52 GB`, `256 GB`, `1.02 TB`. */
export function formatSize(bytes: number): string {
  const [unit, name] = SIZES.find(([unit]) => bytes >= unit * 0.9995) ?? [1, 'bytes'];
  return `${unit === 1 ? bytes : Number(significant3(bytes / unit))} ${name}`;
}

export function formatSpeed(mbS: number): string {
  return `${significant3(mbS)} MB/s`;
}

export function formatLatency(us: number): string {
  if (us >= 999_500) return `${significant3(us / 1e6)} s`;
  if (us >= 999.5) return `${significant3(us / 1e3)} ms`;
  return `${significant3(us)} µs`;
}

export function formatTemperature(degrees: number): string {
  return `${significant3(degrees)} °C`;
}

/** `45 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 10) return whole % 60 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
  if (minutes < 60) return `${Math.round(whole / 60)} min`;
  return minutes % 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes / 60} h`;
}

/** Time left, in steps that do not jump about. */
export function formatTimeLeft(seconds: number): string {
  return formatDuration(
    seconds > 90 ? Math.round(seconds / 10) * 10 : seconds > 20 ? Math.round(seconds / 5) * 5 : seconds,
  );
}

/** `4:05` or `1:02:09`, for the axis of time. */
export function formatClock(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** `2026-11-26 01:13`, in the reader's own time. */
export function formatDateTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const two = (n: number) => String(n).padStart(2, '0');
  return `${formatDate(iso)} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function formatDate(iso: string): string {
  const date = new Date(iso);
  if (/^\d{4}-\d{2}-\d{2}$/.test(iso) || Number.isNaN(date.getTime())) return iso;
  const two = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function formatPrice(value: CardPrice | null | undefined): string {
  return value == null ? '' : `${value.amount.toFixed(2)} ${value.currency}`;
}

export function countNoun(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

export function formatPercent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
