// What the API sends and takes: names for the types that are made from its OpenAPI document. A field that is optional there may be
// absent or null.

import type { components } from './schema';

type Schemas = components['schemas'];

export type Problem = Schemas['ApiProblem'];
export type Tone = Schemas['NewsTone'];
export type TaskState = Schemas['TaskState'];
export type Host = Schemas['HostInfo'];
export type Device = Schemas['Device'];
export type Devices = Schemas['DeviceList'];
export type Moment = Schemas['Moment'];
export type Finding = Schemas['Found'];
export type Price = Schemas['CardPrice'];
export type CardRow = Schemas['CardOverview'];
export type Cards = Schemas['CardWindow'];
export type Card = Schemas['CardResource'];
export type SessionLine = Schemas['SessionLine'];
export type Sessions = Schemas['SessionWindow'];
export type Session = Schemas['SessionResource'];
export type Comparison = Schemas['RenderedPage'];
export type Doctor = Schemas['RenderedPage'];
export type Job = Schemas['JobInfo'];
export type Jobs = Schemas['JobList'];
export type Ranking = Schemas['RankedCards'];
export type Upload = Schemas['UploadedFile'];
export type Import = Schemas['ImportedLogs'];
export type RecipeLine = Schemas['RecipeLine'];
export type Recipe = Schemas['RecipeResource'];
export type RecipeCheck = Schemas['RecipeCheck'];
export type SimulatedLine = Schemas['SimulatedLine'];
export type Simulated = Omit<Schemas['SimulatedCard'], 'truth'> & { truth: Record<string, unknown> };
export type Knob = Schemas['CardKnob'];
export type Verb = Schemas['VerbDescription'];
export type VerbOption = Schemas['OptionDescription'];
export type JournalLine = Schemas['Journal'];

/** What is left out of a request has a value that the server knows. */
export type RankOrder = Partial<Schemas['RankOrder']>;
export type ImportOrder = Partial<Schemas['ImportOrder']>;
export type CardChange = Partial<Schemas['CardChange']>;
export type Task = Schemas['TaskResource'];

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
