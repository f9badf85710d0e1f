// Addresses of the app on the browser's history: a path names the page, the query its view (filters, chosen cards, weights).

/** Milliseconds that an address rests before the browser shows it. */
const WRITE_AFTER = 200;

/** The link to this server that an event is about. */
function linkOf(event: Event): HTMLAnchorElement | null {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  return link?.href && link.origin === location.origin ? link : null;
}

const isAnchor = (link: HTMLAnchorElement) => link.hash !== '' && link.pathname === location.pathname;

/** The link of a click after which the browser itself asks the server: a download, a new tab, a page that is loaded anew. */
export function linkOutOfApp(event: MouseEvent): HTMLAnchorElement | null {
  const link = linkOf(event);
  if (!link) return null;
  const elsewhere = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  const loads = link.target !== '' || link.hasAttribute('download') || link.pathname.startsWith('/api/');
  return elsewhere || (loads && !isAnchor(link)) ? link : null;
}

class Router {
  path = $state(location.pathname);
  query = $state.raw(new URLSearchParams(location.search));

  /** The address that the browser does not show yet. */
  #waiting: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    addEventListener('popstate', () => {
      this.#waiting = null;
      this.#read(location);
    });
    addEventListener('pagehide', () => this.#write());
    document.addEventListener('click', (event) => this.#follow(event));
  }

  #read(at: { pathname: string; search: string }): void {
    if (this.path !== at.pathname) this.path = at.pathname;
    this.query = new URLSearchParams(at.search);
  }

  go(to: string, how: { replace?: boolean } = {}): void {
    const before = this.path;
    this.#read(new URL(to, location.origin));
    if (how.replace) {
      // Browsers refuse more than some changes a second; a slider that is dragged makes more.
      this.#waiting = to;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#write(), WRITE_AFTER);
    } else {
      this.#write();
      history.pushState(null, '', to);
    }
    if (before !== this.path) scrollTo(0, 0);
  }

  #write(): void {
    clearTimeout(this.#timer);
    if (this.#waiting !== null) history.replaceState(null, '', this.#waiting);
    this.#waiting = null;
  }

  /** Changes some of the query and keeps the rest; what is empty is left out. */
  set(changes: Record<string, string | readonly string[] | null>, how: { push?: boolean } = {}): void {
    const query = new URLSearchParams(this.query);
    for (const [key, value] of Object.entries(changes)) {
      query.delete(key);
      if (Array.isArray(value)) value.forEach((one: string) => query.append(key, one));
      else if (value) query.set(key, value as string);
    }
    const text = query.toString();
    this.go(text ? `${this.path}?${text}` : this.path, { replace: !how.push });
  }

  /** Links within the app do not load the page anew; those that open elsewhere or download do what they always do. */
  #follow(event: MouseEvent): void {
    const link = linkOf(event);
    if (!link || event.defaultPrevented || linkOutOfApp(event) || isAnchor(link)) return;
    event.preventDefault();
    this.go(link.pathname + link.search);
  }
}

export const router = new Router();
