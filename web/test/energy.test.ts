// Reports with energy and co-location in the browser, for one policy and for several.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violations } from './axe';
import { colorsOf, goban, launch, open } from './browser';

const HOSTILE = '<img src=x onerror=alert(1)>';
const POLICIES = ['fifo+packed', 'fifo-packed', 'eaco'];
const folder = mkdtempSync(join(tmpdir(), 'goban-energy-'));
const file = join(folder, 'energy.html');
const jobs = join(folder, 'jobs.csv');
const colocation = join(folder, 'colocation.csv');
let browser: Browser;

function report(out: string, policies: string[], ...more: string[]): void {
  goban('simulate', '--cluster', '3x2:V100', '--jobs', jobs, '--energy', 'v100', '--deadlines', 'gavel',
    '--policy', policies.join(), '--html', out, ...more);
}

beforeAll(async () => {
  const rows = ['job_id,submit_time,duration,num_gpus,user,model,epochs,gpu_mem_bytes,gpu_util_pct'];
  const models = ['small', 'large', HOSTILE];
  for (let i = 0; i < 60; i++) {
    rows.push(`j${i},${i * 100},${900 + ((i * 37) % 700)},1,u${i % 3},${models[i % 3]},4,1000000000,30`);
  }
  writeFileSync(jobs, `${rows.join('\n')}\n`);
  writeFileSync(colocation, [
    'gpu_type,members,slowdowns,power_w',
    'V100,small,,120', 'V100,large,,180', `V100,${HOSTILE},,150`,
    'V100,small + small,1.1 + 1.1,', 'V100,small + large,1.05 + 1.2,', 'V100,large + large,never,',
    `V100,small + ${HOSTILE},1.5 + 1.4,`, '',
  ].join('\n'));
  report(file, POLICIES, '--colocation', colocation);
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

const texts = (page: Page, selector: string) =>
  page.$$eval(selector, (all) => all.map((element) => element.textContent ?? ''));

describe('energy', () => {
  it.each(['light', 'dark'] as const)('opens in %s colours without an error', async (scheme) => {
    const { page, complaints } = await open(browser, file, { scheme });
    expect(complaints).toEqual([]);
    expect(await page.$$('img')).toEqual([]);
    const nav = await texts(page, 'nav a');
    for (const part of ['Energy', 'Service targets', 'Co-location']) expect(nav).toContain(part);
    expect(await violations(page)).toEqual([]);
    await page.close();
  });

  it('draws power and energy over time, a line a policy', async () => {
    const { page } = await open(browser, file);
    const lines = await colorsOf(page, '#energy .chart canvas');
    expect(lines.length).toBe(2);
    for (const colors of lines) {
      for (const line of [0x0072b2, 0xd55e00, 0x00805f]) {
        expect(new Map(colors).get(line) ?? 0, `#${line.toString(16)}`).toBeGreaterThan(20);
      }
    }
    await page.close();
  });

  it('ends at the energy of the table', async () => {
    const one = join(folder, 'one.html');
    report(one, ['fifo+packed']);
    const { page, complaints } = await open(browser, one);
    expect(complaints).toEqual([]);
    await page.focus('#energy .pictures .chart');
    await page.keyboard.press('End');
    await page.waitForSelector('#energy .pictures .reading-item');
    const used = await page.$eval('#energy .pictures .reading-item b', (b) => b.textContent ?? '');
    const [kwh] = await texts(page, '.energy-table .headline b');
    expect(used).toMatch(/^\d+\.\d+ kWh$/);
    expect(Number.parseFloat(used)).toBeCloseTo(Number.parseFloat(kwh!), 1);
    // One policy: nothing to compare, one point, and no matrix because no pair was measured.
    expect((await texts(page, '.energy-table tbody tr')).length).toBe(1);
    expect((await texts(page, '.scatter .name'))).toEqual(['fifo+packed']);
    expect(await page.$$('#colocation')).toEqual([]);
    await page.close();
  });

  it('has bars of one scale, the headline first', async () => {
    const { page } = await open(browser, file);
    expect((await texts(page, '.energy-table thead th'))[1]).toContain('headlineD: every policy may sleep');
    const bars = await page.$$eval('.energy-table tbody td:not(.number)', (cells) =>
      cells.map((cell) => ({
        kwh: Number.parseFloat(cell.querySelector('b')!.textContent!),
        pixels: cell.querySelector('i')!.getBoundingClientRect().width,
      })),
    );
    expect(bars.length).toBe(POLICIES.length * 4);
    const scale = bars[0]!.pixels / bars[0]!.kwh;
    for (const { kwh, pixels } of bars) expect(Math.abs(pixels / (kwh * scale) - 1)).toBeLessThan(0.02);
    await page.close();
  });

  it('shows each policy in the trade-off, until it is hidden', async () => {
    const { page } = await open(browser, file);
    expect(new Set(await texts(page, '.scatter .name'))).toEqual(new Set(POLICIES));
    expect(await page.$eval('.scatter', (svg) => svg.getAttribute('aria-label'))).toMatch(
      /fifo\+packed \d+\.\d+ kWh, /);
    await page.click('.policy:nth-child(2)');
    await page.waitForFunction(() => document.querySelectorAll('.scatter .name').length === 2);
    await page.close();
  });
});

describe('service', () => {
  it('has a table of promises, fairness and sharing', async () => {
    const { page } = await open(browser, file);
    const rows = (await texts(page, '#service tbody tr')).join('\n');
    for (const row of ['Deadlines missed', 'of 60', 'Worst-served user', "Jain's index", 'Undone placements', 'measured']) {
      expect(rows).toContain(row);
    }
    expect((await texts(page, '#compare tbody th')).join()).not.toContain('deadline');
    await page.close();
  });
});

describe('applications together', () => {
  it('tells measured, never and unknown pairs, and who met', async () => {
    const { page } = await open(browser, file);
    await page.waitForSelector('.matrix');
    const count = (selector: string) => page.$$eval(`.matrix ${selector}`, (all) => all.length);
    expect([await count('.measured'), await count('.never'), await count('.unknown')]).toEqual([5, 1, 3]);
    expect(await count('.met')).toBeGreaterThan(0);
    expect(await page.$eval('.matrix-counts', (p) => p.textContent)).toMatch(
      /V100: 3 pairs measured, 1 excluded, 2 not measured; \d+ co-located under/);
    expect(await texts(page, '.matrix .name')).toContain(HOSTILE);
    // fifo+packed co-locates no jobs.
    await page.click('#colocation .choice label:nth-of-type(1)');
    await page.waitForFunction(() => document.querySelectorAll('.matrix .met').length === 0);
    await page.close();
  });

  it('reads cells with the arrow keys, by either measure', async () => {
    const { page } = await open(browser, file);
    await page.waitForSelector('.matrix');
    await page.focus('.matrix-place');
    await page.keyboard.press('ArrowRight'); // < before large before small
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('.chosen-cell');
    await page.keyboard.press('ArrowDown');
    const reading = () => page.$eval('.matrix-place + .reading', (p) => p.textContent ?? '');
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(
      () => document.querySelector('.matrix-place + .reading')?.textContent?.startsWith('small with small'));
    expect(await reading()).toMatch(/^small with small: slowdown of small 1\.10×; combined throughput 182 % of one alone/);
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(
      () => document.querySelector('.matrix-place + .reading')?.textContent?.startsWith('small with large'));
    expect(await reading()).toContain('slowdown of small 1.05×, of large 1.20×; combined throughput 179 % of one alone');
    const fills = () =>
      page.$$eval('.matrix .measured', (all) => all.map((rect) => getComputedStyle(rect).fill));
    const [, largeSmall, , smallLarge] = await fills();
    expect(largeSmall, 'the work of both is one number').toBe(smallLarge);
    await page.click('#colocation .choice:last-of-type label:nth-of-type(2)');
    await page.waitForFunction(
      () => document.querySelector('.matrix-place')?.getAttribute('aria-label')?.includes('slowdown of the row'));
    const [, ofLarge, , ofSmall] = await fills();
    expect(ofLarge, 'large suffers more than small').not.toBe(ofSmall);
    await page.close();
  });

  it.each([320, 800])('fits a window %d wide, and prints', async (width) => {
    const { page } = await open(browser, file, { width });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    expect((await page.pdf({ preferCSSPageSize: true })).length).toBeGreaterThan(20_000);
    await page.close();
  });
});

describe('what it is worth', () => {
  it('is the first page: saving, waiting, worst seed and account, deadlines, pilot', async () => {
    const rows = ['job_id,submit_time,duration,num_gpus,user,deadline_s'];
    for (let i = 0; i < 60; i++) {
      rows.push(`j${i},${i * 10000},${1500 + ((i * 7919) % 40000)},${1 + (i % 4)},u${i % 3}${HOSTILE},50000`);
    }
    const days = join(folder, 'days.csv');
    const prices = join(folder, 'prices.toml');
    const priced = join(folder, 'worth.html');
    writeFileSync(days, `${rows.join('\n')}\n`);
    writeFileSync(prices, 'currency = "<EUR>"\nelectricity_per_kwh = 0.2\ncarbon_g_per_kwh = 300\ngpu_hour_value = 2\n');
    goban('simulate', '--cluster', '3x2:V100', '--jobs', days, '--energy', 'v100', '--prices', prices, '--seeds', '3',
      '--policy', 'fifo+packed,srtf+packed', '--html', priced);
    const { page, complaints } = await open(browser, priced);
    expect(complaints).toEqual([]);
    expect(await page.$$('img')).toEqual([]);
    expect(await page.$eval('main > section', (section) => section.id)).toBe('worth');
    expect((await texts(page, '#worth .answer'))[0]).toMatch(/<EUR>.* a year.* interval .*Jobs wait .* (less|longer) on average/);
    const labels = (await texts(page, '#worth tbody th')).join('|');
    for (const label of ['Saving, <EUR>', 'Carbon saved', 'GPU-hours freed', 'Average wait', 'Worst seed', 'Worst account',
      'Deadlines missed', 'Pilot to show the cost', 'Pilot to show the wait']) {
      expect(labels).toContain(label);
    }
    expect((await texts(page, '#worth .how')).join()).toContain('over 3 histories made of the same 7 days');
    expect(await violations(page)).toEqual([]);
    await page.close();
  });
});
