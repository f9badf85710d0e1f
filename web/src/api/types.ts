// What the API sends and takes: names for the types that are made from its OpenAPI document. A field that is optional there may be
// absent or null.

import type { components } from './schema';

type Schemas = components['schemas'];

export type ApiProblem = Schemas['ApiProblem'];
export type NewsTone = Schemas['NewsTone'];
export type TaskState = Schemas['TaskState'];
export type HostInfo = Schemas['HostInfo'];
export type Device = Schemas['Device'];
export type DeviceList = Schemas['DeviceList'];
export type ProgressSample = Schemas['Moment'];
export type TaskFinding = Schemas['Found'];
export type CardPrice = Schemas['CardPrice'];
export type CardOverview = Schemas['CardOverview'];
export type CardWindowPage = Schemas['CardWindow'];
export type CardResource = Schemas['CardResource'];
export type SessionLine = Schemas['SessionLine'];
export type SessionPage = Schemas['SessionWindow'];
export type SessionResource = Schemas['SessionResource'];
export type ComparisonPage = Schemas['RenderedPage'];
export type DoctorPage = Schemas['RenderedPage'];
export type JobInfo = Schemas['JobInfo'];
export type JobList = Schemas['JobList'];
export type Ranking = Schemas['RankedCards'];
export type UploadedFile = Schemas['UploadedFile'];
export type ImportedLogs = Schemas['ImportedLogs'];
export type RecipeLine = Schemas['RecipeLine'];
export type RecipeResource = Schemas['RecipeResource'];
export type RecipeCheck = Schemas['RecipeCheck'];
export type SimulatedCardLine = Schemas['SimulatedLine'];
export type SimulatedCard = Omit<Schemas['SimulatedCard'], 'truth'> & { truth: Record<string, unknown> };
export type CardKnob = Schemas['CardKnob'];
export type VerbDescription = Schemas['VerbDescription'];
export type OptionDescription = Schemas['OptionDescription'];
export type JournalLine = Schemas['Journal'];

/** What is left out of a request has a value that the server knows. */
export type RankOrder = Partial<Schemas['RankOrder']>;
export type ImportOrder = Partial<Schemas['ImportOrder']>;
export type CardChange = Partial<Schemas['CardChange']>;
export type Task = Schemas['TaskResource'];

/** VerbOptions of any verb, as its form has them; the server refuses those that the verb does not have. */
export type VerbOptions = Record<string, string | number | boolean | string[]>;

export interface TaskOrder {
  verb: string;
  target: string;
  options: VerbOptions;
  /** The device that stood at `target` as it was shown; simulated cards have none. */
  object?: string;
  confirm?: string;
}
