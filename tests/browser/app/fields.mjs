// Every optional field of the API's answers may be missing, or null where the document allows it. Each page is shown without each of
// them: the answers of a seeded server are recorded once, and given again without one field, while the page changes in place.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { tab, visit, visitor } from './browser.mjs';
import { silent } from './flows-start.mjs';
import { fioLog, seeded } from './seed.mjs';
import { Server } from './server.mjs';

const { paths, components: { schemas } } = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url)));

/** Fields that no page asks for, and why. */
const NOT_MET = {};

const named = schema => schema?.$ref?.split('/').pop();
const isNull = schema => schema.type === 'null' || (Array.isArray(schema.type) && schema.type.includes('null'));
const alternatives = schema => schema.oneOf ?? schema.anyOf ?? [];

/** The schema of what a request is answered with. */
function answerOf(method, path) {
  const parts = path.split('/');
  const fits = template => {
    const wanted = template.split('/');
    return wanted.length === parts.length && wanted.every((part, i) => part.startsWith('{') || part === parts[i]);
  };
  const template = paths[path] ? path : Object.keys(paths).find(fits);
  const responses = paths[template]?.[method.toLowerCase()]?.responses ?? {};
  return Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content?.['application/json']?.schema;
}

/** Calls `see` with each optional field of a value: its name, its schema, where it stands. */
function walk(schema, value, see, at = [], name = '') {
  if (!schema || value === null || value === undefined) return;
  if (schema.$ref) return walk(schemas[named(schema)], value, see, at, named(schema));
  for (const part of schema.allOf ?? []) walk(part, value, see, at, name);
  for (const part of alternatives(schema)) if (!isNull(part)) walk(part, value, see, at, name);
  if (Array.isArray(value)) value.forEach((one, i) => walk(schema.items, one, see, [...at, i], name));
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (!(key in value)) continue;
    see(`${name}.${key}`, [...at, key]);
    walk(property, value[key], see, [...at, key], name);
  }
}

/** The optional and the nullable fields of all answers. */
function optional() {
  const all = new Map();
  const seen = new Set();
  const visitSchema = (schema, name) => {
    if (!schema) return;
    if (schema.$ref) {
      if (!seen.has(named(schema))) visitSchema(schemas[named(schema)], named(seen.add(named(schema)) && schema));
      return;
    }
    for (const part of [...schema.allOf ?? [], ...alternatives(schema), schema.items]) visitSchema(part, name);
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      const absent = !(schema.required ?? []).includes(key);
      const nullable = isNull(property) || alternatives(property).some(isNull);
      if (absent || nullable) all.set(`${name}.${key}`, [...(absent ? ['absent'] : []), ...(nullable ? ['null'] : [])]);
      visitSchema(property, name);
    }
  };
  for (const methods of Object.values(paths)) {
    for (const { responses } of Object.values(methods)) {
      for (const [status, response] of Object.entries(responses)) if (status.startsWith('2')) visitSchema(response.content?.['application/json']?.schema, '');
    }
  }
  return all;
}

/** Within the page, before its own code: answers from a list, without what is to be missing; the event stream in reach. */
function harness() {
  const state = { answers: {}, recorded: {}, holes: {}, busy: 0, asked: new Set(), stream: null };
  globalThis.harness = state;
  const real = globalThis.fetch;
  globalThis.fetch = async (input, init = {}) => {
    const url = new URL(input, location.href);
    const method = init.method ?? 'GET';
    const key = `${method} ${url.pathname}${method === 'GET' ? url.search : ''}`;
    state.asked.add(key);
    state.busy += 1;
    try {
      const answer = state.answers[key];
      if (answer === undefined) {
        const response = await real(input, init);
        if (response.ok && /json/.test(response.headers.get('content-type'))) state.recorded[key] = await response.clone().json();
        return response;
      }
      await null;
      init.signal?.throwIfAborted();
      const value = structuredClone(answer);
      for (const { at, how } of state.holes[key] ?? []) {
        const parent = at.slice(0, -1).reduce((inner, part) => inner?.[part], value);
        if (how === 'null') parent[at.at(-1)] = null;
        else delete parent[at.at(-1)];
      }
      return Response.json(value);
    } finally {
      state.busy -= 1;
    }
  };
  globalThis.EventSource = class extends EventSource {
    constructor(address) {
      super(address);
      state.stream = this;
    }
  };
  const pause = ms => new Promise(done => setTimeout(done, ms));
  const idle = async () => {
    await pause(0);
    for (let calm = 0; calm < 2; calm = state.busy || document.querySelector('.loading') ? 0 : calm + 1) await pause(12);
  };
  const go = path => {
    history.pushState(null, '', path);
    dispatchEvent(new PopStateEvent('popstate'));
  };
  const press = text => [...document.querySelectorAll('main button')].find(one => one.textContent.trim() === text)?.click();
  const steps = {
    edit: () => ['Correct', 'Add an event'].forEach(press),
    drop: log => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([log], 'fio.json'));
      document.querySelector('.zone').dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true }));
    },
    nonsense: () => {
      const editor = document.querySelector('main textarea');
      editor.value = `${editor.value}\nthis is not TOML`;
      editor.dispatchEvent(new Event('input', { bubbles: true }));
    },
  };
  const wrong = text => [.../[^\n]*(\bundefined\b|\bNaN\b|\bnull\b|\[object|cannot be shown|did not load)[^\n]*/.exec(text) ?? []].slice(0, 1);

  /** Shows a page anew, and says what is wrong with it. */
  state.show = async ({ path, step, log, asks, moment, reload }, holes) => {
    state.holes = holes;
    go('/no/such/page');
    if (reload) {
      // The tasks as if they were heard of for the first time.
      for (const { id } of state.answers['GET /api/tasks'].tasks) state.stream.dispatchEvent(new MessageEvent('forgotten', { data: JSON.stringify({ task: id }) }));
      state.stream.dispatchEvent(new MessageEvent('gap'));
    }
    await idle();
    state.asked.clear();
    const asked = async () => {
      for (const end = Date.now() + 20_000; asks && !state.asked.has(asks) && Date.now() < end;) await pause(12);
      await idle();
    };
    go(path);
    if (step !== 'drop') await asked();
    else await idle();
    if (step) {
      state.asked.delete(asks);
      steps[step](log);
      await asked();
    }
    if (moment) {
      state.stream.dispatchEvent(new MessageEvent('moment', { data: JSON.stringify(moment) }));
      await idle();
    }
    document.querySelectorAll('main details').forEach(one => { one.open = true; });
    const main = document.querySelector('main');
    const attributes = [...document.querySelectorAll('main *, nav *')].flatMap(one => ['href', 'src', 'title', 'alt', 'aria-label', 'aria-valuenow', 'placeholder', 'style'].map(name => one.getAttribute(name)).filter(Boolean));
    const alerts = [...main.querySelectorAll('[role=alert]')].map(one => one.innerText.trim()).filter(Boolean);
    return { asked: [...state.asked], problems: [...wrong(`${main.innerText}\n${document.title}`), ...attributes.flatMap(wrong), ...alerts.map(text => `alert: ${text}`), ...(main.innerText.trim() ? [] : ['nothing'])] };
  };
}

/** What a seeded server has no example of, beside what it has. */
function complete(answers) {
  const { tasks } = answers['GET /api/tasks'];
  const ended = tasks.find(one => one.session);
  const whole = answers[`GET /api/tasks/${ended.id}`];
  const moment = { at: 20, stage: 'writing', stage_number: 2, stages: 3, phase: 'sequential', done: .4, bytes: 4e8, total_bytes: 1e9, mb_s: 42, latency_us: 1500, celsius: 41, left_s: 30, waits_for: 'the card' };
  const moments = Array.from({ length: 30 }, (_, i) => ({ ...moment, at: i / 2 }));
  const device = { name: 'sdz', path: '/dev/sdz', object: 'object', bytes: 64e9, bus: 'usb', model: 'Card', removable: true, read_only: false, empty: false, partitions: [], filesystem: 'vfat', mounted_at: [], mounted: false, safe: true, reason: null, advice: null, can_unmount: false, task: null };
  const part = { name: 'sdy1', bytes: 1e9, filesystem: 'vfat', mounted_at: ['/media/card'], mounted: true };
  const more = [
    { ...whole, id: 'running', state: 'running', target: '/dev/sdx', title: 'Running card', ended_at: null, moment, answer: null, tone: null, session: null, restores: true, findings: whole.findings.map(one => ({ advice: 'do this', ...one })) },
    { ...whole, id: 'queued', state: 'queued', started_at: null, ended_at: null, moment: null, answer: null, session: null },
    { ...whole, id: 'failed', state: 'failed', answer: null, error: 'the card is gone', session: null },
    { ...whole, id: 'interrupted', state: 'interrupted', answer: null, error: null, session: null },
  ];
  for (const task of more) answers[`GET /api/tasks/${task.id}`] = { ...task, moments };
  answers['GET /api/tasks'] = { tasks: [...more.map(({ moments: _, ...task }) => task), ...tasks] };
  answers['GET /api/devices'].devices.push(device,
    { ...device, name: 'sdy', path: '/dev/sdy', partitions: [part], mounted: true, safe: false, can_unmount: true, reason: 'it is mounted', advice: 'unmount it' },
    { ...device, name: 'sdx', path: '/dev/sdx', safe: false, task: 'running', reason: 'a test runs' });
  answers['GET /api/journals'].journals.push({ name: 'j1', target: '/dev/sdz', card: 'Card', verb: 'verify', began: '2026-01-01T10:00:00Z', saved_bytes: 1e6, process: 4321, state: 'waits', command: 'cardscope restore j1' });
  for (const card of Object.values(answers).filter(one => one.card && one.events?.length)) card.events[0].source = 'a list';
  answers['GET /api/host'].archive_problem = 'it is read-only';
}

/** A server with examples of nearly everything. */
async function seed() {
  const server = await new Server(seeded(), ['--all']).start();
  const { cards } = await server.ask('GET', '/api/cards?own=true&limit=1000');
  const id = cards.find(one => one.title.includes('express') || one.id.includes('express')).id;
  const card = `/api/cards/${encodeURIComponent(id)}`;
  for (const event of [{ kind: 'bought', date: '2026-01-01', price: '12.99EUR', about: 'a shop' }, { kind: 'failed', date: '2026-02-01', about: 'no longer recognized' }, { kind: 'note', date: '2026-02-02' }]) await server.ask('PATCH', card, { event });
  const dot = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
  await fetch(`${server.origin}${card}/attachments?name=dot.png`, { method: 'POST', headers: { 'Cardscope-Token': server.token, 'Content-Type': 'image/png' }, body: dot });
  const ended = await server.tested({ verb: 'check', target: 'sim:sandian-1tb-52g' });
  const { sessions } = await server.ask('GET', '/api/sessions');
  return { server, id, ended, session: sessions[0].session, other: cards.find(one => one.id !== id).id };
}

const pagesOf = ({ id, other, ended, session }) => {
  const [card, second] = [id, other].map(encodeURIComponent);
  return [
    { path: '/', tasks: true },
    { path: '/live?verb=verify&full=1&target=/dev/sdz', tasks: true, verbs: true },
    { path: '/live?verb=sustain&target=/dev/sdz', tasks: true, verbs: true, only: /^(Verb|Option|Allowed)/ },
    { path: '/live/running', tasks: true, runs: true },
    { path: `/live/${ended.id}`, tasks: true },
    { path: '/live/failed', tasks: true },
    { path: '/cards' },
    { path: `/cards/${card}`, step: 'edit' },
    { path: '/sessions' },
    { path: `/sessions/${encodeURIComponent(session)}` },
    { path: `/compare?card=${card}&card=${second}` },
    { path: '/rank', asks: 'POST /api/rank' },
    { path: '/import', step: 'drop', log: fioLog(), asks: 'POST /api/imports', only: /^Imported/ },
    { path: '/recipes' },
    { path: '/recipes/quick' },
    { path: '/recipes/quick?edit=1&target=/dev/sdz', only: /^Device|^Partition/ },
    { path: '/recipes/quick?edit=1', asks: 'POST /api/recipes/check', only: /^RecipeCheck/ },
    { path: '/recipes/quick?edit=1', step: 'nonsense', asks: 'POST /api/recipes/check', only: /^RecipeCheck/ },
    { path: '/simulator' },
    { path: '/simulator/sandian-1tb-52g', tasks: true },
    { path: '/doctor' },
  ].map(one => ({ only: /./, ...one }));
};

/** Tabs that share the pages: most of the time is waiting. */
const TABS = 3;

const withoutFields = async () => {
  const seeding = await seed();
  const { server } = seeding;
  const context = await visitor(server);
  await context.addInitScript(harness);
  try {
    const open = async () => {
      const page = await tab(context, server);
      await visit(page, '/');
      // The list of tasks follows the event stream.
      await page.waitForFunction(() => 'GET /api/tasks' in globalThis.harness.recorded);
      return page;
    };
    const first = await open();
    const pages = pagesOf(seeding);
    for (const { path, step, log, asks } of pages.filter(one => !/running|failed/.test(one.path))) await first.evaluate(one => globalThis.harness.show(one, {}), { path, step, log, asks });
    const recorded = await first.evaluate(() => globalThis.harness.recorded);
    complete(recorded);

    const fields = optional();
    const met = new Set();
    const problems = [];
    let shown = 0;
    /** Shows a page with holes in its answers. */
    const show = async (page, { path, step, log, asks, tasks, verbs, runs }, holes) => {
      const moment = runs && { task: 'running', ...recorded['GET /api/tasks/running'].moment, at: 21 };
      for (const { at, how } of runs ? holes['GET /api/tasks/running'] ?? [] : []) {
        if (at.length !== 2 || at[0] !== 'moment') continue;
        if (how === 'null') moment[at[1]] = null;
        else delete moment[at[1]];
      }
      const reload = tasks && (Object.keys(holes).length === 0 || 'GET /api/tasks' in holes || (verbs && 'GET /api/verbs' in holes));
      const before = page.said.length;
      const { asked, problems } = await page.evaluate(([one, holes]) => globalThis.harness.show(one, holes), [{ path, step, log, asks, reload, moment }, holes]);
      return { asked, found: [...problems, ...page.said.slice(before)] };
    };
    const look = async (page, one) => {
      // As it is with everything: what it asks for, and what it says by design: an error in a recipe, a test that failed.
      const { asked, found: usual } = await show(page, one, {});
      problems.push(...usual.filter(text => !text.startsWith('alert: ')).map(text => `${one.path}: ${text}`));
      const places = new Map();
      for (const key of new Set([...asked, ...(one.tasks ? ['GET /api/tasks'] : []), ...(one.verbs ? ['GET /api/verbs'] : [])])) {
        const [method, address] = key.split(' ');
        walk(answerOf(method, address.split('?')[0]), recorded[key], (field, at) => {
          if (!fields.has(field) || !one.only.test(field)) return;
          const found = places.get(field) ?? places.set(field, {}).get(field);
          (found[key] ??= []).push(at);
        });
      }
      for (const [field, at] of places) {
        met.add(field);
        for (const how of fields.get(field)) {
          const holes = Object.fromEntries(Object.entries(at).map(([key, all]) => [key, all.map(at => ({ at, how }))]));
          const { found } = await show(page, one, holes);
          problems.push(...found.filter(text => !usual.includes(text)).map(text => `${one.path} without ${field} (${how}): ${text}`));
          shown += 1;
        }
      }
      if (one.tasks) await show(page, one, {});
    };
    const waiting = [...pages];
    const work = async page => {
      await page.evaluate(answers => { globalThis.harness.answers = answers; }, recorded);
      for (let one = waiting.shift(); one; one = waiting.shift()) await look(page, one);
      silent(page);
    };
    const began = performance.now();
    await Promise.all([first, ...await Promise.all(Array.from({ length: TABS - 1 }, open))].map(work));
    if (process.env.VERBOSE) console.log(`    ${shown} pages in ${((performance.now() - began) / 1000).toFixed(1)} s, ${met.size} of ${fields.size} fields`);
    for (const field of fields.keys()) {
      if (!met.has(field) && !NOT_MET[field]) problems.push(`no page was seen with ${field}`);
      if (met.has(field) && NOT_MET[field]) problems.push(`${field} is met`);
    }
    assert.deepEqual([...new Set(problems)], []);
  } finally {
    await context.close();
    await server.stop();
  }
};

export const tests = [{ name: 'fields: every page without each optional field of the API', run: withoutFields, beside: true }];
