// The dashboard of a real daemon: jobs are submitted through its API and run on virtual GPUs.
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch } from './browser';
import { Daemon } from './daemon';
import { openDashboard, sees, textOf } from './dashboard';

const COMPUTE = 'while :; do :; done';
const COUNT = 'i=0; while :; do i=$((i+1)); echo "line $i"; sleep 0.1; done';
const daemon = new Daemon();
let browser: Browser;
let page: Page;
let complaints: string[];

const goTo = (hash: string) => page.evaluate((to) => { location.hash = to; }, hash);

beforeAll(async () => {
  [browser] = await Promise.all([launch(), daemon.start(4)]);
  ({ page, complaints } = await openDashboard(browser, daemon.url, { hash: `#token=${daemon.token}` }));
  await page.waitForSelector('.node-card');
  await goTo('#/cluster');
  await page.waitForSelector('.gpu');
});

afterAll(async () => {
  await browser?.close();
  await daemon.stop();
});

it('shows four free GPUs', async () => {
  expect(await page.$$eval('.gpu[data-state=free]', (all) => all.length)).toBe(4);
  await page.waitForSelector('.connection[data-state=live]');
});

it('shows jobs as they come, where they run, and why one waits', async () => {
  await goTo('#/queue');
  await sees(page, 'goban submit --wrap');
  const counting = await daemon.submit(COUNT, { name: 'counting' });
  const computing = await daemon.submit(COMPUTE, { name: 'computing', num_gpus: 2 });
  const large = await daemon.submit(COMPUTE, { name: 'large', num_gpus: 4 });
  expect([counting, computing, large]).toEqual([1, 2, 3]);
  await sees(page, 'running', '#job-1');
  await sees(page, 'computing', '#job-2');
  await sees(page, 'running', '#job-2');
  await sees(page, 'waiting', '#job-3');
  await sees(page, 'free', '#job-3');
});

it('colours held GPUs by what was measured', async () => {
  await goTo('#/cluster');
  await page.waitForFunction(() => document.querySelectorAll('.gpu[data-state=busy]').length === 3);
  const ofJob2 = '.gpu[aria-label*="job 2"]';
  await page.hover(ofJob2);
  await sees(page, 'computing', '.gpu-facts');
  await sees(page, ' W', '.gpu-facts');
  const busy = async () => {
    const { racks } = await daemon.ask('GET', '/v1/cluster') as {
      racks: { nodes: { gpus: { jobs: number[]; util_pct?: number; power_w?: number }[] }[] }[];
    };
    return racks[0]!.nodes[0]!.gpus.filter(({ jobs }) => jobs.includes(2));
  };
  await expect.poll(async () => (await busy())[0]!.util_pct ?? 0, { timeout: 90_000 }).toBeGreaterThan(5);
  expect((await busy())[0]!.power_w).toBeGreaterThan(30);
});

it('draws what the GPUs did before the page was opened', async () => {
  const recorded = async () => {
    const { gpus } = await daemon.ask('GET', '/v1/jobs/2/series') as { gpus: { points: { util_pct?: number }[] }[] };
    return gpus.map(({ points }) => points.length);
  };
  // One sample every ten seconds.
  await expect.poll(recorded, { timeout: 120_000 }).toEqual([expect.any(Number), expect.any(Number)]);
  await expect.poll(async () => Math.min(...await recorded()), { timeout: 120_000 }).toBeGreaterThan(1);
  await goTo('#/job/2');
  await sees(page, 'Samples since the start of the run', '[aria-label=GPUs]');
  await page.waitForSelector('[aria-label=GPUs] .chart[data-drawn]');
});

it('follows a log', async () => {
  await goTo('#/job/1');
  await sees(page, 'line 1\nline 2\n', '.log');
  const seen = (await textOf(page, '.log')).match(/line \d+/g)!.length;
  await sees(page, `line ${seen + 10}\n`, '.log');
});

it('cancels a job after a question, and the next one starts', async () => {
  for (const job of [1, 2]) {
    await goTo(`#/job/${job}`);
    await sees(page, `Job ${job}`, 'h2');
    await page.waitForSelector('[data-action=cancel]');
    await page.click('[data-action=cancel]');
    await page.waitForSelector('dialog .confirm');
    await page.click('dialog .confirm');
    await sees(page, 'cancelled', '.area-head .state');
  }
  await goTo('#/queue');
  await sees(page, 'running', '#job-3');
  await expect.poll(async () => (await daemon.ask('GET', '/v1/jobs/2') as { usage?: { energy_j?: number } }).usage
    ?.energy_j ?? 0).toBeGreaterThan(0);
});

it('replays what ended under another policy', async () => {
  await goTo('#/whatif');
  await page.waitForSelector('.what-if');
  // Finished jobs reach the history store with a delay.
  for (let i = 0; i < 20 && !(await page.$('.jobs')); i++) {
    await page.click('.what-if button');
    await page.waitForFunction(() => document.querySelector('.what-if button:not([disabled])') !== null);
  }
  await sees(page, 'as recorded', '.jobs');
  await sees(page, 'las+pal', '.jobs');
});

it('has nothing to complain of', () => {
  expect(complaints).toEqual([]);
});
