// A server that goes and comes back, and an archive that takes nothing any more.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { tab, visit } from './browser.mjs';
import { later } from './clean.mjs';
import { run } from './server.mjs';
import { fresh, silent } from './flows-start.mjs';

const OFFLINE = [/ERR_|Failed to load resource/];

const comesBack = async ({ server, context }) => {
  const page = await tab(context, server, { allow: OFFLINE });
  await visit(page, '/');
  await page.getByText('Nothing yet.').waitFor();
  const banner = page.getByRole('region', { name: 'Connection' });
  for (const signal of ['SIGINT', 'SIGKILL']) {
    await server.stop(signal);
    await banner.getByText('Cardscope does not answer.').waitFor();
    if (signal === 'SIGKILL') run(server.home, 'verify', 'sim:sandian-1tb-52g');
    await server.start();
    await banner.getByText('Cardscope was restarted: open its new address.').waitFor();
    await banner.getByLabel(/address, or the token/).fill(server.address);
    await banner.getByRole('button', { name: 'Open' }).click();
    await banner.waitFor({ state: 'detached' });
  }
  // What was measured meanwhile is there without a reload, and so is what is measured now.
  await page.getByText('FAKE', { exact: false }).first().waitFor();
  await server.tested({ verb: 'verify', target: 'sim:sandisk-extremepro-32g-a1' });
  await page.getByText('PASSED', { exact: false }).first().waitFor();
  silent(page);
};

/** A page that was not loaded yet when the server went away says so, and loads when the new address is given. */
const otherPage = async ({ server, context }) => {
  const page = await tab(context, server, { allow: OFFLINE });
  await visit(page, '/');
  await server.stop();
  await page.getByRole('link', { name: 'Rank' }).click();
  await page.getByRole('heading', { name: 'This page is not loaded yet' }).waitFor();
  await server.start();
  await page.getByText('Cardscope was restarted').waitFor();
  await page.getByLabel(/address, or the token/).fill(server.token);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('combobox', { name: 'Job' }).waitFor();
  silent(page);
};

/** Not even root writes to a file system that is mounted read-only, as a kernel does with one that is damaged, or to immutable files. */
const FREEZE = {
  'is mounted read-only': folder => {
    execFileSync('mount', ['--bind', folder, folder]);
    const undo = later(() => execFileSync('umount', ['-l', folder]));
    execFileSync('mount', ['-o', 'remount,ro,bind', folder]);
    return undo;
  },
  'becomes immutable': folder => {
    const all = [folder, ...readdirSync(folder, { recursive: true }).map(name => join(folder, name))];
    const set = how => execFileSync('chattr', [how, ...all], { stdio: 'ignore' });
    const undo = later(() => set('-i'));
    set('+i');
    return undo;
  },
};

const readOnly = freeze => async ({ server, context }) => {
  run(server.home, 'verify', 'sim:sandian-1tb-52g');
  const page = await tab(context, server, { allow: OFFLINE });
  const thaw = freeze(join(server.home, 'data'));
  try {
    // What is stored can still be read.
    await visit(page, '/cards?own=true');
    const end = server.child.signalCode ?? server.child.exitCode;
    assert.equal(end, null, `the server ended: ${end}`);
    assert.equal(await page.getByRole('rowheader').count(), 1, `no cards, but: ${(await page.getByRole('alert').allInnerTexts()).join(' · ')}`);
    await visit(page, '/doctor');
    await page.getByText(/Nothing can be stored/).waitFor();
    const problem = await page.locator('dd').filter({ hasText: 'Nothing can be stored' }).innerText();
    if (process.env.VERBOSE) console.log(`    Doctor: ${problem}`);
    await visit(page, '/');
    await page.getByRole('button', { name: 'Check this card' }).last().click();
    const message = page.locator('main').getByText(/read-only|cannot be written|not writable|not stored|cannot be stored|not permitted|no permission/i).first();
    await message.waitFor();
    if (process.env.VERBOSE) console.log(`    Check: ${await message.innerText()}`);
    assert.doesNotMatch(await page.locator('main').innerText(), /panicked|undefined/);
    silent(page);
  } finally {
    thaw();
  }
};

export const tests = [
  { name: 'server: after a restart the new address is asked for', run: fresh(comesBack) },
  { name: 'server: a page that is opened while it is away', run: fresh(otherPage) },
  ...Object.entries(FREEZE).map(([how, freeze]) => ({ name: `server: an archive that ${how}`, skip: process.getuid() === 0 ? '' : 'needs root', run: fresh(readOnly(freeze)) })),
];
