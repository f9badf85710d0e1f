// The tasks of the server as this tab sees them. All state comes from the API, so that a reload and a second tab show the same;
// one event stream keeps it current while the tab is visible (a browser allows six connections a server).

import { toApiError, getJson, sendChange } from '../api/client';
import { connection } from '../api/connection.svelte';
import type { Device, ProgressSample, TaskOrder, Task } from '../api/types';
import { verbs } from '../api/verbs.svelte';
import { ThinnedSeries } from './thinnedSeries';

/** One task: what is shown of it changes by parts, so that five moments a second redraw a bar and not the page. */
export class LiveTask {
  task = $state.raw<Task>() as Task;
  moment = $state.raw<ProgressSample | null>(null);
  /** Grows with `series`, which is not watched itself. */
  version = $state(0);
  series = new ThinnedSeries();
  /** Whether the history before this tab was opened has been fetched. */
  hasHistory = $state(false);
  /** Number of the last that was heard of it. */
  updateNumber = 0;

  constructor(task: Task) {
    this.update(task);
  }

  update(task: Task): void {
    this.task = task;
    if (task.moment) this.push(task.moment);
  }

  push(moment: ProgressSample): void {
    this.moment = moment;
    this.series.push(moment);
    this.version += 1;
  }

  fill(moments: ProgressSample[]): void {
    const series = new ThinnedSeries();
    moments.forEach((moment) => series.push(moment));
    if (this.moment) series.push(this.moment);
    this.series = series;
    this.hasHistory = true;
    this.version += 1;
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
  /** Numbers what is heard and what is asked for: an answer may come after an event that is newer, and must not take it back. */
  #last = 0;
  /** Tasks that were removed, with the number of that. */
  #removed = new Map<string, number>();

  #wanted = false;

  constructor() {
    document.addEventListener('visibilitychange', () => this.#watch());
  }

  /** Watches the server anew whenever the tab is shown, or ends that. */
  watch(wanted: boolean): void {
    this.#wanted = wanted;
    this.#close();
    this.#watch();
  }

  find(id: string): LiveTask | undefined {
    // Read through the reactive list, so that who asks is told of changes.
    return this.all.find((one) => one.task.id === id);
  }

  /** Takes what is heard of a task, or what was asked for under a number, unless something newer was heard since. */
  add(task: Task, number = ++this.#last): void {
    if ((this.#removed.get(task.id) ?? 0) > number) return;
    const known = this.#byId.has(task.id);
    const one = this.#take(task, number);
    if (!known) this.all = [one, ...this.all];
  }

  #take(task: Task, number: number): LiveTask {
    const one = this.#byId.get(task.id) ?? new LiveTask(task);
    if (one.updateNumber < number) {
      one.updateNumber = number;
      one.update(task);
    }
    this.#byId.set(task.id, one);
    return one;
  }

  /** Orders a test. `device`: the one that was shown when a person decided; nothing where the target is simulated. */
  async begin(order: Omit<TaskOrder, 'object'>, device: Device | null = null): Promise<Task> {
    return this.onDevice(() =>
      this.#answer(sendChange<Task>('POST', '/api/tasks', { ...order, ...(device ? { object: device.object } : {}) })),
    );
  }

  /** Does something with a device. What the server refuses is often another card: the devices are asked for again. */
  async onDevice<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (thrown) {
      if (toApiError(thrown).status === 409) this.devices += 1;
      throw thrown;
    }
  }

  async stop(id: string): Promise<void> {
    await this.#answer(sendChange<Task>('POST', `/api/tasks/${encodeURIComponent(id)}/stop`));
  }

  async forget(id: string): Promise<void> {
    await sendChange<unknown>('DELETE', `/api/tasks/${encodeURIComponent(id)}`);
    this.#drop(id);
  }

  /** Fetches a task with its history, also one that the list does not have (yet). */
  async history(id: string): Promise<void> {
    const task = await this.#answer(getJson<Task>(`/api/tasks/${encodeURIComponent(id)}`));
    this.find(id)?.fill(task.moments ?? []);
  }

  /** Takes an answer under the number of its question: the test may have ended, or been removed, before it comes. */
  async #answer(asked: Promise<Task>): Promise<Task> {
    const number = ++this.#last;
    const [task] = await Promise.all([asked, verbs.ready().catch(() => undefined)]);
    this.add(task, number);
    return task;
  }

  async load(): Promise<void> {
    const asked = ++this.#last;
    const { tasks } = await getJson<{ tasks: Task[] }>('/api/tasks');
    const listed = tasks.filter((task) => (this.#removed.get(task.id) ?? 0) < asked);
    const ids = new Set(listed.map((task) => task.id));
    for (const [id, one] of this.#byId) if (!ids.has(id) && one.updateNumber < asked) this.#byId.delete(id);
    const newer = this.all.filter((one) => !ids.has(one.task.id) && this.#byId.has(one.task.id));
    this.all = [...newer, ...listed.map((task) => this.#take(task, asked))];
    // What happened while nobody listened is fetched by who shows it.
    for (const one of this.all) one.hasHistory = false;
    this.loaded = true;
  }

  #drop(id: string): void {
    this.#removed.set(id, ++this.#last);
    this.#byId.delete(id);
    this.all = this.all.filter((one) => one.task.id !== id);
  }

  #watch(): void {
    if (document.hidden || !this.#wanted) this.#close();
    else if (!this.#stream) void this.#open().catch(() => undefined);
  }

  async #open(): Promise<void> {
    await connection.ready();
    await verbs.ready().catch(() => undefined);
    if (document.hidden || !this.#wanted || this.#stream) return;
    const stream = new EventSource('/api/events');
    this.#stream = stream;
    const on = <T>(name: string, take: (data: T) => void) =>
      stream.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as T));
    // The list is asked for after the stream stands: nothing falls in between.
    stream.addEventListener('open', () => void this.#all());
    on<Task>('task', (task) => this.add(task));
    on<ProgressSample & { task: string }>('moment', (moment) => this.#byId.get(moment.task)?.push(moment));
    on<{ task: string }>('forgotten', ({ task }) => this.#drop(task));
    on('devices', () => (this.devices += 1));
    on('archive', () => (this.archive += 1));
    on('gap', () => void this.#all());
    stream.addEventListener('error', () => {
      // By itself it would connect again, and send the cookie to whoever has the port by then.
      stream.close();
      if (this.#stream === stream) connection.markLost();
    });
  }

  async #all(): Promise<void> {
    this.devices += 1;
    this.archive += 1;
    await Promise.all([this.load(), verbs.load()]).catch(() => undefined);
  }

  #close(): void {
    this.#stream?.close();
    this.#stream = null;
  }
}

export const tasks = new Tasks();
