// The verbs that the server runs, as it describes them: what each does to a card, and its options.

import { get } from '../api/client';
import type { Options, Verb, VerbOption } from '../api/types';

class Verbs {
  all = $state.raw<Verb[]>([]);

  async load(): Promise<void> {
    this.all = (await get<{ verbs: Verb[] }>('/api/verbs')).verbs;
  }

  find(name: string): Verb | undefined {
    return this.all.find((verb) => verb.name === name);
  }

  /** Those that a form can start; data is restored from the list of journals. */
  get startable(): Verb[] {
    return this.all.filter((verb) => verb.effect !== 'restores');
  }

  /** Options that every one of them has. */
  isShared(option: VerbOption): boolean {
    return this.startable.every((verb) => verb.options.some((other) => other.name === option.name));
  }
}

export const verbs = new Verbs();

export function verbLabel(name: string): string {
  return verbs.find(name)?.title ?? name;
}

/** An option's name in words: "Max writes" of `max_writes`. */
export function optionLabel(option: VerbOption): string {
  const words = option.name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What was typed or chosen, as an order has it. */
export function optionValue(option: VerbOption, text: string): Options[string] {
  if (option.kind === 'flag') return true;
  const value = option.kind === 'integer' || option.kind === 'number' ? Number(text) : text;
  return option.repeatable ? [String(value)] : value;
}

/** Options that cannot be given with this one, in either direction. */
export function conflicts(verb: Verb, option: VerbOption): string[] {
  const others = verb.options.filter((other) => other.conflicts.includes(option.name));
  return [...option.conflicts, ...others.map((other) => other.name)];
}

/** Whether an order loses what is on the target; a simulated card has nothing to lose. */
export function erases(verb: Verb, options: Options, target: string, recipeWrites: boolean): boolean {
  if (!target || target.startsWith('sim:')) return false;
  if (verb.options.some((option) => option.name === 'recipe')) return recipeWrites;
  const flags = verb.options.filter((option) => option.effect === 'loses' && options[option.name] === true);
  return verb.effect === 'loses' || flags.length > 0;
}

export function effectText(effect: Verb['effect']): string {
  switch (effect) {
    case 'reads':
      return 'Only reads.';
    case 'preserves':
      return 'Preserves the data on the card.';
    case 'restores':
      return 'Writes back what an interrupted test saved.';
    case 'loses':
      return 'All data on the card is lost.';
  }
}
