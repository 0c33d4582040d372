// Opens reports of the goban program in headless Chromium, offline.
import { execFileSync } from 'node:child_process';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; ctest sets it (cmake/web.cmake)`);
  return value;
}

export function goban(...args: string[]): string {
  return execFileSync(required('GOBAN'), args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

export function launch(): Promise<Browser> {
  return puppeteer.launch({
    executablePath: required('CHROMIUM'),
    // Containers that run as root have no sandbox and little shared memory.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

export interface OpenPage {
  page: Page;
  /** Must stay empty: console errors, exceptions, dialogs, requests beyond the file. */
  complaints: string[];
}

export interface OpenOptions {
  scheme?: 'light' | 'dark';
  width?: number;
  /** Returns true in the page once it is drawn; default: the check for simulation reports. */
  drawn?: () => boolean;
}

/** Whether all charts and the job table of a simulation report are drawn. */
function simulationDrawn(): boolean {
  return (
    document.querySelectorAll('.chart[data-drawn]').length >= 3 &&
    document.querySelector('.chart-place, .chart:not([data-drawn])') === null &&
    document.querySelector('.strip[data-drawn]') !== null &&
    document.querySelector('.heat canvas[data-drawn]') !== null &&
    document.querySelector('table.jobs tbody tr td') !== null
  );
}

/** Opens a report and waits until it is drawn. */
export async function open(browser: Browser, file: string, options: OpenOptions = {}): Promise<OpenPage> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warn') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url() !== `file://${file}` && !request.url().startsWith('data:')) {
      complaints.push(`request: ${request.url()}`);
    }
  });
  await page.setOfflineMode(true);
  await page.setViewport({ width: options.width ?? 1280, height: 900 });
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: options.scheme ?? 'light' },
  ]);
  await page.goto(`file://${file}`);
  await page.waitForFunction(options.drawn ?? simulationDrawn);
  return { page, complaints };
}

/** Colours (as numbers) of each matching canvas, with their pixel counts. */
export function colorsOf(page: Page, canvas: string): Promise<[number, number][][]> {
  return page.$$eval(canvas, (elements) =>
    elements.map((element) => {
      const drawn = element as HTMLCanvasElement;
      const copy = new OffscreenCanvas(drawn.width, drawn.height);
      const context = copy.getContext('2d', { willReadFrequently: true })!;
      context.drawImage(drawn, 0, 0);
      const pixels = context.getImageData(0, 0, drawn.width, drawn.height).data;
      const counts = new Map<number, number>();
      for (let i = 0; i < pixels.length; i += 4) {
        if (pixels[i + 3]! < 255) continue;
        const color = (pixels[i]! << 16) | (pixels[i + 1]! << 8) | pixels[i + 2]!;
        counts.set(color, (counts.get(color) ?? 0) + 1);
      }
      return [...counts];
    }),
  );
}

/** The texts of a column of the job table. */
export function cells(page: Page, column: number): Promise<string[]> {
  return page.$$eval(
    `table.jobs tbody td:nth-child(${column})`, (elements) => elements.map((e) => e.textContent ?? ''),
  );
}
