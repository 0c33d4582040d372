// Violations of accessibility rules, found by axe-core in the page as it is now.
import axe from 'axe-core';
import type { Page } from 'puppeteer-core';

/** "rule: element" for each; empty if there are none. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe: here } = globalThis as unknown as { axe: typeof import('axe-core') };
    const { violations: found } = await here.run(document, { resultTypes: ['violations'] });
    return found.flatMap(({ id, nodes }) => nodes.map(({ html, any, all, none }) =>
      `${id}: ${html.slice(0, 200)} ${[...any, ...all, ...none].map(({ message }) => message).join('; ')}`));
  });
}
