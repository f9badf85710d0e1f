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
  section: string;
  load: () => Promise<{ default: Page }>;
}

export const NAVIGATION_ENTRIES: [string, string][] = [
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
  { path: '/', title: 'Cards in this computer', section: '/', load: () => import('../pages/Home.svelte') },
  { path: '/live', title: 'Live', section: '/live', load: () => import('../pages/Live.svelte') },
  { path: '/live/:id', title: 'Live', section: '/live', load: () => import('../pages/LiveTask.svelte') },
  { path: '/cards', title: 'Cards', section: '/cards', load: () => import('../pages/Cards.svelte') },
  { path: '/cards/:id', title: 'Card', section: '/cards', load: () => import('../pages/Card.svelte') },
  { path: '/sessions', title: 'Measurements', section: '/cards', load: () => import('../pages/Sessions.svelte') },
  { path: '/sessions/:id', title: 'Measurement', section: '/cards', load: () => import('../pages/Session.svelte') },
  { path: '/compare', title: 'Compare', section: '/compare', load: () => import('../pages/Compare.svelte') },
  { path: '/rank', title: 'Rank', section: '/rank', load: () => import('../pages/Rank.svelte') },
  { path: '/import', title: 'Import', section: '/import', load: () => import('../pages/Import.svelte') },
  { path: '/recipes', title: 'Recipes', section: '/recipes', load: () => import('../pages/Recipes.svelte') },
  { path: '/recipes/:name', title: 'Recipe', section: '/recipes', load: () => import('../pages/Recipe.svelte') },
  { path: '/simulator', title: 'Simulator', section: '/simulator', load: () => import('../pages/Simulator.svelte') },
  {
    path: '/simulator/:name',
    title: 'Simulator',
    section: '/simulator',
    load: () => import('../pages/Simulator.svelte'),
  },
  { path: '/doctor', title: 'Doctor', section: '/doctor', load: () => import('../pages/Doctor.svelte') },
];

export interface MatchedRoute {
  /** As the route has it: `/cards/:id`. */
  path: string;
  title: string;
  section: string;
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
export function findRoute(path: string): MatchedRoute | null {
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
