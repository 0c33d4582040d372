// Measures how long headless Chromium takes until the first view of a dashboard is drawn, each time in a new browser.
// usage: dashboard_open_time.mjs URL REPEATS
import puppeteer from 'puppeteer-core';

const [url, repeats] = process.argv.slice(2);
const text = (ms) => `${(ms / 1000).toFixed(2)} s`;
const times = { 'first view': [], queue: [] };
for (let i = 0; i < Number(repeats); i++) {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  const page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(url);
  const drawn = await page.waitForFunction(
    () => document.querySelectorAll('.tile').length >= 5 && document.querySelector('.node-card') !== null
      && document.querySelectorAll('.chart[data-drawn]').length >= 2 && performance.now(), { polling: 'raf' });
  times['first view'].push(await drawn.jsonValue());
  const from = await page.evaluate(() => {
    location.hash = '#/queue';
    return performance.now();
  });
  const rows = await page.waitForFunction(() => document.querySelector('.queue tbody tr:not(.spacer)') !== null
    && performance.now(), { polling: 'raf' });
  times.queue.push(await rows.jsonValue() - from);
  await browser.close();
}
for (const [name, all] of Object.entries(times)) {
  all.sort((a, b) => a - b);
  console.log(`${name}: median ${text(all[Math.floor(all.length / 2)])}, most ${text(all.at(-1))} of ${all.length}`);
}
