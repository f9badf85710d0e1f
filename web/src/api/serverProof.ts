// Does the server on this port know the secret? It is asked for the HMAC of a random number, so that a program that has taken
// the port learns nothing. Neither the secret nor the cookie is sent.

/** False on plain HTTP to another name than this computer's: browsers have no `crypto.subtle` there. */
export const canVerifyServer = (): boolean => globalThis.crypto.subtle !== undefined;

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function hmac(key: string, message: string): Promise<string> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', bytes(key), algorithm, false, ['sign']);
  return hex(new Uint8Array(await crypto.subtle.sign('HMAC', imported, bytes(message))));
}

/** Asks whatever answers at this address, without the cookie. Fails only if nothing answers. */
export function fetchProof(nonce = hex(crypto.getRandomValues(new Uint8Array(32)))): Promise<Response> {
  return fetch(`/api/proof?nonce=${nonce}`, { credentials: 'omit', cache: 'no-store' });
}

/** Whether the server knows the secret. Fails only if nothing answers. */
export async function serverKnowsToken(secret: string): Promise<boolean> {
  const nonce = hex(crypto.getRandomValues(new Uint8Array(32)));
  const response = await fetchProof(nonce);
  try {
    const { proof } = (await response.json()) as { proof?: unknown };
    return response.ok && proof === (await hmac(secret, nonce));
  } catch {
    // Not JSON: some other program.
    return false;
  }
}
