// Every page of the dashboard, wide and narrow, light and dark: no violation of accessibility rules (axe), no
// scrolling to the side, a screenshot. The screenshots are kept in GOBAN_SCREENSHOTS, if that is set.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { expect, it } from 'vitest';
import { violations } from './axe';
import { rows, sees } from './dashboard';
import { fakeDashboard, putJobs } from './dashboard_fake';
import { type FakeDaemon, fakeJob } from './fake_daemon';

const dash = fakeDashboard();

/** Each page, and what it shows once it is drawn. */
const PAGES = [
  ['overview', '.overview-curves .chart[data-drawn]'], ['cluster', '.gpu'], ['queue', '.queue td'],
  ['job/1', '.log'], ['history', '.history'], ['users', '.users'], ['policies', '.policy-list'],
  ['whatif', 'h2'], ['submit', '.new-job'],
] as const;

function fill(daemon: FakeDaemon): void {
  putJobs(daemon);
  daemon.drained.set('g004', 'broken fan');
  daemon.asleep.add('g003');
  const curve = { run: '.', tag: 'accuracy', step: [0, 1, 2], value: [0.5, 0.75, 0.8], at_s: [1, 2, 3] };
  daemon.change(1, { losses: [3, 2, 1], name: 'resnet50', curves: { folder: 'runs', files: 1, curves: [curve, { ...curve, run: 'eval' }] } });
  daemon.change(2, { start: { p10_s: Date.now() / 1000 + 60, p50_s: Date.now() / 1000 + 9e4 } });
  const now = Date.now() / 1000;
  daemon.past = Array.from({ length: 60 }, (_, i) => fakeJob(100 + i, {
    state: 'done', result: i % 7 ? 'completed' : 'failed', user: `user${i % 5}`, name: `train-${i}`, runs: 1,
    submit_s: now - 9000, first_start_s: now - 8000, end_s: now - 800 - i, held_s: 7200,
    usage: { gpu_util_pct: (13 * i) % 100, energy_j: 1e6 },
  }));
}

async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['GOBAN_SCREENSHOTS'];
  if (folder) mkdirSync(folder, { recursive: true });
  const picture = await page.screenshot({ ...(folder ? { path: join(folder, `${name}.png`) as `${string}.png` } : {}) });
  expect(picture.length, `${name} is not blank`).toBeGreaterThan(8000);
}

for (const width of [1440, 390]) {
  for (const scheme of ['light', 'dark'] as const) {
    it(`is readable ${width} pixels wide in ${scheme}`, async () => {
      fill(dash.daemon);
      const page = await dash.open({ width, height: width < 500 ? 844 : 900, scheme });
      await page.waitForSelector('.node-card');
      for (const [area, drawn] of PAGES) {
        await page.evaluate((to) => (location.hash = `#/${to}`), area);
        await page.waitForSelector(drawn);
        expect(await page.evaluate(() => document.documentElement.scrollWidth), area).toBeLessThanOrEqual(width);
        expect(await violations(page), `${area}, ${width} wide, ${scheme}`).toEqual([]);
        await shoot(page, `${area.replace('/', '-')}-${width}-${scheme}`);
      }
    });
  }
}

it('is accessible before the sign-in, too', async () => {
  dash.daemon.token = 'secret';
  const page = await dash.open({ width: 390 });
  await page.waitForSelector('.sign-in');
  expect(await violations(page)).toEqual([]);
});

it('finds a violation that is put there', async () => {
  const page = await dash.open({ hash: '#/policies' });
  await page.waitForSelector('.policy-list');
  await page.evaluate(() => document.querySelector('main')!.append(document.createElement('input')));
  expect((await violations(page)).join()).toMatch(/^label: <input>/);
});

it('shows name and reason of a job on a phone', async () => {
  putJobs(dash.daemon);
  const page = await dash.open({ hash: '#/queue', width: 390, height: 844 });
  await page.waitForSelector('#job-2');
  await sees(page, 'large', '#job-2');
  await sees(page, 'fewer GPUs are free', '#job-2');
  expect(await rows(page)).toEqual(['1', '2', '3']);
  const box = await page.$eval('#job-2 .reason', (e) => e.getBoundingClientRect().width);
  expect(box).toBeGreaterThan(60);
});
