// Types of the daemon's API (GET /v1/openapi.json) and of the document embedded in the page.
import { isOf, parseOf } from '../data/schema';

export type JobState =
  | 'held' | 'depends' | 'waiting' | 'starting' | 'running' | 'suspended' | 'stopping' | 'done';

/** A GPU: its number in the cluster, its node, its index in the node. */
export interface Place {
  gpu: number;
  node: string;
  index: number;
}

/** A median and an 80 % interval; absent ends are beyond what was looked ahead. */
export interface Interval {
  p10_s?: number;
  p50_s?: number;
  p90_s?: number;
}

/** The public part of a job. Times are seconds since 1970. */
export interface JobSummary {
  job: number;
  id: string;
  user: string;
  state: JobState;
  num_gpus: number;
  priority: number;
  runs: number;
  held_s: number;
  submit_s: number;
  result?: string;
  account?: string;
  partition?: string;
  resource_type?: string;
  name?: string;
  walltime_s?: number;
  first_start_s?: number;
  run_start_s?: number;
  /** Of the current suspension. */
  suspended_since_s?: number;
  /** Earlier suspensions of the current run. */
  suspended_s?: number;
  end_s?: number;
  gpus?: Place[];
  shares?: boolean;
  /** Position in the queue, from 1. */
  position?: number;
  /** When it is expected to start, since 1970. */
  start?: Interval;
  /** Of jobs of the history. */
  usage?: Usage;
}

/** Unknown values are omitted. */
export interface Progress {
  epoch?: number;
  epochs?: number;
  step?: number;
  steps?: number;
  samples_per_s?: number;
  loss?: number;
  checkpointed?: boolean;
}

export interface PastRun {
  run: number;
  start_s?: number;
  end_s: number;
  gpus: Place[];
}

export interface Usage {
  cpu_s?: number;
  mem_bytes_max?: number;
  gpu_mem_bytes_max?: number;
  gpu_util_pct?: number;
  energy_j?: number;
}

export interface JobSpec {
  name?: string;
  account?: string;
  model?: string;
  qos?: string;
  app_class?: string;
  work_folder?: string;
  array_first?: number;
  interactive?: boolean;
  training?: { deadline_s?: number };
}

export interface JobDetails extends JobSummary {
  spec: JobSpec;
  preemptions: number;
  breakages: number;
  exit_code?: number;
  signal?: number;
  progress?: Progress;
  progress_s?: number;
  usage?: Usage;
  detail?: string;
  /** Its run time as predicted at submission, in seconds, and from which runs. */
  predicted_run?: Interval & { text: string };
  /** Finished runs, by end time. */
  past?: PastRun[];
}

/** Scalars of the TensorBoard event files in the folder that a job's log names. */
export interface EventCurves {
  job: number;
  /** Absent: the log names none. */
  folder?: string;
  files: number;
  curves: EventCurve[];
  /** There is more than is read. */
  was_cut?: boolean;
  problems?: string[];
}

/** One tag of one run; the lists are equally long, steps increase. */
export interface EventCurve {
  run: string;
  tag: string;
  step: number[];
  value: number[];
  at_s: number[];
  /** How many values are infinite or not a number; they are left out. */
  not_finite?: number;
}

/** GPU samples of a run, as means over equal intervals. */
export interface JobSeries {
  job: number;
  run: number;
  from_s?: number;
  to_s?: number;
  step_s?: number;
  gpus: (Place & { points: GpuPoint[] })[];
}

export interface GpuPoint {
  at_s: number;
  util_pct?: number;
  mem_used_bytes?: number;
  power_w?: number;
}

/** The last hours of the cluster, in equal steps. */
export interface Overview {
  from_s: number;
  to_s: number;
  step_s: number;
  num_gpus: number;
  held_gpus: number[];
  waiting_jobs: number[];
  waiting_gpus: number[];
  /** Steps in which no GPU was measured are omitted. */
  power?: GpuPoint[];
  energy_j?: number;
  ended_energy_j?: number;
  gpu_hours: number;
  submitted: number;
  /** By result. */
  ended: Record<string, number>;
  wait_s?: { jobs: number; p50: number; p90: number; max: number };
  partial?: boolean;
}

export interface ProgressCurve {
  job: number;
  points: (Progress & { at_s: number })[];
}

export interface JobList {
  jobs: JobSummary[];
  total: number;
}

export interface Explanation {
  job: number;
  state: JobState;
  text: string;
  dependencies?: { kind: string; job?: number; state?: JobState }[];
  waiting?: {
    cause: string;
    free_gpus?: number;
    before: number;
    first_before?: number[];
    head?: number;
    head_start_s?: number;
  };
  place?: { gpus: Place[]; level: string; bin_value?: number; product?: number; shares?: boolean };
}

export type GpuState = 'free' | 'busy' | 'shared' | 'drained' | 'asleep' | 'down';

export interface Gpu {
  gpu: number;
  state: GpuState;
  jobs: number[];
  /** PM scores by class A, B, ...: time on this GPU / time on the median GPU. */
  scores: number[];
  util_pct?: number;
  mem_used_bytes?: number;
  power_w?: number;
  temperature_c?: number;
  score_expired?: boolean;
  score_suspect?: boolean;
}

export interface ClusterNode {
  node: string;
  state: 'up' | 'drained' | 'draining' | 'asleep' | 'down';
  num_gpus: number;
  held_gpus: number;
  gpu_model?: string;
  reason?: string;
  /** Active and future reservations of the node. */
  reservations?: { reservation: string; start_s: number; end_s: number }[];
  gpus: Gpu[];
}

export interface Cluster {
  name: string;
  num_gpus: number;
  racks: { rack: string; nodes: ClusterNode[] }[];
}

export interface Stats {
  now_s: number;
  jobs: Partial<Record<JobState, number>>;
  gpus: Partial<Record<GpuState, number>>;
  waiting_gpus: number;
  decisions: number;
  journal_failures: number;
  journal_is_stuck?: boolean;
  decide_s?: { p50: number; p99: number; max: number };
  /** The authenticated user. */
  caller?: { user: string; role: string };
}

/** Data of a `change` event. */
export interface Change {
  version: number;
  /** Any job may have changed. */
  all?: boolean;
  jobs?: number[];
  nodes?: boolean;
}

/** Facts that are constant while the daemon runs; they are embedded in the page. */
export interface LiveFacts {
  schema: string;
  goban: string;
  policy: string;
  policies: { name: string; description: string }[];
  what_if: boolean;
}

/** Whether the embedded document is that of `goban serve`. */
export function isLive(json: string): boolean {
  return isOf(json, 'goban-live');
}

/** Errors: throws if the document has another version. */
export function parseFacts(json: string): LiveFacts {
  return parseOf(json, 'goban-live/1');
}
