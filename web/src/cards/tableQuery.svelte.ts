// What of the list of cards is shown: filters, order, columns and selection, all of it in the address.

import { router } from '../route/router.svelte';

export const FILTER_NAMES = [
  'q',
  'min_bytes',
  'max_bytes',
  'mark',
  'brand',
  'verdict',
  'max_price',
  'simulated',
  'own',
] as const;

/** What stands in a column unless others are chosen, where the archive has it. */
const USUAL = ['SEQ1M Q8T1 read', 'SEQ1M Q8T1 write', 'RND4K Q32T1 read', 'RND4K Q32T1 write'];

export function currentFilters(): Record<string, string | null> {
  return Object.fromEntries(FILTER_NAMES.map((name) => [name, router.query.get(name)]));
}

export function currentOrder(): { sort: string; descending: boolean } {
  const sort = router.query.get('sort');
  if (!sort) return { sort: 'last', descending: true };
  return { sort, descending: router.query.has('descending') };
}

/** Figures and dates begin with the largest, names with A. */
export function sortBy(name: string): void {
  const now = currentOrder();
  const down = now.sort === name ? !now.descending : name !== 'title' && name !== 'verdict';
  router.set({ sort: name, descending: down ? '1' : null });
}

export function visibleColumns(tests: string[]): string[] {
  const chosen = router.query.getAll('column');
  if (chosen.length) return chosen.filter((name) => name !== 'none');
  const usual = USUAL.filter((name) => tests.includes(name));
  return usual.length ? usual : tests.slice(0, 4);
}

export function setColumns(names: string[]): void {
  router.set({ column: names.length ? names : ['none'] });
}

export function selectedCards(): string[] {
  return router.query.getAll('card');
}

export function selectCard(id: string, on: boolean): void {
  const others = selectedCards().filter((one) => one !== id);
  router.set({ card: on ? [...others, id] : others });
}
