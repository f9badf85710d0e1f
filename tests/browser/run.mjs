// Every HTML page in Debian's Chromium, as a desktop and a phone show it, light and dark: nothing overflows, no text lies on
// another, the console stays silent, axe finds nothing, the first screen has the answer, and a proof is one sheet of paper.
//
//   node run.mjs [NAME...]          only these pages
//   PICTURES=DIR node run.mjs       also keeps a picture of each

import axe from 'axe-core';
import { statSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';
import { makeAll } from './pages.mjs';
import { chooses, takes } from './works.mjs';
import { firstScreen, overflowing, overlapping, tooSmall } from './looks.mjs';

const SCREENS = [['desktop', 1280, 800], ['phone', 400, 800]];
const MOST_BYTES = 1_000_000;
const keep = process.env.PICTURES;
if (keep) mkdirSync(keep, { recursive: true });

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-background-networking', '--disable-gpu', '--font-render-hinting=none'],
});

let passed = 0;
const failures = [];
const check = (name, problems) => {
  if (problems.length) failures.push(`${name}:\n    ${problems.slice(0, 6).join('\n    ')}${problems.length > 6 ? `\n    … ${problems.length} in all` : ''}`);
  else passed += 1;
};

for (const page of makeAll(process.argv.slice(2))) {
  const bytes = statSync(page.file).size;
  check(`${page.name} is smaller than 1 MB`, bytes < MOST_BYTES ? [] : [`${bytes} bytes`]);
  for (const [screen, width, height] of SCREENS) {
    for (const scheme of ['light', 'dark']) {
      const name = `${page.name}, ${screen}, ${scheme}`;
      const tab = await browser.newPage();
      const said = [];
      tab.on('console', message => said.push(message.text()));
      tab.on('pageerror', error => said.push(String(error)));
      tab.on('request', request => { if (!/^(file|data|blob):/.test(request.url())) said.push(`asks for ${request.url()}`); });
      await tab.setViewport({ width, height });
      await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await tab.setBypassCSP(false);
      await tab.goto(pathToFileURL(page.file).href, { waitUntil: 'load' });
      if (keep) await tab.screenshot({ path: join(keep, `${page.name}-${screen}-${scheme}-first.png`) });
      check(`${name}: first screen`, await tab.evaluate(firstScreen, page.chart, screen));
      await tab.evaluate(() => document.querySelectorAll('details').forEach(part => { part.open = true; }));
      check(`${name}: no overflow`, await tab.evaluate(overflowing));
      check(`${name}: no text over text`, await tab.evaluate(overlapping));
      check(`${name}: letters can be read`, await tab.evaluate(tooSmall));
      if (keep) await tab.screenshot({ path: join(keep, `${page.name}-${screen}-${scheme}.png`), fullPage: true });
      const pictures = await tab.$$eval('img', all => all.filter(one => one.naturalWidth > 1).length);
      check(`${name}: pictures`, pictures === (page.pictures ?? 0) ? [] : [`${pictures} pictures are shown`]);
      check(`${name}: console`, said);
      // Both widths and both schemes are seen by it; all four of them take twice the time and say no more.
      if ((screen === 'desktop') === (scheme === 'light')) check(`${name}: axe`, await accessible(tab));
      if (screen === 'desktop' && scheme === 'light') {
        await tab.evaluate(() => document.querySelectorAll('details').forEach(part => { part.open = false; }));
        check(`${page.name}: print`, await printed(tab, page));
        if (await tab.$('.legend')) check(`${page.name}: choosing`, await chooses(tab));
        check(`${page.name}: taking along`, await takes(tab));
        check(`${page.name}: console of that`, said);
      }
      await tab.close();
    }
  }
}
await browser.close();

if (failures.length) console.log(failures.join('\n'));
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length ? 1 : 0);

// What axe objects to; its code comes by the debugger, which the page's policy does not hold.
async function accessible(tab) {
  await tab.evaluate(axe.source);
  const { violations } = await tab.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
  return violations.map(v => `${v.id} (${v.impact}): ${v.nodes.length} × ${v.nodes[0].html.slice(0, 160)} ${v.nodes[0].failureSummary?.split('\n')[1] ?? ''}`);
}

// A proof is one sheet, and the words on it are those that somebody is shown.
async function printed(tab, page) {
  const pdf = Buffer.from(await tab.pdf({ path: keep ? join(keep, `${page.name}.pdf`) : undefined, preferCSSPageSize: true, printBackground: true }));
  const sheets = (pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g) || []).length;
  if (!page.sheet) return sheets > 0 ? [] : ['nothing is printed'];
  // What is printed is as wide as A4 without its margins.
  await tab.emulateMediaType('print');
  await tab.setViewport({ width: 703, height: 1000 });
  const text = await tab.evaluate(() => document.body.innerText);
  const over = [...await tab.evaluate(overlapping), ...await tab.evaluate(overflowing)];
  await tab.emulateMediaType('screen');
  await tab.setViewport({ width: 1280, height: 800 });
  const missing = ['announced', 'usable', 'method', 'confidence', 'Tested on 20', 'Cardscope'].filter(word => !text.includes(word));
  return [...over, ...(sheets === 1 ? [] : [`${sheets} sheets`]), ...missing.map(word => `without “${word}”`)];
}
