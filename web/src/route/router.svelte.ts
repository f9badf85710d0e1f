// Addresses of the app on the browser's history: a path names the page, the query its view (filters, chosen cards, weights).

class Router {
  path = $state(location.pathname);
  query = $state.raw(new URLSearchParams(location.search));

  constructor() {
    addEventListener('popstate', () => this.#read());
    document.addEventListener('click', (event) => this.#follow(event));
  }

  #read(): void {
    if (this.path !== location.pathname) this.path = location.pathname;
    this.query = new URLSearchParams(location.search);
  }

  go(to: string, how: { replace?: boolean } = {}): void {
    const before = location.pathname;
    if (how.replace) history.replaceState(null, '', to);
    else history.pushState(null, '', to);
    this.#read();
    if (before !== location.pathname) scrollTo(0, 0);
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
