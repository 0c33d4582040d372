// The metrics of a run: labels, units, meanings. Unlisted metrics appear under their JSON name.
import { figureOf, numbersOf, type ReportDocument, type Run, worstUser } from '../data/document';
import { count, decimal, duration, percent } from '../format';

export interface Figure {
  key: string;
  label: string;
  meaning: string;
  text: (value: number) => string;
  /** Which values are better. If set, the best value is marked and changes are shown. */
  better?: 'low' | 'high';
  /** A second line that replaces the change. */
  note?: (run: Run) => string;
}

const plain = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 3 });
const hours = (value: number) => `${decimal(value, 1)} GPU-h`;

const FIGURES: readonly Figure[] = [
  { key: 'avg_jct_s', label: 'Average JCT', text: duration, better: 'low',
    meaning: 'finish time minus submit time, mean over all jobs' },
  { key: 'p50_jct_s', label: 'Median JCT', text: duration, better: 'low',
    meaning: 'half of the jobs finish within this time' },
  { key: 'p99_jct_s', label: '99th percentile JCT', text: duration, better: 'low',
    meaning: 'one job in a hundred takes longer' },
  { key: 'avg_wait_s', label: 'Average wait time', text: duration, better: 'low',
    meaning: 'JCT minus the time the job held its GPUs' },
  { key: 'makespan_s', label: 'Makespan', text: duration, better: 'low',
    meaning: 'last finish minus first submit' },
  { key: 'gpu_occupancy', label: 'GPU occupancy', text: (value) => percent(value),
    meaning: 'GPUs held by jobs / GPUs of the cluster, mean over the makespan; filler jobs included' },
  { key: 'goodput', label: 'Goodput', text: (value) => percent(value), better: 'high',
    meaning: 'ideal GPU-hours / (GPUs × makespan)' },
  { key: 'gpu_hours_consumed', label: 'GPU-hours held', text: hours, better: 'low',
    meaning: 'GPUs × time held' },
  { key: 'gpu_hours_ideal', label: 'Ideal GPU-hours', text: hours,
    meaning: 'GPUs × work at PM score 1, without locality penalty' },
  { key: 'gpu_hours_lost', label: 'GPU-hours lost', text: hours, better: 'low',
    meaning: 'work lost to node failures' },
  { key: 'preemptions', label: 'Preemptions', text: count,
    meaning: 'times a job lost its GPUs before it finished' },
  { key: 'timed_out', label: 'Killed at walltime limit', text: count,
    meaning: 'jobs that reached their walltime limit' },
  { key: 'jobs', label: 'Jobs', text: count, meaning: 'counted jobs of the history' },
  { key: 'rejected', label: 'Rejected records', text: count,
    meaning: 'invalid records of the input' },
  { key: 'wall_s', label: 'Simulation time', text: duration,
    meaning: 'wall-clock time of this simulation' },
  { key: 'gpu_hours_restarting', label: 'GPU-hours restarting', text: plain,
    meaning: 'GPUs × time held without progress after a relaunch' },
  { key: 'broke_beside', label: 'Failures when co-located', text: plain,
    meaning: 'jobs that failed while other jobs were on their GPUs' },
];

const factor = (value: number) => `${decimal(value, 2)}×`;

/** Metrics of the table of service targets, fairness and co-location. */
export const SERVICE_FIGURES: readonly Figure[] = [
  { key: 'deadline_misses', label: 'Deadlines missed', text: count, better: 'low',
    meaning: 'jobs that finished after their deadline or were killed',
    note: (run) => `of ${count(figureOf(run, 'deadline_jobs'))}` },
  { key: 'max_slowdown_misses', label: 'Maximum slowdowns exceeded', text: count, better: 'low',
    meaning: 'among the jobs that set one', note: () => '' },
  { key: 'max_wait_misses', label: 'Maximum waits exceeded', text: count, better: 'low',
    meaning: 'among the jobs that set one', note: () => '' },
  { key: 'avg_slowdown', label: 'Average slowdown', text: factor, better: 'low',
    meaning: 'JCT / duration alone; durations below 10 s count as 10 s' },
  { key: 'p99_slowdown', label: '99th percentile slowdown', text: factor, better: 'low',
    meaning: 'one job in a hundred is slowed down more' },
  { key: 'worst_user_slowdown', label: 'Worst-served user', text: factor, better: 'low',
    meaning: 'highest average slowdown of a user', note: worstUser },
  { key: 'jain_index', label: "Jain's index", text: (value) => decimal(value, 3), better: 'high',
    meaning: '1: equal average slowdown of all users; over jobs if there is one user' },
  { key: 'avg_epoch_s', label: 'Average epoch time', text: duration, better: 'low',
    meaning: 'time holding GPUs / epochs, for jobs that declare their epochs' },
  { key: 'undo_count', label: 'Undone placements', text: count, meaning: 'provisional placements that were undone' },
  { key: 'moves', label: 'Migrations', text: count, meaning: 'running jobs moved to other GPUs so that their node can sleep' },
];
/** Metrics that the comparison table omits because other tables show them. */
const ELSEWHERE = new Set([
  ...SERVICE_FIGURES.map(({ key }) => key), 'deadline_jobs', 'avg_active_nodes', 'energy_jobs_kwh',
]);

export function hasService(report: ReportDocument): boolean {
  return report.runs.some((run) => !Number.isNaN(figureOf(run, 'undo_count')));
}

/** "847 measured, 2 pairs": co-located launches by source of the predicted slowdown. */
export function predictionText(run: Run): string {
  const levels = Object.entries(numbersOf(run, 'prediction_levels')).filter(([, jobs]) => jobs > 0);
  return levels.map(([level, jobs]) => `${count(jobs)} ${level}`).join(', ') || 'none';
}

/** The metrics of the comparison table: listed ones first. */
export function figuresOf(runs: Run[]): Figure[] {
  const keys = runs.flatMap((run) => Object.keys(run.figures));
  // Gains are shown with their errors in the result and below the averages.
  const names = keys.filter((key) => !key.startsWith('gain_') && !ELSEWHERE.has(key));
  const present = new Set(names.filter((key) => runs.some((run) => !Number.isNaN(figureOf(run, key)))));
  const known = FIGURES.filter((figure) => present.has(figure.key));
  for (const figure of known) present.delete(figure.key);
  const others = [...present].map((key) => ({
    key, label: key, meaning: '', text: plain,
  }));
  return [...known, ...others];
}
