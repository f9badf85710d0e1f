// A simulated card that this computer has as a device: served in real time over FUSE, with a loop device on it.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync, fsyncSync } from 'node:fs';
import { cardscope } from '../pages.mjs';
import { later } from './clean.mjs';
import { until } from './wait.mjs';

/** Why there can be no such device here; nothing where there can. */
export const noDevice = () => {
  if (process.getuid() !== 0) return 'needs root';
  return existsSync('/dev/fuse') && existsSync('/dev/loop-control') ? '' : 'needs /dev/fuse and loop devices';
};

/** 268 MB at 50 MB/s: all of it is read in five seconds, and a test of it takes a while. */
export const SMALL = 'constant?announced_bytes=256M';
/** A test of it still runs when a page has been opened for it, however busy the machine. */
export const LASTING = 'constant?announced_bytes=4G';
/** Announces 512 MiB, holds 128. */
export const FAKE = 'constant?announced_bytes=512M&fake=limbo&fake_bytes=128M';

const quietly = (...words) => {
  try {
    execFileSync(words[0], words.slice(1), { stdio: 'ignore' });
  } catch {
    // It is gone already.
  }
};

export class Rig {
  static async plug(name) {
    const rig = new Rig();
    const place = mkdtempSync(join(tmpdir(), 'cardscope-rig-'));
    const child = spawn(cardscope, ['sim', 'serve', name, '--mount', place, '--quiet'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let wrong = '';
    child.stderr.on('data', text => { wrong += text; });
    rig.child = child;
    rig.card = join(place, 'card');
    rig.unplug = later(() => {
      if (rig.device) quietly('losetup', '-d', rig.device);
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      quietly('umount', '-l', place);
      rmSync(place, { recursive: true, force: true });
    });
    await until(() => {
      if (child.exitCode !== null) throw new Error(`sim serve ended: ${wrong}`);
      return existsSync(rig.card);
    }, `${name} to be served`, 30_000);
    // Past the page cache, which holds up writes as other programs fill it: the time is the card's own.
    rig.device = execFileSync('losetup', ['-f', '--show', '--direct-io=on', rig.card], { encoding: 'utf8' }).trim();
    return rig;
  }

  /** Content that is not zeros, every 4 MiB, so that what a test restores can be told from what it forgot. */
  fill() {
    const file = openSync(this.device, 'r+');
    const bytes = Number(readFileSync(`/sys/block/${this.device.slice(5)}/size`, 'utf8')) * 512;
    const block = Buffer.alloc(256 << 10);
    for (let at = 0; at < bytes; at += 4 << 20) {
      for (let i = 0; i < block.length; i += 8) block.writeBigUInt64LE(BigInt(at + i) * 0x9e3779b97f4a7c15n & 0xffffffffffffffffn, i);
      writeSync(file, block, 0, block.length, at);
    }
    fsyncSync(file);
    closeSync(file);
  }

  /** Digest of all that is on it. */
  digest() {
    quietly('blockdev', '--flushbufs', this.device);
    const file = openSync(this.device, 'r');
    const hash = createHash('sha256');
    const block = Buffer.alloc(1 << 20);
    for (let at = 0, n; (n = readSync(file, block, 0, block.length, at)) > 0; at += n) hash.update(block.subarray(0, n));
    closeSync(file);
    return hash.digest('hex');
  }

  /** Takes the card out without asking. */
  pull() {
    this.child.kill('SIGKILL');
  }
}
