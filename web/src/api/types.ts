// What the API sends and takes: names for the types that are made from its OpenAPI document. A field that is optional there may be
// absent or null.

import type { components } from './schema';

type Schemas = components['schemas'];

export type Problem = Schemas['Problem'];
export type Tone = Schemas['Tone'];
export type TaskState = Schemas['State'];
export type Host = Schemas['Host'];
export type Device = Schemas['Device'];
export type Devices = Schemas['Devices'];
export type Moment = Schemas['Moment'];
export type Finding = Schemas['Found'];
export type Price = Schemas['Price'];
export type CardRow = Schemas['CardOverview'];
export type Cards = Schemas['Cards'];
export type Card = Schemas['Card'];
export type SessionLine = Schemas['SessionLine'];
export type Sessions = Schemas['Sessions'];
export type Session = Schemas['Session'];
export type Comparison = Schemas['Made'];
export type Doctor = Schemas['Made'];
export type Job = Schemas['Job'];
export type Jobs = Schemas['Jobs'];
export type Ranking = Schemas['Ranked'];
export type Upload = Schemas['Upload'];
export type Import = Schemas['Imported'];
export type RecipeLine = Schemas['RecipeLine'];
export type Recipe = Schemas['Recipe'];
export type RecipeCheck = Schemas['RecipeCheck'];
export type SimulatedLine = Schemas['SimulatedLine'];
export type Simulated = Omit<Schemas['SimulatedCard'], 'truth'> & { truth: Record<string, unknown> };
export type Knob = Schemas['Knob'];
export type Verb = Schemas['VerbDescription'];
export type VerbOption = Schemas['OptionDescription'];
export type JournalLine = Schemas['Journal'];

/** What is left out of a request has a value that the server knows. */
export type RankOrder = Partial<Schemas['RankOrder']>;
export type ImportOrder = Partial<Schemas['ImportOrder']>;
export type CardChange = Partial<Schemas['CardChange']>;
export type Task = Schemas['Task'];

/** Options of any verb, as its form has them; the server refuses those that the verb does not have. */
export type Options = Record<string, string | number | boolean | string[]>;

export interface Order {
  verb: string;
  target: string;
  options: Options;
  /** The device that stood at `target` as it was shown; simulated cards have none. */
  object?: string;
  confirm?: string;
}
