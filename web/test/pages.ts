// The pages that gemu's commands write: axe finds nothing on any of them, and no page scrolls sideways, at 1280 and 390 pixels,
// light and dark. GEMU_PAGES=DIR keeps the pages and pictures of them in DIR.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { clean, launch, noSidewaysScrolling, test } from './chromium.ts';
import { gemu, kernel, root } from './gemu.ts';

const kept = process.env.GEMU_PAGES;
const dir = kept ?? mkdtempSync(path.join(tmpdir(), 'gemu-pages-'));
mkdirSync(dir, { recursive: true });

const spin = [kernel('spin'), '-g', '1', '-b', '32', '-a', 'u32[1]', 'u32[1]'];
const commands: Record<string, string[]> = {
  structure: ['structure', '@mandelbrot', '--size', '64'],
  'structure-divergent': ['structure', ...spin],
  'structure-small': ['structure', path.join(root, 'docs/learn/scheduling.ptx'), '-g', '1', '-b', '2', '-a', 'u32[2]'],
  profile: ['profile', '@bfs', '--size', '300'],
  'profile-loop': ['profile', ...spin],
  'profile-cliffs': ['profile', '@sgemm', '--show', 'summary,cliffs'],
  machine: ['machine', '@spmv', '--show', 'total,lines,buffers,limits,differences,locality,rows,compression', '--sweep', 'l2=32K,64K,128K', '--sweep', 'l2.policy=lru,drrip'],
  'machine-stalls': ['machine', '@saxpy', '--size', '4000', '--show', 'cycles,stalls', '--sweep', 'sms=2,4', '--with', 'ldesc=auto'],
  'machine-source': ['machine', path.join(root, 'docs/transposes.ptx'), '-k', 'naive', '-g', '4,4', '-b', '32,32', '-a', 'f32[128x128]=iota', 'f32[16384]', '128'],
  regfile: ['regfile', '@mandelbrot', '--size', '64'],
  compare: ['compare', 'kim2013', '--table', 'figure2'],
};

for (const [name, command] of Object.entries(commands)) {
  test(`gemu ${command[0]} writes a page without faults: ${name}`, async () => {
    const file = path.join(dir, `${name}.html`);
    gemu(...command, '--html', file);
    for (const width of [1280, 390]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const context = await (await launch()).newContext({ viewport: { width, height: 900 }, colorScheme });
        const page = await context.newPage();
        await page.goto(`file://${file}`);
        if (/^(structure|profile|machine)/.test(name)) await page.waitForSelector('gemu-report[ready]');
        if (kept) writeFileSync(path.join(dir, `${name}-${width}-${colorScheme}.png`), await page.screenshot({ fullPage: true }));
        const what = `${name} at ${width} pixels, ${colorScheme}`;
        await noSidewaysScrolling(page, what);
        await clean(page, what);
        await context.close();
      }
    }
  });
}

/** texts returns the texts of the cells of a table, row by row. */
const texts = (t: Locator): Promise<string[][]> => t.evaluate((e) => [...e.querySelectorAll('tbody tr')].map((r) => [...r.children].map((c) => (c as HTMLElement).innerText.trim())));

test('a report shows the counts that --json has; each chart has them as a table; the sources have all their lines', async () => {
  const opened = async (file: string): Promise<Page> => {
    const page = await (await launch()).newPage();
    await page.goto(`file://${file}`);
    await page.waitForSelector('gemu-report[ready]');
    for (const s of await page.locator('summary').all()) await s.click();
    return page;
  };
  const [file, json] = ['html', 'json'].map((x) => path.join(dir, `report.${x}`));
  gemu(...commands.structure, '--html', file, '--json', json);
  const want = JSON.parse(readFileSync(json, 'utf8')) as {
    instructions: { line: number; text: string; execs: number; class: string }[];
    active_lanes: number[];
    bars: Record<string, { uniform: number; affine: number; generic: number }>;
  };
  let page = await opened(file);
  const rows = (await texts(page.locator('gemu-listing table'))).filter((r) => /^\d+$/.test(r[2]));
  assert.deepEqual(
    rows.map((r) => [Number(r[2]), r[4], Number(r[5])]),
    want.instructions.map((i) => [i.line, i.text, i.execs]),
  );
  assert.ok((await page.locator('gemu-listing svg.flow path').count()) >= 2);
  const letters = (await texts(page.locator('gemu-listing table'))).map((r) => r[1]).join('');
  assert.equal(letters, 'ABCDEFGHI');
  const counts = want.active_lanes.flatMap((n, lanes) => (n ? [[String(lanes), n.toLocaleString('en')]] : []));
  assert.deepEqual((await texts(page.locator('gemu-histogram table'))).map((r) => r.slice(0, 2)), counts);
  const bars = Object.fromEntries((await texts(page.locator('gemu-shares table'))).map(([name, ...cells]) => [name.replace(' ', '_'), cells.map((c) => Number(/\((.*)\)/.exec(c)?.[1].replaceAll(',', '') ?? 0))]));
  assert.deepEqual(bars, Object.fromEntries(Object.entries(want.bars).map(([k, b]) => [k, [b.uniform, b.affine, b.generic]])));
  await page.close();

  gemu('profile', path.join(root, 'docs/transposes.ptx'), '-k', 'tiled', '-g', '2,2', '-b', '32,32', '-a', 'f32[64x64]', 'f32[4096]', '64', '--html', file);
  page = await opened(file);
  const lines = await texts(page.locator('gemu-listing table').first());
  assert.equal(lines.map((r) => r[2]).join('\n').trim(), readFileSync(path.join(root, 'docs/transposes.cu'), 'utf8').split('\n').map((l) => l.trim()).join('\n').trim());
  // Each of 128 warps reads a column of the tile: 31 conflicts.
  assert.deepEqual(lines.find((r) => r[2].startsWith('out[at(y, x, n)] = tile'))?.slice(3), ['1024', '22.2 %', '32.0', '-', '4.0', '100 %', '3968']);
  await page.close();
});

test('a page of machines shows the counts that --json has; each chart has a table, whose rows are those of the chart', async () => {
  const [file, json] = ['html', 'json'].map((x) => path.join(dir, `machines.${x}`));
  gemu(...commands.machine, '--html', file, '--json', json);
  const want = JSON.parse(readFileSync(json, 'utf8')) as { machines: { name: string; total: Record<string, number>; dirty: number; lines: { line: number; counts: Record<string, number> }[] }[] };
  const page = await (await launch()).newPage();
  await page.goto(`file://${file}`);
  await page.waitForSelector('gemu-report[ready]');
  for (const s of await page.locator('summary').all()) await s.click();
  const block = (title: string) => page.locator('gemu-block').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
  const totals = await texts(block('Counts of all launches, in sectors of 32 bytes').locator('table'));
  assert.deepEqual(
    totals.map((r) => [r[0], ...[1, 2, 4, 6, 7, 8].map((i) => Number(r[i]))]),
    want.machines.map(({ name, total: t, dirty }) => [name, t.requests, t.loads, t.stores + t.atomics, t.reads, t.write_backs, dirty]),
  );
  const read = block('Sectors read from memory by l2');
  assert.deepEqual(await texts(read.locator('table')), ['lru', 'drrip'].map((p) => [`v100 l2.policy=${p}`, ...want.machines.filter((m) => m.name.endsWith(`=${p}`)).map((m) => String(m.total.reads))]));
  assert.deepEqual(
    (await read.locator('.area i').evaluateAll((list) => list.map((i) => (i as HTMLElement).title))).map((t) => Number(t.replace(/.*: /, '').replace(',', ''))),
    ['lru', 'drrip'].flatMap((p) => want.machines.filter((m) => m.name.endsWith(`=${p}`)).map((m) => m.total.reads)),
  );
  for (const b of await page.locator('gemu-block').all()) {
    const [bars, heat, plot] = [await b.locator('.bars .bar').count(), await b.locator('.heat').count(), await b.locator('polyline').count()];
    if (bars || plot) assert.equal(await b.locator('tbody tr').count(), bars || plot, await b.locator('h3').innerText());
    if (heat) assert.ok((await b.locator('tbody tr').count()) > 0);
  }
  const lines = (await texts(page.locator('gemu-listing table'))).filter((r) => r[2]);
  assert.deepEqual(lines.map((r) => [Number(r[0]), Number(r[2])]), want.machines[0].lines.map((l) => [l.line, l.counts.requests]));
  await page.close();
});
