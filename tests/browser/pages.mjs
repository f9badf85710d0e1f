// The pages that are looked at, each made by the built binary as its users make it.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const target = process.env.CARGO_TARGET_DIR || join(root, 'target');
export const cardscope = process.env.CARDSCOPE || join(target, 'debug', 'cardscope');

// 1 is a finding that is bad: what a fake is for.
const run = (home, ...words) => {
  try {
    return execFileSync(cardscope, [...words, '--quiet'], {
      cwd: home, env: { ...process.env, HOME: home, XDG_DATA_HOME: join(home, 'data'), XDG_STATE_HOME: join(home, 'state') }, encoding: 'utf8', maxBuffer: 1 << 28,
    });
  } catch (failure) {
    if (failure.status !== 1) throw failure;
    return failure.stdout;
  }
};

// Twenty cards that were measured and published.
const twenty = home => {
  const { places, not_placed: _ } = JSON.parse(run(home, 'rank', '--for', 'pi-boot', '--json'));
  return places.slice(0, 20).map(place => place.entry.card_id);
};

// `chart`: what stands in the first screen besides the answer; `sheet`: printed on one page.
export const PAGES = [
  { name: 'check-fake', sheet: true, chart: true, make: (home, file) => run(home, 'check', 'sim:sandian-1tb-52g', '--label', '1TB U3 A2 4K', '--html', file) },
  { name: 'check-genuine', sheet: true, chart: true, make: (home, file) => run(home, 'check', 'sim:sandisk-extremepro-32g-a1', '--html', file) },
  { name: 'check-express', sheet: true, chart: true, make: (home, file) => run(home, 'check', 'sim:sandisk-256g-express', '--html', file) },
  { name: 'verify-fake', sheet: true, chart: true, make: (home, file) => run(home, 'verify', 'sim:sandian-1tb-52g', '--html', file) },
  { name: 'verify-full', sheet: true, chart: true, make: (home, file) => run(home, 'verify', 'sim:sdnand-0.5g', '--full', '--yes-destroy', 'sim:sdnand-0.5g', '--html', file) },
  { name: 'report-three', chart: true, make: (home, file) => run(home, 'report', 'SDSQXFN', 'ADATA@cooling=active', 'PLAY PRO@cooling=active', '--for', 'game-load', '-o', file) },
  { name: 'report-twenty', chart: true, make: (home, file) => run(home, 'report', ...twenty(home), '-o', file) },
  { name: 'report-all', chart: true, make: (home, file) => run(home, 'report', '-o', file) },
  {
    name: 'report-own', chart: true, make: (home, file) => {
      for (const seed of ['1', '2']) run(home, 'bench', 'sim:sandisk-256g-express', '--recipe', 'quick', '--seed', seed);
      run(home, 'map', 'sim:sandisk-256g-express', '--erase');
      run(home, 'sustain', 'sim:sandisk-256g-express', '--yes-destroy', 'sim:sandisk-256g-express');
      run(home, 'report', '--own', '-o', file);
    },
  },
];

// Makes them, each with an archive of its own, in a folder that goes when the program ends.
export const makeAll = wanted => {
  const folder = mkdtempSync(join(tmpdir(), 'cardscope-pages-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return PAGES.filter(page => !wanted.length || wanted.includes(page.name)).map(page => {
    const home = join(folder, page.name);
    mkdirSync(home);
    const file = join(home, 'page.html');
    page.make(home, file);
    return { ...page, file };
  });
};
