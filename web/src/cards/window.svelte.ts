// A list of thousands of which only a window is here: rows are fetched in blocks around what is visible, and forgotten when the
// question changes. The server filters and sorts.

import { address, failure, get, isAbort, type Failure } from '../api/client';
import type { CardRow, Cards } from '../api/types';

const BLOCK = 100;

/** What is there to choose from. */
export type CardLists = Pick<Cards, 'brands' | 'marks' | 'tests' | 'verdicts' | 'priced'>;

export class CardWindow {
  total = $state(0);
  all = $state(0);
  lists = $state.raw<CardLists>({
    brands: [],
    marks: [],
    tests: [],
    verdicts: [],
    priced: false,
  });
  loaded = $state(false);
  loading = $state(false);
  error = $state.raw<Failure | null>(null);
  /** Grows with each block that arrives. */
  version = $state(0);
  #blocks = new Map<number, CardRow[]>();
  #asked = new Map<number, AbortController>();
  #question: Record<string, string | number | boolean | null> = {};

  /** Another question: what was shown stays until its first answer. */
  ask(question: Record<string, string | number | boolean | null>, from = 0): void {
    this.#asked.forEach((abort) => abort.abort());
    this.#asked.clear();
    this.#question = question;
    void this.#fetch(Math.floor(from / BLOCK), true);
  }

  row(index: number): CardRow | undefined {
    void this.version;
    return this.#blocks.get(Math.floor(index / BLOCK))?.[index % BLOCK];
  }

  /** Fetches what is missing between two rows. */
  need(from: number, to: number): void {
    for (let block = Math.floor(from / BLOCK); block <= Math.floor(Math.max(from, to - 1) / BLOCK); block++)
      if (!this.#blocks.has(block) && !this.#asked.has(block)) void this.#fetch(block, false);
  }

  async #fetch(block: number, first: boolean): Promise<void> {
    const abort = new AbortController();
    this.#asked.set(block, abort);
    this.loading = true;
    try {
      const query = { ...this.#question, offset: block * BLOCK, limit: BLOCK };
      const got = await get<Cards>(address('/api/cards', query), abort.signal);
      if (first) this.#blocks.clear();
      this.#blocks.set(block, got.cards);
      this.total = got.total;
      this.all = got.all;
      if (first) {
        const { brands, marks, tests, verdicts, priced } = got;
        this.lists = { brands, marks, tests, verdicts, priced };
      }
      this.error = null;
      this.loaded = true;
      this.version += 1;
    } catch (thrown) {
      if (!isAbort(thrown)) this.error = failure(thrown);
    } finally {
      if (this.#asked.get(block) === abort) this.#asked.delete(block);
      this.loading = this.#asked.size > 0;
    }
  }
}
