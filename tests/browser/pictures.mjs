// The pictures of the README, made by the built binary: a terminal's page as SVG, the pages of a visit and a comparison as PNG.
//
//   node pictures.mjs FOLDER

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';
import { clean } from './app/clean.mjs';
import { chrome, endBrowser, visitor } from './app/browser.mjs';
import { noDevice, Rig } from './app/rig.mjs';
import { newHome, Server } from './app/server.mjs';
import { cardscope } from './pages.mjs';

const MOST_BYTES = 200_000;
const folder = process.argv[2];
const home = mkdtempSync(join(tmpdir(), 'cardscope-pictures-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

const run = (...words) => {
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: home, XDG_STATE_HOME: home, COLUMNS: '80' };
  try {
    return execFileSync(cardscope, [...words, '--quiet'], { cwd: home, env, encoding: 'utf8' });
  } catch (failure) {
    // 1 is a finding that is bad.
    if (![1, 4].includes(failure.status)) throw failure;
    return failure.stdout;
  }
};

const FAKE = ['check', 'sim:sandian-1tb-52g', '--seed', '1'];
const keep = (name, content) => {
  const path = join(folder, name);
  if (content) writeFileSync(path, content);
  const { size } = statSync(path);
  if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes, more than ${MOST_BYTES}`);
  console.log(`${path}: ${size} bytes`);
};

keep('check-terminal.svg', terminal(`$ cardscope ${FAKE.slice(0, 2).join(' ')}\n${run(...FAKE, '--color', 'always')}`));

const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const shot = async (name, page) => {
  const tab = await browser.newPage();
  await tab.setViewport({ width: 1180, height: 860 });
  await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  await tab.goto(pathToFileURL(page).href);
  await tab.screenshot({ path: join(folder, name) });
  keep(name);
};
const page = name => join(home, name);
run(...FAKE, '--html', page('check.html'));
await shot('check.png', page('check.html'));
run('report', 'SDSQXFN', 'ADATA@cooling=active', 'PLAY PRO@cooling=active', '-o', page('comparison.html'));
await shot('comparison.png', page('comparison.html'));
await browser.close();

// The browser app: a test that runs on a card in real time, and the verdict on a fake.
const server = await new Server(newHome(), ['--all']).start();
await chrome();
const app = await (await visitor(server, { width: 1180, height: 860 })).newPage();
const { id } = await server.tested({ verb: 'check', target: 'sim:sandian-1tb-52g', options: { label: '1TB U3 A2 4K' } });
await app.goto(`/live/${id}`);
await app.getByText('Return it.').first().waitFor();
await app.screenshot({ path: join(folder, 'browser-verdict.png') });
keep('browser-verdict.png');
if (noDevice()) throw new Error(`the picture of a test that runs ${noDevice()}`);
const rig = await Rig.plug('lexar-16g-c10?fake=limbo&fake_bytes=8G');
const running = await server.ask('POST', '/api/tasks', { verb: 'check', target: rig.device, options: { label: '16GB C10', budget_s: 180 } });
await app.goto(`/live/${running.id}`);
// The capacity is known and the first speeds are measured: there is something to see.
await app.getByText('SEQ1M Q1T1 write').first().waitFor({ timeout: 180_000 });
await app.screenshot({ path: join(folder, 'browser-live.png') });
keep('browser-live.png');
await endBrowser();
await server.stop();
clean();

// What a terminal shows, as SVG: each run of letters of one colour is a text as wide as its cells, whatever font draws it.
function terminal(output) {
  const [wide, high, edge] = [8, 19, 18];
  const colours = { 31: '#ff7b7b', 32: '#58c596', 33: '#e0b341' };
  // Blanks that follow each other stay.
  const escaped = text => text.replace(/[&<>]/g, c => `&#${c.charCodeAt(0)};`).replace(/ /g, '\u00a0');
  const lines = output.trimEnd().split('\n');
  const texts = lines.map((line, row) => {
    let [style, column] = [{}, 0];
    return line.split(/(\x1b\[[0-9;]*m)/).map(part => {
      const codes = /^\x1b\[([0-9;]*)m$/.exec(part);
      if (codes) {
        for (const code of codes[1].split(';').map(Number)) {
          style = code === 0 ? {} : code === 1 ? { ...style, bold: true } : code === 2 ? { ...style, dim: true } : { ...style, colour: colours[code] };
        }
        return '';
      }
      const cells = [...part].length;
      const at = edge + wide * column;
      column += cells;
      if (!part.trim()) return '';
      const fill = style.colour || (style.dim ? '#a3adba' : '#e6e9ee');
      return `<text x="${at}" y="${52 + row * high}" textLength="${cells * wide}" fill="${fill}"${style.bold ? ' font-weight="700"' : ''}>${escaped(part)}</text>`;
    }).join('');
  });
  const [width, height] = [2 * edge + 80 * wide, 52 + lines.length * high];
  const dots = ['#ff7b7b', '#e0b341', '#58c596'].map((fill, i) => `<circle cx="${22 + 20 * i}" cy="18" r="6" fill="${fill}"/>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace, 'DejaVu Sans Mono', monospace" font-size="13">
<title>${escaped(lines[0]).replace(/\u00a0/g, ' ')}</title>
<rect width="${width}" height="${height}" rx="8" fill="#14181f"/>${dots.join('')}
${texts.filter(Boolean).join('\n')}
</svg>
`;
}
