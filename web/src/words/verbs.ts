// What can be done with a card, what can be chosen, and what is lost by it.

import type { Options } from '../api/types';

export interface Option {
  key: string;
  label: string;
  /** `minutes` is entered in minutes and sent in seconds. */
  kind: 'flag' | 'text' | 'minutes' | 'number' | 'size' | 'recipe';
  placeholder?: string;
  /** The largest number that is accepted. */
  most?: number;
  /** Below the field, where its label alone would mislead. */
  note?: string;
  /** All data on the card is lost. */
  erases?: boolean;
  /** Another flag, which it takes the place of. */
  instead?: string;
}

export interface Verb {
  name: string;
  label: string;
  about: string;
  options: Option[];
  erases?: boolean;
}

const BUDGET: Option = { key: 'budget_s', label: 'Time limit in minutes', kind: 'minutes', placeholder: '3' };
const READ_ONLY: Option = {
  key: 'read_only',
  label: 'Write nothing',
  kind: 'flag',
  note: 'Skips every test that needs writes',
};
const LABEL: Option = { key: 'label', label: 'Printed on the card', kind: 'text', placeholder: '256GB U3 A2 V30' };
const ERASE: Option = {
  key: 'erase',
  label: 'Erase the card: no data is saved, more tests fit',
  kind: 'flag',
  erases: true,
};

const CHECK: Verb = {
  name: 'check',
  label: 'Check',
  about: 'Real or fake, how fast, and what it suits. Preserves the data on the card.',
  options: [LABEL, BUDGET, READ_ONLY, { key: 'marks', label: 'Test capacity and marks only', kind: 'flag' }, ERASE],
};

export const VERBS: Verb[] = [
  CHECK,
  {
    name: 'verify',
    label: 'Verify capacity',
    about: 'Real or fake. The quick test preserves the data on the card.',
    options: [
      { key: 'full', label: 'Erase the card and test every block', kind: 'flag', erases: true, instead: 'erase' },
      { key: 'thorough', label: 'Look behind caches of up to 2 GiB', kind: 'flag' },
      LABEL,
      BUDGET,
      { ...ERASE, label: 'Erase the card: no data is saved, half the time', instead: 'full' },
    ],
  },
  {
    name: 'bench',
    label: 'Benchmark',
    about: 'Speed by a published recipe. Most recipes overwrite the card.',
    options: [
      { key: 'recipe', label: 'Recipe', kind: 'recipe' },
      { key: 'runs', label: 'Runs', kind: 'number', most: 1000, placeholder: 'as the recipe says' },
      { key: 'only', label: 'Only this test', kind: 'text', placeholder: 'RND4K Q32T1 read' },
      { key: 'size_bytes', label: 'Test area in MB', kind: 'size', placeholder: 'as the recipe says' },
    ],
  },
  {
    name: 'map',
    label: 'Map the flash',
    about: 'Page, erase block, cache and queue. Preserves the data on the card.',
    options: [BUDGET, READ_ONLY, { ...ERASE, label: 'Erase the card and write to the end of its cache' }],
  },
  {
    name: 'sustain',
    label: 'Sustained use',
    about: 'End of the cache, heat and stalls. Only reads, unless told to write.',
    options: [
      { key: 'minutes', label: 'Minutes', kind: 'number', placeholder: '10' },
      { key: 'random', label: '4 KiB random instead of 1 MiB sequential', kind: 'flag' },
      { key: 'cooling', label: 'Cooling', kind: 'text', placeholder: 'passive' },
      { key: 'write', label: 'Erase the card: write until the speed is steady', kind: 'flag', erases: true },
    ],
  },
  {
    name: 'format',
    label: 'Format',
    about: 'The layout of the SD Association for its capacity.',
    options: [],
    erases: true,
  },
  {
    name: 'endure',
    label: 'Wear out',
    about: 'Writes until half of the card is bad. Destroys the card.',
    options: [],
    erases: true,
  },
];

export function verbNamed(name: string): Verb | undefined {
  return VERBS.find((verb) => verb.name === name);
}

/** The verb of an address; whatever it says, there is one. */
export function verbOr(name: string | null): Verb {
  return (name && verbNamed(name)) || CHECK;
}

export function verbLabel(name: string): string {
  return verbNamed(name)?.label ?? (name === 'restore' ? 'Restore data' : name);
}

/** Whether an order loses what is on the target; a simulated card has nothing to lose. */
export function erases(verb: Verb, options: Options, target: string, recipeWrites: boolean): boolean {
  if (!target || target.startsWith('sim:')) return false;
  if (verb.name === 'bench') return recipeWrites;
  return Boolean(verb.erases) || verb.options.some((option) => option.erases && options[option.key] === true);
}
