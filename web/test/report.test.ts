// A small report with malicious names: content, charts and controls.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violations } from './axe';
import { cells, colorsOf, goban, launch, open } from './browser';

const HOSTILE = '</script><script>alert(1)</script>';
const COLUMN = { job: 1, user: 2, gpus: 5, jct: 9 } as const;
const POLICIES = ['fifo+packed', 'easy-backfill+packed', 'las+packed'];

const folder = mkdtempSync(join(tmpdir(), 'goban-report-'));
const file = join(folder, 'report.html');
let browser: Browser;

function writeJobs(path: string): void {
  const rows = [
    'job_id,submit_time,duration,num_gpus,user,model,class',
    `${HOSTILE},0,100,4,<img src=x onerror=alert(2)>,m1,A`,
    '<!--<script>,1,100,2,bob,"<svg onload=""alert(3)"">",B',
  ];
  for (let i = 0; i < 198; i++) {
    rows.push(`j${i},${2 + i * 20},${60 + ((i * 37) % 500)},${1 + (i % 4)},u${i % 7},m${i % 3},${'ABC'[i % 3]}`);
  }
  rows.push('bad,x,1,1,u,m,A');
  writeFileSync(path, `${rows.join('\n')}\n`);
}

beforeAll(async () => {
  const jobs = join(folder, "<b>&'jobs.csv");
  writeJobs(jobs);
  goban('simulate', '--cluster', '2x4', '--jobs', jobs, '--policy', POLICIES.join(), '--html', file,
    '--rejects', join(folder, 'rejected.csv'));
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

describe('a report', () => {
  it('opens without a network, an error or a foreign script', async () => {
    const { page, complaints } = await open(browser, file);
    expect(complaints).toEqual([]);
    expect(await page.$$eval('script', (all) => all.length)).toBe(2);
    expect(await page.$$('img, svg[onload]')).toEqual([]);
    expect(await page.$$('#energy, #service, #colocation')).toEqual([]);
    expect(await page.$eval('h1', (h1) => h1.textContent)).toContain("<b>&'jobs.csv on ");
    expect((await cells(page, COLUMN.job)).slice(0, 2)).toEqual([HOSTILE, '<!--<script>']);
    expect((await cells(page, COLUMN.user))[0]).toBe('<img src=x onerror=alert(2)>');
    expect(await page.$eval('.note.warning', (note) => note.textContent)).toContain(
      '1 of 201 records were rejected');
    await page.close();
  });

  it('refuses scripts that are not its own', async () => {
    const injected = join(folder, 'injected.html');
    const page = readFileSync(file, 'utf8').replace(
      '</body>', '<script>document.title = "taken"</script></body>');
    writeFileSync(injected, page);
    const opened = await open(browser, injected);
    expect(await opened.page.title()).not.toBe('taken');
    expect(opened.complaints.join()).toContain('Content Security Policy');
    await opened.page.close();
  });

  it('draws every picture, with a colour for each policy', async () => {
    const { page } = await open(browser, file);
    const lines = await colorsOf(page, '.chart canvas');
    expect(lines.length).toBe(3);
    const blue = 0x0072b2;
    for (const [index, colors] of lines.entries()) {
      const counts = new Map(colors);
      for (const line of [blue, 0xd55e00, 0x00805f]) {
        expect(counts.get(line) ?? 0, `chart ${index}, line #${line.toString(16)}`).toBeGreaterThan(20);
      }
    }
    const strips = await colorsOf(page, '.strip canvas');
    expect(strips.length).toBe(POLICIES.length);
    for (const colors of strips) expect(colors.length).toBeGreaterThan(1);
    const [heat] = await colorsOf(page, '.heat canvas');
    expect(heat!.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(50_000);
    expect(heat!.length).toBeGreaterThan(3);
    await page.close();
  });

  it.each(['light', 'dark'] as const)('follows the system to %s, and the button away', async (scheme) => {
    const { page, complaints } = await open(browser, file, { scheme });
    const background = () => page.$eval('body', (body) => getComputedStyle(body).backgroundColor);
    const first = await background();
    expect(first).toBe(scheme === 'light' ? 'rgb(244, 245, 247)' : 'rgb(15, 20, 26)');
    expect(await violations(page)).toEqual([]);
    const [before] = await colorsOf(page, '.chart canvas');
    await page.focus('.theme');
    await page.keyboard.press('Enter');
    expect(await background()).not.toBe(first);
    const [after] = await colorsOf(page, '.chart canvas');
    const blue = scheme === 'light' ? 0x0072b2 : 0x56b4e9;
    expect(new Map(before).has(blue)).toBe(true);
    expect(new Map(after).has(blue), 'lines are drawn anew').toBe(false);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it.each([320, 420, 800, 1600])('fits a window %d wide', async (width) => {
    const { page } = await open(browser, file, { width });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.close();
  });

  it('hides a policy in all pictures', async () => {
    const { page } = await open(browser, file);
    const has = async (color: number) => new Map((await colorsOf(page, '.chart canvas'))[0]).has(color);
    expect(await has(0xd55e00)).toBe(true);
    await page.click('.policy:nth-child(2)');
    await page.waitForFunction(() => document.querySelectorAll('.strip').length === 2);
    expect(await has(0xd55e00)).toBe(false);
    expect(await has(0x0072b2)).toBe(true);
    await page.close();
  });

  it('reads values with the arrow keys', async () => {
    const { page } = await open(browser, file);
    await page.focus('.chart');
    await page.keyboard.press('End');
    await page.waitForFunction(() => document.querySelector('.reading-item') !== null);
    const reading = await page.$eval('.chart + .reading', (element) => element.textContent);
    for (const policy of POLICIES) expect(reading).toContain(`${policy} 100 %`);
    await page.focus('.heat');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('.heat-mark');
    expect(await page.$eval('.heat + .reading', (e) => e.textContent)).toMatch(/GPU 0, .*: held \d+ %/);
    await page.close();
  });

  it('prints in light colours', async () => {
    const { page } = await open(browser, file, { scheme: 'dark' });
    const idle = async () => new Map((await colorsOf(page, '.heat canvas'))[0]).has(0xf3f1ea);
    expect(await idle()).toBe(false);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    expect(await idle()).toBe(true);
    expect(new Map((await colorsOf(page, '.chart canvas'))[0]).has(0x0072b2)).toBe(true);
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    expect(await idle()).toBe(false);
    expect((await page.pdf({ preferCSSPageSize: true })).length).toBeGreaterThan(20_000);
    await page.close();
  });
});

describe('a report with a back-test', () => {
  it('shows the error beside each gain and claims none within it', async () => {
    const jobs = join(folder, 'recorded.csv');
    const out = join(folder, 'backtest.html');
    const rows = ['job_id,submit_time,duration,num_gpus,user,start_time'];
    // Every recorded job waited ten minutes, which no policy here reproduces.
    for (let i = 0; i < 50; i++) rows.push(`j${i},${i * 100},300,4,u,${i * 100 + 600}`);
    writeFileSync(jobs, `${rows.join('\n')}\n`);
    goban('simulate', '--cluster', '2x4', '--jobs', jobs, '--policy', 'las+packed', '--backtest',
      'fifo+packed', '--html', out);
    const { page, complaints } = await open(browser, out);
    expect(complaints).toEqual([]);
    expect(await page.$eval('.backtest h3', (h3) => h3.textContent)).toContain(
      'Back-test of fifo+packed: 50 jobs');
    const changes = await page.$$eval('.tile-change', (all) => all.map((p) => p.textContent));
    expect(changes[0]).toContain('reference');
    expect(changes[1]).toMatch(/JCT ± \d.*not claimed/);
    expect(await page.$eval('.answer', (p) => p.textContent)).toContain(
      'No policy is shown to beat fifo+packed');
    await page.close();
  });
});

describe('the table of jobs', () => {
  it('sorts with the keyboard', async () => {
    const { page } = await open(browser, file);
    const head = `table.jobs th:nth-child(${COLUMN.gpus})`;
    await page.focus(`${head} button`);
    await page.keyboard.press('Enter');
    const sorted = () => page.$eval(head, (th) => th.getAttribute('aria-sort'));
    expect(await sorted()).toBe('ascending');
    expect(new Set(await cells(page, COLUMN.gpus))).toEqual(new Set(['1']));
    await page.keyboard.press('Space');
    expect(await sorted()).toBe('descending');
    expect(new Set(await cells(page, COLUMN.gpus))).toEqual(new Set(['4']));
    expect(await page.$eval('table.jobs th:nth-child(6)', (th) => th.getAttribute('aria-sort'))).toBe('none');
    await page.close();
  });

  it('goes from row to row and page to page, and shows a job under all policies', async () => {
    const { page } = await open(browser, file);
    await page.focus('table.jobs th:last-child button');
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate(() => document.activeElement?.firstElementChild?.textContent);
    expect(await focused()).toBe(HOSTILE);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe('j0');
    await page.keyboard.press('PageDown');
    await page.waitForFunction(() => document.querySelector('.pager span')?.textContent === 'Page 2 of 8');
    await page.waitForFunction(() => document.activeElement?.firstElementChild?.textContent === 'j25');
    await page.keyboard.press('Home');
    expect(await focused()).toBe('j23');
    await page.keyboard.press('ArrowUp');
    await page.waitForFunction(() => document.activeElement?.firstElementChild?.textContent === 'j22');
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(() => document.activeElement?.firstElementChild?.textContent === 'j23');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelectorAll('.outcomes tbody tr').length === 3);
    expect(await page.$eval('.detail h3', (h3) => h3.textContent)).toBe('Job j23');
    await page.close();
  });

  it('filters', async () => {
    const { page } = await open(browser, file);
    await page.type('input[type=search]', '</SCRIPT>');
    await page.waitForFunction(() => document.querySelectorAll('table.jobs tbody tr').length === 1);
    expect(await cells(page, COLUMN.job)).toEqual([HOSTILE]);
    expect(await page.$eval('.table-count', (p) => p.textContent)).toBe('1 of 200 jobs');
    await page.type('input[type=search]', 'nobody');
    await page.waitForSelector('table.jobs .empty');
    await page.close();
  });

  it('shows what another policy made of the jobs', async () => {
    const { page } = await open(browser, file);
    await page.click('#jobs .choice label:nth-of-type(1)');
    await page.waitForFunction(
      () => (document.querySelector('#jobs .choice input') as HTMLInputElement).checked);
    await page.focus('#jobs .choice input');
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('#jobs .choice label:nth-of-type(2) input')?.checked);
    expect((await cells(page, COLUMN.jct)).length).toBe(25);
    await page.close();
  });
});
