// What the API sends and takes. Shaped so that each of these becomes an alias of a generated type.

export type Tone = 'good' | 'plain' | 'warning' | 'bad';

export interface Host {
  version: string;
  hostname: string;
  archive: string;
  archive_problem: string | null;
  root: boolean;
}

export interface Partition {
  name: string;
  bytes: number | null;
  filesystem: string | null;
  mounted_at: string[];
}

export interface Device {
  name: string;
  path: string;
  bytes: number | null;
  bus: string;
  model: string | null;
  removable: boolean;
  read_only: boolean;
  empty: boolean;
  partitions: Partition[];
  filesystem: string | null;
  mounted_at: string[];
  mounted: boolean;
  safe: boolean;
  reason: string | null;
  advice: string | null;
  can_unmount: boolean;
  task: string | null;
}

export interface Devices {
  answer: string;
  devices: Device[];
  examples: SimulatedLine[];
}

export type TaskState = 'queued' | 'running' | 'stopping' | 'complete' | 'failed' | 'interrupted';

export interface Moment {
  at: number;
  stage: string;
  stage_number: number;
  stages: number;
  phase: string;
  done: number | null;
  bytes: number | null;
  total_bytes: number | null;
  mb_s: number | null;
  latency_us: number | null;
  celsius: number | null;
  left_s: number | null;
  waits_for: string | null;
}

export interface Finding {
  tone: Tone;
  text: string;
}

export interface Task {
  id: string;
  verb: string;
  target: string;
  title: string;
  state: TaskState;
  queued_at: string;
  started_at: string | null;
  ended_at: string | null;
  moment: Moment | null;
  plan: { name: string; weight: number }[];
  says: string;
  findings: Finding[];
  figures: { what: string; mb_s: number }[];
  notes: string[];
  answer: string | null;
  tone: Tone | null;
  session: string | null;
  error: string | null;
  loses_data: boolean;
  /** Only where one task is asked for. */
  moments?: Moment[];
}

export type Options = Record<string, string | number | boolean | string[]>;

export interface Order {
  verb: string;
  target: string;
  options: Options;
  confirm?: string;
}

export interface Price {
  amount: number;
  currency: string;
}

export interface CardRow {
  id: string;
  title: string;
  brand: string | null;
  model: string | null;
  capacity_bytes: number | null;
  capacity: string;
  marks: string[];
  verdict: { text: string; tone: Tone; session: string } | null;
  price: Price | null;
  per_gb: number | null;
  units: number;
  sessions: number;
  runs: number;
  first: string | null;
  last: string | null;
  published: boolean;
  simulated: boolean;
  speeds: Record<string, number>;
}

export interface Cards {
  total: number;
  all: number;
  offset: number;
  cards: CardRow[];
  brands: string[];
  marks: string[];
  tests: string[];
  verdicts: string[];
}

export interface SessionLine {
  session: string;
  started_at: string;
  target: string;
  title: string | null;
  kind: string;
  recipe: string | null;
  state: string;
  answer: string;
  part_of: string | null;
}

export interface CardEvent {
  date: string | null;
  kind: string;
  price: Price | null;
  note: string | null;
  source: string | null;
}

export interface Attachment {
  name: string;
  media_type: string;
  hash: string;
  note: string | null;
}

export interface Card {
  card: CardRow;
  facts: { word: string; value: string | null }[];
  events: CardEvent[];
  attachments: Attachment[];
  sessions: SessionLine[];
  html: string;
  identity_html: string | null;
}

export interface CardChange {
  set?: Record<string, string>;
  marks?: string[];
  event?: { kind: string; date: string; price?: string; about?: string };
}

export interface Sessions {
  total: number;
  sessions: SessionLine[];
}

export interface Session {
  session: string;
  kind: string;
  answer: string;
  tone: Tone;
  html: string;
}

export interface Comparison {
  answer: string;
  html: string;
}

export interface Job {
  name: string;
  title: string;
  workloads: { name: string; weight: number }[];
}

export interface Jobs {
  jobs: Job[];
  hosts: { name: string; title: string }[];
}

export interface RankOrder {
  job: string;
  weights?: Record<string, number>;
  host: string | null;
  own: boolean;
  cards: string[];
}

export interface Place {
  place: number;
  tier: number;
  card: string;
  title: string;
  score: number;
  ci95: [number, number] | null;
  probability_best: number;
  price: Price | null;
  per_price: number | null;
}

export interface Ranking {
  answer: string;
  places: Place[];
  excluded: { name: string; reason: string }[];
  html: string;
}

export interface Upload {
  upload: string;
  name: string;
  bytes: number;
}

export interface ImportOrder {
  uploads: string[];
  keep: boolean;
  brand?: string;
  card?: string;
  capacity?: string;
  marks?: string[];
}

export interface Import {
  answer: string;
  tone: Tone;
  files: {
    file: string;
    format: string | null;
    card: string | null;
    runs: number;
    results: number;
    error: string | null;
    sessions: string[];
  }[];
  html: string;
}

export interface RecipeLine {
  name: string;
  title: string;
  source: string;
  writes: boolean;
  tests: number;
  seconds: number;
  area_bytes: number;
}

export interface Recipe {
  name: string;
  title: string;
  text: string;
  html: string;
}

export interface RecipeCheck {
  ok: boolean;
  error: string | null;
  line: number | null;
  column: number | null;
  answer: string | null;
  html: string | null;
}

export interface SimulatedLine {
  target: string;
  name: string;
  title: string;
  bytes: number;
}

export interface Knob {
  key: string;
  label: string;
  value: string;
  choices: string[];
}

export interface Simulated {
  target: string;
  name: string;
  title: string;
  paragraphs: string[];
  truth: Record<string, unknown>;
  knobs: Knob[];
}

export interface Doctor {
  answer: string;
  tone: Tone;
  html: string;
}

export interface JournalLine {
  name: string;
  target: string;
  card: string | null;
  began: string;
  saved_bytes: number;
  state: string;
  command: string | null;
}
