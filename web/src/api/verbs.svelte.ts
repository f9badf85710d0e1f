// The verbs that the server runs, as it describes them: what each does to a card, and its options.

import { getJson } from './client';
import type { OptionDescription, VerbDescription } from './types';

class Verbs {
  all = $state.raw<VerbDescription[]>([]);
  #first: Promise<void> | null = null;

  /** Waits until the verbs were loaded once: before that, a test has no label. */
  ready(): Promise<void> {
    return (this.#first ??= this.load().catch((thrown: unknown) => {
      this.#first = null;
      throw thrown;
    }));
  }

  async load(): Promise<void> {
    this.all = (await getJson<{ verbs: VerbDescription[] }>('/api/verbs')).verbs;
  }

  find(name: string): VerbDescription | undefined {
    return this.all.find((verb) => verb.name === name);
  }

  /** Those that a form can start; data is restored from the list of journals. */
  get startable(): VerbDescription[] {
    return this.all.filter((verb) => verb.effect !== 'restores');
  }

  /** Options that every one of them has. */
  isShared(option: OptionDescription): boolean {
    return this.startable.every((verb) => verb.options.some((other) => other.name === option.name));
  }
}

export const verbs = new Verbs();

export function verbLabel(name: string): string {
  return verbs.find(name)?.title ?? name;
}
