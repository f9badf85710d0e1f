// Options of verbs as a form shows and sends them, from the server's description of each verb.

import type { OptionDescription, VerbDescription, VerbOptions } from '../api/types';

/** An option's name in words: "Max writes" of `max_writes`. */
export function optionLabel(option: OptionDescription): string {
  const words = option.name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What was typed or chosen, as an order has it. */
export function optionValue(option: OptionDescription, text: string): VerbOptions[string] {
  if (option.kind === 'flag') return true;
  const value = option.kind === 'integer' || option.kind === 'number' ? Number(text) : text;
  return option.repeatable ? [String(value)] : value;
}

/** Options that cannot be given with this one, in either direction. */
export function conflictingOptions(verb: VerbDescription, option: OptionDescription): string[] {
  const others = verb.options.filter((other) => other.conflicts.includes(option.name));
  return [...option.conflicts, ...others.map((other) => other.name)];
}

/** The option that takes the name of a recipe. */
export function recipeOption(verb: VerbDescription): OptionDescription | undefined {
  return verb.options.find((option) => option.kind === 'recipe');
}

/** Whether an order loses what is on the target; a simulated card has nothing to lose. */
export function losesData(verb: VerbDescription, options: VerbOptions, target: string, recipeWrites: boolean): boolean {
  if (!target || target.startsWith('sim:')) return false;
  if (recipeOption(verb)) return recipeWrites;
  const flags = verb.options.filter((option) => options[option.name] === true);
  return [verb, ...flags].some(({ effect }) => effect === 'loses' || effect === 'wears-out');
}

export function effectText(effect: VerbDescription['effect']): string {
  switch (effect) {
    case 'reads':
      return 'Only reads.';
    case 'preserves':
      return 'Preserves the data on the card.';
    case 'restores':
      return 'Writes back what an interrupted test saved.';
    case 'loses':
    case 'wears-out':
      return 'All data on the card is lost.';
  }
}
