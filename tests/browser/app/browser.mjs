// Debian's Chromium, and what a page says or does that it should not.

import axe from 'axe-core';
import { chromium } from 'playwright-core';
import { later } from './clean.mjs';
import { PATIENCE, until } from './wait.mjs';

let browser;

export async function chrome() {
  if (browser) return browser;
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-gpu', '--font-render-hinting=none', '--js-flags=--expose-gc'],
    // This program ends by itself and takes the browser along.
    handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false,
  });
  return browser;
}

export async function endBrowser() {
  await browser?.close();
  browser = undefined;
}

/** A visitor of a server: a context of its own, whose tabs open addresses with the token unless told otherwise. */
export async function visitor(server, { width = 1280, height = 800, scheme = 'light', token = true, ...more } = {}) {
  const context = await (await chrome()).newContext({ viewport: { width, height }, colorScheme: scheme, baseURL: server.origin, locale: 'en-GB', ...more });
  context.setDefaultTimeout(PATIENCE);
  context.hasToken = token;
  await context.addInitScript(() => addEventListener('securitypolicyviolation', event => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
  return context;
}

/** A tab that notes what it says: on the console, in dialogs, to other hosts. `allow`: what may be said. */
export async function tab(context, server, { allow = [] } = {}) {
  const page = await context.newPage();
  page.server = server;
  page.said = [];
  page.open = new Set();
  const say = text => { if (!allow.some(one => one.test(text))) page.said.push(text); };
  page.on('console', message => say(`console: ${message.text()} ${message.location().url}`));
  page.on('pageerror', error => say(`error: ${error.message}`));
  page.on('dialog', dialog => {
    page.said.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  page.on('request', request => {
    const url = request.url();
    if (!url.startsWith(`${server.origin}/`) && !/^(data|blob):/.test(url)) page.said.push(`asks for ${url}`);
    // What a page did not know was part of an address.
    if (/\b(undefined|null|NaN)\b/.test(new URL(url).pathname)) page.said.push(`asks for ${url}`);
    if (request.resourceType() !== 'eventsource') page.open.add(request);
  });
  const over = request => page.open.delete(request);
  page.on('requestfinished', over);
  page.on('requestfailed', over);
  return page;
}

/** Nothing is asked for, nothing loads, and it stays so for a moment. */
export async function settled(page) {
  let since = 0;
  let loading = [];
  // As it is when patience ends.
  const what = () => `${page.url()} to settle (${[...[...page.open].map(request => request.url()), ...loading].join(' ')})`;
  await until(async () => {
    loading = await page.evaluate(() => {
      const shown = [...document.querySelectorAll('.loading, [aria-busy=true]')].filter(one => one.checkVisibility());
      const parts = shown.map(one => one.cloneNode().outerHTML);
      return document.readyState === 'complete' ? parts : [document.readyState, ...parts];
    });
    if (page.open.size || loading.length) since = 0;
    else since ||= Date.now();
    return since && Date.now() - since >= 250;
  }, what);
  await page.evaluate(() => document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))));
}

/** An address as the server prints it: the tab that opens it may write. */
export const withToken = (server, path) => `${path}#token=${server.token}`;

export async function visit(page, path) {
  await page.goto(page.context().hasToken ? withToken(page.server, path) : path, { waitUntil: 'load' });
  await settled(page);
}

/** What axe objects to. Its code comes by the debugger, which the page's policy does not hold. */
export async function accessible(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: `globalThis.axe || (() => { ${axe.source} })()` });
  const { result } = await session.send('Runtime.evaluate', {
    expression: 'globalThis.axe.run({ resultTypes: ["violations"], rules: { "target-size": { enabled: true } } })'
      + '.then(({ violations }) => violations.map(v => `${v.id} (${v.impact}): ${v.nodes.length} × ${v.nodes[0].html.slice(0, 160)} ${(v.nodes[0].failureSummary || "").split("\\n")[1] || ""}`))',
    awaitPromise: true, returnByValue: true,
  });
  await session.detach();
  return result.value ?? [`axe did not run: ${result.description}`];
}

later(() => { browser?.close().catch(() => {}); });
