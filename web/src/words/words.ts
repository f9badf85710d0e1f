// Words of the API in the words of a reader, in one place.

import type { TaskState, Tone } from '../api/types';

/** The class that the published pages give a tone. */
export function toneClass(tone: Tone | null | undefined): string {
  return tone === 'warning' ? 'open' : (tone ?? 'plain');
}

/** The verdict that an answer begins with (`FAKE: holds …`), apart from the rest, as the published pages show it. */
export function verdict(answer: string): { word: string; rest: string } {
  const found = /^([A-Z][A-Z -]{2,})([:,])\s*([\s\S]*)$/.exec(answer);
  return found?.[1] ? { word: found[1], rest: found[3] ?? '' } : { word: '', rest: answer };
}

export function ended(state: TaskState): boolean {
  return state === 'complete' || state === 'failed' || state === 'interrupted';
}

export function sentence(text: string): string {
  return text ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** Texts as sentences of one line. */
export function sentences(...texts: (string | null | undefined)[]): string {
  const whole = texts.filter((text) => text) as string[];
  return whole.map((text) => sentence(/[.!?]$/.test(text) ? text : `${text}.`)).join(' ');
}

/** `flash_page_bytes` as `flash page bytes`. */
export function spaced(key: string): string {
  return key.replaceAll('_', ' ');
}
