// Every page of the app at two widths, light and dark: axe finds nothing, nothing overflows, no text lies on another, letters are
// large enough, the console stays silent, nothing leaves for another host, one heading, and the keyboard shows where it is.
// PICTURES=DIR keeps a picture of each.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { overflowing, overlapping, tooSmall } from '../looks.mjs';
import { accessible, settled, tab, visit, visitor } from './browser.mjs';
import { focus, headings, small } from './looks.mjs';
import { noDevice, Rig, SMALL } from './rig.mjs';
import { fioLog, seeded } from './seed.mjs';
import { newHome, Server } from './server.mjs';
import { until } from './wait.mjs';

const WIDTHS = [1280, 400];
const keep = process.env.PICTURES;
if (keep) mkdirSync(keep, { recursive: true });

/** What the pages are made from, made once and only if something is to be seen. */
const once = make => {
  let made;
  return () => made ??= make();
};
const empty = once(() => new Server(newHome()).start());
const full = once(async () => {
  const server = await new Server(seeded(), ['--all']).start();
  const { cards } = await server.ask('GET', '/api/cards?own=true&limit=1000');
  const card = text => cards.find(one => one.title.includes(text) || one.id.includes(text));
  const ended = await server.tested({ verb: 'check', target: 'sim:sandian-1tb-52g' });
  const { sessions } = await server.ask('GET', '/api/sessions');
  return { server, cards, card, ended, sessions };
});
const running = once(async () => {
  const rig = await Rig.plug(SMALL);
  const { server } = await full();
  await until(async () => (await server.ask('GET', '/api/devices')).devices.some(one => one.path === rig.device && one.safe), `${rig.device} in the list`);
  const task = await server.order({ verb: 'sustain', target: rig.device, options: { minutes: 60 } });
  await until(async () => (await server.ask('GET', `/api/tasks/${task.id}`)).moments.length > 30, 'a curve');
  return { rig, task };
});

const fake = async () => (await full()).card('sandian') ?? (await full()).cards[0];
const file = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

// `of`: the server; `at`: the address; `then`: what is done before it is looked at; `device`: it needs a card in this computer.
const PAGES = [
  { name: 'home-empty', of: empty, at: () => '/' },
  { name: 'live-empty', of: empty, at: () => '/live' },
  { name: 'sessions-empty', of: empty, at: () => '/sessions' },
  { name: 'compare-empty', of: empty, at: () => '/compare' },
  { name: 'no-token', of: empty, at: () => '/', token: false, allow: [/401/] },
  { name: 'reads-only', of: empty, at: () => '/', then: page => page.reload() },
  {
    name: 'restarted', of: empty, at: () => '/', allow: [/ERR_/], then: async page => {
      await page.context().setOffline(true);
      await page.getByRole('button', { name: 'Check this card' }).first().click();
      await page.getByText('Cardscope does not answer.').first().waitFor();
      await page.context().setOffline(false);
      await page.getByText('Cardscope was restarted').first().waitFor();
    },
  },
  { name: 'missing', of: empty, at: () => '/no/such/page' },
  { name: 'missing-card', of: empty, at: () => '/cards/nothing', allow: [/404/] },
  { name: 'cards', at: () => '/cards' },
  { name: 'cards-selected', at: async () => `/cards?${(await full()).cards.slice(0, 3).map(one => `card=${encodeURIComponent(one.id)}`).join('&')}`, covered: true },
  { name: 'cards-none', at: () => '/cards?q=nothing+has+this+name' },
  { name: 'card', at: async () => `/cards/${encodeURIComponent((await fake()).id)}` },
  { name: 'card-fast', at: async () => `/cards/${encodeURIComponent((await full()).card('express').id)}` },
  { name: 'card-published', at: async () => `/cards/${encodeURIComponent((await (await full()).server.ask('GET', '/api/cards?limit=100')).cards.find(one => one.published).id)}` },
  { name: 'card-correct', at: async () => `/cards/${encodeURIComponent((await fake()).id)}`, then: page => page.getByRole('button', { name: 'Correct' }).click() },
  { name: 'compare-two', at: async () => `/compare?card=${encodeURIComponent((await fake()).id)}&card=${encodeURIComponent((await full()).card('extremepro').id)}` },
  { name: 'rank', at: () => '/rank' },
  { name: 'import', at: () => '/import' },
  {
    name: 'import-dropped', at: () => '/import', then: async page => {
      await page.locator('input[type=file]').setInputFiles([file('fio.json', fioLog()), file('notes.txt', 'nothing that a tool prints')]);
      await page.getByRole('button', { name: 'Save in the archive' }).waitFor();
    },
  },
  { name: 'recipes', at: () => '/recipes' },
  { name: 'recipe', at: () => '/recipes/quick' },
  { name: 'recipe-edit', at: () => '/recipes/quick?edit=1' },
  {
    name: 'recipe-wrong', at: () => '/recipes/quick?edit=1', then: async page => {
      const editor = page.getByLabel('Recipe as TOML');
      await editor.fill((await editor.inputValue()).replace('\n', '\nnonsense\n'));
      await page.locator('.lines .wrong').waitFor();
    },
  },
  { name: 'simulator', at: () => '/simulator' },
  { name: 'simulated', at: () => '/simulator/lexar-16g-c10' },
  {
    name: 'simulated-results', at: () => '/simulator/sandian-1tb-52g', then: async page => {
      const { server } = await full();
      for (const verb of ['check', 'verify', 'map', 'bench']) await server.tested({ verb, target: 'sim:sandian-1tb-52g' });
      await page.getByText('Return it.').first().waitFor();
    },
  },
  { name: 'doctor', at: () => '/doctor' },
  { name: 'sessions', at: () => '/sessions' },
  { name: 'session', at: async () => `/sessions/${encodeURIComponent((await full()).sessions.find(one => one.kind === 'check').session)}` },
  { name: 'live-ended', at: async () => `/live/${(await full()).ended.id}` },
  { name: 'live-erase', at: async () => `/live?verb=verify&full=1&target=${encodeURIComponent((await running()).rig.device)}`, device: true },
  { name: 'live', at: async () => (await running()) && '/live', device: true },
  { name: 'live-task', at: async () => `/live/${(await running()).task.id}`, device: true },
  { name: 'home', at: async () => (await running()) && '/', device: true },
];

/** The keyboard goes through the page and shows where it is, at most some steps. */
async function walked(page) {
  const problems = [];
  await page.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); });
  for (let step = 0; step < 40; step += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(focus);
    if (!at || at.again) break;
    problems.push(...at.problems);
  }
  return problems;
}

const isLong = Boolean(keep || process.env.CARDSCOPE_LONG);

/** Looks at a page that was opened at the first of some widths, and at the others as its window is made smaller. */
const look = async (one, widths) => {
  const server = await (one.of ? one.of() : (await full()).server);
  const path = await one.at();
  const context = await visitor(server, { width: widths[0], token: one.token ?? true });
  try {
    const page = await tab(context, server, one);
    await visit(page, path);
    if (one.then) await one.then(page);
    const problems = [];
    const add = (what, found) => problems.push(...found.map(text => `${what}: ${text}`));
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      // Both widths and both schemes are seen by two of the four; all four take twice the time.
      for (const scheme of isLong ? ['light', 'dark'] : [width === WIDTHS[0] ? 'light' : 'dark']) {
        await page.emulateMedia({ colorScheme: scheme });
        await settled(page);
        if (keep) {
          await page.screenshot({ path: join(keep, `${one.name}-${width}-${scheme}.png`), fullPage: true });
          if (scheme === 'light') await page.screenshot({ path: join(keep, `${one.name}-${width}-first.png`) });
        }
        add(`axe, ${width}, ${scheme}`, await accessible(page));
      }
      add(`heading, ${width}`, await page.evaluate(headings));
      add(`overflow, ${width}`, await page.evaluate(overflowing));
      // A bar over the end of the window covers what scrolls below it.
      if (!one.covered) add(`text over text, ${width}`, await page.evaluate(overlapping));
      add(`small, ${width}`, [...await page.evaluate(tooSmall), ...await page.evaluate(small)]);
    }
    if (widths[0] === WIDTHS[0]) {
      await page.setViewportSize({ width: widths[0], height: 800 });
      add('keyboard', await walked(page));
    }
    add('said', page.said);
    if (problems.length) throw new Error([...new Set(problems)].join('\n'));
  } finally {
    await context.close();
  }
};

// Opened at each width with CARDSCOPE_LONG; else once, and made narrower.
export const tests = PAGES.flatMap(one => (isLong ? WIDTHS.map(width => [width]) : [WIDTHS]).map(widths => ({
  name: `page ${one.name} at ${widths.join(' and ')}`, skip: one.device ? noDevice() : '', beside: true, run: () => look(one, widths),
})));
