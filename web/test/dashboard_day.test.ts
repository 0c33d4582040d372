// The first page, the history, the form of a new job, loss curves and links.
import { describe, expect, it } from 'vitest';
import { sees, textOf } from './dashboard';
import { fakeDashboard, HOSTILE, putJobs } from './dashboard_fake';
import { fakeJob, place } from './fake_daemon';

const dash = fakeDashboard();

describe('the first page', () => {
  it('shows the last day and the nodes in numbers', async () => {
    putJobs(dash.daemon);
    dash.daemon.drained.set('g004', 'broken fan');
    const page = await dash.open();
    await sees(page, '75 %', '.tile');
    await page.waitForSelector('.node-card');
    expect(await page.$$eval('.tile', (all) => all.map((e) => (e as HTMLElement).innerText.split(/\n+/)))).toEqual([
      ['Load', '75 %', '288 GPU-hours held'], ['Queue now', '2 jobs', '0 GPUs requested'],
      ['Wait, median', '90.0 s', '90 % waited less than 60.0 min, none more than 2.0 h'],
      ['Energy', '20.00 kWh', 'of all GPUs while they were measured'],
      ['Jobs submitted', '40', '30 completed, 2 failed'],
    ]);
    await page.waitForFunction(() => document.querySelectorAll('.chart[data-drawn]').length === 3);
    expect(await page.$$eval('.node-card', (all) => all.map((e) => (e as HTMLElement).innerText.replaceAll('\n', ' ')))).toEqual([
      'g001 2 of 4 · 25 % · 720 W', 'g002 0 of 4 · 0 % · 240 W', 'g003 0 of 4 · 0 % · 240 W', 'g004 drained 0 of 4 · 0 % · 240 W']);
    await page.focus('.chart');
    await page.keyboard.press('End');
    await sees(page, 'held 16.0', '.reading');
    expect(await page.title()).toBe('overview (1 running) – testbed – Goban');
    expect(await page.$eval('link[rel=icon]', (link) => link.getAttribute('href'))).toContain('data:image/svg+xml');
  });

  it('does not wait for the list of jobs', async () => {
    dash.daemon.withoutJobs = true;
    const page = await dash.open();
    await sees(page, '75 %', '.tile');
    await page.waitForSelector('.node-card');
    await sees(page, '0 of 16 GPUs held', '.facts');
  });
});

describe('the history', () => {
  it('shows finished jobs and what each user’s used', async () => {
    const now = Date.now() / 1000;
    const done = (job: number, part: object) => fakeJob(job, {
      state: 'done', result: 'completed', runs: 1, submit_s: now - 9000, first_start_s: now - 8000, end_s: now - 800,
      held_s: 7200, num_gpus: 2, ...part,
    });
    dash.daemon.past = [
      done(90, { user: 'bob', usage: { gpu_util_pct: 25, energy_j: 3.6e6 }, name: HOSTILE }),
      done(91, { user: 'bob', usage: { gpu_util_pct: 75 }, result: 'failed' }),
      done(92, { end_s: now - 5 * 86_400 }),
    ];
    const page = await dash.open({ hash: '#/history' });
    await page.waitForSelector('.history');
    expect(await page.$$eval('.users tbody tr', (all) => all.map((tr) => [...tr.children].map((e) => e.textContent)))).toEqual(
      [['bob', '2', '1', '8.00', '50 %', '4.00', '1.00 kWh']]);
    expect(await page.$$eval('.history tbody tr', (all) => all.length)).toBe(2);
    expect(await textOf(page, '.history tbody tr')).toContain('16.7 min');
    await page.click('.choice label:nth-of-type(2)');
    await page.waitForFunction(() => document.querySelectorAll('.history tbody tr').length === 3);
    expect(await page.$$('img')).toEqual([]);
  });

  it('asks only for what one may see', async () => {
    dash.daemon.role = 'user';
    const page = await dash.open({ hash: '#/history' });
    await sees(page, 'No job ended in this period');
    expect(await page.$('.choice input[type=checkbox]')).toBeNull();
  });
});

describe('a new job', () => {
  it('is submitted from the form, and again with its request', async () => {
    const page = await dash.open({ hash: '#/submit' });
    await page.waitForSelector('.new-job');
    await page.type('.new-job label:nth-of-type(1) input', 'train');
    await page.type('.new-job label:nth-of-type(3) input', '4h');
    await page.type('.new-job textarea', 'python train.py\n');
    await page.click('.new-job button');
    await sees(page, 'Job 1', 'h2');
    expect(JSON.parse(dash.daemon.bodies.at(-1)!)).toEqual(
      { name: 'train', num_gpus: 1, walltime_s: 14_400, script: '#!/bin/bash\npython train.py\n' });
    dash.daemon.change(1, { spec: { name: 'train', qos: 'high', work_folder: '/home/ann', array_first: 1 } });
    await page.waitForSelector('.again a');
    await page.click('.again a');
    await sees(page, 'Submit job 1 again', 'h2');
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('.new-job textarea')?.value.includes('train.py'));
    await page.click('.new-job button');
    await sees(page, 'Job 2', 'h2');
    expect(JSON.parse(dash.daemon.bodies.at(-1)!)).toEqual({
      name: 'train', num_gpus: 1, walltime_s: 14_400, work_folder: '/home/ann', qos: 'high',
      script: '#!/bin/bash\npython train.py\n',
    });
  });

  it('says what is wrong, and that scripts are not given back', async () => {
    putJobs(dash.daemon);
    const page = await dash.open({ hash: '#/submit?from=1' });
    await sees(page, 'The daemon does not give scripts back');
    const gpus = '.new-job label:nth-of-type(2) input';
    await page.waitForFunction((where) => document.querySelector<HTMLInputElement>(where)?.value === '2', {}, gpus);
    await page.type(gpus, '00');
    await page.click('.new-job button');
    await sees(page, 'the cluster has fewer GPUs – request fewer', '.note');
    await page.type('.new-job label:nth-of-type(3) input', 'soon');
    await page.click('.new-job button');
    await sees(page, 'Time limit: write 90m', '.note');
  });
});

describe('the page of a training', () => {
  it('draws its loss and links its trackers', async () => {
    dash.daemon.put(fakeJob(1, {
      state: 'running', runs: 1, gpus: [place(0, 0)], run_start_s: Date.now() / 1000, losses: [2.5, 1.5, 0.75],
      log: 'wandb: 🚀 View run at https://wandb.ai/team/net/runs/ab12\njavascript:alert(1)\nhttps://example.org/page\n',
    }));
    const page = await dash.open({ hash: '#/job/1' });
    await page.waitForSelector('[aria-label=Loss] .chart[data-drawn]');
    await page.focus('[aria-label=Loss] .chart');
    await page.keyboard.press('End');
    await sees(page, 'loss 0.75', '[aria-label=Loss] .reading');
    await sees(page, 'step 20', '[aria-label=Loss] .reading');
    expect(await page.$$eval('.links a', (all) => all.map((a) => [a.getAttribute('href'), a.getAttribute('rel')]))).toEqual(
      [['https://wandb.ai/team/net/runs/ab12', 'noopener noreferrer']]);
    expect(await page.$('[aria-label="Training curves"]')).toBeNull();
  });

  it('draws the scalars of its event files, one chart per tag', async () => {
    const at_s = [1, 2, 3];
    dash.daemon.put(fakeJob(1, {
      state: 'done', result: 'completed', runs: 1, gpus: [place(0, 0)], end_s: Date.now() / 1000,
      curves: {
        folder: '/home/ann/runs', files: 3, problems: ['/home/ann/runs/x: the record at byte 40 has a wrong checksum'],
        curves: [
          { run: 'train', tag: 'accuracy', step: [0, 10, 20], value: [0.5, 0.75, 0.875], at_s },
          { run: 'train', tag: 'loss<img src=x>', step: [0, 10, 20], value: [-1, -2, -4], at_s, not_finite: 2 },
          { run: 'eval', tag: 'loss<img src=x>', step: [10, 15, 30], value: [3, 2.5, 2], at_s },
          { run: 'eval', tag: 'final', step: [30], value: [0.25], at_s: [3] },
        ],
      },
    }));
    const page = await dash.open({ hash: '#/job/1' });
    const area = '[aria-label="Training curves"]';
    await page.waitForSelector(`${area} .chart[data-drawn]`);
    expect(await page.$$eval(`${area} figcaption`, (all) => all.map((e) => e.textContent))).toEqual(['loss<img src=x>', 'accuracy', 'final']);
    expect(await page.$$eval(`${area} .event-runs li`, (all) => all.map((e) => e.textContent?.trim()))).toEqual(['train', 'eval']);
    await page.focus(`${area} .chart`);
    await page.keyboard.press('End');
    await sees(page, 'step 30', `${area} .reading`);
    await sees(page, 'eval 2', `${area} .reading`);
    const text = await textOf(page, area);
    for (const words of ['2 values are infinite', '0.25', 'From 3 TensorBoard event files in /home/ann/runs.', 'wrong checksum']) {
      expect(text).toContain(words);
    }
    expect(await page.$$('img')).toEqual([]);
  });
});
