// The report document (schema in docs/report.md) as it stands in the page.
import type { FloatColumn, TextColumn, WholeColumn } from './column';

const SCHEMA_VERSION = 1;

export interface Named {
  name: string;
  value: string;
}

export type NoteLevel = 'info' | 'warning' | 'error';

export interface Note {
  level: NoteLevel;
  text: string;
}

/** How far the simulation is from the record of the site; figures as in --json. */
export interface Backtest {
  text: string;
  policy: string;
  jobs: number;
}

/** The account that fared worst, by average slowdown. */
export interface WorstAccount {
  name: string;
  jobs: number;
  avg_slowdown: number;
  avg_wait_s: number;
  gpu_hours: number;
}

/** Numbers under names of their own, such as kWh by accounting. */
export type NamedNumbers = Record<string, number>;

export interface Run {
  policy: string;
  settings: Named[];
  /** Numbers by name; some are not numbers, such as the worst account. */
  figures: Record<string, number | boolean | string | null | WorstAccount | NamedNumbers>;
}

/** A figure of a run; NaN if it is not there. */
export function figureOf(run: Run, key: string): number {
  const value = run.figures[key];
  return typeof value === 'number' ? value : NaN;
}

/** What a gain against the reference run is worth. */
export interface Gain {
  /** 0.1: 10 % less. */
  gain: number;
  /** Of the back-test; undefined without one, NaN if it is not known. */
  error?: number;
  claimed: boolean;
}

export function gainOf(run: Run, of: 'jct' | 'wait'): Gain {
  const gain = figureOf(run, `gain_${of}`);
  const claimed = run.figures[`gain_${of}_claimed`];
  return typeof claimed === 'boolean'
    ? { gain, error: figureOf(run, `gain_${of}_error`), claimed }
    : { gain, claimed: true };
}

export function worstAccount(run: Run): WorstAccount | undefined {
  const value = run.figures['worst_account'];
  return typeof value === 'object' && value !== null ? (value as WorstAccount) : undefined;
}

/** A figure that is several numbers; none if it is not there. */
export function numbersOf(run: Run, key: string): NamedNumbers {
  const value = run.figures[key];
  return typeof value === 'object' && value !== null ? (value as NamedNumbers) : {};
}

/** Empty if it is not known, or has no name. */
export function worstUser(run: Run): string {
  const value = run.figures['worst_user'];
  return typeof value === 'string' ? value : '';
}

export interface Distribution {
  at_s: FloatColumn;
  shares: FloatColumn[];
}

export interface Series {
  step_s: number;
  runs: { waiting: FloatColumn; held_gpus: FloatColumn }[];
}

export interface Heat {
  kind: 'gpu' | 'node' | 'nodes';
  step_s: number;
  labels: string[];
  gpus: WholeColumn;
  runs: { columns: number; percent: WholeColumn }[];
}

/** Watts of the cluster under accounting D, as averages over steps since the first submit. */
export interface Energy {
  step_s: number;
  runs: { end_s: number; power_w: FloatColumn }[];
}

/** Matrices of applications by applications, row by row. */
export interface ColocationType {
  name: string;
  /** Time of the row's application beside the column's / alone; 0: not measured, below 0: never. */
  slowdown: FloatColumn;
  /** By run: GPU-hours in which both were on one GPU. */
  together_h: FloatColumn[];
}

export interface Colocation {
  apps: string[];
  /** Of the history, by application. */
  jobs: number[];
  left_out: number;
  gpu_types: ColocationType[];
}

export interface Grouping {
  by: 'class' | 'gpus';
  names: string[];
  jobs: number[];
  runs: { jct_s: number[]; wait_s: number[] }[];
}

export interface TableRun {
  to_start: WholeColumn;
  to_finish: WholeColumn;
  paused: WholeColumn;
  preemptions: WholeColumn;
  end: WholeColumn;
}

export interface Table {
  jobs: number;
  tick_s: number;
  names: TextColumn;
  submit: WholeColumn;
  gpus: WholeColumn;
  user: WholeColumn;
  model: WholeColumn;
  class: WholeColumn;
  users: string[];
  models: string[];
  runs: TableRun[];
}

export interface ReportDocument {
  schema: 'goban-report';
  version: number;
  goban: string;
  title: string;
  jobs: number;
  cluster: { name: string; gpus: number; nodes: number };
  settings: Named[];
  notes: Note[];
  backtest?: Backtest;
  /** Index of the run that the others are compared with. */
  reference: number;
  runs: Run[];
  jct: Distribution;
  wait: Distribution;
  series: Series;
  heat: Heat;
  /** Only if power models were given. */
  energy?: Energy;
  /** Only if applications were measured together, or met. */
  colocation?: Colocation;
  groups: Grouping[];
  table: Table;
}

/** The document of this page. Throws an Error that says what is wrong with it. */
export function parseDocument(text: string): ReportDocument {
  if (text.trim() === '') {
    throw new Error('this page contains no report; create one with goban simulate --html FILE');
  }
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null || !('schema' in parsed)) {
    throw new Error('the data of this page is not a goban report');
  }
  const document = parsed as ReportDocument;
  if (document.schema !== 'goban-report' || document.version !== SCHEMA_VERSION) {
    throw new Error(
      `this page reads goban-report version ${SCHEMA_VERSION}, ` +
        `not ${document.schema} version ${document.version}`,
    );
  }
  return document;
}
