// The cluster map and the queue of the dashboard.
import { describe, expect, it } from 'vitest';
import { rows, sees, textOf } from './dashboard';
import { fakeDashboard, HOSTILE, putJobs } from './dashboard_fake';
import { fakeJob, place } from './fake_daemon';

const dash = fakeDashboard();

describe('the cluster map', () => {
  it('shows who holds which GPU, and leads to the job', async () => {
    putJobs(dash.daemon);
    dash.daemon.drained.set('g004', 'broken fan');
    dash.daemon.asleep.add('g003');
    const page = await dash.open({ hash: '#/cluster' });
    await page.waitForSelector('.gpu');
    expect(await page.$$eval('.gpu', (all) => all.length)).toBe(16);
    expect(await page.$$eval('.rack', (all) => all.length)).toBe(2);
    expect(await page.$$eval('.gpu[data-state=busy]', (all) => all.map((e) => e.getAttribute('aria-label')))).toEqual(
      ['g001 GPU 0: held, job 1', 'g001 GPU 1: held, job 1']);
    expect(await page.$$eval('.gpu[data-state=drained]', (all) => all.length)).toBe(4);
    expect(await page.$$eval('.gpu[data-state=asleep]', (all) => all.map((e) => e.getAttribute('aria-label')))).toEqual(
      [0, 1, 2, 3].map((i) => `g003 GPU ${i}: asleep`));
    expect(await page.$$eval('.node[data-state=asleep]', (all) => all.map((e) => e.textContent))).toEqual(['g003 asleep0 of 4 · 0 % · 240 W']);
    expect(await textOf(page, '.node .node-numbers')).toBe('2 of 4 · 25 % · 720 W');
    expect(await textOf(page, '.live-top .facts')).toContain('2 of 16 GPUs held · 1 running · 2 waiting');
    await page.hover('.gpu[data-gpu="1"]');
    await sees(page, `${HOSTILE} of ann`, '.gpu-facts');
    expect(await textOf(page, '.gpu-facts')).toContain('50 %');
    expect(await page.$$('img')).toEqual([]);
    await page.click('.gpu[data-gpu="1"]');
    await sees(page, 'Job 1', 'h2');
  });

  it('colours by speed and power, and is used with the keyboard', async () => {
    putJobs(dash.daemon);
    const page = await dash.open({ hash: '#/cluster' });
    await page.waitForSelector('.gpu');
    const colour = (gpu: number) => page.$eval(`.gpu[data-gpu="${gpu}"]`, (e) => getComputedStyle(e).backgroundColor);
    expect(await colour(0)).not.toBe(await colour(2));
    await page.focus('input[name=map-mode]');
    await page.keyboard.press('ArrowRight');
    await sees(page, 'lower is faster');
    expect(await colour(0)).not.toBe(await colour(15));
    await page.focus('.gpu[tabindex="0"]');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await sees(page, 'g001, GPU 1', '.gpu-facts');
    expect(await page.$$eval('.gpu[tabindex="0"]', (all) => all.length)).toBe(1);
    await page.keyboard.press('Enter');
    await sees(page, 'Job 1', 'h2');
  });

  it('says what is not measured', async () => {
    dash.daemon.utilisation = undefined;
    const page = await dash.open({ hash: '#/cluster' });
    await page.waitForSelector('.gpu');
    await sees(page, 'lower is faster');
    await page.click('.choice label:nth-of-type(3)');
    await sees(page, 'The power of these GPUs is not measured');
  });
});

describe('the queue', () => {
  it('says why jobs wait, and only what one may know', async () => {
    putJobs(dash.daemon);
    const page = await dash.open({ hash: '#/queue' });
    await sees(page, 'fewer GPUs are free than the job requests', '.queue');
    await sees(page, 'visible to its owner only', '.queue');
    expect(await rows(page)).toEqual(['1', '2', '3']);
    expect(await page.$eval('#job-2 td:nth-child(8)', (td) => td.textContent)).toBe('1');
  });

  it('has a column for when a job is expected to start, on phones in its row', async () => {
    putJobs(dash.daemon);
    const at = new Date();
    at.setHours(23, 58, 30, 0);
    const late = new Date(at.getTime() + 3_600_000);
    const start = { p10_s: at.getTime() / 1000 - 60, p50_s: at.getTime() / 1000, p90_s: late.getTime() / 1000 };
    dash.daemon.change(2, { start });
    for (const width of [1440, 390]) {
      const page = await dash.open({ hash: '#/queue', width });
      await page.waitForSelector('#job-2 td.start');
      expect(await page.$eval('#job-2 td.start', (td) => td.textContent)).toBe('23:58');
      expect(await page.$eval('#job-2 td.start', (td) => td.title)).toMatch(/^80 % interval: 23:58:30 \(23:57:30 to .* 00:58:30\)$/);
      expect(await page.$eval('#job-1 td.start', (td) => td.textContent)).toBe('');
      expect(await page.$eval('#job-2 td.start', (td) => td.getBoundingClientRect().width)).toBeGreaterThan(20);
    }
  });

  it('follows the daemon', async () => {
    putJobs(dash.daemon);
    const page = await dash.open({ hash: '#/queue' });
    await page.waitForSelector('#job-2');
    const lists = dash.daemon.count('GET /v1/jobs');
    dash.daemon.put(fakeJob(5, { user: 'cid' }));
    dash.daemon.change(2, { state: 'running', gpus: [place(2, 0)], run_start_s: Date.now() / 1000 });
    dash.daemon.notify({ jobs: [5] });
    await page.waitForSelector('#job-5');
    await sees(page, 'g003: 0', '#job-2');
    expect(dash.daemon.count('GET /v1/jobs') - lists, 'asks for what changed').toBeLessThanOrEqual(4);
    dash.daemon.jobs.delete(5);
    dash.daemon.notify({ jobs: [5] });
    await page.waitForFunction(() => !document.querySelector('#job-5'));
  });

  it('is searched, sorted and walked through with the keyboard', async () => {
    putJobs(dash.daemon);
    const page = await dash.open({ hash: '#/cluster' });
    await page.waitForSelector('.gpu');
    await page.keyboard.press('/');
    await page.waitForFunction(() => document.activeElement?.id === 'queue-search');
    await page.keyboard.type('ann large');
    await page.waitForFunction(() => document.querySelectorAll('.queue tbody tr').length === 1);
    expect(await page.evaluate(() => location.hash)).toBe('#/queue?text=ann+large');
    for (let i = 0; i < 9; i++) await page.keyboard.press('Backspace');
    await page.keyboard.press('Escape');
    await page.waitForSelector('#job-3');
    await page.keyboard.press('j');
    await page.waitForFunction(() => document.activeElement?.classList.contains('queue-window'));
    for (const key of ['j', 'j', 'j', 'k'] as const) await page.keyboard.press(key);
    await page.waitForSelector('#job-2.chosen');
    await page.keyboard.press('Enter');
    await sees(page, 'Job 2', 'h2');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.queue');
    await page.focus('.queue th:nth-child(6) button');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.queue th:nth-child(6)[aria-sort=descending]');
    expect((await rows(page))[0]).toBe('3');
    await page.select('.filters label:nth-of-type(2) select', 'done');
    await page.waitForFunction(() => document.querySelector('.queue tbody tr')?.id === 'job-4');
    await page.keyboard.press('Escape');
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    expect(await textOf(page, 'dialog')).toContain('search the queue');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('dialog'));
  });

  it('stays quick with ten thousand jobs', async () => {
    for (let i = 1; i <= 10_000; i++) {
      dash.daemon.put(fakeJob(i, { user: `u${i % 50}`, foreign: true, priority: i % 7, name: `n${i}` }));
    }
    const page = await dash.open({ hash: '#/queue' });
    await sees(page, '10,000 of 10,000 jobs');
    expect(await page.$$eval('.queue tbody tr', (all) => all.length)).toBeLessThan(80);
    await page.focus('.queue-window');
    await page.keyboard.press('End');
    await page.waitForSelector('#job-10000.chosen');
    expect(await page.$$eval('.queue tbody tr', (all) => all.length)).toBeLessThan(80);
    // Measures the page's own work, not other load of the machine.
    const worked = await page.evaluate(async () => {
      const from = performance.now();
      document.querySelector<HTMLButtonElement>('.queue th:nth-child(6) button')!.click();
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      return performance.now() - from;
    });
    expect(worked).toBeLessThan(2000);
    dash.daemon.notify({ all: true });
    await page.type('#queue-search', 'u49');
    await sees(page, '200 of 10,000 jobs');
  });

  it('says what to do when there is nothing', async () => {
    const page = await dash.open({ hash: '#/queue' });
    await sees(page, 'goban submit --wrap');
    await page.goto(`${dash.daemon.url}#/users`);
    await sees(page, 'There are no jobs yet');
  });
});
