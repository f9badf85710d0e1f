/** What went wrong, as the server says it. `status` is 0 where it did not answer. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** The order loses data and does not confirm it. */
    readonly needsConsent = false,
  ) {
    super(message);
  }
}

export function toApiError(thrown: unknown): ApiError {
  return thrown instanceof ApiError
    ? thrown
    : new ApiError(0, thrown instanceof Error ? thrown.message : String(thrown));
}

/** Aborted because something newer was asked for: nobody waits for it. */
export function isAbortError(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'AbortError';
}
