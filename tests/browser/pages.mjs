// The pages that are looked at, each made by the built binary as its users make it.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = process.env.CARGO_TARGET_DIR || join(root, 'target');
export const cardscope = process.env.CARDSCOPE || join(target, 'debug', 'cardscope');

// 1 is a finding that is bad: what a fake is for.
const run = (home, ...words) => {
  try {
    return execFileSync(cardscope, [...words, '--quiet'], {
      cwd: home, env: { ...process.env, HOME: home, XDG_DATA_HOME: join(home, 'data'), XDG_STATE_HOME: join(home, 'state') }, encoding: 'utf8', maxBuffer: 1 << 28,
    });
  } catch (failure) {
    if (![1, 4].includes(failure.status)) throw failure;
    return failure.stdout;
  }
};

// Twenty cards with ten runs of twelve tests each, as a spreadsheet has them.
const twenty = home => {
  const tests = ['SEQ1M Q8T1', 'SEQ1M Q1T1', 'SEQ128K Q32T1', 'RND4K Q32T16', 'RND4K Q32T1', 'RND4K Q1T1'].flatMap(pattern => [`${pattern} read`, `${pattern} write`]);
  const lines = ['brand,name,test,mb_s'];
  for (let card = 0; card < 20; card += 1) {
    tests.forEach((test, at) => {
      for (let run = 0; run < 10; run += 1) {
        const speed = (200 - 15 * at) * (.6 + .02 * ((card * 7) % 20)) * (1 + .01 * ((run * 13 + card) % 10));
        lines.push(`Brand ${String.fromCharCode(65 + card % 5)},Model ${card + 1} with a long name 128GB,${test},${speed.toFixed(2)}`);
      }
    });
  }
  writeFileSync(join(home, 'cards.csv'), lines.join('\n') + '\n');
  return join(home, 'cards.csv');
};

// `chart`: what stands in the first screen besides the answer; `sheet`: printed on one page.
export const PAGES = [
  { name: 'check-fake', sheet: true, chart: true, make: (home, file) => run(home, 'check', 'sim:sandian-1tb-52g', '--label', '1TB U3 A2 4K', '--html', file) },
  { name: 'check-genuine', sheet: true, chart: true, make: (home, file) => run(home, 'check', 'sim:sandisk-extremepro-32g-a1', '--html', file) },
  { name: 'check-express', sheet: true, chart: true, make: (home, file) => run(home, 'check', 'sim:sandisk-256g-express', '--html', file) },
  { name: 'verify-fake', sheet: true, chart: true, make: (home, file) => run(home, 'verify', 'sim:sandian-1tb-52g', '--html', file) },
  { name: 'verify-full', sheet: true, chart: true, make: (home, file) => run(home, 'verify', 'sim:sdnand-0.5g', '--full', '--yes-destroy', 'sim:sdnand-0.5g', '--html', file) },
  { name: 'report-three', chart: true, make: (home, file) => run(home, 'report', 'SDSQXFN', 'ADATA@cooling=active', 'PLAY PRO@cooling=active', '--for', 'game-load', '-o', file) },
  { name: 'report-twenty', chart: true, make: (home, file) => run(home, 'report', twenty(home), '--own', '-o', file) },
  {
    name: 'report-own', chart: true, pictures: 1, make: (home, file) => {
      for (const seed of ['1', '2']) run(home, 'bench', 'sim:sandisk-256g-express', '--recipe', 'quick', '--seed', seed);
      run(home, 'map', 'sim:sandisk-256g-express', '--erase');
      run(home, 'sustain', 'sim:sandisk-256g-express', '--yes-destroy', 'sim:sandisk-256g-express');
      const [{ id }] = JSON.parse(run(home, 'archive', 'cards', '--json')).cards;
      run(home, 'archive', 'edit', id, '--attach', join(root, 'docs', 'pictures', 'check.png'));
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
