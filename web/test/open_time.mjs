// Measures how long headless Chromium takes to open a report, each time in a new browser.
// usage: open_time.mjs FILE REPEATS
import puppeteer from 'puppeteer-core';

const [file, repeats] = process.argv.slice(2);
const times = [];
for (let i = 0; i < Number(repeats); i++) {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.setOfflineMode(true);
  await page.goto(`file://${file}`);
  const drawn = await page.waitForFunction(
    () =>
      document.querySelectorAll('.chart[data-drawn]').length >= 3 &&
      document.querySelector('.chart-place, .chart:not([data-drawn])') === null &&
      document.querySelector('.strip[data-drawn]') !== null &&
      document.querySelector('.heat canvas[data-drawn]') !== null &&
      document.querySelector('table.jobs tbody tr td') !== null &&
      performance.now(),
    { polling: 'raf' },
  );
  times.push(await drawn.jsonValue());
  await browser.close();
}
times.sort((a, b) => a - b);
const text = (ms) => `${(ms / 1000).toFixed(2)} s`;
console.log(
  `open: median ${text(times[Math.floor(times.length / 2)])}, ` +
    `least ${text(times[0])}, most ${text(times[times.length - 1])} of ${times.length}`,
);
