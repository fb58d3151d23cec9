// Prints the times of the page: until it is ready, of a step at 20,000 steps, and its memory. Nothing is asserted.
//
//   npm run bench

import { readFileSync } from 'node:fs';
import { chromium, type Page } from 'playwright-core';
import { launchesOf } from '../src/model.ts';
import { Recording } from '../src/recording.ts';
import { binaryOfGemu, builtSite, kernel, record } from './gemu.ts';
import { examples, serve, serveFiles } from './server.ts';

const median = (list: number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1];
const ms = (x: number): string => `${x.toFixed(1)} ms`;

// 32 lanes that take different ways through a loop, for more than 20,000 steps.
const { bytes } = record(kernel('long'), '-g', '1', '-b', '32', '-a', 'u32[32]', '760', '--reconverge', 'stack');
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
const site = await serveFiles(builtSite());
const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--enable-precise-memory-info'] });

/** memoryOf returns the private memory of the process of a page, with its worker, in MB, in a new browser, after f. */
async function memoryOf(address: string, f: (p: Page) => Promise<unknown> = async () => undefined): Promise<number> {
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(address);
  if (address !== 'about:blank') await page.waitForSelector('gemu-player[ready]');
  await f(page);
  await (await page.context().newCDPSession(page)).send('HeapProfiler.collectGarbage');
  const { processInfo } = await (await browser.newBrowserCDPSession()).send('SystemInfo.getProcessInfo');
  const kilobytes = (id: number) => [...readFileSync(`/proc/${id}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+: +(\d+) kB/gm)].reduce((n, m) => n + Number(m[1]), 0);
  const most = Math.max(...processInfo.filter((x) => x.type === 'renderer').map((x) => kilobytes(x.id))); // the browser keeps others ready
  await browser.close();
  return Math.round((most * 1024) / 1e6);
}

const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
for (const [what, address] of [
  ['the first lesson and the engine in WebAssembly', site.url],
  ['the first example, run twice by the command', url + 'ready'],
  ['the long recording', url + 'long'],
]) {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    await page.goto('about:blank');
    const t = performance.now();
    await page.goto(address);
    await page.waitForSelector('gemu-player[ready]');
    times.push(performance.now() - t);
  }
  console.log(`ready with ${what}: ${ms(Math.min(...times))} (least of 5)`);
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
console.log(`${(memory / 1e6).toFixed(0)} MB of objects of JavaScript`);
await browser.close();
const jumps = (p: Page) =>
  p.evaluate(async (n) => {
    for (let k = 0; k < 100; k++) {
      (document.querySelector('gemu-player') as unknown as { go(s: number): void }).go((k * 7919 * 31) % n);
      await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
    }
  }, steps);
const empty = await memoryOf('about:blank');
console.log(`private memory above the ${empty} MB of an empty page: ${(await memoryOf(site.url)) - empty} MB with the engine in WebAssembly, ${(await memoryOf(url + 'long', jumps)) - empty} MB after 100 jumps in the long recording`);
close();
site.close();
