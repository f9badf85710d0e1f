// The script of the published pages, which is plain JavaScript so that a page can carry it.
declare module '*/page/html/page.js' {
  export function enhance(root: HTMLElement, done: AbortSignal): void;
}
