// The pages that gemu's commands write: axe finds nothing on any of them, and no page scrolls sideways, at 1280 and 390 pixels,
// light and dark. GEMU_PAGES=DIR keeps the pages and pictures of them in DIR.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { chromium, type Browser } from 'playwright-core';
import { gemu, kernel, root } from './gemu.ts';

const kept = process.env.GEMU_PAGES;
const dir = kept ?? mkdtempSync(path.join(tmpdir(), 'gemu-pages-'));
mkdirSync(dir, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const skip = existsSync(executablePath) ? false : `there is no ${executablePath}; CHROMIUM names another`;

let browser: Browser | undefined;
before(async () => {
  if (!skip) browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
});
after(() => browser?.close());

const spin = [kernel('spin'), '-g', '1', '-b', '32', '-a', 'u32[1]', 'u32[1]'];
const commands: Record<string, string[]> = {
  structure: ['structure', '@mandelbrot', '--size', '64'],
  'structure-divergent': ['structure', ...spin],
  'structure-small': ['structure', path.join(root, 'docs/learn/scheduling.ptx'), '-g', '1', '-b', '2', '-a', 'u32[2]'],
  profile: ['profile', '@bfs', '--size', '300'],
  'profile-loop': ['profile', ...spin],
  regfile: ['regfile', '@mandelbrot', '--size', '64'],
  compare: ['compare', 'kim2013', '--table', 'figure2'],
};

for (const [name, command] of Object.entries(commands)) {
  test(`gemu ${command[0]} writes a page without faults: ${name}`, { skip, timeout: 300_000 }, async () => {
    const file = path.join(dir, `${name}.html`);
    gemu(...command, '--html', file);
    for (const width of [1280, 390]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const context = await browser!.newContext({ viewport: { width, height: 900 }, colorScheme });
        const page = await context.newPage();
        await page.goto(`file://${file}`);
        if (kept) writeFileSync(path.join(dir, `${name}-${width}-${colorScheme}.png`), await page.screenshot({ fullPage: true }));
        const what = `${name} at ${width} pixels, ${colorScheme}`;
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wide, 0, `${what}: the body scrolls sideways by ${wide} pixels`);
        await page.evaluate(axe);
        const faults = (await page.evaluate('axe.run().then((r) => r.violations.map((v) => `${v.id}: ${v.nodes.length} times, ${v.nodes[0].html.slice(0, 150)}`))')) as string[];
        assert.deepEqual(faults, [], what);
        await context.close();
      }
    }
  });
}
