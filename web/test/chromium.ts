// Chromium for tests: one browser for all of them, pages that log no error and send nothing elsewhere, and readers that wait.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, test as nodeTest } from 'node:test';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { amount, stopPlay } from './gemu.ts';

/** patience is the longest wait for a state, in milliseconds. A machine that does other work is slow; a wrong state never becomes right. */
const patience = 60_000;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const missing = existsSync(executablePath) ? false : `there is no ${executablePath}; CHROMIUM names another`;

let launched: Promise<Browser> | undefined;

/** launch returns the browser, which it starts at its first call. */
export const launch = (...args: string[]): Promise<Browser> => (launched ??= chromium.launch({ executablePath, args: ['--no-sandbox', ...args], timeout: patience }));

/** close ends the browser. */
export const close = async (): Promise<void> => (await launched)?.close();

/** test declares a test in Chromium, which GEMU_TEST=all runs. */
export const test = (name: string, f: () => Promise<void>): void => declare(name, f, amount === 'all' ? missing : 'GEMU_TEST=all runs it');

/** quick declares a test in Chromium that every amount has. */
export const quick = (name: string, f: () => Promise<void>): void => declare(name, f, missing);

function declare(name: string, f: () => Promise<void>, skip: string | false): void {
  nodeTest(name, { skip, timeout: 900_000 }, f);
}

after(close);
after(stopPlay);

/** opened opens a page, runs f, and fails if the page has logged an error or requested anything of another site: errors, which f may take. */
export async function opened(url: string, options: BrowserContextOptions, f: (p: Page, errors: string[]) => Promise<void>): Promise<void> {
  const context = await (await launch()).newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(patience);
  const p = await context.newPage();
  const errors: string[] = [];
  p.on('pageerror', (e) => errors.push(String(e.stack)));
  p.on('console', (m) => m.type() === 'error' && errors.push(m.text()));
  p.on('requestfailed', (r) => {
    const reason = r.failure()?.errorText;
    if (reason !== 'net::ERR_ABORTED') errors.push(`${r.url()} failed: ${reason}`); // aborted by the page: a stopped run
  });
  const own = url.startsWith('file:') ? url : new URL(url).origin + '/';
  context.on('request', (r) => {
    if (!r.url().startsWith(own) && !/^(data|blob):/.test(r.url())) errors.push(`a request leaves the page: ${r.url()}`);
  });
  try {
    await p.goto(url);
    await ready(p);
    await f(p, errors);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

/** ready waits until the page is drawn. */
export async function ready(p: Page): Promise<void> {
  await p.waitForSelector('gemu-player[ready]');
}

/** matches waits until a text matches. */
export async function matches(read: Locator | (() => Promise<string>), want: RegExp): Promise<void> {
  await becomes(typeof read === 'function' ? read : () => read.innerText(), (text) => assert.match(text, want));
}

/** becomes waits until check accepts the value that read returns. */
export async function becomes<T>(read: () => Promise<T>, check: (value: T) => void): Promise<void> {
  for (const end = performance.now() + patience; ; await new Promise((r) => setTimeout(r, 20))) {
    const value = await read();
    try {
      return check(value);
    } catch (e) {
      if (performance.now() > end) throw e;
    }
  }
}

/** says waits until the sentence of the step matches. */
export const says = (p: Page, want: RegExp): Promise<void> => matches(p.locator('.sentence'), want);

/** Player is the part of the page's element that tests use. */
interface Player {
  go(step: number): void;
  updateComplete: Promise<unknown>;
}

/** go moves the playhead, and waits until the page is drawn. */
export const go = (p: Page, step: number): Promise<void> =>
  p.evaluate(async (s) => {
    const player = document.querySelector('gemu-player') as unknown as Player;
    player.go(s);
    await player.updateComplete;
    await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
  }, step);

/** chooseLesson opens a lesson. */
export const chooseLesson = async (p: Page, id: string): Promise<void> => void (await p.getByRole('combobox', { name: 'Example' }).selectOption(id));

export const button = (p: Page, name: string): Locator => p.getByRole('button', { name, exact: true });

/** clean fails if axe finds a fault of the page. */
export async function clean(p: Page, where: string): Promise<void> {
  if (!(await p.evaluate(() => 'axe' in window))) await p.evaluate(axe);
  const faults = (await p.evaluate(`axe.run({ resultTypes: ['violations'] }).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 160) + ' ' + n.failureSummary).join(' | ')))`)) as string[];
  assert.deepEqual(faults, [], where);
}

/** noSidewaysScrolling fails if the body is wider than the window. */
export async function noSidewaysScrolling(p: Page, where: string): Promise<void> {
  const [width, room] = await p.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(width <= room, `${where}: the body is ${width} pixels wide in ${room}`);
}
