// The dashboard against a daemon that answers from memory: what it shows, and how it is used.
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { launch } from './browser';
import { openDashboard, type DashboardOptions, sees, textOf } from './dashboard';
import { FakeDaemon, fakeJob, place, servedPage } from './fake_daemon';

const HOSTILE = '</script><img src=x onerror=alert(1)>';
const now = Date.now() / 1000;
let browser: Browser;
let daemon: FakeDaemon;
let complaints: string[] = [];
let pages: Page[] = [];

function facts(whatIf = false) {
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
  if (!file) throw new Error('set GOBAN_PAGE: ctest does it, see cmake/web.cmake');
  return file;
}

async function open(options: DashboardOptions = {}): Promise<Page> {
  const opened = await openDashboard(browser, daemon.url, options);
  complaints = opened.complaints;
  pages.push(opened.page);
  return opened.page;
}

function putJobs(): void {
  daemon.put(
    fakeJob(1, {
      state: 'running', name: HOSTILE, num_gpus: 2, runs: 2, gpus: [place(0, 0), place(0, 1)],
      first_start_s: now - 500, run_start_s: now - 300, held_s: 100, log: 'epoch 1\n',
      past: [{ run: 0, start_s: now - 500, end_s: now - 400, gpus: [place(1, 0)] }],
      progress: { epoch: 2, epochs: 4, loss: 0.5 }, progress_s: now - 1, preemptions: 1,
      why: {
        text: 'its GPUs lie in one node',
        place: { gpus: [place(0, 0), place(0, 1)], level: 'node', bin_value: 1, product: 1 },
      },
    }),
    fakeJob(2, {
      num_gpus: 16, name: 'large',
      why: {
        text: 'fewer GPUs are free than it asks for',
        waiting: { cause: 'no_free_gpus', free_gpus: 14, before: 0, first_before: [] },
      },
    }),
    fakeJob(3, { user: 'bob', foreign: true, num_gpus: 4, priority: 5 }),
    fakeJob(4, { state: 'done', result: 'failed', end_s: now - 10, runs: 1, exit_code: 1, log: 'no such file\n', run_start_s: now - 20, first_start_s: now - 20 }),
  );
}

const rows = (page: Page) =>
  page.$$eval('.queue tbody tr:not(.spacer)', (all) => all.map((tr) => tr.querySelector('a')!.textContent));

beforeAll(async () => {
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
});

beforeEach(async () => {
  daemon = new FakeDaemon(servedPage(pageFile(), facts()));
  await daemon.start();
});

afterEach(async () => {
  await Promise.all(pages.map((page) => page.close()));
  pages = [];
  await daemon.stop();
  expect(complaints).toEqual([]);
});

describe('the cluster map', () => {
  it('shows who holds which GPU, and leads to the job', async () => {
    putJobs();
    daemon.drained.set('g004', 'broken fan');
    daemon.asleep.add('g003');
    const page = await open();
    await page.waitForSelector('.gpu');
    expect(await page.$$eval('.gpu', (all) => all.length)).toBe(16);
    expect(await page.$$eval('.rack', (all) => all.length)).toBe(2);
    expect(await page.$$eval('.gpu[data-state=busy]', (all) => all.map((e) => e.getAttribute('aria-label')))).toEqual(
      ['g001 GPU 0: held, job 1', 'g001 GPU 1: held, job 1']);
    expect(await page.$$eval('.gpu[data-state=drained]', (all) => all.length)).toBe(4);
    expect(await page.$$eval('.gpu[data-state=asleep]', (all) => all.map((e) => e.getAttribute('aria-label')))).toEqual(
      [0, 1, 2, 3].map((i) => `g003 GPU ${i}: asleep`));
    expect(await page.$$eval('.node[data-state=asleep]', (all) => all.map((e) => e.textContent))).toEqual(['g003 asleep']);
    expect(await textOf(page, '.live-top .facts')).toContain('2 of 16 GPUs held · 1 running · 2 waiting');
    await page.hover('.gpu[data-gpu="1"]');
    await sees(page, `${HOSTILE} of ann`, '.gpu-facts');
    expect(await textOf(page, '.gpu-facts')).toContain('50 %');
    expect(await page.$$('img')).toEqual([]);
    await page.click('.gpu[data-gpu="1"]');
    await sees(page, 'Job 1', 'h2');
  });

  it('colours by speed and power, and is used with the keyboard', async () => {
    putJobs();
    const page = await open();
    await page.waitForSelector('.gpu');
    const colour = (gpu: number) => page.$eval(`.gpu[data-gpu="${gpu}"]`, (e) => getComputedStyle(e).backgroundColor);
    expect(await colour(0)).not.toBe(await colour(2));
    await page.focus('input[name=map-mode]');
    await page.keyboard.press('ArrowRight');
    await sees(page, 'less is faster');
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
    daemon.utilisation = undefined;
    const page = await open();
    await page.waitForSelector('.gpu');
    await sees(page, 'less is faster');
    await page.click('.choice label:nth-of-type(3)');
    await sees(page, 'No instrument reads the power');
  });
});

describe('the queue', () => {
  it('says why jobs wait, and only what one may know', async () => {
    putJobs();
    const page = await open({ hash: '#/queue' });
    await sees(page, 'fewer GPUs are free than it asks for', '.queue');
    await sees(page, 'only its owner may know', '.queue');
    expect(await rows(page)).toEqual(['1', '2', '3']);
    expect(await page.$eval('#job-2 td:nth-child(8)', (td) => td.textContent)).toBe('1');
  });

  it('follows the daemon', async () => {
    putJobs();
    const page = await open({ hash: '#/queue' });
    await page.waitForSelector('#job-2');
    const lists = daemon.count('GET /v1/jobs');
    daemon.put(fakeJob(5, { user: 'cid' }));
    daemon.change(2, { state: 'running', gpus: [place(2, 0)], run_start_s: Date.now() / 1000 });
    daemon.tell({ jobs: [5] });
    await page.waitForSelector('#job-5');
    await sees(page, 'g003: 0', '#job-2');
    expect(daemon.count('GET /v1/jobs') - lists, 'asks for what changed').toBeLessThanOrEqual(4);
    daemon.jobs.delete(5);
    daemon.tell({ jobs: [5] });
    await page.waitForFunction(() => !document.querySelector('#job-5'));
  });

  it('is searched, sorted and walked through with the keyboard', async () => {
    putJobs();
    const page = await open();
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
      daemon.put(fakeJob(i, { user: `u${i % 50}`, foreign: true, priority: i % 7, name: `n${i}` }));
    }
    const page = await open({ hash: '#/queue' });
    await sees(page, '10,000 of 10,000 jobs');
    expect(await page.$$eval('.queue tbody tr', (all) => all.length)).toBeLessThan(80);
    await page.focus('.queue-window');
    await page.keyboard.press('End');
    await page.waitForSelector('#job-10000.chosen');
    expect(await page.$$eval('.queue tbody tr', (all) => all.length)).toBeLessThan(80);
    // The time of the page's own work, not of the machine's other work.
    const worked = await page.evaluate(async () => {
      const from = performance.now();
      document.querySelector<HTMLButtonElement>('.queue th:nth-child(6) button')!.click();
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      return performance.now() - from;
    });
    expect(worked).toBeLessThan(2000);
    daemon.tell({ all: true });
    await page.type('#queue-search', 'u49');
    await sees(page, '200 of 10,000 jobs');
  });

  it('says what to do when there is nothing', async () => {
    const page = await open({ hash: '#/queue' });
    await sees(page, 'goban submit --wrap');
    await page.goto(`${daemon.url}#/users`);
    await sees(page, 'Nobody has submitted a job yet');
  });
});

describe('the page of a job', () => {
  it('tells its life, its progress and why it is where it is', async () => {
    putJobs();
    const page = await open({ hash: '#/job/1' });
    await sees(page, 'Its GPUs lie in one node.', '.why');
    await sees(page, 'about', '.progress-line');
    expect(await page.$$eval('.timeline-bar i', (all) => all.map((e) => e.dataset['kind']))).toEqual(
      ['wait', 'run', 'pause', 'run']);
    expect(await textOf(page, '.progress-line')).toContain('50.0 %');
    expect(await textOf(page, 'main')).toContain('preempted once');
    daemon.change(1, { progress: { epoch: 3, epochs: 4 }, progress_s: Date.now() / 1000 });
    await sees(page, '75.0 %', '.progress-line');
    await page.waitForSelector('.chart[data-drawn]');
  });

  it('draws what its GPUs did before the page was opened', async () => {
    putJobs();
    daemon.utilisation = undefined; // the page itself sees nothing
    const startS = Date.now() / 1000 - 3600;
    const series = [100, 200, 300].map((at) => ({ at_s: startS + at, util_pct: 40, power_w: 200 }));
    const gpus = [place(3, 0), place(3, 1)];
    daemon.put(
      fakeJob(20, { state: 'running', runs: 1, gpus, run_start_s: startS, series }),
      fakeJob(21, { state: 'done', result: 'completed', runs: 1, gpus, end_s: startS + 400, series }),
      fakeJob(22, { state: 'running', runs: 1, gpus, run_start_s: startS }),
    );
    for (const job of [20, 21]) {
      const page = await open({ hash: `#/job/${job}` });
      await page.waitForSelector('[aria-label=GPUs] .chart[data-drawn]');
      await sees(page, 'Readings since the run began', '[aria-label=GPUs]');
    }
    const page = await open({ hash: '#/job/22' });
    await sees(page, 'No reading of these GPUs has come yet', '[aria-label=GPUs]');
  });

  it('follows the log, over a broken connection too', async () => {
    putJobs();
    const page = await open({ hash: '#/job/1' });
    await sees(page, 'epoch 1', '.log');
    daemon.write(1, 'half\rwhole\n<b>bold</b>\n');
    await sees(page, 'epoch 1\nwhole\n<b>bold</b>', '.log');
    await daemon.stop();
    await sees(page, 'Connection lost, trying again');
    await daemon.start();
    daemon.write(1, 'after\n');
    await sees(page, '<b>bold</b>\nafter', '.log');
    await page.waitForSelector('.connection[data-state=live]');
    await page.goto(`${daemon.url}#/job/4`);
    await sees(page, 'no such file', '.log');
    await sees(page, 'all there is');
    expect(await textOf(page, 'main')).toContain('failed');
  });

  it('asks before it changes anything', async () => {
    putJobs();
    const page = await open({ hash: '#/job/2' });
    await page.waitForSelector('[data-action=hold]');
    expect(await page.$$eval('.job-actions button', (all) => all.map((b) => b.textContent))).toEqual(['Hold…', 'Cancel…']);
    await page.click('[data-action=hold]');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    expect(daemon.count('POST /v1/jobs/2/hold')).toBe(0);
    await page.click('[data-action=hold]');
    await page.waitForSelector('dialog .confirm');
    await page.click('dialog .confirm');
    await page.waitForSelector('[data-action=release]');
    expect(daemon.count('POST /v1/jobs/2/hold')).toBe(1);
    await sees(page, 'It is held until somebody releases it', '.why');
    await page.click('[data-action=cancel]');
    await page.waitForSelector('dialog .confirm');
    await page.click('dialog .confirm');
    await sees(page, 'cancelled', '.area-head .state');
    expect(daemon.count('DELETE /v1/jobs/2')).toBe(1);
    await page.waitForFunction(() => !document.querySelector('.job-actions'));
  });

  it('says a refusal in the daemon’s words', async () => {
    daemon.put(fakeJob(1, { state: 'running', priority: -1, run_start_s: now, gpus: [place(0, 0)], runs: 1 }),
      fakeJob(3, { user: 'bob', foreign: true }));
    const page = await open({ hash: '#/job/1' });
    await page.waitForSelector('[data-action=requeue]');
    await page.click('[data-action=requeue]');
    await page.waitForSelector('dialog .confirm');
    await page.click('dialog .confirm');
    await sees(page, 'job 1 does not run', 'dialog');
    await page.goto(`${daemon.url}#/job/3`);
    await sees(page, 'This job is bob’s');
    expect(await page.$('.job-actions')).toBeNull();
    await page.goto(`${daemon.url}#/job/77`);
    await sees(page, 'knows no job 77 any more');
  });
});

describe('the page', () => {
  it('says that the connection is lost, and comes back by itself', async () => {
    putJobs();
    const page = await open({ hash: '#/queue' });
    await page.waitForSelector('.connection[data-state=live]');
    await daemon.stop();
    await page.waitForSelector('.connection[data-state=lost]');
    expect(await rows(page), 'what was known stays').toEqual(['1', '2', '3']);
    daemon.put(fakeJob(9));
    await daemon.start();
    await page.waitForSelector('.connection[data-state=live]');
    await page.waitForSelector('#job-9');
  });

  it('asks for a token, and keeps it out of the address', async () => {
    putJobs();
    daemon.token = 'secret';
    const page = await open();
    await sees(page, 'over TCP a token says who asks');
    await page.type('input[type=password]', 'secret');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.gpu');
    const other = await open({ hash: '#token=secret' });
    await other.waitForSelector('.gpu');
    expect(await other.evaluate(() => location.href)).not.toContain('secret');
  });

  it('shows users, policies and what is not offered', async () => {
    putJobs();
    const page = await open();
    await page.waitForSelector('.gpu');
    await page.keyboard.press('3');
    await page.waitForSelector('.users');
    expect(await page.$$eval('.users tbody th', (all) => all.map((th) => th.textContent))).toEqual(['ann', 'bob']);
    await page.click('.users tbody a');
    await sees(page, '3 of 4 jobs');
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press('4');
    await sees(page, 'Everything at once.', '.active-policy');
    await sees(page, `In order of submission ${HOSTILE}`, '.policy-list');
    await page.keyboard.press('5');
    await sees(page, 'does not answer what-if questions');
  });

  it('asks what if, where the daemon offers it', async () => {
    await daemon.stop();
    daemon = new FakeDaemon(servedPage(pageFile(), facts(true)));
    await daemon.start();
    const page = await open({ hash: '#/whatif' });
    await page.waitForSelector('.what-if');
    await page.click('.what-if-policies label:nth-of-type(2) input');
    await page.click('.what-if button');
    await sees(page, '2.0 h', '.jobs');
    expect(JSON.parse(daemon.bodies.at(-1)!)).toEqual({ policies: ['goban', 'fifo'], days: 7 });
  });

  it('fits a phone, and follows the system to dark', async () => {
    putJobs();
    const page = await open({ width: 360, height: 740, scheme: 'dark' });
    await page.waitForSelector('.gpu');
    expect(await page.$eval('body', (body) => getComputedStyle(body).backgroundColor)).toBe('rgb(15, 20, 26)');
    for (const hash of ['cluster', 'queue', 'job/1', 'users', 'policies', 'whatif']) {
      await page.evaluate((to) => (location.hash = `#/${to}`), hash);
      await page.waitForFunction((to) => document.querySelector('h2') !== null && location.hash === `#/${to}`, {}, hash);
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
      expect(await page.evaluate(() => document.documentElement.scrollWidth), hash).toBeLessThanOrEqual(360);
    }
    await page.evaluate(() => (location.hash = '#/queue'));
    await page.waitForSelector('.queue');
    const cut = await page.$eval('.queue-window', (e) => e.scrollWidth - e.clientWidth);
    expect(cut, 'the queue needs no scrolling to the side').toBeLessThanOrEqual(0);
  });

  it('warns that the journal cannot be written', async () => {
    daemon.stuck = true;
    const page = await open();
    await sees(page, 'The journal cannot be written');
  });
});
