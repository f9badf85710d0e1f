// Waiting for a condition; a machine that is busy takes longer and fails nothing.

export const PATIENCE = 60_000;

export const pause = ms => new Promise(done => setTimeout(done, ms));

/** What `look` finds, once it is something. `what`: a text, or what makes it once patience has ended. */
export async function until(look, what, patience = PATIENCE) {
  const end = Date.now() + patience;
  let last;
  for (;;) {
    try {
      const found = await look();
      if (found) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`waited ${patience / 1000} s for ${typeof what === 'function' ? what() : what}${last ? `: ${last.message}` : ''}`);
    await pause(100);
  }
}
