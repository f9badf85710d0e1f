import { expect, test } from 'vitest';
import { formatBinarySize, formatKnobValue, parseKnobValue } from './knobValues';

test('a size is the same value however it is written', () => {
  expect(parseKnobValue('16K')).toBe(parseKnobValue('16384'));
  expect(parseKnobValue('4M')).toBe(4 * 2 ** 20);
});

test('text that is no size stays text', () => {
  for (const text of ['true', '', '16KB', '-1K', '1.5M']) expect(parseKnobValue(text)).toBe(text);
});

test('sizes of flash are binary, those of cards decimal', () => {
  expect([4096, 2 ** 22, 3 * 2 ** 20].map(formatBinarySize)).toEqual(['4 KiB', '4 MiB', '3 MiB']);
  expect(formatBinarySize(52e9)).toBe('52 GB');
});

test('values of knobs in words', () => {
  expect(formatKnobValue('cache', 'true')).toBe('on');
  expect(formatKnobValue('cache', 'false')).toBe('off');
  expect(formatKnobValue('cache_bytes', '0')).toBe('none');
  expect(formatKnobValue('page_bytes', '16K')).toBe('16 KiB');
  expect(formatKnobValue('open_blocks', '5')).toBe('5');
});
