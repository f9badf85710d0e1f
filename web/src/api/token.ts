// The secret in the address that `cardscope serve` prints: whoever knows it may write. It stays in the memory of this tab, because
// storage and cookies of 127.0.0.1 outlive the server, and the next server on its port may be another user's.

let token: string | null = null;

export function storedToken(): string | null {
  return token;
}

export function storeToken(given: string): void {
  token = given;
}

export function forgetToken(): void {
  token = null;
}

/** Takes the secret out of `#token=…`, which no server is sent, so that neither address nor history keeps it. */
export function takeTokenFromAddress(): string | null {
  const found = findToken(location.hash)?.secret ?? null;
  if (found) history.replaceState(history.state, '', location.pathname + location.search);
  return found;
}

export interface PastedToken {
  secret: string;
  /** The whole address where another server is meant: the secret must not be sent to this one. */
  elsewhere: string | null;
}

/** The secret in an address, in what follows its `#`, or alone. */
export function findToken(text: string): PastedToken | null {
  const trimmed = text.trim();
  const found = /#token=([\w-]{8,})/.exec(trimmed)?.[1] ?? /^([\w-]{16,})$/.exec(trimmed)?.[1];
  if (!found) return null;
  const address = /https?:\/\/\S+/.exec(trimmed)?.[0];
  const other = address !== undefined && URL.canParse(address) && new URL(address).origin !== location.origin;
  return { secret: found, elsewhere: other ? address : null };
}

/** Earlier versions kept the secret in the browser's storage. */
export function removeOldToken(): void {
  try {
    localStorage.removeItem('cardscope-token');
  } catch {
    // A browser without storage has none.
  }
}
