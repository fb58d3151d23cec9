// The page in Chromium: at 1280 and 390 pixels, light, dark, forced colours, reduced motion, by keyboard alone; axe.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { becomes, button, chooseLesson, clean, go, matches, noSidewaysScrolling, opened as openedAt, quick, says, test } from './chromium.ts';
import { binaryOfGemu, kernel, play, record } from './gemu.ts';
import { examples, serve, type Served } from './server.ts';

let served: Promise<Served> | undefined;

/** start starts the server with the pages of the tests. */
function start(): Promise<Served> {
  const pages: Record<string, object> = Object.fromEntries(examples.map((e) => [e.id, { engine: 'http', example: e.id }]));
  const recording = (args: string[]) => Buffer.from(record(...args).bytes).toString('base64');
  const ifelse = [kernel('ifelse'), '-g', '2', '-b', '40', '-a', 'u32[80]', 'u32[80]=iota'];
  pages.recordings = { engine: 'none', recordings: ['stack', 'frontier'].map((p) => ({ name: p, base64: recording([...ifelse, '--reconverge', p]) })) };
  pages.empty = { engine: 'none' };
  pages.damaged = { engine: 'none', recordings: [{ name: 'x.gemu', base64: Buffer.from('gemurec\x02 damaged').toString('base64') }] };
  pages.banks = { engine: 'none', recordings: [{ name: 'banks', base64: recording(['@transpose', '--max-events', '30000', '--cta', '0']) }] };
  return serve(pages, binaryOfGemu());
}

after(async () => (await served)?.close());

/** opened opens a page of the server. */
async function opened(name: string, options: BrowserContextOptions, f: (p: Page) => Promise<void>): Promise<void> {
  await openedAt((await (served ??= start())).url + name, options, f);
}

const looks: [string, BrowserContextOptions][] = [
  ['1280, light', {}],
  ['1280, dark', { colorScheme: 'dark' }],
  ['390, light', { viewport: { width: 390, height: 844 }, hasTouch: true }],
  ['390, dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
  ['forced colours', { forcedColors: 'active' }],
];

/** places is the steps at which axe looks at the page. */
const places: [number, string][] = [
  [0, 'the start'],
  [10, 'a split'],
  [15, 'the end'],
];

async function faultless(p: Page, where: string): Promise<void> {
  await clean(p, where);
  await noSidewaysScrolling(p, where);
}

for (const [name, options] of looks) {
  quick(`axe finds nothing at the start, at a split and at the end, and the body does not scroll sideways: ${name}`, async () => {
    await opened('ifelse', options, async (p) => {
      for (const [step, where] of places) {
        await go(p, step);
        await faultless(p, where);
      }
    });
  });
  test(`axe finds nothing in views, a question and the editor, and the body does not scroll sideways: ${name}`, async () => {
    await opened('ifelse', options, async (p) => {
      await go(p, 6);
      for (const tab of ['Memory', 'Control flow', 'Results']) {
        await p.getByRole('tab', { name: tab }).click();
        await faultless(p, tab);
      }
      await button(p, 'Help').click();
      await button(p, 'table').first().click();
      await p.getByText('Predict first').click();
      await go(p, 9);
      await p.waitForSelector('.question');
      await faultless(p, 'a question');
      await button(p, 'Edit').click();
      await p.waitForSelector('.cm-editor');
      await faultless(p, 'the editor');
    });
  });
}

quick('step, back, splits, run to a line, the end', async () => {
  await opened('ifelse', {}, async (p) => {
    await says(p, /^Step 1, line 10/);
    await button(p, 'Step').click();
    await says(p, /^Step 2, line 11/);
    await button(p, 'Next split').click();
    await says(p, /^Step 10, line 19\s+@%p bra EVEN\s+All 32 lanes execute it\. The warp splits: the odd lanes go to line 20, the even lanes go to line 23\. Next the odd lanes run, at line 20\.$/);
    await button(p, 'Step back').click();
    await says(p, /^Step 9, line 18/);
    await button(p, 'Run to line 23').click();
    await says(p, /^Step 13, line 23/);
    await matches(p.locator('gemu-warp table'), /the odd lanes\s+D\s*line 25\s+wait at the reconvergence point for the even lanes/);
    await button(p, 'To the end').click();
    await says(p, /^The end. All lanes have ended/);
    await p.locator('input[type=range]').first().fill('3');
    await says(p, /^Step 4, line 13/);
  });
});

test('the strip: click, keys, zoom, table, the other policy', async () => {
  await opened('ifelse', {}, async (p) => {
    const strip = p.locator('gemu-strip').first().locator('.wrap');
    /** at returns the place of a step in the window: 30 pixels of labels, 56 pixels a step. */
    const at = async (step: number, y: number): Promise<[number, number]> => {
      const box = (await strip.boundingBox())!;
      return [box.x + 30 + step * 56, box.y + y];
    };
    await p.mouse.click(...(await at(5.5, 60)));
    await says(p, /^Step 6,/);
    await strip.focus();
    await p.keyboard.press('ArrowRight');
    await says(p, /^Step 7,/);
    await p.keyboard.press('End');
    await p.keyboard.press('ArrowLeft');
    await says(p, /^Step 15,/);
    await matches(async () => (await strip.getAttribute('aria-valuetext'))!, /^Step 15, line 26: ret/);
    // A drag zooms: a step becomes wider.
    await p.mouse.move(...(await at(9.05, 60)));
    await p.mouse.down();
    await p.mouse.move(...(await at(12, 70)), { steps: 4 });
    await p.mouse.up();
    await becomes(
      () => p.evaluate(() => (document.querySelector('gemu-player') as unknown as { view: object }).view),
      (view) => assert.deepEqual(view, { from: 9, to: 13 }),
    );
    await button(p, 'all steps').first().click();
    await button(p, 'table').first().click();
    await matches(p.locator('gemu-strip').first().locator('table'), /11–12\s+B\s+20–21\s+the odd lanes\s+the even lanes wait/);
    await matches(p.locator('gemu-strip').nth(1).locator('.differs'), /As under stack up to step 10; then here line 23 runs, there line 20 runs\./);
    await button(p, 'frontier').click();
    await go(p, 10);
    await says(p, /^Step 11, line 23/);
    // The picture of a lane that waits differs from that of a lane that runs.
    await p.mouse.move(...(await at(10.5, 20)));
    await matches(p.locator('.hover'), /stack: Step 11, lane 0 waits for the odd lanes, which run first/);
  });
});

test('predict first: the future is not drawn until the answer', async () => {
  await opened('ifelse', {}, async (p) => {
    await p.getByText('Predict first').click();
    await button(p, 'To the end').click();
    await says(p, /^Step 10, line 19\s+@%p bra EVEN\s+All 32 lanes execute it\.$/);
    const painted = () =>
      p.evaluate(() => {
        const canvas = document.querySelector('gemu-player')!.shadowRoot!.querySelector('gemu-strip')!.shadowRoot!.querySelector('canvas')!;
        const x = canvas.getContext('2d')!;
        let last = 0;
        const d = x.getImageData(0, 0, canvas.width, canvas.height).data;
        for (let i = 3; i < d.length; i += 4) if (d[i]) last = Math.max(last, ((i - 3) / 4) % canvas.width);
        return last;
      });
    await becomes(painted, (x) => assert.ok(x > 30 && x <= 30 + 10 * 56, `something is drawn after the question, at ${x} pixels`));
    assert.equal(await p.locator('gemu-warp table').count(), 0);
    await button(p, 'All').click();
    await button(p, 'Check').click();
    await matches(p.locator('.verdict'), /Not yet: 16 lanes are different\. Look at %p/);
    await button(p, 'None').click();
    for (let l = 1; l < 32; l += 2) await button(p, `lane ${l}`).click();
    await button(p, 'Check').click();
    await matches(p.locator('.verdict'), /Right: the odd lanes run next, at line 20/);
    await becomes(painted, (x) => assert.ok(x > 30 + 11 * 56, `drawn up to ${x} pixels`));
    await button(p, 'To the end').click();
    await says(p, /^Step 12, line 21/);
    await button(p, 'Show me').click();
    await matches(p.locator('.verdict'), /The even lanes run next, at line 23/);
  });
});

test('a deadlock: the card has the message of gemu', async () => {
  await opened('barbranch', {}, async (p) => {
    await matches(p.locator('gemu-strip .bad'), /deadlock/);
    await button(p, 'To the end').click();
    await says(p, /Deadlock: no thread can make progress/);
    await matches(p.locator('.bad-card pre'), /lanes 0-15 wait at a barrier without lanes 16-31/);
    await clean(p, 'a deadlock');
  });
});

quick('edit and run again: the place stays; an error is at its line', async () => {
  await opened('ifelse', {}, async (p) => {
    await button(p, 'Run to line 23').click();
    await button(p, 'Edit').click();
    const content = p.locator('.cm-content');
    await content.click();
    // Two more instructions at the beginning: the event has another step.
    await p.keyboard.press('Control+Home');
    for (let i = 0; i < 9; i++) await p.keyboard.press('ArrowDown');
    await p.keyboard.type('mov.u32 %b, 7;\nmov.u32 %b, 8;\n');
    await p.keyboard.press('Control+Enter');
    await says(p, /^Step 15, line 25\s+mul.lo.u32 %x, %x, 3/);
    await content.click();
    await p.keyboard.press('Control+Home');
    for (let i = 0; i < 9; i++) await p.keyboard.press('ArrowDown');
    await p.keyboard.type('adx.u32 %b, 7;\n');
    await button(p, 'Run').click();
    await p.waitForSelector('.cm-message');
    await matches(p.locator('.cm-message'), /10:|adx/);
    await matches(p.locator('.cm-bad-line'), /^adx\.u32 %b, 7;$/);
    await clean(p, 'an error');
  });
});

test('a link restores the program and the place', async () => {
  let link = '';
  await opened('ifelse', {}, async (p) => {
    await go(p, 11);
    await button(p, 'frontier').click();
    await p.getByRole('tab', { name: 'Memory' }).click();
    await p.evaluate(() => (navigator.clipboard.writeText = async () => undefined));
    await button(p, 'Share').click();
    link = await p.locator('dialog input').inputValue();
    assert.match(link, /#v1:[\w-]+$/);
    assert.ok(link.length < 2000, `${link.length} characters`);
  });
  await opened('spin' + new URL(link).hash, {}, async (p) => {
    await p.locator('gemu-strip').nth(1).waitFor();
    await says(p, /^Step 12, line 20/); // under frontier
    await p.locator('[role=tab][aria-selected=true]', { hasText: 'Memory' }).waitFor();
  });
});

test('recordings: several warps and CTAs, a file, a damaged file', async () => {
  await opened('recordings', {}, async (p) => {
    assert.equal(await p.locator('gemu-strip').count(), 2);
    await go(p, 10);
    await button(p, '(1,0,0) w1').or(p.getByRole('button', { name: '(1,0,0) w1' })).first().click();
    await matches(p.locator('.state h2').first(), /CTA \(1,0,0\), warp 1, 8 lanes/);
    await clean(p, 'several warps');
    const { file } = record(kernel('early'), '-g', '1', '-b', '32', '-a', 'u32[32]', '20');
    await p.locator('#file').setInputFiles(file);
    await matches(p.locator('h1'), /^early$/);
    await p.locator('#file').setInputFiles({ name: 'x.gemu', mimeType: '', buffer: Buffer.from(readFileSync(file)).subarray(0, 300) });
    await p.waitForSelector('.bad-card');
  });
  await opened('damaged', {}, async (p) => {
    await matches(p.locator('.bad-card'), /x\.gemu: at byte 8: the recording ends before its first block/);
    await clean(p, 'a damaged file');
  });
  await opened('empty', {}, (p) => clean(p, 'no recording'));
});

quick('by keyboard alone: to the split, an answer, a tab', async () => {
  await opened('ifelse', { reducedMotion: 'reduce' }, async (p) => {
    await p.keyboard.press('Shift+ArrowRight');
    await says(p, /^Step 10,/);
    await p.keyboard.press('ArrowLeft');
    await p.keyboard.press('Home');
    await says(p, /^Step 1,/);
    const name = () =>
      p.evaluate(() => {
        let e: Element | null = document.activeElement;
        while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
        return e?.getAttribute('aria-label') ?? e?.textContent?.trim() ?? '';
      });
    const tabTo = async (want: RegExp) => {
      for (let i = 0; i < 90; i++) {
        await p.keyboard.press('Tab');
        if (want.test(await name())) {
          const outline = await p.evaluate(() => {
            let e: Element | null = document.activeElement;
            while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
            return getComputedStyle(e!).outlineStyle;
          });
          assert.notEqual(outline, 'none', `the focus of ${want} is visible`);
          return;
        }
      }
      assert.fail(`no ${want} by Tab`);
    };
    // Keys move the playhead from the check box, too; Space is its own.
    await p.getByRole('checkbox', { name: 'Predict first' }).focus();
    await p.keyboard.press('ArrowRight');
    await says(p, /^Step 2,/);
    await p.keyboard.press('Space');
    assert.ok(await p.getByRole('checkbox', { name: 'Predict first' }).isChecked());
    await p.keyboard.press('Space');
    await p.keyboard.press('Home');
    await tabTo(/^Next split$/);
    await p.keyboard.press('Enter');
    await says(p, /^Step 10,/);
    await tabTo(/^Lanes over time, stack$/);
    await tabTo(/^lane 0: /);
    await p.keyboard.press('ArrowRight');
    await matches(name, /^lane 1: /);
    await p.keyboard.press('Space');
    await becomes(
      () => p.evaluate(() => (document.querySelector('gemu-player') as unknown as { lane: number }).lane),
      (lane) => assert.equal(lane, 1),
    );
    await tabTo(/^Registers$/);
    await p.keyboard.press('ArrowRight');
    await p.locator('[role=tab][aria-selected=true]', { hasText: 'Memory' }).waitFor();
    await p.locator('gemu-memory').waitFor();
  });
});

test('targets are at least 24 pixels high', async () => {
  await opened('ifelse', { viewport: { width: 390, height: 844 } }, async (p) => {
    const small = await p.evaluate(() => {
      const list: string[] = [];
      const visit = (root: ParentNode) => {
        for (const e of root.querySelectorAll('*')) {
          if (e.shadowRoot) visit(e.shadowRoot);
          if (!e.matches('button, select, input:not([hidden]), summary')) continue;
          const r = e.getBoundingClientRect();
          // Line numbers are one below the other without a gap, 22 pixels high: the spacing exception does not hold, so they count.
          if (r.width && r.height && (r.height < 22 || r.width < 22)) list.push(`${e.tagName} ${e.getAttribute('aria-label') ?? e.textContent}: ${r.width} × ${r.height}`);
        }
      };
      visit(document);
      return list;
    });
    assert.deepEqual(small, []);
  });
});

test('memory: sectors of a load, banks of shared memory', async () => {
  await opened('strided', {}, async (p) => {
    await button(p, 'Run to line 15').click();
    await p.getByRole('tab', { name: 'Memory' }).click();
    await matches(p.locator('gemu-memory .card p').first(), /All 32 lanes load 4 bytes each from global memory.* 32 sectors of 32 bytes; 12\.5 % of the transferred bytes are used/);
    assert.equal(await p.locator('gemu-memory .arc').count(), 32);
    assert.equal(await p.locator('gemu-memory .sector').count(), 32);
  });
  await opened('banks', {}, async (p) => {
    await p.getByRole('tab', { name: 'Memory' }).click();
    for (let i = 0; i < 20 && !(await p.locator('gemu-memory .word').count()); i++) await button(p, 'next access →').click();
    assert.ok((await p.locator('gemu-memory .word').count()) >= 32);
    await clean(p, 'banks');
  });
  // The lesson: stride 8, width 32.
  const { url } = await play('--example', 'memory');
  await openedAt(url, { viewport: { width: 390, height: 900 } }, async (p) => {
    await p.getByRole('tab', { name: 'Memory' }).click();
    const rows = p.locator('gemu-memory tbody tr');
    const cells = () => rows.evaluateAll((l) => l.map((r) => [...r.children].map((c) => (c as HTMLElement).innerText.trim()).join(' ')));
    assert.deepEqual(await cells(), ['19 global 32 12.5 % – 1 ld.global.u32 %x, [%at]', '25 shared – – 32 1 st.shared.u32 [%place], %x', '29 shared – – 32 1 ld.shared.u32 %x, [%place]', '32 global 4 100 % – 1 st.global.u32 [%at], %x']);
    await button(p, 'Go to line 25').click();
    await says(p, /^Step 11, line 25/);
    await matches(p.locator('gemu-memory .card p').first(), /32 passes through the banks/);
    const picture = (await p.locator('gemu-memory svg').boundingBox())!;
    assert.ok(picture.x >= 0 && picture.x + picture.width <= 390, JSON.stringify(picture));
    assert.equal(await p.locator('gemu-memory .word').count(), 32);
    // With predict first, accesses after the question are not shown.
    await chooseLesson(p, 'ifelse');
    await p.getByRole('tab', { name: 'Memory' }).click();
    const lines = async (want: string[]) => becomes(async () => (await cells()).map((c) => c.split(' ')[0]), (got) => assert.deepEqual(got, want));
    await lines(['17', '32']);
    await p.getByRole('checkbox', { name: 'Predict first' }).check();
    await lines(['17']);
  });
});

test('a strip as SVG and PNG', async () => {
  await opened('ifelse', {}, async (p) => {
    const [svg] = await Promise.all([p.waitForEvent('download'), button(p, 'Save stack as SVG').click()]);
    const text = readFileSync((await svg.path())!, 'utf8');
    assert.equal(svg.suggestedFilename(), 'ifelse-stack.svg');
    assert.match(text, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    assert.match(text, /<title>stack: 15 instructions/);
    const [png] = await Promise.all([p.waitForEvent('download'), button(p, 'Save stack as PNG').click()]);
    assert.equal(readFileSync((await png.path())!).subarray(1, 4).toString(), 'PNG');
  });
});

test('a page that embeds the page steers it by messages', async () => {
  await opened('empty', {}, async (p) => {
    const address = (await served!).url;
    await p.goto(address + 'outer');
    await p.evaluate((url) => {
      const w = window as unknown as { got: { gemu: string; step?: number; line?: number }[] };
      w.got = [];
      addEventListener('message', (e) => w.got.push(e.data));
      document.body.innerHTML = `<iframe src="${url}" style="width:800px;height:600px"></iframe>`;
    }, address + 'recordings');
    const got = () => p.evaluate(() => (window as unknown as { got: { gemu: string; step: number; line: number }[] }).got);
    await p.waitForFunction(() => (window as unknown as { got: { gemu: string }[] }).got.some((m) => m.gemu === 'ready'));
    await p.evaluate(() => document.querySelector('iframe')!.contentWindow!.postMessage({ gemu: 'step', step: 9 }, '*'));
    await p.waitForFunction(() => (window as unknown as { got: { gemu: string; step: number }[] }).got.some((m) => m.gemu === 'state' && m.step === 9));
    assert.equal((await got()).find((m) => m.gemu === 'state')!.line, 19);
  });
});

quick('hostile texts are shown as texts', async () => {
  await opened('empty', {}, async (p) => {
    const { bytes } = record(kernel('hostile'), '-g', '1', '-b', '32', '-a', 'u32[32]');
    await p.locator('#file').setInputFiles({ name: '<img src=x onerror=alert(1)>.gemu', mimeType: '', buffer: Buffer.from(bytes) });
    await p.waitForSelector('gemu-program');
    await matches(p.locator('gemu-program .rows'), /<img src=x onerror=alert\(1\)> <\/script>/);
    assert.equal(await p.locator('gemu-program img').count(), 0);
  });
});
