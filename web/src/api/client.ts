// Every request of the app: the token in a header, errors as one sentence, and whether the server answers at all.

import { kept } from './token';
import { connection } from './connection.svelte';

/** What went wrong, as the server says it. `status` is 0 where it did not answer. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export function failure(thrown: unknown): Failure {
  return thrown instanceof Failure ? thrown : new Failure(0, thrown instanceof Error ? thrown.message : String(thrown));
}

/** Aborted because something newer was asked for: nobody waits for it. */
export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'AbortError';
}

type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>;

/** A path with its query; empty values are left out. */
export function address(path: string, query: Query = {}): string {
  const all = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (Array.isArray(value)) value.forEach((one: string) => all.append(key, one));
    else if (value !== null && value !== undefined && value !== '') all.set(key, String(value));
  }
  const text = all.toString();
  return text ? `${path}?${text}` : path;
}

async function sentence(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { error?: unknown };
    if (typeof body.error === 'string') return body.error;
  } catch {
    // Not JSON: the status says as much.
  }
  return `The server refused this request (status ${response.status}).`;
}

export async function send(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  const headers = new Headers(init.headers);
  headers.set('Cardscope-Token', kept() ?? '');
  try {
    response = await fetch(path, { ...init, method, headers });
  } catch (thrown) {
    if (!isAbort(thrown)) connection.lose();
    throw isAbort(thrown) ? thrown : new Failure(0, 'Cardscope does not answer.');
  }
  connection.heard();
  if (response.status === 401) connection.refuse();
  if (!response.ok) throw new Failure(response.status, await sentence(response));
  return response;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await send('GET', path, signal ? { signal } : {});
  return (await response.json()) as T;
}

export async function write<T>(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const response = await send(method, path, {
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    ...(signal ? { signal } : {}),
  });
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}
