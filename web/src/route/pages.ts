// Every page of the app: its address, its place in the navigation, and its code, which is loaded when it is first shown.

import type { Component } from 'svelte';

// Each page takes the parts of its address that it names.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Page = Component<any>;

interface Route {
  /** `:id` takes one part of the path. */
  path: string;
  title: string;
  /** The entry of the navigation that it belongs to. */
  of: string;
  load: () => Promise<{ default: Page }>;
}

export const NAVIGATION: [string, string][] = [
  ['/', 'Home'],
  ['/live', 'Live'],
  ['/cards', 'Cards'],
  ['/compare', 'Compare'],
  ['/rank', 'Rank'],
  ['/import', 'Import'],
  ['/recipes', 'Recipes'],
  ['/simulator', 'Simulator'],
  ['/doctor', 'Doctor'],
];

const ROUTES: Route[] = [
  { path: '/', title: 'Cards in this computer', of: '/', load: () => import('../pages/Home.svelte') },
  { path: '/live', title: 'Live', of: '/live', load: () => import('../pages/Live.svelte') },
  { path: '/live/:id', title: 'Live', of: '/live', load: () => import('../pages/LiveTask.svelte') },
  { path: '/cards', title: 'Cards', of: '/cards', load: () => import('../pages/Cards.svelte') },
  { path: '/cards/:id', title: 'Card', of: '/cards', load: () => import('../pages/Card.svelte') },
  { path: '/sessions', title: 'Measurements', of: '/cards', load: () => import('../pages/Sessions.svelte') },
  { path: '/sessions/:id', title: 'Measurement', of: '/cards', load: () => import('../pages/Session.svelte') },
  { path: '/compare', title: 'Compare', of: '/compare', load: () => import('../pages/Compare.svelte') },
  { path: '/rank', title: 'Rank', of: '/rank', load: () => import('../pages/Rank.svelte') },
  { path: '/import', title: 'Import', of: '/import', load: () => import('../pages/Import.svelte') },
  { path: '/recipes', title: 'Recipes', of: '/recipes', load: () => import('../pages/Recipes.svelte') },
  { path: '/recipes/:name', title: 'Recipe', of: '/recipes', load: () => import('../pages/Recipe.svelte') },
  { path: '/simulator', title: 'Simulator', of: '/simulator', load: () => import('../pages/Simulator.svelte') },
  { path: '/simulator/:name', title: 'Simulator', of: '/simulator', load: () => import('../pages/Simulator.svelte') },
  { path: '/doctor', title: 'Doctor', of: '/doctor', load: () => import('../pages/Doctor.svelte') },
];

export interface Match {
  /** As the route has it: `/cards/:id`. */
  path: string;
  title: string;
  of: string;
  load: () => Promise<{ default: Page }>;
  parameters: Record<string, string>;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The page of a path, or nothing. */
export function match(path: string): Match | null {
  const parts = path.split('/').filter(Boolean);
  for (const route of ROUTES) {
    const wanted = route.path.split('/').filter(Boolean);
    if (wanted.length !== parts.length) continue;
    if (!wanted.every((part, i) => part.startsWith(':') || part === parts[i])) continue;
    const named = wanted.flatMap((part, i) => (part.startsWith(':') ? [[part.slice(1), decoded(parts[i] ?? '')]] : []));
    return { ...route, parameters: Object.fromEntries(named) as Record<string, string> };
  }
  return null;
}
