// Values of a simulated card as its name takes them (`16K`, `true`), and in words.

import { formatSize } from '../text/units';

const UNITS: Record<string, number> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** Two ways of writing a size are the same value; anything else is what it says. */
export function parseKnobValue(value: string): number | string {
  const found = /^(\d+)([KMGT]?)$/.exec(value);
  return found ? Number(found[1]) * (UNITS[found[2] ?? ''] ?? 1) : value;
}

/** Parts of flash are powers of two and written so; cards are not. */
export function formatBinarySize(bytes: number): string {
  const unit = (['G', 'M', 'K'] as const).find((name) => {
    const unit = UNITS[name] ?? 1;
    return bytes >= unit && bytes % unit === 0 && bytes / unit <= 1024;
  });
  return unit ? `${bytes / (UNITS[unit] ?? 1)} ${unit}iB` : formatSize(bytes);
}

/** The value of an override in words. */
export function formatKnobValue(key: string, value: string): string {
  if (value === 'true') return 'on';
  if (value === 'false') return 'off';
  const bytes = parseKnobValue(value);
  if (!key.endsWith('bytes') || typeof bytes === 'string') return value;
  return bytes === 0 ? 'none' : formatBinarySize(bytes);
}
