// The report document as embedded in the page (schema in docs/report.md).
import type { FloatColumn, TextColumn, WholeColumn } from './column';
import { parseVisible } from './visible';
import type { Worth } from './worth';

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

/** The simulation compared with the records of the site; members as in --json. */
export interface Backtest {
  text: string;
  policy: string;
  jobs: number;
}

/** The account with the highest average slowdown. */
export interface WorstAccount {
  name: string;
  jobs: number;
  avg_slowdown: number;
  avg_wait_s: number;
  gpu_hours: number;
}

/** Numbers by name, such as kWh by accounting. */
export type NamedNumbers = Record<string, number>;

export interface Run {
  policy: string;
  settings: Named[];
  /** Metrics by name. Most are numbers; some are not, such as the worst account. */
  figures: Record<string, number | boolean | string | null | WorstAccount | NamedNumbers>;
}

/** A metric of a run; NaN if the run does not have it. */
export function figureOf(run: Run, key: string): number {
  const value = run.figures[key];
  return typeof value === 'number' ? value : NaN;
}

/** A gain over the reference run, and whether it is claimed. */
export interface Gain {
  /** 0.1: 10 % less. */
  gain: number;
  /** Error of the back-test; undefined without a back-test, NaN if unknown. */
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

/** A metric that consists of several numbers; empty if the run does not have it. */
export function numbersOf(run: Run, key: string): NamedNumbers {
  const value = run.figures[key];
  return typeof value === 'object' && value !== null ? (value as NamedNumbers) : {};
}

/** Empty if unknown or without a name. */
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

/** Power of the cluster in watts under accounting D, means over steps from the first submit on. */
export interface Energy {
  step_s: number;
  runs: { end_s: number; power_w: FloatColumn }[];
}

/** Matrices of applications by applications, in row-major order. */
export interface ColocationType {
  name: string;
  /** Time of the row application next to the column application / alone; 0: not measured, negative: excluded. */
  slowdown: FloatColumn;
  /** For each run, the GPU-hours in which both shared a GPU. */
  together_h: FloatColumn[];
}

export interface Colocation {
  apps: string[];
  /** Jobs of the history by application. */
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
  /** Index of the reference run. */
  reference: number;
  runs: Run[];
  jct: Distribution;
  wait: Distribution;
  series: Series;
  heat: Heat;
  /** Present if prices were given. */
  worth?: Worth;
  /** Present if power models were given. */
  energy?: Energy;
  /** Present if pairs of applications were measured or co-located. */
  colocation?: Colocation;
  groups: Grouping[];
  table: Table;
}

/** Parses the embedded document. Errors: throws if it is missing, no report, or of another version. */
export function parseDocument(text: string): ReportDocument {
  if (text.trim() === '') {
    throw new Error('this page contains no report; create one with goban simulate --html FILE');
  }
  const parsed = parseVisible(text);
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
