// What the published pages' script adds to a fragment (values under the pointer, choosing, charts to take along).

/** Adds it to a fragment that stands in the page; what is returned takes it away again. */
export function enhance(root: HTMLElement): () => void {
  void root;
  return () => undefined;
}
