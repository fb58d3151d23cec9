// The widget in JupyterLab itself, with the kernel of Python and anywidget: GEMU_JUPYTER names the program jupyter of an environment
// with JupyterLab and the package gemu; without it the test is left out. GEMU_PAGES=DIR keeps pictures in DIR.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import type { Page } from 'playwright-core';
import { becomes, launch, matches, test } from './chromium.ts';
import { kernel, root } from './gemu.ts';

const jupyter = process.env.GEMU_JUPYTER ?? '';
const folder = mkdtempSync(path.join(tmpdir(), 'gemu-jupyter-'));
let server: ChildProcess | undefined;
after(() => {
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** cells are the code cells of the notebook: a recording, a program that runs in the page, and the step that Python sees. */
const cells = [
  `import os, gemu, numpy as np
os.chdir(${JSON.stringify(root)})  # the engine of the page is built from the source
module = gemu.load(${JSON.stringify(kernel('ifelse'))})
result = module.ifelse[1, 32](np.zeros(32, np.uint32), np.arange(32, dtype=np.uint32), record="all")
player = gemu.Player(result, step=9)
player`,
  `program = gemu.Player.program(open(${JSON.stringify(kernel('ifelse'))}).read(), block=32, arguments=["u32[32]", "u32[32]=iota"], policies=["stack", "its:8"])
program`,
  `print("Python sees step", player.step)`,
];

/** serve starts JupyterLab in the folder and returns the address of its notebook. */
async function serve(): Promise<string> {
  const notebook = {
    cells: cells.map((source, n) => ({ cell_type: 'code', execution_count: null, id: 'c' + n, metadata: {}, outputs: [], source })),
    metadata: { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } },
    nbformat: 4,
    nbformat_minor: 5,
  };
  writeFileSync(path.join(folder, 'notebook.ipynb'), JSON.stringify(notebook));
  const environment = { ...process.env, JUPYTER_CONFIG_DIR: path.join(folder, 'config'), IPYTHONDIR: path.join(folder, 'ipython'), PATH: path.dirname(jupyter) + ':' + process.env.PATH };
  server = spawn(jupyter, ['lab', '--no-browser', '--allow-root', '--port=0', '--ServerApp.ip=127.0.0.1', '--IdentityProvider.token=t', `--ServerApp.root_dir=${folder}`], { env: environment });
  const origin = await new Promise<string>((resolve, reject) => {
    let output = '';
    server!.stderr!.on('data', (chunk: Buffer) => {
      output += chunk;
      const address = /http:\/\/127\.0\.0\.1:\d+\//.exec(output);
      if (address) resolve(address[0]);
    });
    server!.on('exit', () => reject(new Error(`JupyterLab ended:\n${output}`)));
  });
  await becomes(() => fetch(origin + 'api').then((r) => r.ok, () => false), assert.ok); // it names its address before it listens
  return origin + 'lab/tree/notebook.ipynb?token=t&reset';
}

/** runCell runs the cell with a number. */
async function runCell(p: Page, number: number): Promise<void> {
  await p.locator('.jp-CodeCell .cm-content').nth(number).click();
  await p.keyboard.press('Control+Enter');
}

if (jupyter !== '')
  test('JupyterLab shows the widget, and Python follows its step', async () => {
    const context = await (await launch()).newContext({ viewport: { width: 1280, height: 1800 }, colorScheme: null });
    context.setDefaultTimeout(180_000);
    const p = await context.newPage();
    try {
      await p.goto(await serve());
      await p.locator('.jp-CodeCell').nth(2).waitFor();
      await p.getByText(/Python 3.*Idle/).first().waitFor(); // the kernel has started
      const frame = (cell: number) => p.locator('.jp-CodeCell').nth(cell).frameLocator('iframe');
      await runCell(p, 0);
      await frame(0).locator('gemu-player[ready]').waitFor();
      await matches(frame(0).locator('.sentence'), /^Step 10, line 19\s/);
      await frame(0).getByRole('button', { name: 'Step', exact: true }).click();
      await matches(frame(0).locator('.sentence'), /^Step 11, line 20\s/);
      const output = p.locator('.jp-CodeCell').nth(2).locator('.jp-OutputArea-output');
      await becomes(
        async () => {
          await runCell(p, 2);
          await output.first().waitFor();
          return output.first().innerText();
        },
        (text) => assert.equal(text.trim(), 'Python sees step 10'),
      );
      await runCell(p, 1);
      await frame(1).locator('gemu-player[ready]').waitFor();
      await becomes(() => frame(1).locator('gemu-strip').count(), (n) => assert.equal(n, 2));
      assert.equal(await frame(1).getByRole('combobox', { name: 'Example' }).inputValue(), '', 'a lesson is chosen');
      await matches(frame(1).locator('.sentence'), /^Step 1, line 10\s/);
    } finally {
      if (process.env.GEMU_PAGES) await p.screenshot({ path: path.join(process.env.GEMU_PAGES, 'jupyter.png') });
      await context.close();
    }
  });
