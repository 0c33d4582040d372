// Every kind of HTML page that the program writes to a file, wide and narrow, light and dark: no violation of
// accessibility rules (axe), no scrolling to the side, a screenshot. GOBAN_SCREENSHOTS=FOLDER keeps the screenshots.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { violations } from './axe';
import { goban, launch, open } from './browser';

const folder = mkdtempSync(join(tmpdir(), 'goban-looks-'));
const file = (name: string) => join(folder, name);
let browser: Browser;

const figuresDrawn = () => {
  const figures = document.querySelectorAll('figure.item');
  return figures.length > 0 && document.querySelectorAll('figure.item svg.drawing').length === figures.length;
};
/** By name: the file, and when it is drawn (default: as a report of the simulator). */
const PAGES: Record<string, [string, (() => boolean)?]> = {
  comparison: [file('comparison.html')],
  backtest: [file('backtest.html')],
  worth: [file('worth.html')],
  analysis: [file('analysis/report.html'), figuresDrawn],
  prediction: [file('prediction/report.html'), () => document.querySelector('main table') !== null],
  run: [file('run.html'), () => document.querySelector('svg, table') !== null],
};

beforeAll(async () => {
  const cluster = ['--cluster', '4x4:V100'];
  const jobs = file('jobs.csv');
  goban('trace', 'generate', '--like', 'poisson', '--cluster', '4x4', '--jobs', '400', '--load', '0.9', '--seed', '3', '--out', jobs);
  goban('simulate', ...cluster, '--jobs', jobs, '--policy', 'fifo+packed,goban', '--html', file('comparison.html'));
  goban('simulate', ...cluster, '--jobs', jobs, '--policy', 'slurm-multifactor', '--out', file('base'));
  const recorded = file('base/slurm-multifactor/history.csv');
  goban('simulate', ...cluster, '--jobs', recorded, '--policy', 'las+packed,goban', '--backtest', 'slurm-multifactor',
    '--html', file('backtest.html'));
  writeFileSync(file('prices.toml'), 'currency = "EUR"\nelectricity_per_kwh = 0.2\ngpu_hour_value = 2\n');
  goban('simulate', ...cluster, '--jobs', jobs, '--energy', 'v100', '--prices', file('prices.toml'), '--seeds', '2',
    '--policy', 'fifo+packed,goban', '--html', file('worth.html'));
  goban('analyze', recorded, '--cluster', '4x4', '--out', file('analysis'));
  goban('predict', recorded, '--out', file('prediction'));
  mkdirSync(file('run'));
  copyFileSync(new URL('../../tests/corpus/time_table/intervals.json', import.meta.url), file('run/time_table.json'));
  goban('doctor', 'run', file('run'), '--html', file('run.html'));
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

for (const [name, [path, drawn]] of Object.entries(PAGES)) {
  it.each(['light', 'dark'] as const)(`${name} is readable in %s`, async (scheme) => {
    const { page, complaints } = await open(browser, path, { scheme, width: 1440, ...(drawn ? { drawn } : {}) });
    for (const width of [1440, 390]) {
      await page.setViewport({ width, height: 900 });
      // Charts follow the width.
      await page.waitForFunction((most) => document.documentElement.scrollWidth <= most, {}, width);
      const kept = process.env['GOBAN_SCREENSHOTS'];
      if (kept) mkdirSync(kept, { recursive: true });
      const picture = await page.screenshot(
        kept ? { path: join(kept, `${name}-${width}-${scheme}.png`) as `${string}.png` } : {});
      expect(picture.length, 'not blank').toBeGreaterThan(8000);
      // Both widths and both schemes are seen in two of the four.
      if ((width === 1440) === (scheme === 'light')) expect(await violations(page), `${width} wide`).toEqual([]);
    }
    expect(complaints).toEqual([]);
    await page.close();
  });
}
