import { expect, test } from 'vitest';
import type { OptionDescription, VerbDescription } from '../api/types';
import { conflictingOptions, losesData, optionLabel, optionValue } from './verbOptions';

const option = (name: string, rest: Partial<OptionDescription> = {}) =>
  ({ name, kind: 'text', conflicts: [], values: [], repeatable: false, ...rest }) as unknown as OptionDescription;
const verb = (effect: VerbDescription['effect'], ...options: OptionDescription[]) =>
  ({ name: 'verb', effect, options }) as unknown as VerbDescription;

test('a label is the name in words', () => {
  expect(optionLabel(option('max_writes'))).toBe('Max writes');
});

test('a value has the type of its option', () => {
  expect(optionValue(option('full', { kind: 'flag' }), '1')).toBe(true);
  expect(optionValue(option('runs', { kind: 'integer' }), '5')).toBe(5);
  expect(optionValue(option('supply'), '5')).toBe('5');
  expect(optionValue(option('mark', { repeatable: true }), 'U3')).toEqual(['U3']);
});

test('a conflict counts in both directions', () => {
  const [quick, full] = [option('quick', { conflicts: ['full'] }), option('full')];
  expect(conflictingOptions(verb('reads', quick, full), full)).toEqual(['quick']);
  expect(conflictingOptions(verb('reads', quick, full), quick)).toEqual(['full']);
});

test('consent is needed where the verb, an option that is on, or the recipe loses data', () => {
  const erase = option('erase', { kind: 'flag', effect: 'loses' });
  expect(losesData(verb('loses'), {}, '/dev/sdb', false)).toBe(true);
  expect(losesData(verb('wears-out'), {}, '/dev/sdb', false)).toBe(true);
  expect(losesData(verb('preserves', erase), {}, '/dev/sdb', false)).toBe(false);
  expect(losesData(verb('preserves', erase), { erase: true }, '/dev/sdb', false)).toBe(true);
  expect(losesData(verb('preserves', option('method', { kind: 'recipe' })), {}, '/dev/sdb', true)).toBe(true);
});

test('a simulated card has nothing to lose', () => {
  expect(losesData(verb('loses'), {}, 'sim:fake', true)).toBe(false);
});
