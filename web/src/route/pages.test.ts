import { expect, test } from 'vitest';
import { findRoute } from './pages';

test('an address names its page and its parameters', () => {
  expect(findRoute('/')?.path).toBe('/');
  expect(findRoute('/cards/')?.path).toBe('/cards');
  expect(findRoute('/cards/a%2Fb')?.parameters).toEqual({ id: 'a/b' });
});

test('a parameter that is not valid UTF-8 stays as it is', () => {
  expect(findRoute('/cards/%E0%A4%A')?.parameters).toEqual({ id: '%E0%A4%A' });
});

test('no page takes more or fewer parts than its address', () => {
  for (const path of ['/nowhere', '/cards/a/b', '/live/a/b/c']) expect(findRoute(path)).toBeNull();
});
