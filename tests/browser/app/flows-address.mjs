// Every view has an address: filters, selection, weights and knobs come back by it, and by the browser's own buttons.

import assert from 'node:assert/strict';
import { settled, tab, visit, visitor } from './browser.mjs';
import { seeded } from './seed.mjs';
import { Server } from './server.mjs';
import { silent } from './flows-start.mjs';
import { until } from './wait.mjs';

let starting, server;
const known = run => async () => {
  server = await (starting ??= new Server(seeded()).start());
  const context = await visitor(server);
  try {
    await run(context);
  } finally {
    await context.close();
  }
};

/** The same address in a browser that has never been here. */
const elsewhere = async (url, look) => {
  const context = await visitor(server);
  try {
    const page = await tab(context, server);
    await visit(page, url);
    await look(page);
    silent(page);
  } finally {
    await context.close();
  }
};
const titles = page => page.locator('[role=table] [role=rowheader]').allInnerTexts();

const filters = known(async context => {
  const page = await tab(context, server);
  await visit(page, '/cards');
  await page.getByRole('combobox', { name: 'Brand' }).selectOption('Brand B');
  await page.getByRole('searchbox', { name: 'Search' }).fill('64GB');
  await page.getByRole('button', { name: 'RND4K Q32T1 read' }).click();
  await page.waitForURL(url => url.searchParams.get('q') === '64GB' && url.searchParams.get('brand') === 'Brand B' && url.searchParams.get('sort') === 'RND4K Q32T1 read');
  await page.getByText(/^\d+ of \d+ cards$/).waitFor();
  await settled(page);
  const shown = await titles(page);
  assert.ok(shown.length > 0 && shown.every(title => /Brand B/.test(title) && /64GB/.test(title)), shown.join(' · '));
  await elsewhere(page.url(), async other => {
    assert.deepEqual(await titles(other), shown);
    assert.equal(await other.getByRole('searchbox', { name: 'Search' }).inputValue(), '64GB');
    assert.equal(await other.getByRole('combobox', { name: 'Brand' }).inputValue(), 'Brand B');
  });
  // To a card and back.
  await page.locator('[role=rowheader] a').first().click();
  await page.waitForURL('**/cards/*');
  await settled(page);
  await page.goBack();
  await until(async () => JSON.stringify(await titles(page)) === JSON.stringify(shown), 'the list as it was');
  await page.goForward();
  await page.waitForURL('**/cards/*');
  await page.getByRole('heading', { level: 1 }).filter({ hasText: 'Brand B' }).waitFor();
  silent(page);
});

const selection = known(async context => {
  const page = await tab(context, server);
  await visit(page, '/cards?q=Brand+C&sort=title');
  const boxes = page.getByRole('checkbox', { name: /^Select / });
  const names = [await boxes.nth(0).getAttribute('aria-label'), await boxes.nth(1).getAttribute('aria-label')].map(label => label.slice('Select '.length));
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  await page.getByText('2 cards selected').waitFor();
  await page.getByRole('region', { name: 'Selection' }).getByRole('link', { name: 'Compare' }).click();
  await page.waitForURL('**/compare?*');
  await settled(page);
  for (const name of names) await page.getByRole('list', { name: 'Cards compared' }).getByText(name).waitFor();
  await elsewhere(page.url(), async other => {
    for (const name of names) await other.getByRole('list', { name: 'Cards compared' }).getByText(name).waitFor();
  });
  await page.getByRole('button', { name: `Remove ${names[0]}` }).click();
  await page.getByRole('list', { name: 'Cards compared' }).getByText(names[0]).waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('list', { name: 'Cards compared' }).getByText(names[0]).waitFor();
  await page.goBack();
  await page.getByText('2 cards selected').waitFor();
  assert.ok(await boxes.nth(0).isChecked() && await boxes.nth(1).isChecked(), 'both are still selected');
  silent(page);
});

const weights = known(async context => {
  const page = await tab(context, server);
  await visit(page, '/rank');
  const job = page.getByRole('combobox', { name: 'Job' });
  await job.selectOption('game-load');
  await page.waitForURL(/job=game-load/);
  await settled(page);
  const [first, second] = [page.getByRole('slider').nth(0), page.getByRole('slider').nth(1)];
  await first.fill('0.1');
  await second.fill('0.9');
  await page.waitForURL(url => [...url.searchParams.keys()].filter(key => key.startsWith('w.')).length === 2);
  await settled(page);
  const order = one => one.locator('tbody tr').allInnerTexts();
  const shares = one => one.locator('.weights b').allTextContents();
  // The order follows the last position.
  await until(async () => {
    const before = await order(page);
    await settled(page);
    return JSON.stringify(before) === JSON.stringify(await order(page));
  }, 'the order to rest');
  const [rows, share] = [await order(page), await shares(page)];
  assert.deepEqual(share, ['10 %', '90 %']);
  await elsewhere(page.url(), async other => {
    assert.deepEqual(await shares(other), share);
    await until(async () => JSON.stringify(await order(other)) === JSON.stringify(rows), 'the same order');
  });
  await page.goBack();
  await until(async () => await job.inputValue() !== 'game-load', 'the job before');
  await page.goForward();
  await until(async () => JSON.stringify(await shares(page)) === JSON.stringify(share), 'the weights again');
  await page.getByRole('button', { name: 'Weights of the job' }).click();
  await page.waitForURL(url => !/w\./.test(url.search));
  silent(page);
});

/** A slider that is dragged: the order follows while it moves, and the history does not grow. */
const dragged = known(async context => {
  const page = await tab(context, server);
  await visit(page, '/rank?job=game-load');
  const before = await page.evaluate(() => history.length);
  const asked = [];
  page.on('request', request => { if (request.url().endsWith('/api/rank')) asked.push(request); });
  const box = await page.getByRole('slider').first().boundingBox();
  await page.mouse.move(box.x + box.width * .9, box.y + box.height / 2);
  await page.mouse.down();
  for (let step = 0; step <= 60; step += 1) await page.mouse.move(box.x + box.width * (.9 - step * .013), box.y + box.height / 2);
  await page.mouse.up();
  await page.waitForURL(/w\./);
  await settled(page);
  assert.equal(await page.evaluate(() => history.length), before);
  assert.ok(asked.length >= 1 && asked.length < 60, `${asked.length} questions`);
  silent(page);
});

const knobs = known(async context => {
  const page = await tab(context, server);
  await visit(page, '/simulator/lexar-16g-c10');
  const text = '32 KiB';
  const knob = one => one.getByRole('group', { name: 'Page' });
  await knob(page).getByText(text, { exact: true }).click();
  await page.waitForURL(/\?/);
  await settled(page);
  const chosen = one => knob(one).locator('label.chosen').innerText();
  assert.equal((await chosen(page)).trim(), text);
  const truth = await page.locator('.target code').innerText();
  assert.ok(truth.includes('?'), truth);
  await elsewhere(page.url(), async other => {
    assert.equal((await chosen(other)).trim(), text);
    assert.equal(await other.locator('.target code').innerText(), truth);
  });
  await page.getByRole('link', { name: 'All simulated cards' }).click();
  await page.waitForURL('**/simulator');
  await page.goBack();
  await until(async () => (await chosen(page)).trim() === text, 'the knob as it was turned');
  await page.getByRole('button', { name: 'Back to the original' }).click();
  await page.waitForURL(url => url.search === '');
  silent(page);
});

/** An address that nobody made: whatever it says, there is a page. */
const nonsense = known(async context => {
  const page = await tab(context, server, { allow: [/status of 4\d\d/] });
  const problems = [];
  for (const path of [
    '/cards?min_bytes=lots&max_price=x&sort=nothing&offset=-3', '/rank?job=nothing&host=nobody&w.x=1e999', '/simulator/lexar-16g-c10?nope=1&knobbytes=-7',
    '/simulator/nothing', '/recipes/nothing?edit=1', '/live?verb=nothing&target=%2Fetc%2Fpasswd', '/live/nothing', '/sessions/nothing', '/sessions?offset=99999999',
    '/compare?card=nothing&card=nothing', '/cards/%E0%A4%A', `/cards?q=${'long '.repeat(300)}`,
  ]) {
    await visit(page, path);
    const text = await page.locator('main').innerText();
    assert.ok(text.trim().length > 10, `${path} shows “${text}”`);
    const wrong = /.*(undefined|\bNaN\b|\[object|cannot be shown|TypeError).*/.exec(text)?.[0];
    if (wrong) problems.push(`${path} shows “${wrong}”`);
  }
  assert.deepEqual(problems, []);
  silent(page);
});

export const tests = [
  { name: 'address: filters and order of the list', run: filters },
  { name: 'address: selected cards, to Compare and back', run: selection },
  { name: 'address: weights of a job', run: weights },
  { name: 'address: a dragged weight does not flood the history', run: dragged },
  { name: 'address: knobs of a simulated card', run: knobs },
  { name: 'address: nonsense in it shows a page that says so', run: nonsense },
].map(test => ({ ...test, beside: true }));
