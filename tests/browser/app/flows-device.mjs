// What is done with a card in this computer: a simulated one, served in real time, with a loop device on it.

import assert from 'node:assert/strict';
import { tab, visit, visitor, withToken } from './browser.mjs';
import { FAKE, LASTING, noDevice, Rig, SMALL } from './rig.mjs';
import { newHome, Server } from './server.mjs';
import { silent } from './flows-start.mjs';
import { until } from './wait.mjs';

const ENDED = ['complete', 'failed', 'interrupted'];

const withCard = (name, run) => async () => {
  const rig = await Rig.plug(name);
  const server = await new Server(newHome(), ['--all']).start();
  const context = await visitor(server);
  const open = (options, of = context) => tab(of, server, options);
  try {
    await until(async () => (await server.ask('GET', '/api/devices')).devices.some(one => one.path === rig.device && one.safe), `${rig.device} in the list`);
    await run({ rig, server, context, open });
  } finally {
    await context.close();
    await server.stop();
    rig.unplug();
  }
};

const tile = (page, rig) => page.getByRole('article').filter({ has: page.getByText(rig.device, { exact: true }) });
const begin = async (page, rig) => {
  await visit(page, '/');
  await tile(page, rig).getByRole('button', { name: 'Check this card' }).click();
  await page.waitForURL('**/live/*');
  return page.url().split('/').pop();
};
const taskOf = (server, id) => server.ask('GET', `/api/tasks/${id}`);
const share = page => page.getByRole('progressbar').first().getAttribute('aria-valuenow').then(Number);
/** A test that has begun to overwrite something and is not over yet. */
const writes = (server, id) => until(async () => {
  const task = await taskOf(server, id);
  assert.ok(!ENDED.includes(task.state), `it ended: ${task.answer ?? task.error}`);
  return task.moment?.bytes > 0 && /writing/.test(task.moment.phase);
}, 'the test to write');

const sameRun = withCard(SMALL, async ({ rig, server, open }) => {
  const page = await open();
  const id = await begin(page, rig);
  const title = await page.getByRole('heading', { level: 1 }).textContent();
  await until(async () => await share(page) >= 1, 'some progress');
  const before = await share(page);
  await page.reload();
  await page.getByRole('progressbar').first().waitFor();
  await until(async () => await share(page) >= before, 'at least the progress from before the reload');
  assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), title);
  const second = await open();
  await visit(second, '/live');
  await second.getByRole('link', { name: title }).waitFor();
  const stranger = await visitor(server);
  try {
    const third = await open({}, stranger);
    await visit(third, `/live/${id}`);
    await third.getByRole('heading', { name: title, level: 1 }).waitFor();
    // All three see the same stage within a moment of each other.
    const stage = one => one.locator('[aria-live=polite]').filter({ hasText: /^Stage/ }).first().textContent();
    await until(async () => {
      const all = await Promise.all([page, second, third].map(stage));
      return new Set(all).size === 1;
    }, 'the same stage in three tabs');
    assert.equal((await server.ask('GET', '/api/tasks')).tasks.length, 1);
    silent(page, second, third);
  } finally {
    await stranger.close();
  }
});

const stopRestores = withCard(SMALL, async ({ rig, server, open }) => {
  rig.fill();
  const before = rig.digest();
  const page = await open();
  const id = await begin(page, rig);
  await writes(server, id);
  await page.getByRole('button', { name: 'Stop' }).click();
  const task = await until(async () => {
    const task = await taskOf(server, id);
    return ENDED.includes(task.state) && task;
  }, 'the test to stop');
  assert.equal(task.state, 'interrupted');
  await page.getByRole('progressbar').waitFor({ state: 'detached' });
  assert.equal(rig.digest(), before, 'the card has its data');
  const { journals } = await server.ask('GET', '/api/journals');
  assert.deepEqual(journals.filter(one => one.state === 'waits'), []);
  silent(page);
});

const plugged = withCard(FAKE, async ({ rig, open }) => {
  const page = await open();
  await begin(page, rig);
  await page.getByText('Return it.').first().waitFor({ timeout: 280_000 });
  silent(page);
});

const typedName = withCard(LASTING, async ({ rig, server, open }) => {
  const address = `/live?verb=verify&full=1&target=${encodeURIComponent(rig.device)}`;
  const [one, two] = [await open(), await open()];
  for (const page of [one, two]) {
    await visit(page, address);
    const [field, start] = [page.getByLabel(`Type ${rig.device} to agree`), page.getByRole('button', { name: 'Erase and start' })];
    assert.ok(await start.isDisabled(), 'it cannot be started without the name');
    await page.getByText(`All data on ${rig.device} is lost`).waitFor();
    if (page === one) {
      // Copied from another field of the page, as a hand would do it.
      const other = page.getByLabel(/printed on the card/);
      await other.fill(rig.device);
      await other.press('Control+a');
      await other.press('Control+c');
      await field.press('Control+v');
      await page.getByText('pasting is off here').waitFor();
      assert.equal(await field.inputValue(), '', 'nothing was pasted');
      await other.fill('');
      for (const wrong of [rig.device.slice(0, -1), `${rig.device}x`, rig.device.toUpperCase()]) {
        await field.fill('');
        await field.pressSequentially(wrong);
        assert.ok(await start.isDisabled(), `“${wrong}” is not the name`);
      }
      await field.fill('');
    }
    await field.pressSequentially(rig.device);
    assert.ok(await start.isEnabled(), 'with the name it can be started');
  }
  // By the key, here and below: what one tab starts or removes makes the page of the other one move under the pointer.
  await Promise.all([one, two].map(page => page.getByLabel(`Type ${rig.device} to agree`).press('Enter')));
  await until(async () => {
    const { tasks } = await server.ask('GET', '/api/tasks');
    const states = tasks.map(task => task.state).sort().join(' ');
    if (states !== 'queued running') throw new Error(`the tests are “${states}”, and the tabs say “${(await Promise.all([one, two].map(page => page.getByRole('alert').allInnerTexts()))).flat().join(' · ')}” at ${one.url()} and ${two.url()}`);
    return true;
  }, 'one that runs and one that waits', 20_000);
  await visit(one, '/live');
  await one.getByText('Waiting for its turn').waitFor();
  await one.getByRole('button', { name: 'Remove' }).press('Enter');
  await one.getByText('Waiting for its turn').waitFor({ state: 'detached' });
  await one.getByRole('button', { name: 'Stop', exact: true }).press('Enter');
  await one.getByRole('progressbar').waitFor({ state: 'detached' });
  silent(one, two);
});

/** Answers that were asked for before the test ended, and come after it, do not make it run again: those to a question and to Stop. */
const lateAnswer = withCard(LASTING, async ({ rig, server, open }) => {
  const page = await open();
  const id = await begin(page, rig);
  await writes(server, id);
  let release;
  const held = new Promise(resolve => { release = resolve; });
  // As they are where the server answers at once, however busy it is here.
  const answers = [['', 'running'], ['/stop', 'stopping']].map(([asked, state]) => new Promise((told, failed) => page.route(`**/api/tasks/${id}${asked}`, async route => {
    try {
      const response = await route.fetch();
      await held;
      await route.fulfill({ response, json: { ...await response.json(), state } });
      told();
    } catch (wrong) {
      failed(wrong);
    }
  })));
  await page.goto(withToken(server, '/live'));
  await page.getByRole('button', { name: 'Stop', exact: true }).press('Enter');
  await page.getByRole('progressbar').waitFor({ state: 'detached' });
  release();
  await Promise.all(answers);
  await page.evaluate(() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  assert.equal(await page.getByRole('progressbar').count(), 0, 'it has ended');
});

/** Without the name typed back the server refuses, whatever a page sends. */
const serverAsks = withCard(SMALL, async ({ rig, server }) => {
  for (const confirm of [undefined, '', '/dev', `${rig.device} `]) {
    const order = { verb: 'verify', target: rig.device, options: { full: true }, ...(confirm === undefined ? {} : { confirm }) };
    await assert.rejects(server.order(order), /: (409|422) /);
  }
  assert.deepEqual((await server.ask('GET', '/api/tasks')).tasks, []);
});

const pulledOut = withCard(SMALL, async ({ rig, server, open }) => {
  const page = await open();
  const id = await begin(page, rig);
  await writes(server, id);
  rig.pull();
  const task = await until(async () => {
    const task = await taskOf(server, id);
    return ENDED.includes(task.state) && task;
  }, 'the test to end');
  await page.getByRole('progressbar').waitFor({ state: 'detached' });
  const text = await page.locator('main').innerText();
  // It names what happened, not what the program was about.
  assert.match(text, /(card|device|\/dev\/loop\d+)\b.*(gone|removed|taken out|pulled|no longer|not answer|disappeared|vanished|input\/output error)/i, text.slice(0, 600));
  assert.doesNotMatch(text, /panicked|in flight|os error|GENUINE|PASSED|undefined|null/);
  // And what to do where data wait.
  if ((await server.ask('GET', '/api/journals')).journals.length) assert.match(text, /restore/i);
  if (process.env.VERBOSE) console.log(`    ${task.state}: ${task.answer} · ${task.error} · ${task.notes.join(' · ')}`);
  await visit(page, '/');
  if (process.env.VERBOSE) console.log(`    Home: ${(await page.locator('main').innerText()).replace(/\s+/g, ' ').slice(0, 600)}`);
  silent(page);
});

/** A server that is killed: its tests restore their cards; the next one lists them as interrupted. */
const killedServer = withCard(SMALL, async ({ rig, server, open }) => {
  rig.fill();
  const before = rig.digest();
  const page = await open({ allow: [/ERR_|Failed to load/] });
  const id = await begin(page, rig);
  await writes(server, id);
  await server.stop('SIGKILL');
  await page.getByText('Cardscope does not answer').waitFor();
  await until(() => rig.digest() === before, 'the card to have its data again');
  await server.start();
  await page.getByText('Cardscope was restarted: open its new address.').waitFor();
  await visit(page, `/live/${id}`);
  await page.getByText('Cardscope was restarted').waitFor({ state: 'detached' });
  const task = await taskOf(server, id);
  assert.equal(task.state, 'interrupted');
  await page.getByText(/interrupted/i).first().waitFor();
  silent(page);
});

export const tests = [
  { name: 'device: a reload and other tabs show the same run', run: sameRun },
  { name: 'device: Stop restores the data', run: stopRestores },
  { name: 'device: a served fake, from its tile to “Return it.”', run: plugged },
  { name: 'device: what erases asks for the name, and two tabs wait for each other', run: typedName },
  { name: 'device: late answers do not take back that a test has ended', run: lateAnswer },
  { name: 'device: the server asks for the name, too', run: serverAsks },
  { name: 'device: a card that is pulled out ends in a clear message', run: pulledOut },
  { name: 'device: a killed server leaves the data on the card', run: killedServer },
].map(test => ({ ...test, skip: noDevice() }));
