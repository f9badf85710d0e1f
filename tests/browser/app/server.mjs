// The real server, each with folders of its own for archive and everything else.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cardscope } from '../pages.mjs';
import { later } from './clean.mjs';
import { until } from './wait.mjs';

/** A home that goes when the tests end. */
export const newHome = () => {
  const home = mkdtempSync(join(tmpdir(), 'cardscope-app-'));
  later(() => rmSync(home, { recursive: true, force: true }));
  for (const part of ['data', 'state', 'tmp']) mkdirSync(join(home, part));
  return home;
};

// An archive that is named by the environment is somebody's own.
const { CARDSCOPE_ARCHIVE: _, ...outside } = process.env;
const known = home => ({
  ...outside, HOME: home, TMPDIR: join(home, 'tmp'),
  XDG_DATA_HOME: join(home, 'data'), XDG_STATE_HOME: join(home, 'state'), XDG_CACHE_HOME: join(home, 'tmp'), XDG_RUNTIME_DIR: join(home, 'tmp'),
});

/** A verb, run to its end; 1 is a finding that is bad: what a fake is for. */
export const run = (home, ...words) => {
  try {
    return execFileSync(cardscope, [...words, '--quiet'], { cwd: home, env: known(home), encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (failure) {
    if (![1, 4].includes(failure.status)) throw new Error(`cardscope ${words.join(' ')}: ${failure.stderr || failure.message}`);
    return failure.stdout;
  }
};

export class Server {
  constructor(home, options = []) {
    this.home = home;
    this.options = options;
    this.port = 0;
  }

  /** Starts it, at the port that it had before. */
  async start() {
    const child = spawn(cardscope, ['serve', '--port', String(this.port), '--json', ...this.options], { cwd: this.home, env: known(this.home), stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    let [said, wrong, over] = ['', '', false];
    child.stdout.on('data', text => { said += text; });
    child.stderr.on('data', text => { wrong += text; });
    child.on('exit', () => { over = true; });
    this.forget = later(() => child.exitCode === null && child.kill('SIGKILL'));
    const { address } = await until(() => {
      if (over) throw new Error(`the server ended: ${wrong}`);
      return said.trimEnd().endsWith('}') && JSON.parse(said);
    }, 'the address of the server', 60_000);
    const url = new URL(address);
    this.address = address;
    this.origin = url.origin;
    this.port = Number(url.port);
    this.token = new URLSearchParams(url.hash.slice(1)).get('token');
    return this;
  }

  /** Ends it as Ctrl-C does, or as a lack of memory does. */
  async stop(signal = 'SIGINT') {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const over = new Promise(done => child.on('exit', done));
    child.kill(signal);
    const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
    await over;
    clearTimeout(late);
    this.forget();
  }

  async ask(method, path, body) {
    const answer = await fetch(this.origin + path, {
      method, headers: { 'Cardscope-Token': this.token, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  /** Orders a test of the device that stands at its target now, or of a simulated card. */
  async order(order) {
    const { devices } = await this.ask('GET', '/api/devices');
    const object = devices.find(one => one.path === order.target)?.object;
    return this.ask('POST', '/api/tasks', { options: {}, ...(object ? { object } : {}), ...order });
  }

  /** Orders a test and waits for its end. */
  async tested(order) {
    const { id } = await this.order(order);
    return until(async () => {
      const task = await this.ask('GET', `/api/tasks/${id}`);
      return ['complete', 'failed', 'interrupted'].includes(task.state) && task;
    }, `the end of ${order.verb} ${order.target}`);
  }
}
