// gemu play: its answers to the lessons' launches, and its page in Chromium.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type Example, parseAnswer } from '../src/engine.ts';
import { fromMembers, equal, without } from '../src/lanes.ts';
import { type Launch, launchesOf } from '../src/model.ts';
import { Recording } from '../src/recording.ts';
import { binaryOfGemu, root } from './gemu.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const skip = existsSync(executablePath) ? false : `there is no ${executablePath}; CHROMIUM names another`;
const dir = mkdtempSync(path.join(tmpdir(), 'gemu-play-test-'));
let browser: Browser | undefined;
const running: ChildProcess[] = [];

before(async () => {
  if (!skip) browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
});

after(async () => {
  await browser?.close();
  for (const c of running) c.kill('SIGINT');
  rmSync(dir, { recursive: true });
});

/** play starts gemu play and returns its address, and its messages up to the note that it serves. */
function play(...args: string[]): Promise<{ url: string; notes: string }> {
  return new Promise((resolve, reject) => {
    const c = spawn(binaryOfGemu(), ['play', '--no-browser', ...args], { cwd: root });
    running.push(c);
    let [url, notes] = ['', ''];
    const done = () => url && notes.includes('Ctrl-C') && resolve({ url, notes });
    c.stdout.on('data', (d) => ((url += String(d).trim()), done()));
    c.stderr.on('data', (d) => ((notes += String(d)), done()));
    c.on('exit', (status) => reject(new Error(`gemu play ends with ${status}: ${notes}`)));
  });
}

/** written writes a file of the tests and returns its name. */
function written(name: string, text: string): string {
  const file = path.join(dir, name);
  writeFileSync(file, text);
  return file;
}

/** opened opens a page, runs f, and fails if the page has logged an error. */
async function opened(url: string, f: (p: Page) => Promise<void>): Promise<void> {
  const context = await browser!.newContext({ viewport: { width: 1280, height: 900 } });
  const p = await context.newPage();
  const errors: string[] = [];
  p.on('pageerror', (e) => errors.push(String(e.stack)));
  try {
    await p.goto(url);
    await p.waitForSelector('gemu-player[ready]', { timeout: 60_000 });
    await f(p);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

const sentence = (p: Page): Promise<string> => p.locator('.sentence').innerText();
const button = (p: Page, name: string) => p.getByRole('button', { name, exact: true });

let lessons: { url: string; examples: Example[] } | undefined;

/** examples returns the lessons, as gemu play serves them. */
async function examples(): Promise<{ url: string; examples: Example[] }> {
  if (!lessons) {
    const { url } = await play();
    lessons = { url, examples: (await (await fetch(new URL('examples.json', url))).json()) as Example[] };
  }
  return lessons;
}

/** launched runs a lesson under a policy. */
async function launched(id: string, policy?: string): Promise<{ launch: Launch; example: Example }> {
  const { url, examples: list } = await examples();
  const example = list.find((e) => e.id === id)!;
  const body = JSON.stringify({ ...example.request, policy: policy ?? example.moment!.policy, memory: true });
  const r = await fetch(new URL('run', url), { method: 'POST', headers: { 'Content-Type': 'application/json', Origin: new URL(url).origin }, body });
  return { launch: launchesOf(new Recording(parseAnswer(new Uint8Array(await r.arrayBuffer())).recording))[0], example };
}

// Lines that the questions, answers and strips of the lessons name for their moments.
const momentLines: Record<string, number> = { ifelse: 23, return: 19, nested: 21, memory: 19, values: 23 };

test('the line at the moment of a lesson is the line that the lesson names', async () => {
  for (const [id, line] of Object.entries(momentLines)) {
    const { launch, example } = await launched(id);
    assert.equal(launch.warp(0).line(example.moment!.step - 1), line, id);
  }
});

test('lanes that a branch sends to the end of the kernel do not take a step', async () => {
  const { launch } = await launched('return', 'stack'); // the lesson: 9 steps and 5
  const [a, b] = [launch.warp(0), launch.warp(1)];
  assert.deepEqual([a.steps, b.steps, launch.warps[0].steps], [9, 5, 9]);
  const late = fromMembers(Array.from({ length: 12 }, (_, i) => 20 + i));
  assert.ok(equal(a.outcome(3).ended, late));
  assert.ok(equal(a.active(4), without(a.lanes, late)));
  assert.equal((await launched('return', 'stack-wait')).launch.warp(0).steps, 9);
});

test('the stack has the innermost entry first', async () => {
  const { launch } = await launched('nested', 'stack');
  const m = launch.warp(0);
  assert.equal(m.state(5).stack.map((x) => launch.blocks[launch.instructions[x.instruction].block].letter).join(''), 'CDEFG');
});

const endless = '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nL:\n\tbra L;\n}\n';

test('PTX with an error, and PTX without a kernel, open in the editor', { skip, timeout: 300_000 }, async () => {
  const { url, notes } = await play(written('bad.ptx', 'this is not ptx\n'));
  assert.match(notes, /bad\.ptx:1:1: /);
  await opened(url, async (p) => {
    await p.waitForSelector('.cm-bad-line');
    assert.equal(await p.locator('.cm-bad-line').innerText(), 'this is not ptx');
    assert.match(await p.locator('.cm-message').innerText(), /bad\.ptx:1:1/);
    assert.equal(await p.getByText('running…').count(), 0);
    // A file of the page: the same.
    await p.locator('#file').setInputFiles({ name: 'worse.ptx', mimeType: '', buffer: Buffer.from('.version 8.0\n.target sm_80\nworse\n') });
    await p.waitForFunction(() => /worse/.test(document.querySelector('gemu-player')!.shadowRoot!.querySelector('.cm-message')?.textContent ?? ''));
    assert.equal(await p.locator('.cm-bad-line').innerText(), 'worse');
  });
  const none = await play(written('none.ptx', '.version 8.0\n.target sm_80\n'));
  assert.match(none.notes, /none\.ptx has no kernel/);
  await opened(none.url, async (p) => {
    await p.waitForSelector('.cm-content');
    assert.match(await p.locator('.bad-card').innerText(), /kernel/);
  });
});

test('a loop without an end has no steps, and the page says so', { skip, timeout: 300_000 }, async () => {
  const { url } = await play(written('endless.ptx', endless), '-g', '1', '-b', '32');
  await opened(url, async (p) => {
    assert.match(await sentence(p), /No step was recorded\. All 32 lanes are at line 7\./);
    assert.ok(await button(p, 'Play').isDisabled());
  });
});

test('a launch without its arguments opens the form', { skip, timeout: 300_000 }, async () => {
  const { url } = await play('docs/learn/return.ptx', '-g', '1', '-b', '32');
  await opened(url, async (p) => {
    assert.match(await p.locator('.bad-card').innerText(), /Missing arguments, in the form below: out: an array such as u32\[32\]/);
    await p.waitForFunction(() => document.querySelector('gemu-player')!.shadowRoot!.activeElement?.getAttribute('name') === 'argument');
  });
});

test('a reload keeps the lesson and the step; an edited lesson can be restored', { skip, timeout: 300_000 }, async () => {
  const { url } = await examples();
  await opened(url + '#example=memory&step=6', async (p) => {
    assert.match(await sentence(p), /^Step 6, line 19/);
    await button(p, 'Step').click();
    await p.waitForFunction(() => location.hash === '#example=memory&step=7');
    await p.reload();
    await p.waitForSelector('gemu-player[ready]');
    assert.match(await sentence(p), /^Step 7, /);
    assert.equal(await button(p, 'Restore').count(), 0);
    await button(p, 'Edit').click();
    await p.locator('.argument input').nth(2).fill('4');
    await button(p, 'Run').click();
    await button(p, 'Restore').click();
    await button(p, 'Restore').waitFor({ state: 'detached' });
  });
});

test('a lesson is read up to its question; a deadlock is blocked; its strip does not squeeze the others', { skip, timeout: 300_000 }, async () => {
  const { url } = await play('--example', 'lock');
  await opened(url, async (p) => {
    await p.locator('summary', { hasText: 'Read' }).click();
    const read = await p.locator('.prose').first().innerText();
    assert.doesNotMatch(read, /##|```|Question|Answer|lanes 1 to 31 leave the loop, too/);
    assert.ok(await p.locator('.prose pre').first().isVisible());
    const to = await p.evaluate(() => (document.querySelector('gemu-player') as unknown as { view: { to: number } }).view.to);
    assert.equal(to, 333); // its:8 takes 332 steps
    assert.ok(await p.getByText('… and so on up to step 12,296').isVisible());
    await button(p, 'To the end').click();
    assert.match(await p.locator('gemu-stack ol').innerText(), /blocked/);
    assert.doesNotMatch(await p.locator('gemu-stack ol').innerText(), /running/);
    assert.equal(await p.locator('gemu-stack li.running').count(), 0);
  });
});


test('the form has shared memory, clusters, cooperative grids and the seed; wrong values are refused at their fields', { skip, timeout: 300_000 }, async () => {
  const { url } = await play('docs/learn/ifelse.ptx', '-g', '4', '-b', '32', '-a', 'u32[128]', 'u32[128]=iota');
  await opened(url, async (p) => {
    const request = () => p.evaluate(() => (document.querySelector('gemu-player') as unknown as { request: Record<string, unknown> }).request);
    await button(p, 'Edit').click();
    await p.getByText('Shared memory, clusters, schedule').click();
    const field = (name: string) => p.locator(`form.launch [name=${name}]`);
    await field('shared').fill('many');
    await field('seed').fill('-1');
    await field('cluster').fill('2');
    await button(p, 'Run').click();
    assert.match(await p.locator('#fault-shared').innerText(), /"many": want a whole number/);
    assert.match(await p.locator('#fault-seed').innerText(), /"-1": want a whole number/);
    assert.equal(await field('shared').getAttribute('aria-invalid'), 'true');
    assert.equal(await field('cluster').getAttribute('aria-invalid'), 'false');
    assert.equal(await p.evaluate(() => document.querySelector('gemu-player')!.shadowRoot!.activeElement?.getAttribute('name')), 'shared');
    // The engine refuses what only it knows.
    await field('shared').fill('256');
    await field('seed').fill('7');
    await field('cluster').fill('3');
    await button(p, 'Run').click();
    assert.match(await p.locator('#fault-cluster').innerText(), /a grid of \(4,1,1\) cannot be divided into clusters of \(3,1,1\)/);
    await field('cluster').fill('2');
    await field('cooperative').check();
    await button(p, 'Run').click();
    await p.waitForFunction(() => !document.querySelector('gemu-player')!.shadowRoot!.querySelector('.fault'));
    const { shared, seed, cluster, cooperative } = await request();
    assert.deepEqual({ shared, seed, cluster, cooperative }, { shared: 256, seed: 7, cluster: [2, 1, 1], cooperative: true });
    assert.match(await sentence(p), /^Step 1, /);
    // A link has the fields, too; empty fields are the defaults.
    await p.evaluate(() => (navigator.clipboard.writeText = async () => undefined));
    await button(p, 'Share').click();
    await p.locator('dialog').getByRole('button', { name: 'Close' }).click();
    await p.reload();
    await p.waitForSelector('gemu-player[ready]');
    await button(p, 'Edit').click();
    assert.deepEqual([await field('shared').inputValue(), await field('cluster').inputValue(), await field('cooperative').isChecked()], ['256', '2,1,1', true]);
    for (const name of ['shared', 'seed', 'cluster']) await field(name).fill('');
    await field('cooperative').uncheck();
    await button(p, 'Run').click();
    await p.waitForFunction(() => (document.querySelector('gemu-player') as unknown as { request: { shared?: number } }).request.shared === undefined);
    assert.equal((await request()).cluster, undefined);
  });
});

test('registers in decimal or hexadecimal, addresses always in hexadecimal; a link keeps the choice', { skip, timeout: 300_000 }, async () => {
  const { url } = await play('docs/learn/ifelse.ptx', '-g', '1', '-b', '32', '-a', 'u32[32]', 'u32[32]=iota');
  await opened(url, async (p) => {
    const row = async (name: string) => (await p.locator('gemu-registers tr', { has: p.getByRole('rowheader', { name, exact: true }) }).innerText()).split(/\s+/);
    await button(p, 'To the end').click();
    await button(p, 'Step back').click();
    const lane20 = async (name: string) => (await row(name)).at(-12);
    assert.match((await row('%at')).join(' '), /0x[0-9a-f]+ \+ 4 · lane/); // in .u64, below the addresses of a real GPU, too
    assert.equal(await lane20('%i'), '20');
    await button(p, 'hexadecimal').click();
    assert.equal(await lane20('%i'), '14');
    assert.match((await p.getByRole('button', { name: /^lane 20/ }).getAttribute('aria-label'))!, / is 0x/);
    await p.evaluate(() => (navigator.clipboard.writeText = async () => undefined));
    await button(p, 'Share').click();
    await p.locator('dialog').getByRole('button', { name: 'Close' }).click();
    await p.reload();
    await p.waitForSelector('gemu-player[ready]');
    await p.locator('gemu-registers[hex]').waitFor();
    assert.equal(await lane20('%i'), '14');
    await button(p, 'decimal').click();
    assert.equal(await lane20('%i'), '20');
  });
});

test('the playhead leaves the letters free; Tab reaches the lines, the lanes and the registers as one each, in the order of the page', { skip, timeout: 300_000 }, async () => {
  const { url } = await play('docs/learn/ifelse.ptx', '-g', '1', '-b', '32', '-a', 'u32[32]', 'u32[32]=iota');
  await opened(url, async (p) => {
    await button(p, 'To the end').click();
    await button(p, 'Step back').click();
    const top = async (selector: string) => (await p.locator(selector).first().boundingBox())!.y;
    assert.ok((await top('gemu-strip .head-line')) - (await top('gemu-strip .wrap')) >= 15, 'the letters are in the first 15 pixels');
    // The name of the element in focus, through shadow roots, after each Tab.
    const focus = () =>
      p.evaluate(() => {
        let e = document.activeElement;
        while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
        const host = (e?.getRootNode() as ShadowRoot).host?.tagName.toLowerCase() ?? '';
        const box = e!.getBoundingClientRect();
        return { name: `${host} ${e?.getAttribute('aria-label') ?? e?.textContent?.trim() ?? ''}`, top: box.top + scrollY, left: box.left, button: e!.tagName === 'BUTTON' };
      });
    for (const [width, order] of [
      [1280, ['gemu-program', 'gemu-warp', 'gemu-registers']],
      [390, ['gemu-warp', 'gemu-program', 'gemu-registers']],
    ] as const) {
      await p.setViewportSize({ width, height: 900 });
      await p.locator('gemu-strip .wrap').focus();
      const stops: Awaited<ReturnType<typeof focus>>[] = [];
      for (let i = 0; i < 40 && !stops.at(-1)?.name.startsWith('gemu-registers %'); i++) {
        await p.keyboard.press('Tab');
        stops.push(await focus());
      }
      const hosts = stops.map((s) => s.name.split(' ')[0]).filter((h) => (order as readonly string[]).includes(h));
      assert.deepEqual([...new Set(hosts)], order, `${width}`);
      assert.equal(stops.filter((s) => s.name.startsWith('gemu-program Run to line')).length, 1);
      assert.equal(stops.filter((s) => s.name.startsWith('gemu-warp lane')).length, 1);
      assert.ok(stops.some((s) => s.name === 'gemu-program Run to line 34')); // the line of the step
      assert.ok(stops.length < 25, stops.map((s) => s.name).join('\n'));
    }
    await p.keyboard.press('ArrowDown');
    assert.match((await focus()).name, /^gemu-registers %/);
    await button(p, 'Run to line 34').focus();
    await p.keyboard.press('ArrowUp');
    assert.equal((await focus()).name, 'gemu-program Run to line 32');
    await p.keyboard.press('Enter');
    await p.keyboard.press('Shift+Tab');
    await p.keyboard.press('Tab');
    assert.equal((await focus()).name, 'gemu-program Run to line 32');
  });
});
