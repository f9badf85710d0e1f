// Addresses of the app on the browser's history: a path names the page, the query its view (filters, chosen cards, weights).

/** Milliseconds that an address rests before the browser shows it. */
const WRITE_AFTER = 200;

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
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (link.pathname.startsWith('/api/') || (link.hash && link.pathname === location.pathname)) return;
    event.preventDefault();
    this.go(link.pathname + link.search);
  }
}

export const router = new Router();
