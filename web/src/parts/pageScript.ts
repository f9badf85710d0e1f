// What the published pages' script adds to a fragment (values under the pointer, choosing, charts to take along): the same script.

import { enhance } from '../../../crates/page/src/tree/html/page.js';

/** Adds it to a fragment that stands in the page; what is returned takes it away again. */
export function runPageScript(root: HTMLElement): () => void {
  const done = new AbortController();
  enhance(root, done.signal);
  return () => done.abort();
}
