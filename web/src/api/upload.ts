// Sends a file and tells how far it is, which `fetch` cannot.

import { mayWrite } from './client';
import { connection } from './connection.svelte';
import { Failure } from './failure';
import type { Upload } from './types';

/** The most that the server takes; it refuses larger ones before they are sent. */
export const LARGEST = 256 * 1024 * 1024;

export function upload(file: File, progress: (share: number) => void): { done: Promise<Upload>; stop: () => void } {
  const request = new XMLHttpRequest();
  let stopped = false;
  const send = (secret: string) =>
    new Promise<Upload>((resolve, reject) => {
      const abort = () => reject(new DOMException('stopped', 'AbortError'));
      if (stopped) return abort();
      request.open('POST', `/api/uploads?name=${encodeURIComponent(file.name)}`);
      request.setRequestHeader('Cardscope-Token', secret);
      request.setRequestHeader('Content-Type', 'application/octet-stream');
      request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
      request.onload = () => {
        let body: Partial<Upload> & { error?: string } = {};
        try {
          body = JSON.parse(request.responseText) as typeof body;
        } catch {
          // The status says as much.
        }
        if (request.status < 300) resolve(body as Upload);
        else
          reject(
            new Failure(request.status, body.error ?? `The server refused ${file.name} (status ${request.status}).`),
          );
      };
      request.onerror = () => {
        connection.doubt();
        reject(new Failure(0, `The upload of ${file.name} broke off.`));
      };
      request.onabort = abort;
      request.send(file);
    });
  const stop = () => {
    stopped = true;
    request.abort();
  };
  return { done: mayWrite().then(send), stop };
}
