// Whether the server may be asked, and how: with the secret, only reading, or not at all. A server that went away leaves its port
// to anybody, so a tab that lost it sends neither the secret nor the cookie until a person opens an address again.

import { ApiError } from './failure';
import { canVerifyServer, fetchProof, serverKnowsToken } from './serverProof';
import { forgetToken, storeToken, storedToken } from './token';

/**
 * `open`: requests are sent. `lost`: nothing answers. `restarted`: something answers that is not trusted. `refused`: a server
 * answers, and this tab has neither secret nor valid cookie.
 */
type State = 'open' | 'lost' | 'restarted' | 'refused';

export const NO_ANSWER = 'Cardscope does not answer.';
export const RESTARTED = 'Cardscope was restarted: open its new address.';
export const READS_ONLY =
  'This tab only reads. To start or change something, paste the address that `cardscope serve` printed.';
const UNKNOWN = 'This server does not know this token. Paste the address that it printed at its last start.';

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 10_000;

class Connection {
  state = $state<State>('open');
  /** Without the secret: what is sent goes by the cookie. */
  readOnly = $state(true);
  /** Grows each time a server may be asked again: whatever is shown asks again. */
  epoch = $state(0);
  /** Why the Token page is shown to a tab that had a secret. */
  refusal = $state('');
  /** The last event stream, or a proof since the tab was shown, says that the server is still the same. */
  #verified = false;
  #proof: Promise<void> | null = null;
  #starting: Promise<unknown> = Promise.resolve();
  #reopened: (() => void)[] = [];
  #wait = FIRST_WAIT;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    // A hidden tab has no event stream, so it does not notice that the server ends.
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#verified = false;
    });
  }

  /** True if a request can be sent without asking the server for a proof. */
  get trusted(): boolean {
    return this.state === 'open' && (storedToken() === null || (this.#verified && !document.hidden));
  }

  /** At load: with the secret of the address, else with the cookie of an earlier tab. */
  start(token: string | null): void {
    const starting = token
      ? this.useToken(token).then((wrong) => wrong && this.markRefused(wrong))
      : this.#checkCookie();
    this.#starting = starting;
  }

  /** Goes on with a secret once the server has shown that it knows it. Returns what is wrong, else nothing. */
  async useToken(token: string): Promise<string> {
    try {
      // Where the browser cannot check a proof, the person's opening of this address has to do: so it is with every web page.
      if (canVerifyServer() && !(await serverKnowsToken(token))) return UNKNOWN;
      // The cookie serves what cannot send a header: the event stream, pictures, downloads.
      const headers = { 'Cardscope-Token': token };
      const response = await fetch('/api/session', { method: 'POST', headers, cache: 'no-store' });
      if (!response.ok) return UNKNOWN;
    } catch {
      this.markLost();
      return NO_ANSWER;
    }
    clearTimeout(this.#timer);
    storeToken(token);
    this.readOnly = false;
    this.#verified = !document.hidden;
    this.refusal = '';
    this.state = 'open';
    this.epoch += 1;
    this.#reopened.splice(0).forEach((go) => go());
    return '';
  }

  /** A tab without a secret asks once, and its pages wait: each of them would be refused. */
  async #checkCookie(): Promise<void> {
    try {
      const response = await fetch('/api/host', { cache: 'no-store' });
      await response.text();
      if (response.status === 401) this.markRefused();
    } catch {
      this.markLost();
    }
  }

  /** Waits until a request may carry the secret or the cookie; fails if it may not. */
  async ready(): Promise<void> {
    await this.#starting;
    if (this.state === 'open' && !this.trusted) await (this.#proof ??= this.#verify());
    if (this.state === 'open') return;
    throw this.state === 'refused' ? new ApiError(401, UNKNOWN) : new ApiError(0, this.message);
  }

  /** As `ready`, but waits for as long as it takes. */
  async reopened(): Promise<void> {
    while (
      !(await this.ready().then(
        () => true,
        () => false,
      ))
    )
      await new Promise<void>((go) => this.#reopened.push(go));
  }

  get message(): string {
    return this.state === 'lost' ? NO_ANSWER : RESTARTED;
  }

  async #verify(): Promise<void> {
    const token = storedToken();
    try {
      if (token === null) return;
      if (!canVerifyServer()) {
        // Whoever answers now may be another program, and nothing here can tell: the secret is dropped. The tab goes on reading
        // by its cookie, which is all that a tab without a secret risks, too.
        forgetToken();
        this.readOnly = true;
      } else if (await serverKnowsToken(token)) this.#verified = !document.hidden;
      else this.#giveUp('restarted');
    } catch {
      this.markLost();
    } finally {
      this.#proof = null;
    }
  }

  #giveUp(state: State): void {
    forgetToken();
    this.#verified = false;
    this.state = state;
  }

  /** After a file was not sent: it may have been unreadable, or the server is gone. A proof tells. */
  recheck(): void {
    this.#verified = false;
    this.ready().catch(() => undefined);
  }

  /** After a request or the event stream failed on the network. */
  markLost(): void {
    if (this.state === 'lost') return;
    this.#giveUp('lost');
    this.#wait = FIRST_WAIT;
    this.#probeLater();
  }

  /** The server knows neither secret nor cookie. */
  markRefused(why = ''): void {
    if (this.state !== 'open') return;
    this.refusal = why || (storedToken() === null ? '' : UNKNOWN);
    this.#giveUp('refused');
  }

  #probeLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#probe(), this.#wait);
    this.#wait = Math.min(this.#wait * 1.6, LONGEST_WAIT);
  }

  async #probe(): Promise<void> {
    try {
      // Any answer will do. It is not believed: whoever answers may have taken the port.
      await (await fetchProof()).text();
      if (this.state === 'lost') this.state = 'restarted';
    } catch {
      if (this.state === 'lost') this.#probeLater();
    }
  }
}

export const connection = new Connection();
