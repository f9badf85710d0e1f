// The app in Debian's Chromium, against the real server: how its pages look, and what people do with it.
//
//   node run.mjs [NAME...]          only tests whose name has one of these words
//   PICTURES=DIR node run.mjs page  also keeps a picture of each page

import { endBrowser } from './browser.mjs';
import { clean } from './clean.mjs';
import { tests as fields } from './fields.mjs';
import { tests as address } from './flows-address.mjs';
import { tests as device } from './flows-device.mjs';
import { tests as files } from './flows-files.mjs';
import { tests as secret } from './flows-secret.mjs';
import { tests as server } from './flows-server.mjs';
import { tests as start } from './flows-start.mjs';
import { tests as pages } from './pages.mjs';

const wanted = process.argv.slice(2);
const LONGEST = 300_000;
const all = [...start, ...device, ...address, ...files, ...secret, ...server, ...fields, ...pages];
const chosen = all.filter(test => !wanted.length || wanted.some(word => test.name.includes(word)));
if (!chosen.length) throw new Error(`no test is called ${wanted.join(' or ')}`);

const limited = promise => {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`longer than ${LONGEST / 1000} s`)), LONGEST); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

let [passed, failed] = [0, 0];
const runOne = async test => {
  if (test.skip) {
    console.log(`skipped: ${test.name}: ${test.skip}`);
    return;
  }
  const began = performance.now();
  try {
    await limited(test.run());
    passed += 1;
  } catch (error) {
    const lines = error.message.split('\n');
    failed += 1;
    console.log(`FAILED ${test.name}:\n    ${lines.slice(0, 12).join('\n    ')}${lines.length > 12 ? `\n    … ${lines.length} lines` : ''}`);
  }
  if (process.env.VERBOSE) console.log(`${((performance.now() - began) / 1000).toFixed(1)} s ${test.name}`);
};

// What has a card, a clock or the keyboard takes the machine for itself; the rest goes some at a time, since most of it is waiting.
for (const test of chosen.filter(test => !test.beside)) await runOne(test);
const waiting = chosen.filter(test => test.beside);
const next = async () => { for (let test = waiting.shift(); test; test = waiting.shift()) await runOne(test); };
await Promise.all(Array.from({ length: 3 }, next));
await endBrowser();
clean();

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
