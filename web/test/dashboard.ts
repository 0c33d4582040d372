// Opens the dashboard in headless Chromium, over loopback.
import type { Browser, Page } from 'puppeteer-core';

export interface OpenDashboard {
  page: Page;
  /** Must stay empty: console errors, exceptions, requests to other servers. */
  complaints: string[];
}

export interface DashboardOptions {
  /** Fragment of the URL, such as "#/queue". */
  hash?: string;
  width?: number;
  height?: number;
  scheme?: 'light' | 'dark';
}

/** Opens the page of the daemon at `url`. Chromium logs failed requests itself; they are no complaints. */
export async function openDashboard(
  browser: Browser, url: string, options: DashboardOptions = {},
): Promise<OpenDashboard> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    const isRefusal = message.text().startsWith('Failed to load resource');
    if ((message.type() === 'error' || message.type() === 'warn') && !isRefusal) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) {
      complaints.push(`request: ${request.url()}`);
    }
  });
  await page.setViewport({ width: options.width ?? 1280, height: options.height ?? 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: options.scheme ?? 'light' }]);
  await page.goto(url + (options.hash ?? ''));
  return { page, complaints };
}

/** Waits until the text is visible. */
export async function sees(page: Page, text: string, selector = 'body'): Promise<void> {
  await page.waitForFunction(
    (wanted, where) => [...document.querySelectorAll<HTMLElement>(where)].some((e) => e.innerText.includes(wanted)),
    {}, text, selector);
}

export async function textOf(page: Page, selector: string): Promise<string> {
  return page.$eval(selector, (element) => (element as HTMLElement).innerText);
}

/** Job numbers of the queue's rows, from top to bottom. */
export function rows(page: Page): Promise<(string | null)[]> {
  return page.$$eval('.queue tbody tr:not(.spacer)', (all) => all.map((tr) => tr.querySelector('a')!.textContent));
}
