// What the API sends and takes: names for the types that are made from its OpenAPI document.

import type { components } from './schema';

type Schemas = components['schemas'];

/** An answer as it is sent: a field without a value is there as null. */
type Sent<T> = T extends (infer One)[]
  ? Sent<One>[]
  : T extends object
    ? { [Name in keyof T]-?: Sent<Exclude<T[Name], undefined>> }
    : T;

export type Tone = Schemas['Tone'];
export type TaskState = Schemas['State'];
export type Host = Sent<Schemas['Host']>;
export type Device = Sent<Schemas['Device']>;
export type Devices = Sent<Schemas['Devices']>;
export type Moment = Sent<Schemas['Moment']>;
export type Finding = Sent<Schemas['Found']>;
export type Price = Schemas['Price'];
export type CardRow = Sent<Schemas['CardRow']>;
export type Cards = Sent<Schemas['Cards']>;
export type Card = Sent<Schemas['Card']>;
export type SessionLine = Sent<Schemas['SessionLine']>;
export type Sessions = Sent<Schemas['Sessions']>;
export type Session = Sent<Schemas['Session']>;
export type Comparison = Sent<Schemas['Made']>;
export type Doctor = Sent<Schemas['Made']>;
export type Job = Sent<Schemas['Job']>;
export type Jobs = Sent<Schemas['Jobs']>;
export type Ranking = Sent<Schemas['Ranked']>;
export type Upload = Schemas['Upload'];
export type Import = Sent<Schemas['Imported']>;
export type RecipeLine = Schemas['RecipeLine'];
export type Recipe = Schemas['Recipe'];
export type RecipeCheck = Sent<Schemas['RecipeCheck']>;
export type SimulatedLine = Schemas['SimulatedLine'];
export type Simulated = Sent<Omit<Schemas['SimulatedCard'], 'truth'>> & { truth: Record<string, unknown> };
export type Knob = Schemas['Knob'];
export type JournalLine = Sent<Schemas['Journal']>;

/** What is left out of a request has a value that the server knows. */
export type RankOrder = Partial<Schemas['RankOrder']>;
export type ImportOrder = Partial<Schemas['ImportOrder']>;
export type CardChange = Partial<Schemas['CardChange']>;

/** Without its moments, which only come where one task is asked for. */
export type Task = Omit<Sent<Schemas['Task']>, 'moments'> & { moments?: Moment[] };

/** Options of any verb, as its form has them; the server refuses those that the verb does not have. */
export type Options = Record<string, string | number | boolean | string[]>;

export interface Order {
  verb: string;
  target: string;
  options: Options;
  confirm?: string;
}
