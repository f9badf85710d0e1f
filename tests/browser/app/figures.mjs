// Figures of the app, as a table. Sizes are asserted; times depend on what else runs here and are only shown.
//
//   node figures.mjs                    first load, interactivity, 5 000 cards
//   node figures.mjs hour               an hour of a live chart; MINUTES=2 for a short one (also with CARDSCOPE_LONG)

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { endBrowser, settled, tab, visit, visitor, withToken } from './browser.mjs';
import { clean } from './clean.mjs';
import { noDevice, Rig, SMALL } from './rig.mjs';
import { spreadsheet } from './seed.mjs';
import { newHome, run, Server } from './server.mjs';
import { pause, until } from './wait.mjs';

const MOST_BYTES = 500_000;
const CARDS = 5000;
const row = (what, is, wanted = '') => {
  console.log(`${what.padEnd(58)} ${is.padStart(16)}  ${wanted}`);
};
const kB = bytes => `${(bytes / 1000).toFixed(1)} kB`;
const ms = time => `${Math.round(time)} ms`;
const middle = values => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Bytes as they crossed the wire, by file, until the page rests. */
async function load(server, path) {
  const context = await visitor(server);
  try {
    const page = await tab(context, server);
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    const urls = new Map();
    const bytes = new Map();
    session.on('Network.responseReceived', ({ requestId, response }) => urls.set(requestId, new URL(response.url).pathname));
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const url = urls.get(requestId);
      if (url) bytes.set(url, (bytes.get(url) ?? 0) + encodedDataLength);
    });
    await page.addInitScript(() => {
      globalThis.long = 0;
      new PerformanceObserver(list => list.getEntries().forEach(one => { globalThis.long = Math.max(globalThis.long, one.startTime + one.duration); })).observe({ type: 'longtask', buffered: true });
    });
    await page.goto(withToken(server, path));
    // Interactive: the page's own content is there, its button can be pressed, and no long task follows.
    await page.getByRole('button').first().waitFor();
    const seen = await page.evaluate(() => performance.now());
    await settled(page);
    const long = await page.evaluate(() => globalThis.long);
    const contentful = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0);
    return { bytes, interactive: Math.max(seen, long), contentful };
  } finally {
    await context.close();
  }
}

async function firstLoad() {
  const server = await new Server(newHome()).start();
  const { bytes } = await load(server, '/');
  const all = [...bytes].filter(([url]) => !url.startsWith('/api/'));
  const chart = all.filter(([url]) => /uplot|chart/i.test(url)).reduce((sum, [, n]) => sum + n, 0);
  const app = all.reduce((sum, [, n]) => sum + n, 0) - chart;
  row('first load without the charting library, compressed', kB(app), `at most ${kB(MOST_BYTES)}`);
  row('of it answers of the API, besides', kB([...bytes].filter(([url]) => url.startsWith('/api/')).reduce((sum, [, n]) => sum + n, 0)));
  const times = [];
  for (let turn = 0; turn < 5; turn += 1) times.push(await load(server, '/'));
  row('first contentful paint of Home (median of 5)', ms(middle(times.map(one => one.contentful))));
  row('Home interactive (median of 5)', ms(middle(times.map(one => one.interactive))), 'at most 1000 ms');
  await server.stop();
  assert.ok(app <= MOST_BYTES, `the first load has ${app} bytes`);
}

/** The longest time that the main thread was not free, and the longest that an input waited for its picture. */
const watchPauses = page => page.evaluate(() => {
  globalThis.pauses = { task: 0, event: 0, frame: 0 };
  const most = (name, type, more) => new PerformanceObserver(list => list.getEntries().forEach(one => { globalThis.pauses[name] = Math.max(globalThis.pauses[name], one.duration); })).observe({ type, ...more });
  most('task', 'longtask');
  most('event', 'event', { durationThreshold: 16 });
  let before = performance.now();
  const frame = now => {
    globalThis.pauses.frame = Math.max(globalThis.pauses.frame, now - before);
    before = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(now => { before = now; requestAnimationFrame(frame); });
});
const pauses = async (page, what) => {
  await settled(page);
  const { task, event, frame } = await page.evaluate(() => globalThis.pauses);
  row(`${what}: longest task of the main thread`, task ? ms(task) : 'below 50 ms', 'at most 100 ms');
  row(`${what}: longest wait for a picture after input`, event ? ms(event) : 'below 16 ms');
  row(`${what}: longest time between two frames`, ms(frame));
  await page.evaluate(() => { globalThis.pauses = { task: 0, event: 0, frame: 0 }; });
};

async function manyCards() {
  const home = newHome();
  const began = performance.now();
  run(home, 'import', spreadsheet(join(home, 'cards.csv'), CARDS));
  row(`${CARDS} cards imported`, ms(performance.now() - began));
  const server = await new Server(home).start();
  const context = await visitor(server);
  const page = await tab(context, server);
  const first = performance.now();
  await visit(page, '/cards?own=true');
  row(`list of ${CARDS} cards opened, the first time`, ms(performance.now() - first));
  await watchPauses(page);
  // From end to end as fast as a wheel turns, and then in leaps.
  await page.mouse.move(640, 500);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  for (let at = 0; at < height; at += 1200) await page.mouse.wheel(0, 1200);
  await until(() => page.evaluate(() => scrollY + innerHeight >= document.documentElement.scrollHeight - 5), 'the end of the list');
  await pauses(page, 'scrolling end to end');
  for (let leap = 0; leap < 20; leap += 1) await page.evaluate(share => new Promise(done => { scrollTo(0, share * document.documentElement.scrollHeight); requestAnimationFrame(() => requestAnimationFrame(done)); }), (leap * 7 % 20) / 20);
  await pauses(page, 'scrolling in leaps');
  await page.evaluate(() => scrollTo(0, 0));
  await page.getByRole('searchbox', { name: 'Search' }).pressSequentially('model 4 256', { delay: 40 });
  await page.getByText(/^\d+ of \d+ cards$/).waitFor();
  await pauses(page, 'typing into the search');
  await page.getByRole('searchbox', { name: 'Search' }).fill('');
  await page.getByRole('combobox', { name: 'Brand' }).selectOption('Brand C');
  await pauses(page, 'choosing a brand');
  await page.getByRole('button', { name: 'RND4K Q32T1 read' }).click();
  await pauses(page, 'sorting by a test');
  assert.deepEqual(page.said, []);
  await context.close();
  await server.stop();
}

/** Passes everything on to the server, and adds five moments a second of a task that never ends. */
function stub(server, seconds) {
  const began = Date.now();
  const task = {
    id: 'endless', verb: 'sustain', target: '/dev/endless', title: 'Endless card', state: 'running', queued_at: new Date().toISOString(), started_at: new Date().toISOString(), ended_at: null,
    plan: [], says: '', moment: null, findings: [], figures: [], notes: [], answer: null, tone: null, session: null, error: null, loses_data: false,
  };
  const moment = at => ({
    at, stage: 'sustained reading', stage_number: 1, stages: 1, phase: '', done: at / seconds, bytes: Math.round(at * 4e7), total_bytes: null, mb_s: 40 + 10 * Math.sin(at / 7), latency_us: 12_000 + 4000 * Math.cos(at / 3),
    celsius: 40 + 8 * Math.sin(at / 300), left_s: seconds - at, waits_for: null,
  });
  const proxy = createServer(async (request, response) => {
    const path = new URL(request.url, server.origin).pathname;
    const json = value => response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    if (path === '/api/events') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      let id = 0;
      const timer = setInterval(() => response.write(`id: ${id += 1}\nevent: moment\ndata: ${JSON.stringify({ task: task.id, ...moment((Date.now() - began) / 1000) })}\n\n`), 200);
      request.on('close', () => clearInterval(timer));
    } else if (path === '/api/tasks') json({ tasks: [task] });
    else if (path === `/api/tasks/${task.id}`) json({ ...task, moments: [] });
    else {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const answer = await fetch(server.origin + request.url, { method: request.method, headers: { 'Cardscope-Token': server.token }, ...(chunks.length ? { body: Buffer.concat(chunks) } : {}) });
      const headers = Object.fromEntries([...answer.headers].filter(([name]) => !/^(content-encoding|content-length|transfer-encoding|connection)$/.test(name)));
      response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()));
    }
  });
  return new Promise(done => proxy.listen(0, '127.0.0.1', () => done({ id: task.id, token: server.token, origin: `http://127.0.0.1:${proxy.address().port}`, end: () => { proxy.closeAllConnections(); proxy.close(); } })));
}

/** JS heap, DOM nodes and listeners once everything that can go has gone. */
async function heap(session) {
  for (let turn = 0; turn < 3; turn += 1) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
  return { bytes: usedSize, nodes, listeners: jsEventListeners };
}

async function hour() {
  const minutes = Number(process.env.MINUTES) || 60;
  // The first figure once the page has settled, and its series is as long as it gets (720 points: two and a half minutes).
  const first = Math.min(5, minutes / 2);
  const server = await new Server(newHome(), ['--all']).start();
  const source = await stub(server, minutes * 60 + 600);
  const context = await visitor(source);
  const page = await tab(context, source);
  const session = await context.newCDPSession(page);
  await session.send('HeapProfiler.enable');
  await page.goto(withToken(source, `/live/${source.id}`));
  await page.locator('canvas').first().waitFor();
  let updates = 0;
  await page.exposeFunction('counted', () => { updates += 1; });
  await page.evaluate(() => new MutationObserver(() => globalThis.counted()).observe(document.querySelector('dl.figures'), { subtree: true, childList: true, characterData: true }));
  const began = Date.now();
  const at = async minute => {
    while (Date.now() - began < minute * 60_000) await pause(Math.min(1000, Math.max(1, minute * 60_000 - (Date.now() - began))));
    return heap(session);
  };
  const early = await at(first);
  const late = await at(minutes);
  row(`live chart, redrawings a second over ${minutes} min`, (updates / ((Date.now() - began) / 1000)).toFixed(2), '5 updates a second');
  row(`live chart, JS heap after ${first} min`, kB(early.bytes));
  row(`live chart, JS heap after ${minutes} min`, kB(late.bytes), `growth ${kB(late.bytes - early.bytes)}`);
  row(`live chart, DOM nodes and listeners`, `${late.nodes}, ${late.listeners}`, `before ${early.nodes}, ${early.listeners}`);
  assert.deepEqual(page.said, []);
  await context.close();
  source.end();
  await server.stop();
  assert.ok(late.bytes - early.bytes < 1_000_000, `the heap grew by ${late.bytes - early.bytes} bytes`);
  assert.ok(late.nodes <= early.nodes + 50 && late.listeners <= early.listeners + 20, 'neither nodes nor listeners pile up');
}

/** The same over a real test on a served card, as long as it takes. */
async function realTask() {
  if (noDevice()) return row('live chart of a real test', 'skipped', noDevice());
  const rig = await Rig.plug(SMALL);
  const server = await new Server(newHome(), ['--all']).start();
  await until(async () => (await server.ask('GET', '/api/devices')).devices.some(one => one.path === rig.device && one.safe), `${rig.device} in the list`);
  const { id } = await server.order({ verb: 'sustain', target: rig.device, options: { minutes: 5 } });
  const context = await visitor(server);
  const page = await tab(context, server);
  let moments = 0;
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  session.on('Network.eventSourceMessageReceived', ({ eventName }) => { if (eventName === 'moment') moments += 1; });
  await page.goto(withToken(server, `/live/${id}`));
  await page.locator('canvas').first().waitFor();
  moments = 0;
  const began = Date.now();
  await until(() => Date.now() - began > 20_000, 'twenty seconds');
  row('updates a second of a real test on a served card', (moments / ((Date.now() - began) / 1000)).toFixed(2), 'at most 5');
  await context.close();
  await server.stop();
  rig.unplug();
}

let failed = 0;
const all = { load: firstLoad, cards: manyCards, real: realTask, hour };
const wanted = process.argv.slice(2);
for (const name of wanted) assert.ok(all[name], `no figure is called ${name}: ${Object.keys(all).join(', ')}`);
for (const [name, measure] of Object.entries(all)) {
  if (wanted.length ? !wanted.includes(name) : name === 'hour' && !process.env.CARDSCOPE_LONG) continue;
  try {
    await measure();
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${error.message}`);
  }
}
await endBrowser();
clean();
process.exit(failed ? 1 : 0);
