// The tasks of the server as this tab sees them. All state comes from the API, so that a reload and a second tab show the same;
// one event stream keeps it current while the tab is visible (a browser allows six connections a server).

import { get, write } from '../api/client';
import { connection } from '../api/connection.svelte';
import type { Moment, Order, Task } from '../api/types';
import { Series } from './series';

/** One task: what is shown of it changes by parts, so that five moments a second redraw a bar and not the page. */
export class LiveTask {
  task = $state.raw<Task>() as Task;
  moment = $state.raw<Moment | null>(null);
  /** Grows with `series`, which is not watched itself. */
  drawn = $state(0);
  series = new Series();
  /** Whether the history before this tab was opened has been fetched. */
  whole = $state(false);

  constructor(task: Task) {
    this.update(task);
  }

  update(task: Task): void {
    this.task = task;
    if (task.moment) this.push(task.moment);
  }

  push(moment: Moment): void {
    this.moment = moment;
    this.series.push(moment);
    this.drawn += 1;
  }

  fill(task: Task): void {
    const series = new Series();
    task.moments?.forEach((moment) => series.push(moment));
    this.series = series;
    this.whole = true;
    this.update(task);
  }
}

class Tasks {
  all = $state.raw<LiveTask[]>([]);
  loaded = $state(false);
  /** Grow when devices, or sessions and cards, have changed. */
  devices = $state(0);
  archive = $state(0);
  #stream: EventSource | null = null;
  #byId = new Map<string, LiveTask>();

  /** Begins to watch, now and whenever the tab is shown. */
  start(): void {
    document.addEventListener('visibilitychange', () => this.#watch());
    this.#watch();
  }

  /** After the server or the token has come back. */
  restart(): void {
    this.#close();
    this.#watch();
  }

  find(id: string): LiveTask | undefined {
    // Read through the reactive list, so that who asks is told of changes.
    return this.all.find((one) => one.task.id === id);
  }

  add(task: Task): LiveTask {
    const known = this.#byId.get(task.id);
    if (known) {
      known.update(task);
      return known;
    }
    const made = new LiveTask(task);
    this.#byId.set(task.id, made);
    this.all = [made, ...this.all];
    return made;
  }

  async begin(order: Order): Promise<Task> {
    const task = await write<Task>('POST', '/api/tasks', order);
    this.add(task);
    return task;
  }

  async stop(id: string): Promise<void> {
    this.add(await write<Task>('POST', `/api/tasks/${encodeURIComponent(id)}/stop`));
  }

  async forget(id: string): Promise<void> {
    await write<unknown>('DELETE', `/api/tasks/${encodeURIComponent(id)}`);
    this.#drop(id);
  }

  /** The history of a task, once for a tab. */
  async history(one: LiveTask): Promise<void> {
    one.fill(await get<Task>(`/api/tasks/${encodeURIComponent(one.task.id)}`));
  }

  async load(): Promise<void> {
    const { tasks } = await get<{ tasks: Task[] }>('/api/tasks');
    const present = new Set(tasks.map((task) => task.id));
    for (const id of this.#byId.keys()) if (!present.has(id)) this.#byId.delete(id);
    const all = tasks.map((task) => {
      const known = this.#byId.get(task.id) ?? new LiveTask(task);
      known.update(task);
      // What happened while nobody listened is fetched by who shows it.
      known.whole = false;
      this.#byId.set(task.id, known);
      return known;
    });
    this.all = all;
    this.loaded = true;
  }

  #drop(id: string): void {
    this.#byId.delete(id);
    this.all = this.all.filter((one) => one.task.id !== id);
  }

  #watch(): void {
    if (document.hidden || connection.state === 'refused') this.#close();
    else if (!this.#stream) this.#open();
  }

  #open(): void {
    const stream = new EventSource('/api/events');
    this.#stream = stream;
    const on = <T>(name: string, take: (data: T) => void) =>
      stream.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as T));
    // The list is asked for after the stream stands: nothing falls in between.
    stream.addEventListener('open', () => void this.#all());
    on<Task>('task', (task) => this.add(task));
    on<Moment & { task: string }>('moment', (moment) => this.#byId.get(moment.task)?.push(moment));
    on<{ task: string }>('forgotten', ({ task }) => this.#drop(task));
    on('devices', () => (this.devices += 1));
    on('archive', () => (this.archive += 1));
    on('gap', () => void this.#all());
    stream.addEventListener('error', () => {
      // A stream that the browser gave up does not come back by itself: the connection's own timer does.
      if (stream.readyState === EventSource.CLOSED) this.#close();
      void get('/api/host').catch(() => undefined);
    });
  }

  async #all(): Promise<void> {
    this.devices += 1;
    this.archive += 1;
    await this.load().catch(() => undefined);
  }

  #close(): void {
    this.#stream?.close();
    this.#stream = null;
  }
}

export const tasks = new Tasks();
