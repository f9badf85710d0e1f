import { expect, test } from 'vitest';
import { capitalize, hasEnded, joinSentences, keyInWords, splitVerdict, toneClass } from './sentences';

test('an answer is split after its verdict in capitals', () => {
  expect(splitVerdict('FAKE: holds 52.0 GB of 1000 GB')).toEqual({ word: 'FAKE', rest: 'holds 52.0 GB of 1000 GB' });
  expect(splitVerdict('NOT FAKE, but slow')).toEqual({ word: 'NOT FAKE', rest: 'but slow' });
});

test('an answer without a verdict stays whole', () => {
  for (const answer of ['', 'U3: 30 MB/s', 'SD card', 'The test was interrupted.'])
    expect(splitVerdict(answer)).toEqual({ word: '', rest: answer });
});

test('sentences are joined with capitals and full stops, and empty ones are left out', () => {
  expect(joinSentences('it is mounted', null, '', 'unmount it!')).toBe('It is mounted. Unmount it!');
  expect(capitalize('')).toBe('');
});

test('a warning has the class that the published pages give it', () => {
  expect(toneClass('warning')).toBe('open');
  expect(toneClass('bad')).toBe('bad');
  expect(toneClass(null)).toBe('plain');
});

test('a task that is being stopped has not ended', () => {
  const states = ['queued', 'running', 'stopping', 'complete', 'failed', 'interrupted'] as const;
  expect(states.filter(hasEnded)).toEqual(['complete', 'failed', 'interrupted']);
});

test('keys are shown with spaces', () => {
  expect(keyInWords('flash_page_bytes')).toBe('flash page bytes');
});
