// Reports of goban analyze in the browser: a generated ABCI history, and accounting records with GPU
// means, whose report has every kind of figure.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violations } from './axe';
import { goban, launch, open, type OpenOptions } from './browser';

const HOSTILE = '</script><img src=x onerror=alert(1)>';
const folder = mkdtempSync(join(tmpdir(), 'goban-analysis-'));
const abci = join(folder, 'abci');
const means = join(folder, 'means');
let browser: Browser;

/** Slurm accounting of 240 jobs with Jobstats' means per GPU. */
function accounting(): string {
  const rows = ['JobID|User|Account|Partition|Submit|Start|End|ElapsedRaw|State|ExitCode|NNodes|NCPUS|ReqMem|' +
    'AllocTRES|TimelimitRaw|NodeList|AdminComment'];
  const stamp = (seconds: number) => new Date(1000 * (1_711_929_600 + seconds)).toISOString().slice(0, 19);
  for (let i = 0; i < 240; i++) {
    const nodes = [1, 1, 1, 2, 1, 4][i % 6]!;
    const gpus = nodes > 1 ? 4 : [1, 2, 4][i % 3]!;
    const run = 400 + ((i * 7919) % 40_000);
    const used = 1 + (i % gpus);
    const each = (of: (gpu: number) => number) =>
      Object.fromEntries([...Array(gpus).keys()].map((gpu) => [String(gpu), of(gpu)]));
    const node = {
      total_time: run * 4, used_memory: 1e9 * (1 + (i % 90)), total_memory: 4e11, cpus: 8 * gpus,
      gpu_total_memory: each(() => 2 ** 34),
      gpu_used_memory: each((gpu) => (gpu < used ? ((i * 31) % 97) * 1e8 : 0)),
      gpu_utilization: each((gpu) => (gpu < used ? (i * 37 + gpu * 11) % 100 : 0)),
    };
    const names = [...Array(nodes).keys()].map((n) => `g${n + 1}`);
    const comment = gzipSync(JSON.stringify({
      nodes: Object.fromEntries(names.map((name) => [name, node])), gpus: gpus * nodes, total_time: run,
    })).toString('base64');
    const submit = i * 3000;
    const start = submit + ((i * 101) % 5000);
    const state = i % 9 === 4 ? 'FAILED' : i % 11 === 6 ? 'TIMEOUT' : 'COMPLETED';
    const all = gpus * nodes;
    rows.push([
      i + 1, i === 0 ? HOSTILE : `u${i % 13}`, `a${i % 3}`, 'gpu', stamp(submit), stamp(start), stamp(start + run), run,
      state, state === 'COMPLETED' ? '0:0' : '1:0', nodes, all * 8, '120G', `cpu=${all * 8},gres/gpu=${all},mem=120G,node=${nodes}`,
      720, nodes > 1 ? `g[1-${nodes}]` : 'g1', `JS1:${comment}`,
    ].join('|'));
  }
  return `${rows.join('\n')}\n`;
}

beforeAll(async () => {
  const trace = join(folder, 'abci.csv');
  goban('trace', 'generate', '--like', 'abci-2019', '--days', '20', '--out', trace);
  goban('analyze', trace, '--cluster', 'abci', '--out', abci);
  const sacct = join(folder, 'sacct.txt');
  writeFileSync(sacct, accounting());
  goban('analyze', sacct, '--cluster', '8x4', '--out', means);
  goban('analyze', sacct, '--cluster', '8x4', '--lang', 'ja', '--out', `${means}-ja`);
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

function openAnalysis(out: string, options: OpenOptions = {}) {
  return open(browser, join(out, 'report.html'), {
    drawn: () => {
      const figures = document.querySelectorAll('figure.item');
      return figures.length > 0 && document.querySelectorAll('figure.item svg.drawing').length === figures.length;
    },
    ...options,
  });
}

const texts = (page: Page, selector: string) =>
  page.$$eval(selector, (all) => all.map((element) => element.textContent ?? ''));

/** One figure of each kind. */
function examples(out: string): Report['figures'] {
  const figures = reportOf(out).figures;
  return [...new Set(figures.map((figure) => figure.kind))]
    .map((kind) => figures.find((figure) => figure.kind === kind)!);
}

interface Report {
  figures: { id: string; kind: string; title: string }[];
  tables: { id: string; title: string }[];
  sections: { key: string; title: string }[];
}

function reportOf(out: string): Report {
  return JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as Report;
}

/** The content of the file that a button saves. */
async function saved(page: Page, button: string): Promise<string> {
  await page.evaluate(() => {
    const made = window as typeof window & { saved?: Promise<string> };
    const create = URL.createObjectURL.bind(URL);
    URL.createObjectURL = (blob: Blob) => {
      made.saved = blob.text();
      URL.createObjectURL = create;
      return create(blob);
    };
  });
  await page.$eval(button, (element) => (element as HTMLElement).click());
  return page.evaluate(async () => (await (window as typeof window & { saved?: Promise<string> }).saved) ?? '');
}

describe('a report of a generated ABCI history', () => {
  it.each(['light', 'dark'] as const)('shows every figure and table in %s colours', async (scheme) => {
    const { page, complaints } = await openAnalysis(abci, { scheme });
    const report = reportOf(abci);
    expect(await page.$$eval('figure.item', (all) => all.map((figure) => figure.id)))
      .toEqual(expect.arrayContaining(report.figures.map((figure) => `figure-${figure.id}`)));
    const shown = await page.$$eval('.analysis-table', (all) => all.length);
    expect(shown).toBe(report.tables.length);
    expect((await texts(page, '#headline h3'))[0]).toBe('Jobs analysed');
    expect((await texts(page, 'main h2'))[2]).toBe(report.sections[0]!.title);
    expect(await page.$eval('#extraction figure', (figure) => figure.id)).toBe('figure-funnel_kept');
    expect((await texts(page, '.quality')).length).toBeGreaterThan(10);
    expect(await violations(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('fits windows of every width', async () => {
    const { page } = await openAnalysis(abci, { width: 1600 });
    for (const width of [800, 320]) {
      await page.setViewport({ width, height: 900 });
      await page.waitForFunction(
        (most) => [...document.querySelectorAll('svg.drawing')].every((svg) => svg.clientWidth < most), {}, width);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    await page.close();
  });

  it('saves tables and figures as the program writes them', async () => {
    const { page } = await openAnalysis(abci);
    const users = await saved(page, '#table-users .save');
    expect(users).toBe(readFileSync(join(abci, 'tables/users.csv'), 'utf8'));
    const kinds = await saved(page, '#figure-figure2a_kinds .item-tools .save:nth-child(2)');
    expect(kinds).toBe(readFileSync(join(abci, 'figures/figure2a_kinds.csv'), 'utf8'));
    await page.close();
  });
});

describe('a report with figures of every kind', () => {
  it('draws them all, and no name becomes an element', async () => {
    const { page, complaints } = await openAnalysis(means);
    const kinds = await page.$$eval('figure.item', (all) => all.map((figure) => figure.dataset['kind']));
    expect([...new Set(kinds)].sort()).toEqual(
      ['bar', 'box', 'heatmap', 'line', 'scatter', 'stacked-bar', 'step']);
    expect(await page.$$('img')).toEqual([]);
    await page.$eval('#table-users .more', (button) => (button as HTMLElement).click());
    await page.waitForFunction(
      (name) => [...document.querySelectorAll('#table-users td')].some((cell) => cell.textContent === name), {}, HOSTILE);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('saves every kind of figure as SVG in light colours that a browser reads', async () => {
    const { page, complaints } = await openAnalysis(means, { scheme: 'dark' });
    for (const figure of examples(means)) {
      const svg = await saved(page, `#figure-${figure.id} .item-tools .save:first-child`);
      const read = await page.evaluate((text) => {
        const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
        return { errors: parsed.querySelectorAll('parsererror').length,
          title: parsed.querySelector('title')?.textContent, shapes: parsed.querySelectorAll('g > *').length };
      }, svg);
      expect(read, figure.id).toMatchObject({ errors: 0, title: figure.title });
      expect(read.shapes, figure.id).toBeGreaterThan(8);
      expect(svg, figure.id).toContain('fill="#ffffff"');
      expect(svg, figure.id).not.toMatch(/var\(|NaN/);
    }
    expect(await page.$eval('html', (html) => html.dataset['theme'])).toBe('dark');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('reads values with the pointer and the arrow keys in every kind of figure', async () => {
    const { page } = await openAnalysis(means);
    for (const figure of examples(means)) {
      const drawing = `#figure-${figure.id} svg.drawing`;
      await page.$eval(drawing, (svg) => (svg as SVGElement).focus());
      await page.keyboard.press('ArrowRight');
      await page.waitForSelector(`#figure-${figure.id} .reading-item b`);
      expect(await page.$eval(`#figure-${figure.id} .reading`, (p) => p.textContent), figure.id).toMatch(/\d/);
    }
    await page.hover('#figure-figure2a_kinds svg.drawing');
    await page.waitForSelector('#figure-figure2a_kinds .spot');
    await page.close();
  });

  it('switches series and scales', async () => {
    const { page } = await openAnalysis(means);
    const figure = '#figure-figure6b_one_node';
    const lines = () => page.$$eval(`${figure} path[data-series]`, (all) => all.map((path) => path.getAttribute('d')));
    const before = await lines();
    await page.focus(`${figure} .legend .policy`);
    await page.keyboard.press('Enter');
    await page.waitForSelector(`${figure} .legend .policy[aria-pressed=false]`);
    expect((await lines()).length).toBe(before.length - 1);
    const wait = '#figure-wait_distribution';
    const curve = () => page.$eval(`${wait} path[data-series]`, (path) => path.getAttribute('d'));
    const first = await curve();
    await page.$eval(`${wait} .scale-switch`, (button) => (button as HTMLElement).click());
    await page.waitForFunction(
      (selector, old) => document.querySelector(`${selector} path[data-series]`)?.getAttribute('d') !== old, {}, wait, first);
    await page.close();
  });

  it('sorts tables with the keyboard', async () => {
    const { page } = await openAnalysis(means);
    const head = '#table-users th:nth-child(2)';
    await page.focus(`${head} button`);
    await page.keyboard.press('Enter');
    await page.waitForSelector(`${head}[aria-sort=descending]`);
    const down = (await texts(page, '#table-users td:nth-child(2)')).map(Number);
    expect(down).toEqual([...down].sort((a, b) => b - a));
    await page.keyboard.press('Space');
    await page.waitForSelector(`${head}[aria-sort=ascending]`);
    const up = (await texts(page, '#table-users td:nth-child(2)')).map(Number);
    expect(up).toEqual([...up].sort((a, b) => a - b));
    await page.close();
  });

  it('speaks Japanese', async () => {
    const { page, complaints } = await openAnalysis(`${means}-ja`);
    expect(await page.$eval('html', (html) => html.lang)).toBe('ja');
    expect(await page.$eval('h1', (h1) => h1.textContent)).toMatch(/^ジョブ実行履歴の分析: /);
    expect((await texts(page, '.contents h2'))[0]).toBe('目次');
    expect((await texts(page, '.scale-switch')).join()).not.toMatch(/linear|log/);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
