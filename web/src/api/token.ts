// The token that `cardscope serve` prints in its address: it leaves the address at once and stays in this browser.

const NAME = 'cardscope-token';

/** Takes the token out of `#token=…`, where it is not sent to any server and not kept in the history. */
export function takeFromAddress(): void {
  const found = tokenIn(location.hash);
  if (!found) return;
  keep(found);
  history.replaceState(history.state, '', location.pathname + location.search);
}

/** The token in a pasted address or in a pasted token. */
export function tokenIn(text: string): string | null {
  const named = /token=([0-9A-Fa-f]{8,})/.exec(text)?.[1];
  return named ?? /^\s*([0-9A-Fa-f]{16,})\s*$/.exec(text)?.[1] ?? null;
}

export function keep(token: string): void {
  localStorage.setItem(NAME, token);
}

export function kept(): string | null {
  return localStorage.getItem(NAME);
}
