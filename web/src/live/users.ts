// Totals per user over the jobs that the daemon still holds.
import { holdsGpus } from './queue';
import type { JobSummary } from './shapes';

export interface UserRow {
  user: string;
  running: number;
  waiting: number;
  /** Held or dependent jobs. */
  blocked: number;
  done: number;
  /** GPUs held now. */
  gpus: number;
  waitingGpus: number;
  gpuHours: number;
}

const HOUR = 3600;

/** Time for which the job has run on GPUs so far, in seconds. */
export function heldSeconds(job: JobSummary, nowS: number): number {
  const current = holdsGpus(job) && job.run_start_s !== undefined
    ? (job.suspended_since_s ?? nowS) - job.run_start_s - (job.suspended_s ?? 0) : 0;
  return job.held_s + Math.max(0, current);
}

/** One row per user, most GPU-hours first. */
export function usersOf(jobs: Iterable<JobSummary>, nowS: number): UserRow[] {
  const rows = new Map<string, UserRow>();
  for (const job of jobs) {
    let row = rows.get(job.user);
    if (!row) {
      row = {
        user: job.user, running: 0, waiting: 0, blocked: 0, done: 0, gpus: 0, waitingGpus: 0,
        gpuHours: 0,
      };
      rows.set(job.user, row);
    }
    row.gpuHours += (job.num_gpus * heldSeconds(job, nowS)) / HOUR;
    if (holdsGpus(job)) {
      row.running++;
      row.gpus += job.num_gpus;
    } else if (job.state === 'waiting') {
      row.waiting++;
      row.waitingGpus += job.num_gpus;
    } else if (job.state === 'done') {
      row.done++;
    } else {
      row.blocked++;
    }
  }
  return [...rows.values()].sort((a, b) => b.gpuHours - a.gpuHours || (a.user < b.user ? -1 : 1));
}
