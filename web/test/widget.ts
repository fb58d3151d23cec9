// The widget of Jupyter (python/src/gemu/widget.js) in Chromium: a small page takes the place of the notebook, with a model as anywidget's.
// GEMU_PAGES=DIR keeps pictures of it in DIR.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { after } from 'node:test';
import type { FrameLocator, Page } from 'playwright-core';
import { becomes, launch, matches, quick, test } from './chromium.ts';
import { gemu, kernel, record, root, singleFile, written } from './gemu.ts';
import { listening, type Served } from './server.ts';

/** notebook is the page around the widget. Its functions are those of anywidget's model; python.sent has the messages to Python. */
const notebook = `<!doctype html>
<html lang="en"><link rel="icon" href="data:,"><title>a notebook</title>
<body><h1>A notebook</h1><main></main>
<script type="module">
import widget from './widget.js';
const bytes = async (name) => new DataView(await (await fetch(name)).arrayBuffer());
const page = await bytes('page.html');
const handlers = new Map();
const emit = (name, ...args) => { for (const f of handlers.get(name) ?? []) f(...args); };
const on = (names, f) => { for (const name of names.split(' ')) handlers.set(name, [...(handlers.get(name) ?? []), f]); };
const off = (names, f) => { for (const name of names.split(' ')) handlers.set(name, (handlers.get(name) ?? []).filter((g) => g !== f)); };
const traits = { recordings: [], names: [], request: {}, policies: [], step: 0, state: {}, height: 720, ...(await (await fetch('traits.json')).json()) };
traits.recordings = await Promise.all(traits.recordings.map(bytes));
const model = {
  get: (name) => traits[name],
  set(name, value) {
    if (traits[name] === value) return;
    traits[name] = value;
    emit('change:' + name);
  },
  save_changes() {},
  on,
  off,
  send(content) {
    if (content.gemu === 'page') queueMicrotask(() => emit('msg:custom', { gemu: 'page' }, [page]));
  },
};
const views = [];
for (let n = Number(new URL(location).searchParams.get('views') ?? 1); n > 0; n--) {
  const el = document.createElement('div');
  document.querySelector('main').append(el);
  views.push(widget.render({ model, el }));
}
window.notebook = { model, message: (content) => emit('msg:custom', content, []), handlers: () => [...handlers.values()].flat().length, close: () => views.forEach((f) => f()) };
</script>
</html>`;

/** Notebook is what the tests use of the page around the widget. */
interface Notebook {
  model: { get(name: string): unknown; set(name: string, value: unknown): void };
  message(content: object): void;
  handlers(): number;
  close(): void;
}

const served: Served[] = [];
after(() => served.forEach((s) => s.close()));

/** serve serves a notebook whose widget has the given traits, with the files that they name. */
async function serve(page: string, traits: object, files: Record<string, Uint8Array> = {}): Promise<string> {
  const all: Record<string, [string, string | Uint8Array]> = {
    '': ['text/html; charset=utf-8', notebook],
    'widget.js': ['text/javascript', readFileSync(path.join(root, 'python/src/gemu/widget.js'))],
    'page.html': ['text/html', readFileSync(page)],
    'traits.json': ['application/json', JSON.stringify(traits)],
  };
  for (const [name, bytes] of Object.entries(files)) all[name] = ['application/octet-stream', bytes];
  const server = await listening(
    createServer((req, res) => {
      const found = all[new URL(req.url!, 'http://x').pathname.slice(1)];
      if (!found) return res.writeHead(404).end();
      return res.writeHead(200, { 'Content-Type': found[0] }).end(found[1]);
    }),
  );
  served.push(server);
  return server.url;
}

const get = <T>(p: Page, name: string): Promise<T> => p.evaluate((n) => (window as unknown as { notebook: Notebook }).notebook.model.get(n), name) as Promise<T>;
const set = (p: Page, name: string, value: unknown): Promise<void> => p.evaluate(([n, v]) => (window as unknown as { notebook: Notebook }).notebook.model.set(n as string, v), [name, value]);
const send = (p: Page, content: object): Promise<void> => p.evaluate((c) => (window as unknown as { notebook: Notebook }).notebook.message(c), content);

/** opened opens a notebook, waits until the page in the frame is drawn, runs f, and fails if the page has logged an error. */
async function opened(url: string, width: number, f: (p: Page, frame: FrameLocator) => Promise<void>): Promise<void> {
  // With a colour scheme that Playwright emulates, frames ignore the scheme of their element.
  const context = await (await launch()).newContext({ viewport: { width, height: 900 }, colorScheme: null });
  context.setDefaultTimeout(60_000);
  const p = await context.newPage();
  const errors: string[] = [];
  p.on('pageerror', (e) => errors.push(String(e.stack)));
  p.on('console', (m) => m.type() === 'error' && errors.push(m.text()));
  try {
    await p.goto(url);
    const frame = p.frameLocator('iframe').first();
    await frame.locator('gemu-player[ready]').waitFor();
    await f(p, frame);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

/** recorded returns the page with a recording of the kernel ifelse, and the recording. */
function recorded(): { page: string; bytes: Uint8Array } {
  const { file, bytes } = record(kernel('ifelse'), '-g', '1', '-b', '32', '-a', 'u32[32]', 'u32[32]=iota');
  const page = written('widget.html', '');
  gemu('play', file, '--single', page);
  return { page, bytes };
}

quick('the widget of Jupyter shows a recording, and goes a step forward', async () => {
  const { page, bytes } = recorded();
  const url = await serve(page, { recordings: ['run.gemu'], names: ['first'], step: 9 }, { 'run.gemu': bytes });
  await opened(url, 1280, async (p, frame) => {
    await becomes(() => get<{ step: number; line: number; steps: number }>(p, 'state'), (s) => assert.deepEqual([s.step, s.line, s.steps], [9, 19, 15]));
    await send(p, { gemu: 'next' });
    await becomes(() => get<number>(p, 'step'), (n) => assert.equal(n, 10));
    assert.equal((await get<{ line: number }>(p, 'state')).line, 20);
    await matches(frame.locator('.sentence'), /^Step 11, line 20\s/);
    await frame.getByRole('button', { name: 'Step back', exact: true }).click();
    await becomes(() => get<number>(p, 'step'), (n) => assert.equal(n, 9));
    await set(p, 'step', 99); // after the end
    await becomes(() => get<number>(p, 'step'), (n) => assert.equal(n, 15));
    await set(p, 'height', 400);
    assert.equal(await p.locator('iframe').evaluate((e) => (e as HTMLElement).offsetHeight), 400);
    const left = await p.evaluate(() => {
      const n = (window as unknown as { notebook: Notebook }).notebook;
      n.close();
      return n.handlers();
    });
    assert.equal(left, 0, 'handlers after the end of the view');
  });
});

test('several views of a widget come to the same step', async () => {
  const { page, bytes } = recorded();
  const url = await serve(page, { recordings: ['run.gemu'] }, { 'run.gemu': bytes });
  await opened(url + '?views=2', 1280, async (p) => {
    const second = p.frameLocator('iframe').nth(1);
    await second.locator('gemu-player[ready]').waitFor();
    const player = p.frames().find((f) => f !== p.mainFrame())!;
    // Quick moves by a user in a view: the other view has not answered the first when the last comes.
    await player.evaluate(async () => {
      const e = document.querySelector('gemu-player') as unknown as { go(step: number): void };
      for (let step = 1; step <= 12; step++) {
        e.go(step);
        if (step % 3 === 0) await new Promise((r) => setTimeout(r));
      }
    });
    const steps = () => Promise.all(p.frames().filter((f) => f !== p.mainFrame()).map((f) => f.evaluate(() => (document.querySelector('gemu-player') as unknown as { step: number }).step)));
    await becomes(steps, (list) => assert.deepEqual(list, [12, 12]));
    await new Promise((r) => setTimeout(r, 300)); // no view moves any more
    assert.deepEqual([...(await steps()), await get<number>(p, 'step')], [12, 12, 12]);
  });
});

test('the widget of Jupyter runs a program in the page, and begins at a step', async () => {
  const source = readFileSync(kernel('ifelse'), 'utf8');
  const request = { name: 'ifelse.ptx', source, kernel: '', grid: [1, 1, 1], block: [32, 1, 1], arguments: ['u32[32]', 'u32[32]=iota'] };
  await opened(await serve(singleFile(), { request, policies: ['stack', 'its:8'], step: 9 }), 1280, async (p, frame) => {
    await becomes(() => get<{ step: number; line: number; policy: string }>(p, 'state'), (s) => assert.deepEqual([s.step, s.line, s.policy], [9, 19, 'stack']));
    assert.equal(await frame.locator('gemu-strip').count(), 2);
    assert.equal(await frame.getByRole('combobox', { name: 'Example' }).inputValue(), '', 'the program is not that of a lesson');
    assert.equal(await frame.locator('.intro').count(), 0, 'a question of a lesson');
  });
});

test('the widget has the theme of the notebook, and fits into a narrow one', async () => {
  const { page, bytes } = recorded();
  const url = await serve(page, { recordings: ['run.gemu'], step: 9 }, { 'run.gemu': bytes });
  for (const width of [1280, 390]) {
    await opened(url, width, async (p, frame) => {
      await becomes(() => get<number>(p, 'step'), (n) => assert.equal(n, 9));
      for (const [theme, style] of [
        ['light', ''],
        ['dark', 'background: #111; color: #eee'],
        ['light again', ''],
      ]) {
        await p.evaluate((s) => document.body.setAttribute('style', s), style);
        const isDark = () => frame.locator('gemu-player').evaluate((e) => matchMedia('(prefers-color-scheme: dark)').matches && /^rgb\(2\d\d, /.test(getComputedStyle(e).color));
        await becomes(isDark, (dark) => assert.equal(dark, theme === 'dark', `${width} pixels, ${theme}`));
        const [wide, room] = await frame.locator('html').evaluate((e) => [e.scrollWidth, e.clientWidth]);
        assert.ok(wide <= room, `${width}: the page is ${wide} pixels wide in ${room}`);
        if (process.env.GEMU_PAGES) await p.screenshot({ path: path.join(process.env.GEMU_PAGES, `widget-${width}-${theme}.png`), fullPage: true });
      }
    });
  }
});
