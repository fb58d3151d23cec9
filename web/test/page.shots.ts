// Takes pictures of the lessons at their moments, at 1280 and 390 pixels, light and dark: DIR/ID-WIDTH-LIGHT.png.
//
//   npm run shots -- DIR [ID …]

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import type { Example } from '../src/engine.ts';
import { play, stopPlay } from './gemu.ts';

const [dir, ...only] = process.argv.slice(2);
if (!dir) {
  console.error('npm run shots -- DIR [ID …]: DIR is missing, the directory for the pictures');
  process.exit(2);
}
mkdirSync(dir, { recursive: true });
const { url } = await play();
const examples = (await (await fetch(new URL('examples.json', url))).json()) as Example[];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'], timeout: 120_000 });
for (const [width, colorScheme] of [
  [1280, 'light'],
  [390, 'light'],
  [1280, 'dark'],
] as const) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  context.setDefaultTimeout(120_000);
  for (const { id } of examples) {
    if (only.length && !only.includes(id)) continue;
    const page = await context.newPage();
    await page.goto(`${url}#example=${id}`);
    await page.waitForSelector('gemu-player[ready]');
    await page.getByRole('button', { name: 'Show the moment' }).click();
    await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => setTimeout(r))));
    const file = path.join(dir, `${id}-${width}-${colorScheme}.png`);
    await page.screenshot({ path: file, fullPage: true });
    console.log(file);
    await page.close();
  }
  await context.close();
}
await browser.close();
stopPlay();
