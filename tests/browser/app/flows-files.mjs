// Files that are dropped, recipes that are written, names that are hostile.

import assert from 'node:assert/strict';
import { openSync, ftruncateSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { settled, tab, visit } from './browser.mjs';
import { fioLog } from './seed.mjs';
import { run } from './server.mjs';
import { fresh, silent } from './flows-start.mjs';
import { until } from './wait.mjs';

const text = (name, content) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) });
const RTL = 'card \u202egol.exe\u202c \u200f.log';
const HOSTILE = '<img src=x onerror=alert(1)>.log';

/** Drops files as a hand does, not by the chooser. */
const drop = async (page, files) => {
  const data = await page.evaluateHandle(all => {
    const transfer = new DataTransfer();
    for (const [name, content] of all) transfer.items.add(new File([content], name));
    return transfer;
  }, files);
  await page.locator('.zone').dispatchEvent('dragover', { dataTransfer: data });
  await page.locator('.zone').dispatchEvent('drop', { dataTransfer: data });
};

const dropped = async ({ server, context }) => {
  const page = await tab(context, server);
  await visit(page, '/import');
  await drop(page, [['fio.json', fioLog()]]);
  await page.getByText(/found 1 run/i).first().waitFor();
  await page.getByRole('region', { name: 'Files' }).getByText('fio-json').waitFor();
  assert.equal((await server.ask('GET', '/api/cards?own=true')).total, 0, 'nothing is kept before it was seen');
  await page.getByRole('textbox', { name: 'Brand' }).fill('Nimbus');
  await page.getByRole('textbox', { name: 'Name' }).fill('Cirrus 128GB');
  await page.getByRole('textbox', { name: 'Marks' }).fill('U3 A2');
  await until(async () => (await page.getByRole('region', { name: 'Files' }).innerText()).includes('Cirrus'), 'the name beside the file');
  await page.getByRole('button', { name: 'Save in the archive' }).click();
  await page.getByText('Saved in the archive').waitFor();
  await page.getByRole('link', { name: 'Look at the cards' }).click();
  await page.waitForURL('**/cards*');
  await page.getByRole('searchbox', { name: 'Search' }).fill('cirrus');
  await page.getByRole('link', { name: /Cirrus/ }).click();
  await page.getByRole('heading', { level: 1 }).filter({ hasText: 'Cirrus' }).waitFor();
  await settled(page);
  const said = await page.locator('main').innerText();
  assert.match(said, /94\.4/, 'its speed in MB/s of a million bytes');
  silent(page);
};

const hostileFiles = async ({ server, context }) => {
  const page = await tab(context, server);
  await visit(page, '/import');
  await page.locator('input[type=file]').setInputFiles([text(HOSTILE, fioLog()), text(RTL, fioLog(52_428_800)), text('x'.repeat(200) + '.json', fioLog(31_457_280)), text('noise.bin', 'nothing that a tool prints')]);
  const table = page.getByRole('region', { name: 'Files' });
  await table.getByText('fio-json').first().waitFor();
  await page.getByText(HOSTILE).first().waitFor();
  // A name that turns the direction of reading turns nothing beside it.
  const turned = await page.evaluate(() => [...document.querySelectorAll('main *')].filter(one => one.childElementCount === 0 && /[\u202a-\u202e\u2066-\u2069]/.test(one.textContent) && one.localName !== 'bdi' && getComputedStyle(one).unicodeBidi !== 'isolate' && !one.closest('bdi')).map(one => one.outerHTML.slice(0, 200)));
  assert.deepEqual(turned, []);
  await table.getByText('noise.bin').waitFor();
  await page.getByRole('button', { name: 'Save in the archive' }).click();
  await page.getByText('Saved in the archive').waitFor();
  for (const path of ['/cards', '/sessions', '/', '/rank?own=1']) {
    await visit(page, path);
    assert.equal(await page.locator('main img, main script').count(), 0, path);
  }
  silent(page);
};

const tooLarge = async ({ server, context }) => {
  const path = join(server.home, 'huge.log');
  const file = openSync(path, 'w');
  ftruncateSync(file, 300_000_000);
  closeSync(file);
  const page = await tab(context, server);
  await visit(page, '/import');
  const sent = [];
  page.on('request', request => { if (request.url().includes('/api/uploads')) sent.push(request.url()); });
  await page.locator('input[type=file]').setInputFiles(path);
  await page.getByText(/larger than 268 MB/).waitFor();
  await page.getByText(/cardscope import/).waitFor();
  assert.deepEqual(sent, [], 'it is refused before it is sent');
  // Another one beside it is taken all the same.
  await page.locator('input[type=file]').setInputFiles([text('fio.json', fioLog())]);
  await page.getByRole('button', { name: 'Save in the archive' }).waitFor();
  await page.getByRole('button', { name: 'Remove huge.log' }).click();
  await page.getByText(/larger than/).waitFor({ state: 'detached' });
  silent(page);
};

/** Whoever goes past the page is refused by the server, before it has taken all of it. */
const tooLargeForServer = async ({ server }) => {
  const answer = await fetch(`${server.origin}/api/uploads?name=huge.log`, {
    method: 'POST', headers: { 'Cardscope-Token': server.token, 'Content-Type': 'application/octet-stream' }, body: Buffer.alloc(300_000_000),
  }).then(async response => `${response.status} ${await response.text()}`, error => String(error.cause ?? error));
  assert.match(answer, /^413 .*larger than|ECONNRESET|EPIPE/);
};

const recipe = async ({ server, context }) => {
  const page = await tab(context, server);
  await visit(page, '/recipes/quick');
  await page.getByRole('link', { name: 'Edit' }).click();
  const editor = page.getByLabel('Recipe as TOML');
  const lines = (await editor.inputValue()).split('\n');
  await page.locator('.said.good').waitFor();
  const at = lines.findIndex((line, i) => i > 4 && line === '');
  await editor.fill([...lines.slice(0, at), 'this is not TOML', ...lines.slice(at)].join('\n'));
  const wrong = page.locator('.lines .wrong');
  await wrong.waitFor();
  assert.equal(Number(await wrong.innerText()), at + 1);
  await page.getByText(`line ${at + 1} `).waitFor();
  assert.equal(await editor.getAttribute('aria-invalid'), 'true');
  assert.ok(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled(), 'what is wrong does not run');
  // What was changed is there after a reload.
  await page.reload();
  await until(async () => (await editor.inputValue()).includes('this is not TOML'), 'the draft after a reload');
  // A reload has no token any more; the printed address brings it back.
  await visit(page, '/recipes/quick?edit=1');
  await page.getByRole('button', { name: 'Undo all changes' }).click();
  await wrong.waitFor({ state: 'detached' });
  await page.locator('.said.good').waitFor();
  await page.getByRole('combobox', { name: 'Card' }).selectOption('sim:sandisk-256g-express');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForURL('**/live/*');
  await page.getByRole('link', { name: 'Open in the archive' }).waitFor();
  silent(page);
};

const NAME = '"><script>alert(1)</script><img src=x onerror=alert(2)>';
const hostileName = async ({ server, context }) => {
  run(server.home, 'check', 'sim:sandian-1tb-52g');
  run(server.home, 'bench', 'sim:sandisk-256g-express', '--recipe', 'quick');
  const { cards } = await server.ask('GET', '/api/cards?own=true');
  for (const { id } of cards) {
    await server.ask('PATCH', `/api/cards/${encodeURIComponent(id)}`, { set: { brand: NAME, name: `javascript:alert(3) ${NAME}`, note: `{@html ${NAME}}` }, event: { kind: 'note', date: '2026-01-01', about: NAME } })
      .catch(() => server.ask('PATCH', `/api/cards/${encodeURIComponent(id)}`, { set: { brand: NAME }, event: { kind: 'note', date: '2026-01-01', about: NAME } }));
  }
  const { sessions } = await server.ask('GET', '/api/sessions');
  const page = await tab(context, server);
  let seen = 0;
  for (const path of [
    '/', '/cards', `/cards?brand=${encodeURIComponent(NAME)}`, ...cards.map(({ id }) => `/cards/${encodeURIComponent(id)}`), `/compare?${cards.map(({ id }) => `card=${encodeURIComponent(id)}`).join('&')}`,
    '/rank?own=1', '/sessions', ...sessions.slice(0, 3).map(one => `/sessions/${encodeURIComponent(one.session)}`), '/live',
  ]) {
    await visit(page, path);
    assert.equal(await page.locator('main script, main img[src="x"]').count(), 0, path);
    if ((await page.locator('main').innerText()).includes('<script>')) seen += 1;
  }
  assert.ok(seen >= 3, `the name is shown as it is written, on ${seen} pages`);
  await visit(page, `/compare?card=${encodeURIComponent(cards[0].id)}`);
  await page.getByRole('combobox', { name: 'Add a card' }).fill('script');
  await settled(page);
  silent(page);
};

/** An address can carry anything, too. */
const hostileAddress = async ({ server, context }) => {
  const page = await tab(context, server, { allow: [/status of 4\d\d/] });
  for (const path of [`/cards?q=${encodeURIComponent(NAME)}`, `/compare?card=${encodeURIComponent(NAME)}`, `/live?target=${encodeURIComponent(NAME)}&label=${encodeURIComponent(NAME)}`, `/simulator?q=${encodeURIComponent(NAME)}`, `/${encodeURIComponent(NAME)}`, `/live/${encodeURIComponent(NAME)}`]) {
    await visit(page, path);
    assert.equal(await page.locator('main script, main img[src="x"]').count(), 0, path);
  }
  silent(page);
};

export const tests = [
  { name: 'import: a log is dropped, seen, named, kept and found', run: fresh(dropped) },
  { name: 'import: hostile names of files', run: fresh(hostileFiles) },
  { name: 'import: 300 MB are refused in the page', run: fresh(tooLarge) },
  { name: 'import: 300 MB are refused by the server', run: fresh(tooLargeForServer) },
  { name: 'recipe: an error shows at its line, a draft is kept, it runs', run: fresh(recipe) },
  { name: 'hostile name of a card executes nothing', run: fresh(hostileName) },
  { name: 'hostile address executes nothing', run: fresh(hostileAddress) },
].map(test => ({ ...test, beside: true }));
