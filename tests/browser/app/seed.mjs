// An archive as somebody has it after some weeks: a fake, a good card, a fast one in all its tests, logs of other tools.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newHome, run } from './server.mjs';

const TESTS = ['SEQ1M Q8T1', 'SEQ1M Q1T1', 'RND4K Q32T1', 'RND4K Q1T1'].flatMap(pattern => [`${pattern} read`, `${pattern} write`]);

/** A spreadsheet of cards with a run of each test, as `brand,name,test,mb_s`. */
export function spreadsheet(file, cards) {
  const lines = ['brand,name,test,mb_s'];
  for (let card = 0; card < cards; card += 1) {
    const gigabytes = 16 << card % 6;
    TESTS.forEach((test, at) => {
      const speed = (200 - 20 * at) * (.6 + .02 * ((card * 7) % 20)) * (1 + .001 * (card % 97));
      lines.push(`Brand ${String.fromCharCode(65 + card % 5)},Model ${card + 1} ${gigabytes}GB U3 A${1 + card % 2},${test},${speed.toFixed(2)}`);
    });
  }
  writeFileSync(file, lines.join('\n') + '\n');
  return file;
}

/** A log of fio as its own `--output-format=json` has it. */
export const fioLog = (read = 94_371_840) => JSON.stringify({
  'fio version': 'fio-3.33', timestamp: 1700000000, time: 'Tue Nov 14 22:13:20 2023',
  'global options': { filename: '/mnt/card/test', ioengine: 'libaio', direct: '1', size: '1g' },
  jobs: [
    { jobname: 'SEQ1M Q8T1 read', error: 0, 'job options': { rw: 'read', bs: '1m', iodepth: '8' },
      read: { io_bytes: read * 5, bw_bytes: read, bw: read >> 10, iops: read / 2 ** 20, runtime: 5000, total_ios: Math.round(read * 5 / 2 ** 20) }, write: { io_bytes: 0, bw_bytes: 0, bw: 0, iops: 0, runtime: 0, total_ios: 0 } },
    { jobname: 'RND4K Q32T1 write', error: 0, 'job options': { rw: 'randwrite', bs: '4k', iodepth: '32' },
      read: { io_bytes: 0, bw_bytes: 0, bw: 0, iops: 0, runtime: 0, total_ios: 0 }, write: { io_bytes: 40_960_000, bw_bytes: 8_192_000, bw: 8000, iops: 2000, runtime: 5000, total_ios: 10000 } },
  ],
});

export function seeded() {
  const home = newHome();
  run(home, 'check', 'sim:sandian-1tb-52g', '--label', '1TB U3 A2');
  run(home, 'check', 'sim:sandisk-extremepro-32g-a1');
  run(home, 'map', 'sim:sandisk-256g-express', '--erase');
  run(home, 'bench', 'sim:sandisk-256g-express', '--recipe', 'quick');
  run(home, 'sustain', 'sim:sandisk-256g-express', '--yes-destroy', 'sim:sandisk-256g-express');
  run(home, 'import', spreadsheet(join(home, 'cards.csv'), 40));
  return home;
}
