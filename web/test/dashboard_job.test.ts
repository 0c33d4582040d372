// The job page of the dashboard: timeline, charts, log and actions.
import { describe, expect, it } from 'vitest';
import { sees, textOf } from './dashboard';
import { fakeDashboard, putJobs } from './dashboard_fake';
import { fakeJob, place } from './fake_daemon';

const dash = fakeDashboard();

describe('the page of a job', () => {
  it('tells its life, its progress and why it is where it is', async () => {
    putJobs(dash.daemon);
    const page = await dash.open({ hash: '#/job/1' });
    await sees(page, 'Its GPUs are in one node.', '.why');
    await sees(page, 'about', '.progress-line');
    expect(await page.$$eval('.timeline-bar i', (all) => all.map((e) => e.dataset['kind']))).toEqual(
      ['wait', 'run', 'pause', 'run']);
    expect(await textOf(page, '.progress-line')).toContain('50.0 %');
    expect(await textOf(page, 'main')).toContain('preempted once');
    dash.daemon.change(1, { progress: { epoch: 3, epochs: 4 }, progress_s: Date.now() / 1000 });
    await sees(page, '75.0 %', '.progress-line');
    await page.waitForSelector('.chart[data-drawn]');
  });

  it('draws what its GPUs did before the page was opened', async () => {
    putJobs(dash.daemon);
    dash.daemon.utilisation = undefined; // the page itself sees no samples
    const startS = Date.now() / 1000 - 3600;
    const series = [100, 200, 300].map((at) => ({ at_s: startS + at, util_pct: 40, power_w: 200 }));
    const gpus = [place(3, 0), place(3, 1)];
    dash.daemon.put(
      fakeJob(20, { state: 'running', runs: 1, gpus, run_start_s: startS, series }),
      fakeJob(21, { state: 'done', result: 'completed', runs: 1, gpus, end_s: startS + 400, series }),
      fakeJob(22, { state: 'running', runs: 1, gpus, run_start_s: startS }),
    );
    for (const job of [20, 21]) {
      const page = await dash.open({ hash: `#/job/${job}` });
      await page.waitForSelector('[aria-label=GPUs] .chart[data-drawn]');
      await sees(page, 'Samples since the start of the run', '[aria-label=GPUs]');
    }
    const page = await dash.open({ hash: '#/job/22' });
    await sees(page, 'There are no samples of these GPUs yet', '[aria-label=GPUs]');
  });

  it('follows the log, over a broken connection too', async () => {
    putJobs(dash.daemon);
    const page = await dash.open({ hash: '#/job/1' });
    await sees(page, 'epoch 1', '.log');
    dash.daemon.write(1, 'half\rwhole\n<b>bold</b>\n');
    await sees(page, 'epoch 1\nwhole\n<b>bold</b>', '.log');
    await dash.daemon.stop();
    await sees(page, 'Connection lost, reconnecting');
    await dash.daemon.start();
    dash.daemon.write(1, 'after\n');
    await sees(page, '<b>bold</b>\nafter', '.log');
    await page.waitForSelector('.connection[data-state=live]');
    await page.goto(`${dash.daemon.url}#/job/4`);
    await sees(page, 'no such file', '.log');
    await sees(page, 'complete');
    expect(await textOf(page, 'main')).toContain('failed');
  });

  it('asks before it changes anything', async () => {
    putJobs(dash.daemon);
    const page = await dash.open({ hash: '#/job/2' });
    await page.waitForSelector('[data-action=hold]');
    expect(await page.$$eval('.job-actions button', (all) => all.map((b) => b.textContent))).toEqual(['Hold…', 'Cancel…']);
    await page.click('[data-action=hold]');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    expect(dash.daemon.count('POST /v1/jobs/2/hold')).toBe(0);
    await page.click('[data-action=hold]');
    await page.waitForSelector('dialog .confirm');
    await page.click('dialog .confirm');
    await page.waitForSelector('[data-action=release]');
    expect(dash.daemon.count('POST /v1/jobs/2/hold')).toBe(1);
    await sees(page, 'It is held until it is released', '.why');
    await page.click('[data-action=cancel]');
    await page.waitForSelector('dialog .confirm');
    await page.click('dialog .confirm');
    await sees(page, 'cancelled', '.area-head .state');
    expect(dash.daemon.count('DELETE /v1/jobs/2')).toBe(1);
    await page.waitForFunction(() => !document.querySelector('.job-actions'));
  });

  it('says a refusal in the daemon’s words', async () => {
    dash.daemon.put(fakeJob(1, { state: 'running', priority: -1, run_start_s: Date.now() / 1000, gpus: [place(0, 0)], runs: 1 }),
      fakeJob(3, { user: 'bob', foreign: true }));
    const page = await dash.open({ hash: '#/job/1' });
    await page.waitForSelector('[data-action=requeue]');
    await page.click('[data-action=requeue]');
    await page.waitForSelector('dialog .confirm');
    await page.click('dialog .confirm');
    await sees(page, 'job 1 is not running', 'dialog');
    await page.goto(`${dash.daemon.url}#/job/3`);
    await sees(page, 'This job belongs to bob');
    expect(await page.$('.job-actions')).toBeNull();
    await page.goto(`${dash.daemon.url}#/job/77`);
    await sees(page, 'no longer has job 77');
  });
});
