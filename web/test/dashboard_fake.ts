// Set-up of the dashboard tests: a fake daemon per test, and a check for complaints after it.
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { launch } from './browser';
import { openDashboard, type DashboardOptions } from './dashboard';
import { FakeDaemon, fakeJob, place, servedPage } from './fake_daemon';

export const HOSTILE = '</script><img src=x onerror=alert(1)>';

function facts(whatIf: boolean) {
  return {
    schema: 'goban-live/1', goban: '0.0.0', policy: 'goban', what_if: whatIf,
    policies: [
      { name: 'goban', description: 'Everything at once.' },
      { name: 'fifo', description: `In order of submission ${HOSTILE}` },
    ],
  };
}

function pageFile(): string {
  const file = process.env['GOBAN_PAGE'];
  if (!file) throw new Error('GOBAN_PAGE is not set; ctest sets it (cmake/web.cmake)');
  return file;
}

export interface FakeDashboard {
  /** Started, without jobs. */
  daemon: FakeDaemon;
  open: (options?: DashboardOptions) => Promise<Page>;
  /** Replaces the daemon by one that offers what-if replays. */
  offerWhatIf: () => Promise<void>;
}

/** Registers the hooks. The members are valid while a test runs. */
export function fakeDashboard(): FakeDashboard {
  let browser: Browser;
  let complaints: string[] = [];
  let pages: Page[] = [];
  const start = async (whatIf: boolean) => {
    made.daemon = new FakeDaemon(servedPage(pageFile(), facts(whatIf)));
    await made.daemon.start();
  };
  const made: FakeDashboard = {
    daemon: undefined as unknown as FakeDaemon,
    open: async (options = {}) => {
      const opened = await openDashboard(browser, made.daemon.url, options);
      complaints = opened.complaints;
      pages.push(opened.page);
      return opened.page;
    },
    offerWhatIf: async () => {
      await made.daemon.stop();
      await start(true);
    },
  };
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
  });
  beforeEach(() => start(false));
  afterEach(async () => {
    await Promise.all(pages.map((page) => page.close()));
    pages = [];
    await made.daemon.stop();
    expect(complaints).toEqual([]);
  });
  return made;
}

/** Four jobs: one runs on two GPUs, one waits, one belongs to another user, one has failed. */
export function putJobs(daemon: FakeDaemon): void {
  const now = Date.now() / 1000;
  daemon.put(
    fakeJob(1, {
      state: 'running', name: HOSTILE, num_gpus: 2, runs: 2, gpus: [place(0, 0), place(0, 1)],
      first_start_s: now - 500, run_start_s: now - 300, held_s: 100, log: 'epoch 1\n',
      past: [{ run: 0, start_s: now - 500, end_s: now - 400, gpus: [place(1, 0)] }],
      progress: { epoch: 2, epochs: 4, loss: 0.5 }, progress_s: now - 1, preemptions: 1,
      why: {
        text: 'its GPUs are in one node',
        place: { gpus: [place(0, 0), place(0, 1)], level: 'node', bin_value: 1, product: 1 },
      },
    }),
    fakeJob(2, {
      num_gpus: 16, name: 'large',
      why: {
        text: 'fewer GPUs are free than the job requests',
        waiting: { cause: 'no_free_gpus', free_gpus: 14, before: 0, first_before: [] },
      },
    }),
    fakeJob(3, { user: 'bob', foreign: true, num_gpus: 4, priority: 5 }),
    fakeJob(4, { state: 'done', result: 'failed', end_s: now - 10, runs: 1, exit_code: 1, log: 'no such file\n', run_start_s: now - 20, first_start_s: now - 20 }),
  );
}
