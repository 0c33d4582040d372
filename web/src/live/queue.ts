// Filters and sorts the jobs of the queue.
import type { JobState, JobSummary } from './shapes';

export const STATES: readonly JobState[] = [
  'running', 'starting', 'suspended', 'stopping', 'waiting', 'depends', 'held', 'done',
];
const RANK = new Map(STATES.map((state, i) => [state, i]));

export interface QueueFilter {
  /** A job state, 'active' (all unfinished jobs), or 'all'. */
  state: string;
  /** Empty: all users. */
  user: string;
  text: string;
}

export const ALL_ACTIVE: QueueFilter = { state: 'active', user: '', text: '' };

export type QueueKey =
  | 'job' | 'user' | 'name' | 'state' | 'num_gpus' | 'priority' | 'position' | 'time' | 'start';

export interface QueueOrder {
  key: QueueKey;
  descending: boolean;
}

export function hasStarted({ state }: JobSummary): boolean {
  return state === 'running' || state === 'suspended' || state === 'stopping';
}

export function holdsGpus({ state }: JobSummary): boolean {
  return state === 'starting' || state === 'running' || state === 'suspended' || state === 'stopping';
}

/** Run time of a running job, wait time of a waiting job, JCT of a finished job, in seconds. */
export function timeOf(job: JobSummary, nowS: number): number {
  if (job.state === 'done') return Math.max(0, (job.end_s ?? nowS) - job.submit_s);
  if (!holdsGpus(job)) return Math.max(0, nowS - job.submit_s);
  const untilS = job.suspended_since_s ?? nowS;
  return Math.max(0, untilS - (job.run_start_s ?? nowS) - (job.suspended_s ?? 0));
}

function textOf(job: JobSummary): string {
  return `${job.id} ${job.user} ${job.name ?? ''} ${job.account ?? ''} ${job.partition ?? ''}`
    .toLowerCase();
}

export function filterQueue(jobs: Iterable<JobSummary>, filter: QueueFilter): JobSummary[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const kept: JobSummary[] = [];
  for (const job of jobs) {
    if (filter.state === 'active' ? job.state === 'done'
      : filter.state !== 'all' && job.state !== filter.state) continue;
    if (filter.user !== '' && job.user !== filter.user) continue;
    if (words.length > 0) {
      const text = textOf(job);
      if (!words.every((word) => text.includes(word))) continue;
    }
    kept.push(job);
  }
  return kept;
}

function valueOf(job: JobSummary, key: QueueKey, nowS: number): number | string {
  switch (key) {
    case 'state': return RANK.get(job.state) ?? RANK.size;
    case 'time': return timeOf(job, nowS);
    case 'position': return job.position ?? Infinity;
    case 'start': return job.state === 'waiting' ? job.start?.p50_s ?? Infinity : Infinity;
    case 'name': return job.name ?? '';
    default: return job[key];
  }
}

/** Sorts by `order`. Ties: by state (running first), then by position in the queue, then by number. */
export function sortQueue(jobs: JobSummary[], order: QueueOrder, nowS: number): JobSummary[] {
  const sign = order.descending ? -1 : 1;
  const rows = jobs.map((job) => ({ job, value: valueOf(job, order.key, nowS) }));
  rows.sort((a, b) => {
    if (a.value !== b.value) {
      if (typeof a.value === 'string' && typeof b.value === 'string') {
        return a.value < b.value ? -sign : sign;
      }
      return (a.value as number) < (b.value as number) ? -sign : sign;
    }
    const states = RANK.get(a.job.state)! - RANK.get(b.job.state)!;
    if (states !== 0) return states;
    const places = (a.job.position ?? 0) - (b.job.position ?? 0);
    if (places !== 0) return places;
    // Finished jobs: latest first.
    return a.job.state === 'done' ? b.job.job - a.job.job : a.job.job - b.job.job;
  });
  return rows.map(({ job }) => job);
}

/** The visible rows of a scrolled list, plus `spare` rows on both sides. */
export function visibleRows(
  scrollTop: number, height: number, rowHeight: number, rows: number, spare = 12,
): { first: number; end: number } {
  const first = Math.max(0, Math.min(rows, Math.floor(scrollTop / rowHeight)) - spare);
  const end = Math.min(rows, Math.ceil((scrollTop + height) / rowHeight) + spare);
  return { first, end: Math.max(first, end) };
}
