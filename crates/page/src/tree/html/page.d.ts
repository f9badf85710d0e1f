export function enhance(root: Document | HTMLElement, done?: AbortSignal): void;
