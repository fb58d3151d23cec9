// Prints the times of the page: until it is ready, of a step at 20,000 steps, and its memory. Nothing is asserted.
//
//   npm run bench

import { chromium } from 'playwright-core';
import { launchesOf } from '../src/model.ts';
import { Recording } from '../src/recording.ts';
import { binaryOfGemu, kernel, record } from './gemu.ts';
import { examples, serve } from './server.ts';

const median = (list: number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1];
const ms = (x: number): string => `${x.toFixed(1)} ms`;

// 32 lanes that take different ways through a loop, for more than 20,000 steps.
const { bytes } = record(kernel('long'), '-g', '1', '-b', '32', '-a', 'u32[32]', '700', '--reconverge', 'stack');
console.log(`a recording of ${(bytes.length / 1e6).toFixed(2)} MB`);

// The model alone, in Node.
for (let i = 0; i < 2; i++) {
  const t0 = performance.now();
  const launch = launchesOf(new Recording(bytes))[0];
  const m = launch.warp(0);
  const t1 = performance.now();
  m.registers(m.steps - 1);
  const t2 = performance.now();
  const jumps: number[] = [];
  let seed = 7;
  for (let k = 0; k < 300; k++) {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    const t = performance.now();
    m.state(seed % m.steps);
    m.registers(seed % m.steps);
    jumps.push(performance.now() - t);
  }
  if (i) console.log(`model of ${m.steps} steps: opened in ${ms(t1 - t0)}, all snapshots in ${ms(t2 - t1)}, a random jump ${ms(median(jumps))} (median), ${ms(Math.max(...jumps))} (most)`);
}

const { url, close } = await serve({ ready: { engine: 'http', example: examples[0].id }, long: { engine: 'none', recordings: [{ name: 'long', base64: Buffer.from(bytes).toString('base64') }] } }, binaryOfGemu());
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--enable-precise-memory-info'] });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
for (const name of ['ready', 'long']) {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    await page.goto('about:blank');
    const t = performance.now();
    await page.goto(url + name);
    await page.waitForSelector('gemu-player[ready]');
    times.push(performance.now() - t);
  }
  console.log(`${name === 'ready' ? 'ready with the first example, run twice' : 'ready with the long recording'}: ${ms(Math.min(...times))} (least of 5)`);
}
// Steps, by the time that the thread of the page runs: other programs on the machine do not count.
const session = await page.context().newCDPSession(page);
await session.send('Performance.enable', { timeDomain: 'threadTicks' });
const used = async (): Promise<Record<string, number>> => Object.fromEntries((await session.send('Performance.getMetrics')).metrics.map((m) => [m.name, m.value * 1000]));
const steps = await page.evaluate(() => (document.querySelector('gemu-player') as unknown as { model: { steps: number } }).model.steps);
for (const [name, next] of [
  ['a step', (k: number) => steps - 300 + k],
  ['a random jump', (k: number) => (k * 7919 * 31) % steps],
] as const) {
  const least: Record<string, number> = {};
  for (let round = 0; round < 5; round++) {
    const places = Array.from({ length: 20 }, (_, k) => next(round * 20 + k));
    const before = await used();
    await page.evaluate(async (list) => {
      const p = document.querySelector('gemu-player') as unknown as { go(s: number): void };
      for (const s of list) {
        p.go(s);
        await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
      }
    }, places);
    const after = await used();
    for (const k of ['TaskDuration', 'ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration']) least[k] = Math.min(least[k] ?? Infinity, (after[k] - before[k]) / places.length);
  }
  console.log(`${steps} steps: ${name} takes ${ms(least.TaskDuration)} of the page's thread: scripts ${ms(least.ScriptDuration)}, styles ${ms(least.RecalcStyleDuration)}, layout ${ms(least.LayoutDuration)} (least of 5 means)`);
}
const memory = await page.evaluate(() => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize);
console.log(`${(memory / 1e6).toFixed(0)} MB of memory`);
await browser.close();
close();
