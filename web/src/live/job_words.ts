// States, outcomes and progress of jobs as text.
import { decimal, duration } from '../format';
import type { Action } from './api';
import { holdsGpus } from './queue';
import { heldSeconds } from './users';
import type { Interval, JobDetails, JobState, JobSummary, PastRun, Place, Progress } from './shapes';

const STATE_WORDS: Record<JobState, string> = {
  held: 'held', depends: 'dependent', waiting: 'waiting', starting: 'starting',
  running: 'running', suspended: 'suspended', stopping: 'stopping', done: 'finished',
};

const RESULT_WORDS: Record<string, string> = {
  completed: 'completed', failed: 'failed', cancelled: 'cancelled', timed_out: 'timed out',
  out_of_memory: 'out of memory', node_failed: 'node failed', never_runs: 'cannot run',
};

export function resultWords(result: string): string {
  return RESULT_WORDS[result] ?? result;
}

export function stateWords(job: Pick<JobSummary, 'state' | 'result'>): string {
  if (job.state === 'done' && job.result) return resultWords(job.result);
  return STATE_WORDS[job.state] ?? job.state;
}

/** GPUs by node: "g001: 0–3, g002: 1". */
export function placeWords(gpus: readonly Place[]): string {
  const nodes = new Map<string, number[]>();
  for (const { node, index } of gpus) nodes.set(node, [...(nodes.get(node) ?? []), index]);
  return [...nodes].map(([node, indices]) => `${node}: ${rangeWords(indices)}`).join(', ');
}

function rangeWords(indices: number[]): string {
  const sorted = [...indices].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (sorted[end + 1] === sorted[end]! + 1) end++;
    parts.push(end > i ? `${sorted[i]}–${sorted[end]}` : String(sorted[i]));
    i = end + 1;
  }
  return parts.join(', ');
}

/** Completed share of the work, 0 to 1; null if the job does not report it. */
export function shareDone({ epoch, epochs, step, steps }: Progress): number | null {
  const share = (done: number | undefined, of: number | undefined) =>
    done !== undefined && of !== undefined && of > 0 ? Math.min(1, Math.max(0, done / of)) : null;
  return share(epoch, epochs) ?? share(step, steps);
}

/** Remaining seconds at the mean speed so far; null if unknown. */
export function secondsLeft(job: JobDetails, nowS: number): number | null {
  const share = job.progress && shareDone(job.progress);
  if (job.state !== 'running' || !share) return null;
  const toldS = job.progress_s ?? nowS;
  const needed = heldSeconds(job, toldS);
  return Math.max(0, (needed / share) * (1 - share) - (nowS - toldS));
}

/** A median with its interval: "14:30 (14:10 to 18:00)"; without an end "to later". Null if unknown. */
export function intervalWords(interval: Interval | undefined, show: (value: number) => string): string | null {
  if (interval?.p50_s === undefined) return null;
  const { p10_s: first = interval.p50_s, p90_s: last } = interval;
  return `${show(interval.p50_s)} (${show(first)} to ${last === undefined ? 'later' : show(last)})`;
}

export function progressWords(progress: Progress): string {
  const parts: string[] = [];
  const of = (value: number, total: number | undefined) =>
    `${value.toLocaleString('en-US', { maximumFractionDigits: 2 })}` +
    (total === undefined ? '' : ` of ${total.toLocaleString('en-US', { maximumFractionDigits: 2 })}`);
  if (progress.epoch !== undefined) parts.push(`epoch ${of(progress.epoch, progress.epochs)}`);
  if (progress.step !== undefined) parts.push(`step ${of(progress.step, progress.steps)}`);
  if (progress.samples_per_s !== undefined) {
    parts.push(`${decimal(progress.samples_per_s, progress.samples_per_s < 10 ? 2 : 0)} samples/s`);
  }
  if (progress.loss !== undefined) parts.push(`loss ${Number(progress.loss.toPrecision(4))}`);
  if (progress.checkpointed) parts.push('checkpoint written');
  return parts.join(' · ');
}

/** Actions that are valid in that state. */
export function actionsFor({ state }: Pick<JobSummary, 'state'>): Action[] {
  switch (state) {
    case 'held': return ['release', 'cancel'];
    case 'depends':
    case 'waiting': return ['hold', 'cancel'];
    case 'starting':
    case 'suspended':
    case 'running': return ['requeue', 'cancel'];
    case 'stopping': return ['cancel'];
    case 'done': return [];
  }
}

/** The effect of an action, for its confirmation dialog. */
export function consequence(action: Action): string {
  switch (action) {
    case 'cancel': return 'The job ends and does not start again.';
    case 'hold': return 'The job stays in the queue and does not start until it is released.';
    case 'release': return 'The job becomes eligible to start.';
    case 'requeue':
      return 'The job is stopped and returns to the queue. Progress since its last checkpoint is lost.';
  }
}

export type SpanKind = 'wait' | 'run' | 'pause';

/** A period in a job's timeline. Times are seconds since 1970. */
export interface Span {
  kind: SpanKind;
  /** Number of the run, from 1; 0: several earlier runs that cannot be distinguished. */
  run: number;
  startS: number;
  endS: number;
  gpus: readonly Place[];
}

function runsOf(job: JobDetails, nowS: number): Span[] {
  const span = (run: number, startS: number, endS: number, gpus: readonly Place[]): Span =>
    ({ kind: 'run', run, startS, endS, gpus });
  const past = (job.past ?? []).filter(
    (each): each is PastRun & { start_s: number } => each.start_s !== undefined);
  const spans = past.map((each, i) => span(i + 1, each.start_s, each.end_s, each.gpus));
  const known = past.at(-1)?.start_s ?? -Infinity;
  if (job.run_start_s !== undefined && job.run_start_s > known) {
    if (spans.length === 0 && job.first_start_s !== undefined
      && job.first_start_s < job.run_start_s) {
      spans.push(span(0, job.first_start_s, Math.min(job.run_start_s, job.first_start_s + job.held_s), []));
    }
    const end = holdsGpus(job) ? nowS : (job.end_s ?? Math.min(nowS, job.run_start_s + job.held_s));
    spans.push(span(spans.length + 1, job.run_start_s, Math.max(job.run_start_s, end), job.gpus ?? []));
  }
  return spans;
}

/** The periods of a job from submission to its end, or to now. */
export function lifeOf(job: JobDetails, nowS: number): Span[] {
  const endS = Math.max(job.submit_s, job.end_s ?? nowS);
  const spans: Span[] = [];
  let at = job.submit_s;
  const gap = (until: number) => {
    if (until > at) {
      spans.push({
        kind: spans.length === 0 ? 'wait' : 'pause', run: 0, startS: at, endS: until, gpus: [],
      });
    }
  };
  for (const run of runsOf(job, nowS)) {
    gap(run.startS);
    spans.push(run);
    at = Math.max(at, run.endS);
  }
  gap(endS);
  return spans;
}

export function spanWords(span: Span): string {
  const length = duration(span.endS - span.startS);
  if (span.kind === 'wait') return `waited ${length}`;
  if (span.kind === 'pause') return `waited again for ${length}`;
  const where = span.gpus.length > 0 ? ` on ${placeWords(span.gpus)}` : '';
  return `${span.run === 0 ? 'earlier runs' : `run ${span.run}`}: ${length}${where}`;
}
