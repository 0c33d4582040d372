// The request of a new job: its form, and what an earlier job had asked for.
import type { JobSpec } from './shapes';

export interface JobForm {
  name: string;
  gpus: string;
  /** "90", "90m", "4h", "1d" or "HH:MM:SS"; plain numbers are minutes, as for goban submit. Empty: no limit. */
  time: string;
  account: string;
  workFolder: string;
  script: string;
}

export const EMPTY_FORM: JobForm = { name: '', gpus: '1', time: '', account: '', workFolder: '', script: '' };

/** What a repeated request keeps. The rest is set by the server, or was true once only. */
const REPEATED = [
  'app_class', 'cores', 'exclude_nodes', 'gpu_model', 'instances', 'mem_bytes', 'model', 'node_list', 'partition',
  'preemptible', 'priority', 'qos', 'requeue', 'resource_type', 'stage_in', 'stage_out', 'stage_out_always',
  'stderr_path', 'stdout_path', 'stop', 'training',
  'umask',
];

/** The text of a time limit: 5400 -> "90m". */
export function limitText(seconds: number | undefined): string {
  if (seconds === undefined || seconds <= 0) return '';
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${Math.ceil(seconds)}s`;
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of a time limit; null if it is none. */
export function limitSeconds(text: string): number | null {
  const simple = /^(\d+(?:\.\d+)?)\s*([smhd]?)$/.exec(text.trim());
  if (simple) return Number(simple[1]) * UNITS[simple[2] || 'm']!;
  const clock = /^(?:(\d+)-)?(\d+):(\d\d)(?::(\d\d))?$/.exec(text.trim());
  if (!clock) return null;
  const [, days = '0', first, second, third] = clock;
  // Two parts are minutes and seconds, as in Slurm; with days, hours and minutes.
  const parts = third !== undefined ? [first, second, third] : clock[1] !== undefined ? [first, second, '0'] : ['0', first, second];
  return Number(days) * 86_400 + Number(parts[0]) * 3600 + Number(parts[1]) * 60 + Number(parts[2]);
}

/** The form of a job that repeats this one; the daemon does not give scripts back. */
export function formOf(spec: JobSpec, numGpus: number, walltimeS: number | undefined, script: string): JobForm {
  return {
    name: spec.name ?? '', gpus: String(numGpus), time: limitText(walltimeS), account: spec.account ?? '',
    workFolder: spec.work_folder ?? '', script,
  };
}

/** The body of POST /v1/jobs. `before`: the request of the job that is repeated. Errors: what is wrong, as text. */
export function requestOf(form: JobForm, before: JobSpec | null): { body: object } | { error: string } {
  const gpus = Number(form.gpus);
  if (!/^\d+$/.test(form.gpus.trim())) return { error: 'GPUs: must be a whole number' };
  if (form.script.trim() === '') return { error: 'Script: it is empty' };
  const limit = form.time.trim() === '' ? undefined : limitSeconds(form.time);
  if (limit === null || limit === 0) return { error: 'Time limit: write 90m, 4h, 1d or 04:00:00' };
  const kept = Object.fromEntries(Object.entries(before ?? {})
    .filter(([key]) => REPEATED.includes(key)));
  const body: Record<string, unknown> = { ...kept, script: form.script.replaceAll('\r\n', '\n'), num_gpus: gpus };
  const put = (key: string, value: string | number | undefined) => {
    if (value === undefined || value === '') delete body[key];
    else body[key] = value;
  };
  put('name', form.name.trim());
  put('account', form.account.trim());
  put('work_folder', form.workFolder.trim());
  put('walltime_s', limit);
  return { body };
}

/** Scripts that were submitted in this tab, by job, so that they can be submitted again. */
const scripts = new Map<number, string>();

export function keepScript(job: number, script: string): void {
  scripts.set(job, script);
}

export function keptScript(job: number): string {
  return scripts.get(job) ?? '';
}
