// Sends a file and tells how far it is, which `fetch` cannot.

import { requireToken } from './client';
import { connection } from './connection.svelte';
import { ApiError } from './failure';
import type { UploadedFile } from './types';

/** The most that the server takes; it refuses larger ones before they are sent. */
export const MAX_UPLOAD_BYTES = 256 * 1024 * 1024;

export function uploadFile(
  file: File,
  progress: (share: number) => void,
): { done: Promise<UploadedFile>; stop: () => void } {
  const request = new XMLHttpRequest();
  let stopped = false;
  const send = (secret: string) =>
    new Promise<UploadedFile>((resolve, reject) => {
      const abort = () => reject(new DOMException('stopped', 'AbortError'));
      if (stopped) return abort();
      request.open('POST', `/api/uploads?name=${encodeURIComponent(file.name)}`);
      request.setRequestHeader('Cardscope-Token', secret);
      request.setRequestHeader('Content-Type', 'application/octet-stream');
      request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
      request.onload = () => {
        let body: Partial<UploadedFile> & { error?: string } = {};
        try {
          body = JSON.parse(request.responseText) as typeof body;
        } catch {
          // The status says as much.
        }
        if (request.status < 300) resolve(body as UploadedFile);
        else
          reject(
            new ApiError(request.status, body.error ?? `The server refused ${file.name} (status ${request.status}).`),
          );
      };
      request.onerror = () => {
        connection.recheck();
        reject(new ApiError(0, `The upload of ${file.name} broke off.`));
      };
      request.onabort = abort;
      request.send(file);
    });
  const stop = () => {
    stopped = true;
    request.abort();
  };
  return { done: requireToken().then(send), stop };
}
