// Words of the API in the words of a reader, in one place.

import type { TaskState, NewsTone } from '../api/types';

/** The class that the published pages give a tone. */
export function toneClass(tone: NewsTone | null | undefined): string {
  return tone === 'warning' ? 'open' : (tone ?? 'plain');
}

/** The verdict that an answer begins with (`FAKE: holds …`), apart from the rest, as the published pages show it. */
export function splitVerdict(answer: string): { word: string; rest: string } {
  const found = /^([A-Z][A-Z -]{2,})([:,])\s*([\s\S]*)$/.exec(answer);
  return found?.[1] ? { word: found[1], rest: found[3] ?? '' } : { word: '', rest: answer };
}

export function hasEnded(state: TaskState): boolean {
  return state === 'complete' || state === 'failed' || state === 'interrupted';
}

export function capitalize(text: string): string {
  return text ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** Texts as sentences of one line. */
export function joinSentences(...texts: (string | null | undefined)[]): string {
  const whole = texts.filter((text) => text) as string[];
  return whole.map((text) => capitalize(/[.!?]$/.test(text) ? text : `${text}.`)).join(' ');
}

/** `flash_page_bytes` as `flash page bytes`. */
export function keyInWords(key: string): string {
  return key.replaceAll('_', ' ');
}
