import { expect, test, vi } from 'vitest';
import { findToken, forgetToken, storedToken, storeToken } from './token';

vi.stubGlobal('location', { origin: 'http://127.0.0.1:7373' });

test('a token is found in an address, after its number sign, and alone', () => {
  const token = 'abcdefghijklmnop';
  for (const text of [`http://127.0.0.1:7373/#token=${token}`, `#token=${token}`, ` ${token}\n`])
    expect(findToken(text)).toEqual({ secret: token, elsewhere: null });
});

test('the address of another server is named, so that its token is not sent to this one', () => {
  const address = 'http://127.0.0.1:8000/#token=abcdefghijklmnop';
  expect(findToken(address)).toEqual({ secret: 'abcdefghijklmnop', elsewhere: address });
});

test('text without a token is refused', () => {
  for (const text of ['', 'short', 'http://127.0.0.1:7373/', 'two words of text here'])
    expect(findToken(text)).toBeNull();
});

test('a token is kept until it is forgotten', () => {
  storeToken('abcdefghijklmnop');
  expect(storedToken()).toBe('abcdefghijklmnop');
  forgetToken();
  expect(storedToken()).toBeNull();
});
