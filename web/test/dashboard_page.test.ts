// The dashboard as a whole: connection, tokens, the other views, small windows.
import { describe, expect, it } from 'vitest';
import { rows, sees } from './dashboard';
import { fakeDashboard, HOSTILE, putJobs } from './dashboard_fake';
import { fakeJob } from './fake_daemon';

const dash = fakeDashboard();

describe('the page', () => {
  it('says that the connection is lost, and comes back by itself', async () => {
    putJobs(dash.daemon);
    const page = await dash.open({ hash: '#/queue' });
    await page.waitForSelector('.connection[data-state=live]');
    await dash.daemon.stop();
    await page.waitForSelector('.connection[data-state=lost]');
    expect(await rows(page), 'what was known stays').toEqual(['1', '2', '3']);
    dash.daemon.put(fakeJob(9));
    await dash.daemon.start();
    await page.waitForSelector('.connection[data-state=live]');
    await page.waitForSelector('#job-9');
  });

  it('asks for a token, and keeps it out of the address', async () => {
    putJobs(dash.daemon);
    dash.daemon.token = 'secret';
    const page = await dash.open();
    await sees(page, 'requests over TCP require a token');
    await sees(page, 'goban token prints a link');
    await page.type('input[type=password]', 'secret');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.node-card');
    const other = await dash.open({ hash: '#token=secret&page=cluster' });
    await other.waitForSelector('.gpu');
    const third = await dash.open();
    await third.waitForSelector('input[type=password]');
    await third.type('input[type=password]', ' http://127.0.0.1:8080/#token=secret ');
    await third.keyboard.press('Enter');
    await third.waitForSelector('.node-card');
    expect(await other.evaluate(() => location.href)).not.toContain('secret');
  });

  it('shows users, policies and what is not offered', async () => {
    putJobs(dash.daemon);
    const page = await dash.open({ hash: '#/cluster' });
    await page.waitForSelector('.gpu');
    await page.keyboard.press('5');
    await page.waitForSelector('.users');
    expect(await page.$$eval('.users tbody th', (all) => all.map((th) => th.textContent))).toEqual(['ann', 'bob']);
    await page.click('.users tbody a');
    await sees(page, '3 of 4 jobs');
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press('6');
    await sees(page, 'Everything at once.', '.active-policy');
    await sees(page, `In order of submission ${HOSTILE}`, '.policy-list');
    await page.keyboard.press('7');
    await sees(page, 'does not offer what-if replays');
  });

  it('asks what if, where the daemon offers it', async () => {
    await dash.offerWhatIf();
    const page = await dash.open({ hash: '#/whatif' });
    await page.waitForSelector('.what-if');
    await page.click('.what-if-policies label:nth-of-type(2) input');
    await page.click('.what-if button');
    await sees(page, '2.0 h', '.jobs');
    expect(JSON.parse(dash.daemon.bodies.at(-1)!)).toEqual({ policies: ['goban', 'fifo'], days: 7 });
  });

  it('fits a phone, and follows the system to dark', async () => {
    putJobs(dash.daemon);
    const page = await dash.open({ width: 360, height: 740, scheme: 'dark' });
    await page.waitForSelector('.node-card');
    expect(await page.$eval('body', (body) => getComputedStyle(body).backgroundColor)).toBe('rgb(15, 20, 26)');
    for (const hash of ['overview', 'cluster', 'queue', 'job/1', 'history', 'users', 'policies', 'whatif', 'submit']) {
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
    dash.daemon.stuck = true;
    const page = await dash.open();
    await sees(page, 'The journal cannot be written');
  });
});
