// The client-side state of the dashboard: loaded once, then kept up to date by server-sent events.
import { Api, ApiError, errorText } from './api';
import { EventParser, retryDelay, type ServerEvent } from './events';
import { Samples } from './samples';
import type { Change, Cluster, JobSummary, Stats } from './shapes';

export type Connection =
  | { state: 'connecting' }
  | { state: 'live' }
  | { state: 'lost'; why: string; retryAtMs: number }
  | { state: 'refused'; why: string };

/** With more changed jobs than this, the whole list is requested. */
const SINGLY_MAX = 8;
const STATS_MS = 10_000;
/** The daemon sends a keep-alive every 15 s. */
const SILENCE_MS = 40_000;

export class LiveStore {
  readonly samples = new Samples();
  jobs = new Map<number, JobSummary>();
  cluster: Cluster | null = null;
  stats: Stats | null = null;
  connection: Connection = { state: 'connecting' };
  /** Time of the last change, by the daemon's clock. */
  changedS = 0;
  /** Grows with each change of jobs; dependent requests are repeated then. */
  version = 0;
  /** Whether the jobs have been loaded. */
  ready = false;

  private readonly listeners = new Set<() => void>();
  private offsetS = 0;
  private attempt = 0;
  private stop = new AbortController();
  private wake: (() => void) | null = null;
  private pendingJobs = new Set<number>();
  private pendingAll = false;
  private pendingNodes = false;
  private refreshing = false;

  constructor(readonly api: Api) {}

  /** Calls `listener` after each change. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** The daemon's clock, in seconds since 1970. */
  nowS(): number {
    return Date.now() / 1000 + this.offsetS;
  }

  start(): void {
    void this.listen();
    void this.poll();
  }

  /** Reconnects immediately with the current token. */
  reconnect(): void {
    this.attempt = 0;
    this.stop.abort();
    this.wake?.();
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }

  private setConnection(connection: Connection): void {
    this.connection = connection;
    this.notify();
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async listen(): Promise<void> {
    for (;;) {
      let why = 'the daemon closed the connection';
      try {
        await this.follow();
      } catch (error) {
        why = errorText(error);
        if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
          this.setConnection({ state: 'refused', why });
          await this.pause(2 ** 31 - 1);
          continue;
        }
      }
      const delay = retryDelay(this.attempt++);
      this.setConnection({ state: 'lost', why, retryAtMs: Date.now() + delay });
      await this.pause(delay);
    }
  }

  /** Reads events until the connection ends. */
  private async follow(): Promise<void> {
    this.stop = new AbortController();
    const { signal } = this.stop;
    let silence: ReturnType<typeof setTimeout> | undefined;
    const alive = () => {
      clearTimeout(silence);
      silence = setTimeout(() => this.stop.abort(), SILENCE_MS);
    };
    try {
      alive();
      const response = await this.api.request('/v1/events', { signal });
      const parser = new EventParser();
      const decoder = new TextDecoder();
      const reader = response.body!.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        alive();
        for (const event of parser.push(decoder.decode(value, { stream: true }))) this.handle(event);
      }
    } catch (error) {
      if (signal.aborted) throw new Error('the daemon is unresponsive');
      throw error instanceof ApiError ? error : new ApiError(0, 'the connection failed');
    } finally {
      clearTimeout(silence);
    }
  }

  private handle({ name, data }: ServerEvent): void {
    if (name === 'hello') {
      this.attempt = 0;
      this.pendingAll = true;
      this.pendingNodes = true;
      this.setConnection({ state: 'live' });
    } else if (name === 'change') {
      const change = JSON.parse(data) as Change;
      if (change.all) this.pendingAll = true;
      for (const job of change.jobs ?? []) this.pendingJobs.add(job);
      this.pendingNodes = true;
      this.changedS = this.nowS();
    }
    void this.refresh();
  }

  /** Loads what changed. Only one refresh runs at a time, so a slow daemon is not overloaded. */
  private async refresh(): Promise<void> {
    if (this.refreshing) return;
    this.refreshing = true;
    try {
      while (this.pendingAll || this.pendingJobs.size > 0 || this.pendingNodes) {
        const from = performance.now();
        const all = this.pendingAll || this.pendingJobs.size > SINGLY_MAX;
        const singly = all ? [] : [...this.pendingJobs];
        const nodes = this.pendingNodes;
        this.pendingJobs.clear();
        this.pendingAll = false;
        this.pendingNodes = false;
        // The views that need no jobs are drawn before a long list of them has arrived.
        const early = this.ready ? undefined
          : Promise.all([this.loadStats(), this.loadCluster()]).then(() => this.notify());
        await Promise.all([
          all ? this.loadJobs() : this.loadSingly(singly),
          early ?? (nodes ? this.loadCluster() : undefined),
        ]);
        this.version++;
        this.notify();
        // Wait in proportion to the time taken: frequent requests of a long list would load daemon and page.
        await this.sleep(Math.min(10_000, 4 * (performance.now() - from)));
      }
    } catch {
      // The event connection reports the failure; the next hello event reloads everything.
      this.stop.abort();
    } finally {
      this.refreshing = false;
    }
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  private async loadJobs(): Promise<void> {
    const jobs = await this.api.jobs();
    this.jobs = new Map(jobs.map((job) => [job.job, job]));
    this.ready = true;
  }

  private async loadSingly(numbers: number[]): Promise<void> {
    const jobs = await Promise.all(numbers.map((job) => this.api.summary(job)));
    for (const [i, number] of numbers.entries()) {
      const job = jobs[i];
      if (job) this.jobs.set(number, job);
      else this.jobs.delete(number);
    }
  }

  private async loadCluster(): Promise<void> {
    const cluster = await this.api.cluster();
    this.cluster = cluster;
    this.samples.add(cluster, this.nowS());
  }

  private async loadStats(): Promise<void> {
    this.stats = await this.api.stats();
    this.offsetS = this.stats.now_s - Date.now() / 1000;
    if (this.changedS === 0) this.changedS = this.stats.now_s;
  }

  /** Polls the cluster and statistics: GPU samples change without events. */
  private async poll(): Promise<void> {
    for (let round = 0; ; round++) {
      await this.sleep(this.cluster && this.cluster.num_gpus > 2000 ? 15_000 : 3_000);
      if (document.hidden || this.connection.state !== 'live' || !this.ready) continue;
      try {
        await this.loadCluster();
        if (round % Math.ceil(STATS_MS / 3_000) === 0) await this.loadStats();
        this.notify();
      } catch {
        // The event connection detects an unreachable daemon.
      }
    }
  }
}
