// A report of 100,000 jobs under five policies stays small and usable. bench/report_open measures how
// long it takes to open.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cells, goban, launch, open } from './browser';

it('holds 100,000 jobs under five policies', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'goban-report-'));
  const jobs = join(folder, 'jobs.csv');
  const file = join(folder, 'report.html');
  goban('trace', 'generate', '--like', 'poisson', '--jobs', '100000', '--cluster', 'sia-64', '--load',
    '0.9', '--seed', '3', '--out', jobs);
  goban('simulate', '--cluster', 'sia-64', '--jobs', jobs, '--html', file, '--policy',
    'fifo+packed,easy-backfill+packed,easy-backfill+pal,las+packed,las+pal');
  expect(statSync(file).size).toBeLessThan(10_000_000);

  const browser = await launch();
  const { page, complaints } = await open(browser, file);
  expect(await page.$eval('.table-count', (p) => p.textContent)).toBe('100,000 of 100,000 jobs');
  await page.click('table.jobs th:nth-child(9) button');
  await page.click('table.jobs th:nth-child(9) button');
  const [longest] = await cells(page, 9);
  expect(longest).toMatch(/ d$/);
  expect(complaints).toEqual([]);
  await browser.close();
  rmSync(folder, { recursive: true });
});
