// Every request of the app: whether it may be sent, the secret in a header, errors as one sentence.

import { connection, NO_ANSWER, READS_ONLY } from './connection.svelte';
import { ApiError, isAbortError } from './failure';
import { storedToken } from './token';
import type { ApiProblem } from './types';

export { ApiError, toApiError, isAbortError } from './failure';

type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>;

/** A path with its query; empty values are left out. */
export function pathWithQuery(path: string, query: Query = {}): string {
  const all = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (Array.isArray(value)) value.forEach((one: string) => all.append(key, one));
    else if (value !== null && value !== undefined && value !== '') all.set(key, String(value));
  }
  const text = all.toString();
  return text ? `${path}?${text}` : path;
}

async function readProblem(response: Response): Promise<ApiError> {
  try {
    const problem = (await response.json()) as Partial<ApiProblem>;
    if (typeof problem.error === 'string') return new ApiError(response.status, problem.error, problem.needs_consent);
  } catch {
    // Not JSON: the status says as much.
  }
  return new ApiError(response.status, `The server refused this request (status ${response.status}).`);
}

/** Waits until a change may be sent. A tab without the secret is refused here: the server would only say 401. */
export async function requireToken(): Promise<string> {
  await connection.ready();
  const token = storedToken();
  if (token === null) throw new ApiError(403, READS_ONLY);
  return token;
}

async function sendRequest(method: string, path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  const headers = new Headers(init.headers);
  const token = storedToken();
  if (token !== null) headers.set('Cardscope-Token', token);
  try {
    response = await fetch(path, { ...init, method, headers });
  } catch (thrown) {
    if (isAbortError(thrown)) throw thrown;
    if (init.body instanceof File) connection.recheck();
    else connection.markLost();
    throw new ApiError(0, init.body instanceof File ? `${init.body.name} was not sent.` : NO_ANSWER);
  }
  if (response.ok) return response;
  const failure = await readProblem(response);
  if (response.status === 401) connection.markRefused();
  throw failure;
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  await connection.ready();
  const response = await sendRequest('GET', path, signal ? { signal } : {});
  return (await response.json()) as T;
}

/** Asks what does not fit into an address. Nothing is changed by it. */
export async function postQuery<T>(path: string, question: unknown, signal?: AbortSignal): Promise<T> {
  await connection.ready();
  const response = await sendRequest('POST', path, { ...json(question), ...(signal ? { signal } : {}) });
  return (await response.json()) as T;
}

function json(body: unknown): RequestInit {
  return { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
}

export async function sendChange<T>(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  await requireToken();
  const response = await sendRequest(method, path, {
    ...(body === undefined ? {} : json(body)),
    ...(signal ? { signal } : {}),
  });
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

/** Sends a file as it is. */
export async function postFile<T>(path: string, file: File): Promise<T> {
  await requireToken();
  const headers = { 'Content-Type': file.type || 'application/octet-stream' };
  const response = await sendRequest('POST', path, { body: file, headers });
  return (await response.json()) as T;
}
