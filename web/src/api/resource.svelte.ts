// Something that a page shows and the server has. It is asked for again when what the question depends on changes, when the
// server is back, and on `reload`; what was there stays visible meanwhile, and an answer that came too late is dropped.

import { ApiError, toApiError, isAbortError } from './client';
import { connection } from './connection.svelte';

export class Resource<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<ApiError | null>(null);
  loading = $state(true);
  #asked = $state(0);

  /** To be made while a component is set up. Whatever state `load` reads before it first waits is watched. */
  constructor(load: (signal: AbortSignal) => Promise<T>) {
    $effect(() => {
      void connection.epoch;
      void this.#asked;
      const abort = new AbortController();
      this.loading = true;
      load(abort.signal).then(
        (value) => this.#set(value),
        (thrown: unknown) => {
          if (isAbortError(thrown)) return;
          this.error = toApiError(thrown);
          this.loading = false;
        },
      );
      return () => abort.abort();
    });
  }

  #set(value: T): void {
    this.value = value;
    this.error = null;
    this.loading = false;
  }

  /** What a change was answered with. */
  put(value: T): void {
    this.#set(value);
  }

  reload(): void {
    this.#asked += 1;
  }
}
