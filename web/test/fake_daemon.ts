// A fake of the daemon's API (src/serve) that keeps its state in memory, for dashboard tests.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  Cluster, EventCurves, Explanation, GpuPoint, GpuState, JobDetails, JobSummary, LiveFacts, Place,
} from '../src/live/shapes';

/** A job of the fake daemon: its details and its explanation. */
export interface FakeJob extends JobDetails {
  why?: Partial<Explanation>;
  log?: string;
  /** Recorded samples of each of its GPUs. */
  series?: GpuPoint[];
  /** What it reported as its loss, one value per step. */
  losses?: number[];
  /** Of its event files. */
  curves?: Partial<EventCurves>;
  /** Belongs to another user: details are refused. */
  foreign?: boolean;
}

const META = "default-src 'none'; ";

/** Embeds facts in the built page, as src/serve/api/dashboard_page.cpp does. */
export function servedPage(file: string, facts: LiveFacts): string {
  const element = '<script type="application/json" id="goban-report">';
  const page = readFileSync(file, 'utf8');
  if (!page.includes(META) || !page.includes(element)) throw new Error(`${file} is not a page of goban`);
  return page
    .replace(META, () => `${META}connect-src 'self'; `)
    .replace(element, () => element + JSON.stringify(facts).replaceAll('<', '\\u003c'));
}

export function place(node: number, index: number): Place {
  return { gpu: node * 4 + index, node: `g00${node + 1}`, index };
}

export function fakeJob(job: number, part: Partial<FakeJob> = {}): FakeJob {
  return {
    job, id: String(job), user: 'ann', state: 'waiting', num_gpus: 1, priority: 0, runs: 0, held_s: 0,
    submit_s: Date.now() / 1000 - 600, spec: {}, preemptions: 0, breakages: 0, ...part,
  };
}

const SUMMARY = [
  'job', 'id', 'user', 'state', 'num_gpus', 'priority', 'runs', 'held_s', 'submit_s', 'result', 'name',
  'account', 'walltime_s', 'first_start_s', 'run_start_s', 'end_s', 'gpus', 'shares', 'position', 'start',
] as const;

function summaryOf(job: FakeJob): JobSummary {
  const shown = SUMMARY.filter((key) => job[key] !== undefined && !(job.foreign && key === 'name'));
  return Object.fromEntries(shown.map((key) => [key, job[key]])) as unknown as JobSummary;
}

export class FakeDaemon {
  readonly jobs = new Map<number, FakeJob>();
  /** Requests in order, such as "GET /v1/stats". */
  readonly requests: string[] = [];
  readonly bodies: string[] = [];
  /** If set, every request must carry it. */
  token = '';
  drained = new Map<string, string>();
  asleep = new Set<string>();
  utilisation: number | undefined = 50;
  stuck = false;
  /** Finished jobs of the history. */
  past: FakeJob[] = [];
  /** Lists of jobs are never answered, as if they took long. */
  withoutJobs = false;
  role: string | undefined = undefined;
  private server: Server | null = null;
  private version = 1;
  private port = 0;
  private readonly listeners = new Set<ServerResponse>();
  private readonly followers = new Map<ServerResponse, number>();

  constructor(private readonly page: string, readonly nodes = 4) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.answer(request, response));
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  /** Stops as if killed: open connections are closed. */
  async stop(): Promise<void> {
    const { server } = this;
    this.server = null;
    this.listeners.clear();
    this.followers.clear();
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  }

  put(...jobs: FakeJob[]): void {
    for (const job of jobs) this.jobs.set(job.job, job);
  }

  /** Changes a job and sends an event. */
  change(job: number, part: Partial<FakeJob>): void {
    this.put({ ...this.jobs.get(job)!, ...part });
    this.notify({ jobs: [job] });
  }

  notify(change: { jobs?: number[]; all?: boolean; nodes?: boolean }): void {
    const data = JSON.stringify({ version: ++this.version, all: false, nodes: false, jobs: [], ...change });
    for (const listener of this.listeners) listener.write(`id: ${this.version}\nevent: change\ndata: ${data}\n\n`);
  }

  /** Appends to the log of a job. */
  write(job: number, text: string): void {
    const found = this.jobs.get(job)!;
    found.log = (found.log ?? '') + text;
    for (const [response, of] of this.followers) if (of === job) response.write(text);
  }

  endLog(job: number): void {
    for (const [response, of] of this.followers) if (of === job) response.end();
  }

  count(request: string): number {
    return this.requests.filter((each) => each === request).length;
  }

  private cluster(): Cluster {
    const holders = new Map<number, number[]>();
    for (const job of this.jobs.values()) {
      if (job.state !== 'running' && job.state !== 'starting' && job.state !== 'stopping') continue;
      for (const { gpu } of job.gpus ?? []) holders.set(gpu, [...(holders.get(gpu) ?? []), job.job]);
    }
    const node = (index: number): Cluster['racks'][number]['nodes'][number] => {
      const name = `g00${index + 1}`;
      const reason = this.drained.get(name);
      const gpus = [0, 1, 2, 3].map((i) => {
        const gpu = index * 4 + i;
        const jobs = holders.get(gpu) ?? [];
        const state: GpuState = jobs.length > 1 ? 'shared' : jobs.length === 1 ? 'busy'
          : reason !== undefined ? 'drained' : this.asleep.has(name) ? 'asleep' : 'free';
        return {
          gpu, state, jobs, scores: [1 + gpu / 50, 1],
          ...(this.utilisation === undefined ? {} : {
            util_pct: jobs.length > 0 ? this.utilisation : 0, power_w: jobs.length > 0 ? 300 : 60,
            mem_used_bytes: jobs.length * 2 ** 30, temperature_c: 40,
          }),
        };
      });
      return {
        node: name, num_gpus: 4,
        state: reason !== undefined ? 'drained' : this.asleep.has(name) ? 'asleep' : 'up',
        held_gpus: gpus.filter(({ jobs }) => jobs.length > 0).length, gpu_model: 'V100', gpus,
        ...(reason === undefined ? {} : { reason }),
      };
    };
    const half = Math.ceil(this.nodes / 2);
    const rack = (name: string, from: number, to: number) =>
      ({ rack: name, nodes: Array.from({ length: to - from }, (_, i) => node(from + i)) });
    return {
      name: 'testbed', num_gpus: 4 * this.nodes,
      racks: [rack('rack0', 0, half), rack('rack1', half, this.nodes)],
    };
  }

  /** Eight of sixteen GPUs held for twelve hours, then all. */
  private overview(): object {
    const now = Date.now() / 1000;
    const from = now - 86_400;
    const steps = <T>(first: T, second: T) => Array.from({ length: 96 }, (_, i) => (i < 48 ? first : second));
    return {
      from_s: from, to_s: now, step_s: 900, num_gpus: 4 * this.nodes, held_gpus: steps(8, 16),
      waiting_jobs: steps(0, 3), waiting_gpus: steps(0, 20), gpu_hours: 288, submitted: 40,
      ended: { completed: 30, failed: 2 }, wait_s: { jobs: 32, p50: 90, p90: 3600, max: 7200 },
      power: [{ at_s: from + 450, power_w: 4000 }, { at_s: from + 1350, power_w: 4200 }], energy_j: 7.2e7,
    };
  }

  private stats(): object {
    const jobs: Record<string, number> = {};
    for (const { state } of this.jobs.values()) jobs[state] = (jobs[state] ?? 0) + 1;
    return {
      now_s: Date.now() / 1000, jobs, gpus: {}, waiting_gpus: 0, inputs: 1, decisions: 1, turns: 1,
      journal_failures: 0, journal_is_stuck: this.stuck,
      ...(this.role ? { caller: { user: 'ann', role: this.role } } : {}),
    };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://x');
    const method = request.method ?? 'GET';
    if (url.pathname === '/favicon.ico') return void response.writeHead(404).end();
    if (url.pathname === '/') {
      response.writeHead(200, {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': "default-src 'none'; script-src 'unsafe-inline'; style-src "
          + "'unsafe-inline'; img-src data:; font-src data:; connect-src 'self'; base-uri 'none'; "
          + "form-action 'none'; frame-ancestors 'none'",
      });
      return void response.end(this.page);
    }
    let body = '';
    for await (const part of request) body += String(part);
    if (body) this.bodies.push(body);
    this.requests.push(`${method} ${url.pathname}`);
    const json = (document: unknown, status = 200) =>
      void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(document));
    const refuse = (status: number, message: string, remedy?: string) =>
      json({ error: { message, ...(remedy ? { remedy } : {}) } }, status);
    if (this.token && request.headers.authorization !== `Bearer ${this.token}`) {
      return refuse(401, 'requests over TCP require a token', 'send Authorization: Bearer TOKEN');
    }
    const [, , area, name, verb] = url.pathname.split('/');
    if (area === 'events') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(`id: ${this.version}\nevent: hello\ndata: {"version":${this.version}}\n\n`);
      this.listeners.add(response);
      request.on('close', () => this.listeners.delete(response));
      return undefined;
    }
    if (area === 'cluster') return json(this.cluster());
    if (area === 'overview') return json(this.overview());
    if (area === 'stats') return json(this.stats());
    if (area === 'whatif') {
      const { policies } = JSON.parse(body) as { policies: string[] };
      return json({ policies: policies.map((policy) => ({ policy, avg_jct_s: 7200, jobs: 12 })) });
    }
    if (area !== 'jobs') return refuse(404, 'unknown path', 'see /v1/openapi.json');
    if (name === undefined && method === 'POST') {
      if ((JSON.parse(body) as { num_gpus: number }).num_gpus > 4 * this.nodes) {
        return refuse(400, 'the cluster has fewer GPUs', 'request fewer');
      }
      const job = Math.max(0, ...this.jobs.keys()) + 1;
      this.put(fakeJob(job, JSON.parse(body) as Partial<FakeJob>));
      this.notify({ jobs: [job] });
      return json({ job, jobs: [job] }, 201);
    }
    if (name === undefined && url.searchParams.get('past') === '1') {
      const from = Number(url.searchParams.get('from_s') ?? 0);
      const jobs = this.past.filter(({ end_s, user }) => end_s! >= from
        && (url.searchParams.get('all') === '1' || user === 'ann')).map((job) => ({ ...summaryOf(job), usage: job.usage }));
      return json({ jobs, total: jobs.length });
    }
    if (name === undefined) {
      if (this.withoutJobs) return undefined;
      const after = Number(url.searchParams.get('after') ?? 0);
      const limit = Number(url.searchParams.get('limit') ?? 1000);
      const jobs = [...this.jobs.values()].sort((a, b) => a.job - b.job)
        .filter(({ job }) => job > after).slice(0, limit).map(summaryOf);
      return json({ jobs, total: this.jobs.size });
    }
    const job = this.jobs.get(Number(name));
    if (!job) return refuse(404, `job ${name} is unknown`, 'goban history shows finished jobs');
    if (job.foreign) return refuse(403, 'the job belongs to another user');
    if (verb === 'explain') return json({ job: job.job, state: job.state, text: 'unknown', ...job.why });
    if (verb === 'series') {
      const gpus = (job.gpus ?? []).map((of) => ({ ...of, points: job.series ?? [] }));
      return json({ job: job.job, run: job.runs, from_s: job.run_start_s, step_s: 10, gpus });
    }
    if (verb === 'progress') {
      const points = (job.losses ?? []).map((loss, i) => ({ at_s: job.submit_s + i, step: 10 * i, loss }));
      return json({ job: job.job, points });
    }
    if (verb === 'curves') return json({ job: job.job, files: 0, curves: [], ...job.curves });
    if (verb === 'log') return this.log(job, url, response, refuse);
    if (verb === undefined && method === 'GET') {
      const { why: _why, log: _log, series: _series, losses: _losses, curves: _curves, foreign: _foreign, ...shown } = job;
      return json(shown);
    }
    return this.act(job, method === 'DELETE' ? 'cancel' : (verb ?? ''), json, refuse);
  }

  private act(job: FakeJob, action: string, json: (document: unknown) => void,
    refuse: (status: number, message: string, remedy?: string) => void): void {
    if (job.state === 'done') return refuse(409, `job ${job.job} is finished`);
    if (action === 'requeue' && job.priority < 0) return refuse(409, `job ${job.job} is not running`);
    json({ jobs: [job.job] });
    if (action === 'cancel') {
      this.change(job.job, { state: 'done', result: 'cancelled', end_s: Date.now() / 1000 });
    } else if (action === 'hold') {
      this.change(job.job, { state: 'held', why: { text: 'it is held until it is released' } });
    } else {
      this.change(job.job, { state: 'waiting' });
    }
  }

  private log(job: FakeJob, url: URL, response: ServerResponse,
    refuse: (status: number, message: string) => void): void {
    const text = job.log ?? '';
    const offset = Number(url.searchParams.get('offset') ?? 0);
    if (url.searchParams.get('follow') === '1') {
      response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' });
      response.flushHeaders();
      response.write(text.slice(offset));
      if (job.state === 'done') return void response.end();
      this.followers.set(response, job.job);
      response.on('close', () => this.followers.delete(response));
      return undefined;
    }
    if (text === '') return refuse(404, 'the job has no output yet');
    response.writeHead(200, {
      'Content-Type': 'text/plain; charset=utf-8', 'X-Goban-Offset': String(text.length),
      'X-Goban-Size': String(text.length),
    });
    response.end(text.slice(Math.max(0, offset < 0 ? text.length + offset : offset)));
  }
}

