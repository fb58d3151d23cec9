// The page of gemu play in Chromium.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import type { Request } from '../src/engine.ts';
import { toHash } from '../src/permalink.ts';
import { becomes, button, chooseLesson, matches, opened, ready, says, test } from './chromium.ts';
import { builtSite, play, singleFile, written } from './gemu.ts';
import { listening, serveFiles } from './server.ts';

let served: ReturnType<typeof play> | undefined;

/** lessons returns the address of gemu play with the lessons. */
const lessons = (): ReturnType<typeof play> => (served ??= play());

const endless = '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nL:\n\tbra L;\n}\n';

test('PTX with an error, and PTX without a kernel, open in the editor', async () => {
  const { url, notes } = await play(written('bad.ptx', 'this is not ptx\n'));
  assert.match(notes, /bad\.ptx:1:1: /);
  await opened(url, {}, async (p) => {
    await matches(p.locator('.cm-bad-line'), /^this is not ptx$/);
    await matches(p.locator('.cm-message'), /bad\.ptx:1:1/);
    assert.equal(await p.getByText('running…').count(), 0);
    // A file of the page: the same.
    await p.locator('#file').setInputFiles({ name: 'worse.ptx', mimeType: '', buffer: Buffer.from('.version 8.0\n.target sm_80\nworse\n') });
    await matches(p.locator('.cm-message'), /worse/);
    await matches(p.locator('.cm-bad-line'), /^worse$/);
  });
  const none = await play(written('none.ptx', '.version 8.0\n.target sm_80\n'));
  assert.match(none.notes, /none\.ptx has no kernel/);
  await opened(none.url, {}, async (p) => {
    await p.waitForSelector('.cm-content');
    await matches(p.locator('.bad-card'), /kernel/);
  });
});

test('a loop without an end has no steps, and the page says so', async () => {
  const { url } = await play(written('endless.ptx', endless), '-g', '1', '-b', '32');
  await opened(url, {}, async (p) => {
    await says(p, /No step was recorded\. All 32 lanes are at line 7\./);
    assert.ok(await button(p, 'Play').isDisabled());
  });
});

test('a launch without its arguments opens the form', async () => {
  const { url } = await play('docs/learn/return.ptx', '-g', '1', '-b', '32');
  await opened(url, {}, async (p) => {
    await matches(p.locator('.bad-card'), /Missing arguments, in the form below: out: an array such as u32\[32\]/);
    await p.waitForFunction(() => document.querySelector('gemu-player')!.shadowRoot!.activeElement?.getAttribute('name') === 'argument');
  });
});

test('a reload keeps the lesson and the step; an edited lesson can be restored', async () => {
  const { url } = await lessons();
  await opened(url + '#example=memory&step=6', {}, async (p) => {
    await says(p, /^Step 6, line 19/);
    await button(p, 'Step').click();
    await p.waitForFunction(() => location.hash === '#example=memory&step=7');
    await p.reload();
    await ready(p);
    await says(p, /^Step 7, /);
    assert.equal(await button(p, 'Restore').count(), 0);
    await button(p, 'Edit').click();
    await p.locator('.argument input').nth(2).fill('4');
    await button(p, 'Run').click();
    await button(p, 'Restore').click();
    await button(p, 'Restore').waitFor({ state: 'detached' });
  });
});

test('a lesson is read up to its question; a deadlock is blocked; its strip does not squeeze the others', async () => {
  const { url } = await play('--example', 'lock');
  await opened(url, {}, async (p) => {
    await p.locator('summary', { hasText: 'Read' }).click();
    await p.locator('.prose pre').first().waitFor();
    assert.doesNotMatch(await p.locator('.prose').first().innerText(), /##|```|Question|Answer|lanes 1 to 31 leave the loop, too/);
    await becomes(
      () => p.evaluate(() => (document.querySelector('gemu-player') as unknown as { view: { to: number } }).view.to),
      (to) => assert.equal(to, 333), // its:8 takes 332 steps
    );
    await p.getByText('… and so on up to step 12,296').waitFor();
    await button(p, 'To the end').click();
    await matches(p.locator('gemu-stack ol'), /blocked/);
    assert.doesNotMatch(await p.locator('gemu-stack ol').innerText(), /running/);
    assert.equal(await p.locator('gemu-stack li.running').count(), 0);
  });
});

const counting = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u64 %out;
	.reg .u32 %n;
	ld.param.u64 %out, [out];
L:
	add.u32 %n, %n, 1;
	st.global.u32 [%out], %n;
	bra L;
}
`;

test('an endless kernel and a huge grid stop at the limit of events', async () => {
  for (const [grid, source] of [
    ['1', counting],
    ['2147483647,65535,65535', counting.replace('\tbra L;', '\tret;')],
  ]) {
    const { url } = await play(written('counting.ptx', source), '-g', grid, '-b', '1024', '-a', 'u32[1]');
    await opened(url, {}, async (p) => {
      await says(p, /^Step 1, line 8/);
      await button(p, 'To the end').click();
      await matches(p.locator('.card', { hasText: 'Stopped' }), /Stopped at the limit of 200,?000 events\. Later steps are not shown/);
    });
  }
});

/** huge is a number of events and of steps that no run reaches within the tests; the engine in WebAssembly stops at a million events. */
const huge = 1e12;

/** stopped runs an endless kernel, stops it long before the engine's limits would, and then opens a lesson. The engine itself ends an endless loop without effect. */
async function stopped(p: Page): Promise<void> {
  const request: Request = { name: 'counting.ptx', source: counting, kernel: 'k', grid: [1, 1, 1], block: [1024, 1, 1], arguments: ['u32[1]'], maxEvents: huge };
  for (let i = 0; i < 2; i++) {
    // The address may still be that of the last time, if the page has not written that of the lesson yet; the same one would not be opened.
    await p.evaluate((hash) => (history.replaceState(null, '', '#'), (location.hash = hash)), toHash({ request, policies: ['stack', 'its', 'pc2', 'frontier'] }));
    await button(p, 'Stop').first().dispatchEvent('click'); // not click, which waits until the strips no longer move
    await matches(p.locator('.strip .bad').first(), /You have stopped this run/);
    await chooseLesson(p, 'ifelse');
    await says(p, /^Step 1, line 13/);
  }
}

/** changed steps, goes back, runs a changed program, and stops an endless one. */
async function used(p: Page): Promise<void> {
  await chooseLesson(p, 'ifelse');
  await says(p, /^Step 1, line 13/);
  await button(p, 'Step').click();
  await says(p, /^Step 2, line 15/);
  await button(p, 'Step back').click();
  await says(p, /^Step 1, line 13/);
  await button(p, 'Edit').click();
  await p.locator('.argument input').nth(1).fill('u32[32]=7');
  await button(p, 'Run').click();
  await p.getByRole('tab', { name: 'Results' }).click();
  await matches(p.locator('.values').first(), /^0\s*21\s*1\s*107\s*2\s*21\s/);
  await stopped(p);
}

test('gemu play: a lesson, a changed program, an endless one that is stopped', async () => {
  await opened((await play('--steps', String(huge), '--events', String(huge))).url, {}, used);
});

test('the page as files with the engine in WebAssembly: a lesson, a changed program, an endless one that is stopped', async () => {
  const files = await serveFiles(builtSite());
  try {
    await opened(files.url, {}, used);
  } finally {
    files.close();
  }
});

test('the page as one file with the engine in WebAssembly: a lesson, a changed program, an endless one that is stopped', async () => {
  await opened(pathToFileURL(singleFile()).href, {}, used);
});

test('a script in the page cannot send anything to another site', async () => {
  let reached = 0;
  const other = await listening(createServer((_, res) => (reached++, res.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end())));
  const address = new URL(other.url).host + '/';
  const files = await serveFiles(builtSite());
  try {
    for (const url of [(await lessons()).url, files.url, pathToFileURL(singleFile()).href]) {
      await opened(url, {}, async (p, errors) => {
        await p.evaluate((address) => {
          const refused: string[] = ((window as unknown as { refused: string[] }).refused = []);
          document.addEventListener('securitypolicyviolation', (e) => refused.push(e.effectiveDirective));
          void fetch('http://' + address).catch(() => undefined);
          try {
            new WebSocket('ws://' + address);
          } catch {}
          try {
            new EventSource('http://' + address);
          } catch {}
          navigator.sendBeacon('http://' + address);
          const script = document.createElement('script');
          script.src = 'http://' + address;
          document.body.append(script);
          document.body.insertAdjacentHTML(
            'beforeend',
            `<img src="http://${address}"><iframe src="http://${address}"></iframe><link rel="stylesheet" href="http://${address}"><video src="http://${address}"></video><object data="http://${address}"></object><form method="post" action="http://${address}"></form>`,
          );
          document.querySelector('form')!.submit();
        }, address);
        await becomes(
          () => p.evaluate(() => (window as unknown as { refused: string[] }).refused.sort().join(' ')),
          (refused) => assert.equal(refused, 'connect-src connect-src connect-src connect-src form-action frame-src img-src media-src object-src script-src-elem style-src-elem'),
        );
        assert.equal(reached, 0);
        errors.length = 0;
      });
    }
  } finally {
    files.close();
    other.close();
  }
});

test('the form has shared memory, clusters, cooperative grids and the seed; wrong values are refused at their fields', async () => {
  const { url } = await play('docs/learn/ifelse.ptx', '-g', '4', '-b', '32', '-a', 'u32[128]', 'u32[128]=iota');
  await opened(url, {}, async (p) => {
    const request = () => p.evaluate(() => (document.querySelector('gemu-player') as unknown as { request: Record<string, unknown> }).request);
    await button(p, 'Edit').click();
    await p.getByText('Shared memory, clusters, schedule').click();
    const field = (name: string) => p.locator(`form.launch [name=${name}]`);
    await field('shared').fill('many');
    await field('seed').fill('-1');
    await field('cluster').fill('2');
    await button(p, 'Run').click();
    await matches(p.locator('#fault-shared'), /"many": want a whole number/);
    await matches(p.locator('#fault-seed'), /"-1": want a whole number/);
    assert.equal(await field('shared').getAttribute('aria-invalid'), 'true');
    assert.equal(await field('cluster').getAttribute('aria-invalid'), 'false');
    assert.equal(await p.evaluate(() => document.querySelector('gemu-player')!.shadowRoot!.activeElement?.getAttribute('name')), 'shared');
    // The engine refuses what only it knows.
    await field('shared').fill('256');
    await field('seed').fill('7');
    await field('cluster').fill('3');
    await button(p, 'Run').click();
    await matches(p.locator('#fault-cluster'), /a grid of \(4,1,1\) cannot be divided into clusters of \(3,1,1\)/);
    await field('cluster').fill('2');
    await field('cooperative').check();
    await button(p, 'Run').click();
    await p.waitForFunction(() => !document.querySelector('gemu-player')!.shadowRoot!.querySelector('.fault'));
    const { shared, seed, cluster, cooperative } = await request();
    assert.deepEqual({ shared, seed, cluster, cooperative }, { shared: 256, seed: 7, cluster: [2, 1, 1], cooperative: true });
    await says(p, /^Step 1, /);
    // A link has the fields, too; empty fields are the defaults.
    await p.evaluate(() => (navigator.clipboard.writeText = async () => undefined));
    await button(p, 'Share').click();
    await p.locator('dialog').getByRole('button', { name: 'Close' }).click();
    await p.reload();
    await ready(p);
    await button(p, 'Edit').click();
    assert.deepEqual([await field('shared').inputValue(), await field('cluster').inputValue(), await field('cooperative').isChecked()], ['256', '2,1,1', true]);
    for (const name of ['shared', 'seed', 'cluster']) await field(name).fill('');
    await field('cooperative').uncheck();
    await button(p, 'Run').click();
    await p.waitForFunction(() => (document.querySelector('gemu-player') as unknown as { request: { shared?: number } }).request.shared === undefined);
    assert.equal((await request()).cluster, undefined);
  });
});

test('registers in decimal or hexadecimal, addresses always in hexadecimal; a link keeps the choice', async () => {
  const { url } = await play('docs/learn/ifelse.ptx', '-g', '1', '-b', '32', '-a', 'u32[32]', 'u32[32]=iota');
  await opened(url, {}, async (p) => {
    const row = async (name: string) => (await p.locator('gemu-registers tr', { has: p.getByRole('rowheader', { name, exact: true }) }).innerText()).split(/\s+/);
    await button(p, 'To the end').click();
    await button(p, 'Step back').click();
    const lane20 = async (name: string) => (await row(name)).at(-12);
    assert.match((await row('%at')).join(' '), /0x[0-9a-f]+ \+ 4 · lane/); // in .u64, below the addresses of a real GPU, too
    assert.equal(await lane20('%i'), '20');
    await button(p, 'hexadecimal').click();
    assert.equal(await lane20('%i'), '14');
    await p.getByRole('button', { name: /^lane 20: .* is 0x/ }).waitFor();
    await p.evaluate(() => (navigator.clipboard.writeText = async () => undefined));
    await button(p, 'Share').click();
    await p.locator('dialog').getByRole('button', { name: 'Close' }).click();
    await p.reload();
    await ready(p);
    await p.locator('gemu-registers[hex]').waitFor();
    assert.equal(await lane20('%i'), '14');
    await button(p, 'decimal').click();
    assert.equal(await lane20('%i'), '20');
  });
});

test('the playhead leaves the letters free; Tab reaches the lines, the lanes and the registers as one each, in the order of the page', async () => {
  const { url } = await play('docs/learn/ifelse.ptx', '-g', '1', '-b', '32', '-a', 'u32[32]', 'u32[32]=iota');
  await opened(url, {}, async (p) => {
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

test('the page offers the policies of the engine, with their descriptions', async () => {
  const { url } = await play('--example', 'ifelse');
  await opened(url, {}, async (p) => {
    const known = JSON.parse((await p.locator('#gemu-start').textContent())!).knownPolicies as { name: string; doc: string }[];
    assert.ok(known.length > 6 && known.every((x) => x.name && x.doc));
    const used = await p.evaluate(() => (document.querySelector('gemu-player') as unknown as { policies: string[] }).policies);
    const options = await p.locator('select', { has: p.locator('option[value=frontier], option[value=pc2]') }).last().locator('option:not([value=""])').evaluateAll((l) => l.map((o) => ({ name: (o as HTMLOptionElement).value, doc: (o as HTMLOptionElement).title })));
    assert.deepEqual(options, known.filter((x) => !used.includes(x.name)));
  });
});
