// Finished jobs of a period: what each user's jobs used of what they held.
import type { JobSummary } from './shapes';

export const PERIODS = [
  { name: '24 hours', seconds: 86_400 }, { name: '7 days', seconds: 7 * 86_400 },
  { name: '30 days', seconds: 30 * 86_400 },
] as const;

/** Jobs read for the table and the sums. */
export const HISTORY_MAX = 2000;

export interface UserUse {
  user: string;
  jobs: number;
  failed: number;
  gpuHours: number;
  /** Mean utilisation of the GPUs, weighted by GPU-hours; null if it was not measured. */
  utilPct: number | null;
  /** GPU-hours that were held and not used: those measured, times 1 - utilisation. */
  idleGpuHours: number | null;
  kwh: number | null;
}

const HOUR = 3600;
const JOULES_PER_KWH = 3.6e6;

export function gpuHoursOf(job: JobSummary): number {
  return (job.num_gpus * job.held_s) / HOUR;
}

/** One row per user, most idle GPU-hours first. */
export function usesOf(jobs: Iterable<JobSummary>): UserUse[] {
  const rows = new Map<string, UserUse & { measured: number; used: number }>();
  for (const job of jobs) {
    const row = rows.get(job.user) ?? {
      user: job.user, jobs: 0, failed: 0, gpuHours: 0, utilPct: null, idleGpuHours: null, kwh: null,
      measured: 0, used: 0,
    };
    rows.set(job.user, row);
    const hours = gpuHoursOf(job);
    row.jobs++;
    if (job.result !== 'completed' && job.result !== 'cancelled') row.failed++;
    row.gpuHours += hours;
    if (job.usage?.gpu_util_pct !== undefined) {
      row.measured += hours;
      row.used += (hours * Math.min(100, job.usage.gpu_util_pct)) / 100;
    }
    if (job.usage?.energy_j !== undefined) row.kwh = (row.kwh ?? 0) + job.usage.energy_j / JOULES_PER_KWH;
  }
  return [...rows.values()].map(({ measured, used, ...row }) => (measured > 0
    ? { ...row, utilPct: (100 * used) / measured, idleGpuHours: measured - used } : row))
    .sort((a, b) => (b.idleGpuHours ?? -1) - (a.idleGpuHours ?? -1) || b.gpuHours - a.gpuHours
      || (a.user < b.user ? -1 : 1));
}
