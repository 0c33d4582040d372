// The job table in columns; filters and sorting work on indices and copy no rows.
import { textValues, wholeValues } from './column';
import type { Table } from './document';

/** Outcomes of a job by code. */
export const ENDS = ['pending', 'finished', 'killed at walltime limit'] as const;

/** The part of the jobs that is independent of the policy. Times are seconds since the first submit. */
export interface Requests {
  count: number;
  names: string[];
  /** Job, user and model in lower case, for searching. */
  search: string[];
  submit: Float64Array;
  gpus: Uint32Array;
  user: Uint32Array;
  model: Uint32Array;
  appClass: Uint32Array;
  users: string[];
  models: string[];
}

/** The outcomes of the jobs under one policy. Times are seconds. */
export interface Outcomes {
  start: Float64Array;
  finish: Float64Array;
  jct: Float64Array;
  wait: Float64Array;
  preemptions: Uint32Array;
  end: Uint32Array;
}

/** The name with that index; 0 means none. */
export function nameAt(names: string[], index: number | undefined): string {
  return index === undefined || index === 0 ? '' : (names[index - 1] ?? '');
}

export async function readRequests(table: Table): Promise<Requests> {
  const [names, submit, gpus, user, model, appClass] = await Promise.all([
    textValues(table.names),
    wholeValues(table.submit),
    wholeValues(table.gpus),
    wholeValues(table.user),
    wholeValues(table.model),
    wholeValues(table.class),
  ]);
  const { users, models } = table;
  const search = names.map((name, i) =>
    `${name}\n${nameAt(users, user[i])}\n${nameAt(models, model[i])}`.toLowerCase(),
  );
  const seconds = Float64Array.from(submit, (ticks) => ticks * table.tick_s);
  return {
    count: table.jobs, names, search, submit: seconds, gpus, user, model, appClass, users, models,
  };
}

export async function readOutcomes(
  table: Table, requests: Requests, run: number,
): Promise<Outcomes> {
  const columns = table.runs[run];
  if (!columns) throw new Error(`the table has no run ${run}`);
  const [toStart, toFinish, paused, preemptions, end] = await Promise.all([
    wholeValues(columns.to_start),
    wholeValues(columns.to_finish),
    wholeValues(columns.paused),
    wholeValues(columns.preemptions),
    wholeValues(columns.end),
  ]);
  const count = table.jobs;
  const start = new Float64Array(count);
  const finish = new Float64Array(count);
  const jct = new Float64Array(count);
  const wait = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    jct[i] = (toStart[i]! + toFinish[i]!) * table.tick_s;
    wait[i] = (toStart[i]! + paused[i]!) * table.tick_s;
    start[i] = requests.submit[i]! + toStart[i]! * table.tick_s;
    finish[i] = requests.submit[i]! + jct[i]!;
  }
  return { start, finish, jct, wait, preemptions, end };
}

export type SortKey =
  | 'name' | 'user' | 'model' | 'class' | 'gpus' | 'submit' | 'start' | 'finish' | 'jct' | 'wait'
  | 'preemptions' | 'end';

export interface Filter {
  text: string;
  /** -1: all classes. */
  appClass: number;
  gpusMin: number;
  /** Only jobs that were preempted. */
  preempted: boolean;
  /** Only jobs that were killed at their walltime limit. */
  killed: boolean;
}

export const NO_FILTER: Filter = {
  text: '', appClass: -1, gpusMin: 0, preempted: false, killed: false,
};

/** Indices of the jobs that match. */
export function filterJobs(requests: Requests, outcomes: Outcomes, filter: Filter): Uint32Array {
  const text = filter.text.trim().toLowerCase();
  const kept = new Uint32Array(requests.count);
  let count = 0;
  for (let i = 0; i < requests.count; i++) {
    if (filter.appClass >= 0 && requests.appClass[i] !== filter.appClass) continue;
    if (requests.gpus[i]! < filter.gpusMin) continue;
    if (filter.preempted && outcomes.preemptions[i] === 0) continue;
    if (filter.killed && outcomes.end[i] !== 2) continue;
    if (text !== '' && !requests.search[i]!.includes(text)) continue;
    kept[count++] = i;
  }
  return kept.subarray(0, count);
}

const byName = new Intl.Collator('en', { numeric: true });

/** Rank of each name, so that sorting compares numbers. Rank 0 means no name. */
function ranks(names: string[]): Uint32Array {
  const order = names.map((_, i) => i).sort((a, b) => byName.compare(names[a]!, names[b]!));
  const result = new Uint32Array(names.length + 1);
  order.forEach((name, rank) => (result[name + 1] = rank + 1));
  return result;
}

type Key = (job: number) => number;

function sortKey(requests: Requests, outcomes: Outcomes, key: SortKey): Key {
  const of = (values: Float64Array | Uint32Array): Key => (job) => values[job]!;
  switch (key) {
    case 'name': {
      const rank = ranks(requests.names);
      return (job) => rank[job + 1]!;
    }
    case 'user': {
      const rank = ranks(requests.users);
      return (job) => rank[requests.user[job]!]!;
    }
    case 'model': {
      const rank = ranks(requests.models);
      return (job) => rank[requests.model[job]!]!;
    }
    case 'class':
      return of(requests.appClass);
    case 'gpus':
      return of(requests.gpus);
    case 'submit':
      return of(requests.submit);
    default:
      return of(outcomes[key]);
  }
}

/** Sorts jobs by a key; ties stay in submit order. */
export function sortJobs(
  jobs: Uint32Array, requests: Requests, outcomes: Outcomes, key: SortKey, descending: boolean,
): Uint32Array {
  const value = sortKey(requests, outcomes, key);
  const keys = new Float64Array(requests.count);
  for (const job of jobs) keys[job] = value(job);
  const sign = descending ? -1 : 1;
  return jobs.slice().sort((a, b) => sign * (keys[a]! - keys[b]!) || a - b);
}
