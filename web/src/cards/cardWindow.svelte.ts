// A list of thousands of which only a window is here: rows are fetched in blocks around what is visible, and forgotten when the
// question changes. The server filters and sorts.

import { pathWithQuery, toApiError, getJson, isAbortError, type ApiError } from '../api/client';
import type { CardOverview, CardWindowPage } from '../api/types';

const BLOCK = 100;

/** What is there to choose from. */
export type FilterChoices = Pick<CardWindowPage, 'brands' | 'marks' | 'tests' | 'verdicts' | 'priced'>;

export class CardWindow {
  total = $state(0);
  all = $state(0);
  lists = $state.raw<FilterChoices>({
    brands: [],
    marks: [],
    tests: [],
    verdicts: [],
    priced: false,
  });
  loaded = $state(false);
  loading = $state(false);
  error = $state.raw<ApiError | null>(null);
  /** Grows with each block that arrives. */
  version = $state(0);
  #blocks = new Map<number, CardOverview[]>();
  #asked = new Map<number, AbortController>();
  #question: Record<string, string | number | boolean | null> = {};

  /** Another question: what was shown stays until its first answer. */
  ask(question: Record<string, string | number | boolean | null>, from = 0): void {
    this.#asked.forEach((abort) => abort.abort());
    this.#asked.clear();
    this.#question = question;
    void this.#fetch(Math.floor(from / BLOCK), true);
  }

  row(index: number): CardOverview | undefined {
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
      const got = await getJson<CardWindowPage>(pathWithQuery('/api/cards', query), abort.signal);
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
      if (!isAbortError(thrown)) this.error = toApiError(thrown);
    } finally {
      if (this.#asked.get(block) === abort) this.#asked.delete(block);
      this.loading = this.#asked.size > 0;
    }
  }
}
