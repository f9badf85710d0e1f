// From opening the app to a verdict, by pointer and by keyboard, and what several tabs see of it.

import assert from 'node:assert/strict';
import { settled, tab, visit, visitor } from './browser.mjs';
import { newHome, Server } from './server.mjs';

/** A new server without any history, and a visitor who is gone afterwards. */
export const fresh = (run, options = []) => async () => {
  const server = await new Server(newHome(), options).start();
  const context = await visitor(server);
  try {
    await run({ server, context });
  } finally {
    await context.close();
    await server.stop();
  }
};

/** Nothing was said on the console, asked in a dialog or sent to another host. */
export const silent = (...pages) => pages.forEach(page => assert.deepEqual(page.said, []));

const threeClicks = async ({ server, context }) => {
  await context.addInitScript(() => addEventListener('click', event => {
    if (event.isTrusted) sessionStorage.setItem('clicks', Number(sessionStorage.getItem('clicks')) + 1);
  }, true));
  const page = await tab(context, server);
  // As the address is printed: with the token, which leaves it at once.
  await page.goto(server.address);
  await page.getByRole('article').filter({ hasText: /fake 1 TB/i }).getByRole('button', { name: 'Check this card' }).click();
  await page.getByText('Return it.').first().waitFor();
  assert.ok(!page.url().includes(server.token), 'the token left the address');
  const clicks = Number(await page.evaluate(() => sessionStorage.getItem('clicks')));
  assert.ok(clicks >= 1 && clicks <= 3, `${clicks} clicks`);
  await page.getByText('FAKE').first().waitFor();
  await settled(page);
  silent(page);
};

/** Tab until something has the focus; as few steps as a page may ask for. */
export async function tabTo(page, selector, most = 60) {
  for (let step = 0; step < most; step += 1) {
    if (await page.evaluate(wanted => document.activeElement?.matches(wanted), selector)) return step;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${selector} is not reached by ${most} presses of Tab on ${page.url()}`);
}

const keyboardCheck = async ({ server, context }) => {
  const page = await tab(context, server);
  await visit(page, '/');
  await tabTo(page, 'article button');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/live/*');
  await page.getByRole('heading', { level: 1 }).waitFor();
  silent(page);
};

const keyboardWeight = async ({ server, context }) => {
  const page = await tab(context, server);
  await visit(page, '/');
  await tabTo(page, 'nav a[href="/rank"]');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/rank');
  await settled(page);
  await tabTo(page, 'input[type=range]');
  const share = () => page.locator('.weights b').first().textContent();
  const before = await share();
  for (let press = 0; press < 30; press += 1) await page.keyboard.press('ArrowRight');
  await page.waitForURL(/[?&]w\./);
  assert.notEqual(await share(), before, 'the weight is another one');
  await settled(page);
  assert.ok(await page.locator('tbody tr').count() > 3, 'an order is shown');
  silent(page);
};

const keyboardSkip = async ({ server, context }) => {
  const page = await tab(context, server);
  await visit(page, '/');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the page');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  assert.ok(await page.evaluate(() => Boolean(document.activeElement.closest('main'))), 'the next stop is in the page');
};

const tokenPage = async ({ server }) => {
  const context = await visitor(server, { token: false });
  try {
    const page = await tab(context, server, { allow: [/401/] });
    await visit(page, '/cards?q=lexar');
    await page.getByRole('heading', { name: /address that Cardscope printed/ }).waitFor();
    const field = page.getByLabel(/address, or the token/);
    await field.fill('not a token');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('No token found').waitFor();
    await field.fill(`0123456789abcdef${'0'.repeat(48)}`);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('This server does not know this token').waitFor();
    await page.getByLabel(/address, or the token/).fill(`  ${server.address} `);
    await page.getByRole('button', { name: 'Open' }).click();
    // And the page that was asked for is there.
    await page.getByRole('heading', { name: 'Cards', exact: true }).waitFor();
    assert.ok(page.url().endsWith('/cards?q=lexar'));
    silent(page);
  } finally {
    await context.close();
  }
};

export const tests = [
  { name: 'three clicks from the start to “Return it.”', run: fresh(threeClicks) },
  { name: 'keyboard: from the address to a started check', run: fresh(keyboardCheck) },
  { name: 'keyboard: from Home to a changed weight', run: fresh(keyboardWeight) },
  { name: 'keyboard: past the navigation', run: fresh(keyboardSkip) },
  { name: 'a browser without a token is let in by the printed address', run: fresh(tokenPage) },
];
