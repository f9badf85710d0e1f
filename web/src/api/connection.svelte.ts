// Whether the server answers and knows this browser. Kept apart from the requests, which report here.

type State = 'open' | 'lost' | 'refused';

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 10_000;

class Connection {
  state = $state<State>('open');
  /** Grows each time the server is back: whatever is shown asks again. */
  epoch = $state(0);
  #wait = FIRST_WAIT;
  #timer: ReturnType<typeof setTimeout> | undefined;

  lose(): void {
    if (this.state !== 'open') return;
    this.state = 'lost';
    this.#later();
  }

  heard(): void {
    if (this.state !== 'lost') return;
    clearTimeout(this.#timer);
    this.#wait = FIRST_WAIT;
    this.state = 'open';
    this.epoch += 1;
  }

  refuse(): void {
    this.state = 'refused';
  }

  /** With a token that was just given. */
  again(): void {
    this.state = 'open';
    this.epoch += 1;
  }

  #later(): void {
    this.#timer = setTimeout(() => void this.#ask(), this.#wait);
    this.#wait = Math.min(this.#wait * 1.6, LONGEST_WAIT);
  }

  async #ask(): Promise<void> {
    try {
      // Any answer will do, a refusal as well.
      await fetch('/api/host', { cache: 'no-store' });
      this.heard();
    } catch {
      this.#later();
    }
  }
}

export const connection = new Connection();
