// Client of the daemon's HTTP API. The token is kept in this tab only.
import { parseVisible } from '../data/visible';
import type {
  Cluster, EventCurves, Explanation, JobDetails, JobList, JobSeries, JobSummary, Overview, ProgressCurve, Stats,
} from './shapes';

/** An error response of the daemon, or status 0 if it cannot be reached. */
export class ApiError extends Error {
  constructor(readonly status: number, message: string, readonly remedy = '', readonly field = '') {
    super(message);
  }
}

/** An error as text. */
export function errorText(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const place = error.field ? `${error.field}: ` : '';
  return `${place}${error.message}${error.remedy ? ` – ${error.remedy}` : ''}`;
}

/** Parses the body of an error response. */
function refusalOf(status: number, body: string): ApiError {
  try {
    const { error } = parseVisible(body) as {
      error: { message: string; remedy?: string; field?: string };
    };
    return new ApiError(status, error.message, error.remedy, error.field);
  } catch {
    return new ApiError(status, `the server returned status ${status}`);
  }
}

const TOKEN = 'goban-token';
const PAGE = 10_000;

export type Action = 'cancel' | 'hold' | 'release' | 'requeue';

export class Api {
  token = sessionStorage.getItem(TOKEN) ?? '';

  setToken(token: string): void {
    this.token = token;
    if (token) sessionStorage.setItem(TOKEN, token);
    else sessionStorage.removeItem(TOKEN);
  }

  /** Errors: ApiError. */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers: Record<string, string> = this.token
      ? { Authorization: `Bearer ${this.token}` } : {};
    if (init.body) headers['Content-Type'] = 'application/json';
    let response: Response;
    try {
      response = await fetch(path, { ...init, headers, cache: 'no-store' });
    } catch (cause) {
      if (init.signal?.aborted) throw cause;
      throw new ApiError(0, 'the daemon cannot be reached');
    }
    if (!response.ok) throw refusalOf(response.status, await response.text());
    return response;
  }

  private async json<T>(path: string, init?: RequestInit): Promise<T> {
    return parseVisible(await (await this.request(path, init)).text()) as T;
  }

  /** All jobs that the daemon holds, by number. */
  async jobs(): Promise<JobSummary[]> {
    const all: JobSummary[] = [];
    for (let after = 0; ;) {
      const { jobs, total } = await this.json<JobList>(`/v1/jobs?all=1&limit=${PAGE}&after=${after}`);
      all.push(...jobs);
      const last = jobs.at(-1);
      if (!last || jobs.length < PAGE || all.length >= total) return all;
      after = last.job;
    }
  }

  /** One job; null if the daemon no longer has it. Works without permission to see the job's details. */
  async summary(job: number): Promise<JobSummary | null> {
    const { jobs } = await this.json<JobList>(`/v1/jobs?all=1&limit=1&after=${job - 1}`);
    return jobs[0]?.job === job ? jobs[0] : null;
  }

  job(job: number): Promise<JobDetails> {
    return this.json(`/v1/jobs/${job}`);
  }

  explain(job: number): Promise<Explanation> {
    return this.json(`/v1/jobs/${job}/explain`);
  }

  series(job: number): Promise<JobSeries> {
    return this.json(`/v1/jobs/${job}/series`);
  }

  progress(job: number): Promise<ProgressCurve> {
    return this.json(`/v1/jobs/${job}/progress`);
  }

  /** Scalars of the job's TensorBoard event files. */
  curves(job: number): Promise<EventCurves> {
    return this.json(`/v1/jobs/${job}/curves`);
  }

  /** The first bytes of a log; empty if there is none. */
  async logBegin(job: number, stream: string, bytes: number): Promise<string> {
    try {
      return await (await this.request(`/v1/jobs/${job}/log?stream=${stream}&offset=0&limit=${bytes}`)).text();
    } catch {
      return '';
    }
  }

  /** Finished jobs of the history, the last to end first. */
  async past(query: { from_s: number; to_s?: number; user?: string; all: boolean; limit: number }): Promise<JobSummary[]> {
    const params = new URLSearchParams({ past: '1', from_s: String(query.from_s), limit: String(query.limit) });
    if (query.to_s !== undefined) params.set('to_s', String(query.to_s));
    if (query.user) params.set('user', query.user);
    else if (query.all) params.set('all', '1');
    return (await this.json<JobList>(`/v1/jobs?${params}`)).jobs;
  }

  submit(body: object): Promise<{ job: number }> {
    return this.json('/v1/jobs', { method: 'POST', body: JSON.stringify(body) });
  }

  overview(): Promise<Overview> {
    return this.json('/v1/overview');
  }

  cluster(): Promise<Cluster> {
    return this.json('/v1/cluster');
  }

  stats(): Promise<Stats> {
    return this.json('/v1/stats');
  }

  act(job: number, action: Action, wholeArray: boolean): Promise<{ jobs: number[] }> {
    const query = wholeArray ? '?array=1' : '';
    return action === 'cancel'
      ? this.json(`/v1/jobs/${job}${query}`, { method: 'DELETE' })
      : this.json(`/v1/jobs/${job}/${action}${query}`, { method: 'POST' });
  }

  whatIf(policies: string[], days: number): Promise<unknown> {
    return this.json('/v1/whatif', { method: 'POST', body: JSON.stringify({ policies, days }) });
  }
}

/** The token in what a user pasted: a token, or a link with "#token=...". */
export function tokenOf(pasted: string): string {
  const text = pasted.trim();
  const link = /#token=([^&\s]+)$/.exec(text);
  return link ? decodeURIComponent(link[1]!) : text;
}

/** Takes the token out of the URL ("#token=...", or "#token=...&page=cluster"), where it must not stay. Empty if there is none. */
export function takeToken(): string {
  const match = /^#token=([^&]+)(?:&page=([a-z]+))?$/.exec(location.hash);
  if (!match) return '';
  history.replaceState(null, '', location.pathname + (match[2] ? `#/${match[2]}` : ''));
  return decodeURIComponent(match[1]!);
}
