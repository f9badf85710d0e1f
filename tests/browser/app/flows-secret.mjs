// Who may write: the secret of the address stays in one tab, is never sent to another program that took the port, and consent names
// the card that was shown.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { settled, tab, visit, visitor } from './browser.mjs';
import { later } from './clean.mjs';
import { fresh, silent } from './flows-start.mjs';
import { noDevice, Rig, SMALL } from './rig.mjs';
import { fioLog } from './seed.mjs';
import { newHome, run, Server } from './server.mjs';
import { pause, until } from './wait.mjs';

const OFFLINE = [/ERR_|Failed to load resource/];
const RESTARTED = 'Cardscope was restarted: open its new address.';
const READS = /This tab only reads/;

/** Files of the app, as a program would have them that looks like Cardscope. */
async function filesOf(server) {
  const files = new Map();
  const waiting = ['/'];
  for (let path = waiting.pop(); path; path = waiting.pop()) {
    const answer = await fetch(server.origin + path);
    const body = Buffer.from(await answer.arrayBuffer());
    files.set(path, { type: answer.headers.get('content-type'), body });
    if (!/html|javascript/.test(answer.headers.get('content-type'))) continue;
    for (const [, name] of body.toString().matchAll(/(assets\/[\w.-]+\.(?:js|css))/g)) if (!files.has(`/${name}`)) waiting.push(`/${name}`);
  }
  return files;
}

/** Another program, which answers on a server's port as the server did and notes what it is sent. */
class Impostor {
  requests = [];

  static async copy(server) {
    const impostor = new Impostor();
    impostor.files = await filesOf(server);
    impostor.answers = new Map();
    for (const path of ['devices', 'host', 'tasks', 'sessions', 'journals', 'jobs', 'cards', 'recipes', 'simulated']) impostor.answers.set(`/api/${path}`, await server.ask('GET', `/api/${path}`));
    return impostor;
  }

  async listen(port) {
    this.server = createServer((request, response) => {
      const { pathname } = new URL(request.url, 'http://127.0.0.1');
      this.requests.push({ what: `${request.method} ${request.url}`, path: pathname, headers: request.headers });
      const json = value => response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
      if (pathname === '/api/events') response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': hello\n\n');
      else if (pathname === '/api/proof') json({ proof: '5a'.repeat(32) });
      else if (pathname.startsWith('/api/')) json(this.answers.get(pathname) ?? {});
      else {
        const file = this.files.get(pathname) ?? this.files.get('/');
        response.writeHead(200, { 'Content-Type': file.type }).end(file.body);
      }
    });
    await until(() => new Promise((done, failed) => this.server.once('error', failed).listen(port, '127.0.0.1', () => done(true))), `port ${port}`);
    this.forget = later(() => this.server.close());
    return this;
  }

  async close() {
    this.server.closeAllConnections();
    await new Promise(done => this.server.close(done));
    this.forget();
  }

  /** Requests that show a secret. */
  get betrayed() {
    return this.requests.filter(({ headers }) => headers['cardscope-token'] !== undefined || headers.cookie !== undefined).map(({ what }) => what);
  }
}

/** Chromium without a window shows every tab: what a page sees of being hidden is set here. `then` runs in the same turn. */
const hide = (page, hidden, then = () => {}) => page.evaluate(`(() => {
  for (const [name, value] of [['hidden', ${hidden}], ['visibilityState', '${hidden ? 'hidden' : 'visible'}']]) Object.defineProperty(document, name, { value, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
  (${then})();
})()`);

const paste = async (page, text) => {
  await page.getByLabel(/address, or the token/).fill(text);
  await page.getByRole('button', { name: 'Open', exact: true }).click();
};
const checkFake = page => page.getByRole('article').filter({ hasText: /fake 1 TB/i }).getByRole('button', { name: 'Check this card' }).click();

/** Whatever a person does in the open tabs while another program has the port, it is sent neither token nor cookie. */
const visibleTakeover = async ({ server, context }) => {
  run(server.home, 'verify', 'sim:sandian-1tb-52g');
  const { sessions } = await server.ask('GET', '/api/sessions');
  const [page, session] = [await tab(context, server, { allow: OFFLINE }), await tab(context, server, { allow: OFFLINE })];
  await visit(page, '/cards');
  await page.getByRole('link', { name: 'Home' }).click();
  await page.getByText('FAKE').first().waitFor();
  await visit(session, `/sessions/${encodeURIComponent(sessions[0].session)}`);
  const impostor = await Impostor.copy(server);
  await server.stop('SIGKILL');
  await impostor.listen(server.port);
  for (const one of [page, session]) await one.getByText(RESTARTED).waitFor();
  // What was shown stays.
  await page.getByText('FAKE').first().waitFor();
  await checkFake(page);
  await page.getByRole('article').getByText(RESTARTED).waitFor();
  for (const name of ['Cards', 'Rank', 'Live', 'Doctor', 'Home']) await page.getByRole('link', { name, exact: true }).click();
  await page.locator('main').getByText(RESTARTED).first().waitFor();
  // A download, and links that would open another tab.
  let loaded = 0;
  session.on('download', () => { loaded += 1; });
  context.on('page', () => { loaded += 1; });
  await session.getByRole('link', { name: 'HTML' }).click();
  await session.getByRole('link', { name: 'JSON' }).click({ button: 'middle' });
  await session.getByRole('link', { name: 'All measurements' }).click({ modifiers: ['Control'] });
  await hide(page, true);
  await hide(page, false);
  // Nor does it learn a token that somebody pastes.
  await paste(page, server.token);
  await page.getByText('This server does not know this token').waitFor();
  await pause(2000);
  assert.deepEqual(impostor.betrayed, []);
  assert.equal(loaded, 0, 'nothing was downloaded or opened');
  assert.ok(impostor.requests.length > 2, 'it was asked whether it is there');
  await impostor.close();
  await server.start();
  await paste(page, server.address);
  await page.getByRole('region', { name: 'Connection' }).waitFor({ state: 'detached' });
  await checkFake(page);
  await page.waitForURL('**/live/*');
  await page.getByText('Return it.').first().waitFor();
  silent(page, session);
};

/** A hidden tab has no event stream and does not see the server go: when it is shown, it asks for a proof first. */
const hiddenTakeover = async ({ server, context }) => {
  const page = await tab(context, server, { allow: OFFLINE });
  await visit(page, '/');
  await hide(page, true);
  const impostor = await Impostor.copy(server);
  await server.stop('SIGKILL');
  await impostor.listen(server.port);
  await pause(500);
  assert.deepEqual(impostor.requests.map(({ what }) => what), [], 'a hidden tab asks for nothing');
  await hide(page, false, () => {
    document.querySelector('article button').click();
    document.querySelector('nav a[href="/cards"]').click();
  });
  await page.getByText(RESTARTED).first().waitFor();
  await pause(1000);
  assert.deepEqual(impostor.betrayed, []);
  assert.ok(impostor.requests.every(({ path }) => path === '/api/proof'), impostor.requests.map(({ what }) => what).join(', '));
  await impostor.close();
  await server.start();
  await paste(page, server.address);
  await page.getByRole('heading', { name: 'Cards', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Home' }).click();
  await checkFake(page);
  await page.waitForURL('**/live/*');
  silent(page);
};

/** The server that is still the same goes on, and is asked for a proof before anything else. */
const hiddenAndSame = async ({ server, context }) => {
  const page = await tab(context, server);
  await visit(page, '/');
  await hide(page, true);
  const asked = [];
  page.on('request', request => asked.push(new URL(request.url()).pathname));
  await hide(page, false, () => document.querySelector('nav a[href="/cards"]').click());
  await page.getByRole('heading', { name: 'Cards', exact: true }).waitFor();
  assert.equal(asked[0], '/api/proof');
  assert.equal(asked.filter(path => path === '/api/proof').length, 1);
  await page.getByRole('link', { name: 'Home' }).click();
  await server.tested({ verb: 'verify', target: 'sim:sandian-1tb-52g' });
  await page.getByText('FAKE').first().waitFor();
  silent(page);
};

/** A program of another user, on another port of this computer: browsers send it the cookies of all ports. */
const otherPort = async ({ server, context }) => {
  const page = await tab(context, server);
  await visit(page, '/');
  const seen = [];
  const other = createServer((request, response) => {
    seen.push(request.headers);
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>other</title>');
  });
  await new Promise(done => other.listen(0, '127.0.0.1', done));
  try {
    await (await context.newPage()).goto(`http://127.0.0.1:${other.address().port}/`);
  } finally {
    other.close();
  }
  assert.ok(seen.length > 0 && seen.every(headers => headers['cardscope-token'] === undefined));
  const all = seen.map(({ cookie }) => cookie ?? '').join('; ');
  assert.ok(!all.includes(server.token), 'the cookie is not the token');
  const value = new RegExp(`cardscope-${server.port}=([^;]+)`).exec(all)?.[1];
  assert.ok(value, `the cookie that reads: ${all}`);
  const cookie = `cardscope-${server.port}=${value}`;
  assert.equal((await fetch(`${server.origin}/api/devices`, { headers: { cookie } })).status, 200, 'it reads');
  const order = { method: 'POST', body: JSON.stringify({ verb: 'check', target: 'sim:sandian-1tb-52g', options: {} }) };
  const writes = [['/api/tasks', order], ['/api/session', { method: 'POST' }], ['/api/uploads?name=x', { method: 'POST', body: 'x' }], ['/api/tasks/x', { method: 'DELETE' }], ['/api/cards/x', { method: 'PATCH', body: '{}' }], ['/api/devices/sda/unmount', { method: 'POST', body: '{}' }]];
  for (const [path, init] of writes) {
    for (const secret of [{ cookie }, { 'Cardscope-Token': value }, { cookie, 'Cardscope-Token': value }]) {
      const headers = { 'Content-Type': 'application/json', ...secret };
      assert.equal((await fetch(server.origin + path, { ...init, headers })).status, 401, `${init.method} ${path} with ${Object.keys(secret)}`);
    }
  }
  assert.deepEqual((await server.ask('GET', '/api/tasks')).tasks, []);
  silent(page);
};

/** A reload, a bookmark or another tab has no secret: it reads, follows tests, and says why it does nothing else. */
const readingTabs = async ({ server, context }) => {
  run(server.home, 'verify', 'sim:sandian-1tb-52g');
  const first = await tab(context, server);
  await visit(first, '/');
  await first.reload();
  const second = await tab(context, server);
  await second.goto('/');
  for (const page of [first, second]) {
    const writes = [];
    page.on('request', request => { if (request.method() !== 'GET' && !/\/api\/(rank|recipes\/check)$/.test(request.url())) writes.push(`${request.method()} ${request.url()}`); });
    await page.getByRole('region', { name: 'Reading only' }).getByText(READS).waitFor();
    await page.getByText('FAKE').first().waitFor();
    await checkFake(page);
    await page.getByRole('article').getByText(READS).waitFor();
    const { sessions } = await server.ask('GET', '/api/sessions');
    for (const path of page === second ? ['/live'] : ['/live', '/cards', `/sessions/${encodeURIComponent(sessions[0].session)}`, '/compare', '/rank', '/recipes/quick', '/recipes/quick?edit=1', '/simulator', '/simulator/lexar-16g-c10', '/doctor']) {
      await page.goto(path);
      await settled(page);
      const alerts = await page.locator('main [role=alert]:not(:empty)').allInnerTexts();
      assert.deepEqual(alerts, [], path);
      assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, path);
    }
    await page.goto(`/sessions/${encodeURIComponent(sessions[0].session)}`);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'JSON' }).click();
    assert.equal(await (await download).failure(), null);
    await page.goto('/import');
    await page.locator('input[type=file]').setInputFiles([{ name: 'fio.json', mimeType: 'text/plain', buffer: Buffer.from(fioLog()) }]);
    await page.getByRole('list', { name: 'Files' }).getByText(READS).waitFor();
    assert.deepEqual(writes, [], 'nothing was sent');
  }
  // The event stream is for readers, too.
  await first.goto('/');
  await settled(first);
  await server.tested({ verb: 'verify', target: 'sim:sandisk-extremepro-32g-a1' });
  await first.getByText('PASSED').first().waitFor();
  await first.getByText(READS).first().click();
  await paste(first, server.address);
  await first.getByRole('region', { name: 'Reading only' }).waitFor({ state: 'detached' });
  await checkFake(first);
  await first.waitForURL('**/live/*');
  silent(first, second);
};

/** An address of an earlier start; and one that belongs to another server is opened there, so that this one does not learn it. */
const otherAddress = async ({ server }) => {
  const context = await visitor(server, { token: false });
  const other = await new Server(newHome()).start();
  try {
    const page = await tab(context, server, { allow: [/401/, new RegExp(other.origin)] });
    const sent = [];
    page.on('request', request => { if (request.url().startsWith(server.origin)) sent.push(JSON.stringify([request.url(), request.headers()])); });
    await page.goto(`/#token=${'0123456789abcdef'.repeat(4)}`);
    await page.getByRole('heading', { name: 'This token is not valid any more' }).waitFor();
    assert.ok(!page.url().includes('token'));
    await paste(page, other.address);
    await page.waitForURL(`${other.origin}/**`);
    await page.getByRole('heading', { name: 'Cards in this computer' }).waitFor();
    assert.ok(!sent.some(text => text.includes(other.token)), 'this server did not learn the token of the other one');
    page.said = page.said.filter(text => !text.startsWith(`asks for ${other.origin}/`));
    silent(page);
  } finally {
    await context.close();
    await other.stop();
  }
};

/** The secret is in no storage, no cookie that scripts read, and no address. */
const notStored = async ({ server, context }) => {
  await context.addInitScript(() => { if (location.pathname === '/' && !sessionStorage.getItem('seen')) localStorage.setItem('cardscope-token', 'of an earlier version'); });
  const page = await tab(context, server);
  await visit(page, '/');
  await page.evaluate(() => sessionStorage.setItem('seen', '1'));
  for (const name of ['Cards', 'Rank', 'Home']) await page.getByRole('link', { name, exact: true }).click();
  // And by a hash that arrives later.
  await page.evaluate(token => { location.hash = `token=${token}`; }, server.token);
  await until(() => !page.url().includes('token'), 'the token to leave the address');
  await checkFake(page);
  await page.waitForURL('**/live/*');
  await page.getByText('Return it.').first().waitFor();
  const kept = await page.evaluate(async () => JSON.stringify([
    { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state, document.documentElement.outerHTML, await indexedDB.databases(), await caches.keys(),
  ]));
  assert.ok(!kept.includes(server.token), 'it is not kept');
  assert.equal(await page.evaluate(() => localStorage.getItem('cardscope-token')), null, 'what an earlier version kept is gone');
  const session = await context.newCDPSession(page);
  const { entries } = await session.send('Page.getNavigationHistory');
  assert.ok(entries.length > 2 && entries.every(({ url }) => !url.includes(server.token)), entries.map(({ url }) => url).join(' '));
  for (const cookie of await context.cookies()) {
    assert.notEqual(cookie.value, server.token);
    assert.ok(cookie.httpOnly && cookie.sameSite === 'Strict', JSON.stringify(cookie));
  }
  silent(page);
};

const DEVICE = {
  name: 'sdz', path: '/dev/sdz', object: 'object-a', bytes: 64_000_000_000, bus: 'usb', model: 'First card', removable: true, read_only: false, empty: false,
  partitions: [], filesystem: null, mounted_at: [], mounted: false, safe: true, reason: null, advice: null, can_unmount: false, task: null,
};

/** Changes what the server answers. */
const answered = (page, path, change) => page.route(path, async route => {
  try {
    // A server that ends with its test answers no more: the page meets what it would without this.
    const response = await route.fetch().catch(() => undefined);
    if (!response) return await route.abort();
    await route.fulfill({ response, json: change(await response.json()) });
  } catch (wrong) {
    // The last request of a page may be underway when its test ends.
    if (!/disposed|closed/.test(wrong.message)) throw wrong;
  }
  return undefined;
});

/** A list of devices that a test makes, and the requests that are about them. */
const withDevices = async (page, made) => {
  const sent = [];
  await answered(page, '**/api/devices', body => ({ ...body, devices: made.devices }));
  await answered(page, '**/api/journals', body => ({ ...body, journals: made.journals ?? [] }));
  for (const path of ['**/api/tasks', '**/api/devices/*/unmount']) {
    await page.route(path, route => {
      if (route.request().method() !== 'POST') return route.continue();
      sent.push(route.request().postDataJSON());
      return route.fulfill({ status: 409, json: { error: 'the card was changed: look at it again' } });
    });
  }
  return sent;
};
/** The list is asked for again when the tab is shown. */
const refresh = async page => {
  await hide(page, true);
  await Promise.all([page.waitForResponse('**/api/devices'), hide(page, false)]);
};

/** Consent counts for the card that was shown while it was typed. */
const consentCleared = async ({ server, context }) => {
  const page = await tab(context, server, { allow: [/409/] });
  const made = { devices: [DEVICE] };
  const sent = await withDevices(page, made);
  for (const [at, name] of [['/live?verb=verify&full=1&target=/dev/sdz', 'Erase and start'], ['/recipes/quick?edit=1&target=/dev/sdz', 'Run']]) {
    made.devices = [DEVICE];
    await visit(page, at);
    const [field, start] = [page.getByLabel('Type /dev/sdz to agree'), page.getByRole('button', { name, exact: true })];
    const changed = page.getByText('The card was changed.');
    await field.pressSequentially('/dev/sdz');
    assert.ok(await start.isEnabled());
    await refresh(page);
    await settled(page);
    assert.equal(await field.inputValue(), '/dev/sdz', 'the same card needs no new consent');
    assert.equal(await changed.count(), 0);
    made.devices = [{ ...DEVICE, object: 'object-b', model: 'Second card' }];
    await refresh(page);
    await changed.waitFor();
    assert.equal(await field.inputValue(), '');
    assert.ok(await start.isDisabled());
    await page.getByRole('group', { name: 'Consent' }).getByText('Second card').waitFor();
    await field.pressSequentially('/dev/sdz');
    // A card that was out for a moment may be another one.
    made.devices = [];
    await refresh(page);
    await until(async () => await field.inputValue() === '', 'the consent to be cleared');
    made.devices = [{ ...DEVICE, object: 'object-c', model: 'Third card' }];
    await refresh(page);
    await page.getByRole('group', { name: 'Consent' }).getByText('Third card').waitFor();
    await field.pressSequentially('/dev/sdz');
    const asked = page.waitForRequest('**/api/devices');
    await start.click();
    await page.getByText('the card was changed: look at it again').waitFor();
    await asked;
    assert.equal(sent.at(-1).object, 'object-c');
    assert.equal(sent.at(-1).confirm, '/dev/sdz');
  }
  silent(page);
};

/** Each order, unmounting and restoring names the card; a simulated one has no name of that kind. */
const namesObject = async ({ server, context }) => {
  const page = await tab(context, server, { allow: [/409/] });
  const journal = { name: 'j1', target: '/dev/sdz', card: 'First card', verb: 'verify', began: '2026-01-01T10:00:00Z', saved_bytes: 1_000_000, state: 'waits', command: 'cardscope restore j1', stored_bytes: 1_000_000 };
  const made = { devices: [DEVICE, { ...DEVICE, name: 'sdy', path: '/dev/sdy', object: 'object-y', safe: false, mounted: true, can_unmount: true, reason: 'it is mounted' }], journals: [journal] };
  const sent = await withDevices(page, made);
  await visit(page, '/');
  const restore = page.getByRole('button', { name: 'Restore the data' });
  const presses = [
    [page.getByRole('article').filter({ hasText: '/dev/sdz' }).getByRole('button', { name: 'Check this card' }), 'object-a'],
    [page.getByRole('button', { name: 'Unmount' }), 'object-y'],
    [restore, 'object-a'],
    [page.getByRole('article').filter({ hasText: 'simulated' }).first().getByRole('button', { name: 'Check this card' }), undefined],
  ];
  for (const [button, object] of presses) {
    await button.click();
    await until(() => sent.length > 0, 'the request');
    assert.equal(sent.shift().object, object);
    await settled(page);
  }
  await page.getByText('the card was changed: look at it again').first().waitFor();
  // Without its card there is nothing to restore to.
  made.devices = [];
  await refresh(page);
  await page.getByText('Insert the card and unmount it first').waitFor();
  assert.ok(await restore.isDisabled());
  silent(page);
};

/** The server's own sentence about another card, and the list of devices as it is now. */
const staleObject = async ({ server, context }) => {
  const rig = await Rig.plug(SMALL);
  try {
    const page = await tab(context, server, { allow: [/409/] });
    await until(async () => (await server.ask('GET', '/api/devices')).devices.some(one => one.path === rig.device && one.safe), `${rig.device} in the list`);
    let stale = true;
    await answered(page, '**/api/devices', body => ({ ...body, devices: body.devices.map(one => ({ ...one, object: stale ? `${one.object}0` : one.object })) }));
    await visit(page, '/');
    const tile = page.getByRole('article').filter({ has: page.getByText(rig.device, { exact: true }) });
    stale = false;
    await Promise.all([page.waitForResponse('**/api/devices'), tile.getByRole('button', { name: 'Check this card' }).click()]);
    const sentence = await tile.getByRole('alert').innerText();
    assert.match(sentence, /changed|another|not the/i);
    if (process.env.VERBOSE) console.log(`    ${sentence}`);
    assert.deepEqual((await server.ask('GET', '/api/tasks')).tasks, []);
    await settled(page);
    await tile.getByRole('button', { name: 'Check this card' }).click();
    await page.waitForURL('**/live/*');
    await page.getByRole('button', { name: 'Stop' }).click();
    silent(page);
  } finally {
    await server.stop();
    rig.unplug();
  }
};

export const tests = [
  { name: 'secret: another program takes the port of a visible tab', run: fresh(visibleTakeover) },
  { name: 'secret: another program takes the port of a hidden tab', run: fresh(hiddenTakeover) },
  { name: 'secret: a tab that was hidden asks for a proof and goes on', run: fresh(hiddenAndSame) },
  { name: 'secret: a server on another port learns nothing that writes', run: fresh(otherPort) },
  { name: 'secret: a reload and another tab only read', run: fresh(readingTabs) },
  { name: 'secret: an old address, and that of another server', run: fresh(otherAddress) },
  { name: 'secret: it is stored nowhere', run: fresh(notStored) },
  { name: 'consent: another card clears it', run: fresh(consentCleared) },
  { name: 'consent: every order names its card', run: fresh(namesObject) },
  { name: 'consent: the server refuses a card that was changed', skip: noDevice(), run: fresh(staleObject, ['--all']) },
];
