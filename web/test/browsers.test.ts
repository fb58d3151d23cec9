// The page in Firefox and WebKit, a smoke test each: gemu play, and the page as files with the engine in WebAssembly.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, test } from 'node:test';
import { amount, builtSite, play, stopPlay } from './gemu.ts';
import { serveFiles } from './server.ts';
import { type Driver, firefox, webkit } from './webdriver.ts';

const commands = {
  firefox: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
  webkit: process.env.WEBKIT_DRIVER ?? '/usr/bin/WebKitWebDriver',
  // MiniBrowser is in the package of WebKitWebDriver.
  miniBrowser: process.env.MINI_BROWSER ?? ['4.1', '4.0', '6.0'].map((v) => `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/webkit2gtk-${v}/MiniBrowser`).find(existsSync) ?? 'MiniBrowser',
};

after(stopPlay);

/** Tab is the page in a browser. Its functions wait for the state of the page. */
class Tab {
  constructor(private readonly driver: Driver) {}

  private evaluate<T>(body: string): Promise<T> {
    return this.driver.evaluate(`
      const all = function* (root) { for (const e of root.querySelectorAll('*')) { yield e; if (e.shadowRoot) yield* all(e.shadowRoot); } };
      const find = (selector, name) => [...all(document)].find((e) => e.matches(selector) && (name === undefined || (e.getAttribute('aria-label') ?? e.textContent.trim()) === name));
      ${body}`);
  }

  /** until waits until check accepts the value of an expression in the page. */
  private async until<T>(expression: string, check: (value: T) => void): Promise<void> {
    for (const end = performance.now() + 120_000; ; await new Promise((r) => setTimeout(r, 50))) {
      const value = await this.evaluate<T>(`return ${expression};`);
      try {
        return check(value);
      } catch (e) {
        if (performance.now() > end) throw e;
      }
    }
  }

  async open(url: string): Promise<void> {
    await this.driver.goto(url);
    await this.until<boolean>("!!find('gemu-player[ready]')", assert.ok);
  }

  /** says waits until the text of an element matches. */
  async says(selector: string, want: RegExp): Promise<void> {
    await this.until<string>(`find(${JSON.stringify(selector)})?.textContent ?? ''`, (text) => assert.match(text.replace(/\s+/g, ' ').trim(), want));
  }

  /** click presses an element, given by a selector and its name, with the mouse. */
  async click(selector: string, name?: string): Promise<void> {
    await this.until<boolean>(`!!find(${JSON.stringify(selector)}, ${JSON.stringify(name)})`, (found) => assert.ok(found, `there is no ${selector} ${name}`));
    const [x, y] = await this.evaluate<[number, number]>(`
      const e = find(${JSON.stringify(selector)}, ${JSON.stringify(name)});
      e.scrollIntoView({ block: 'center' });
      await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
      const b = e.getBoundingClientRect();
      return [Math.round(b.x + b.width / 2), Math.round(b.y + b.height / 2)];`);
    await this.driver.perform([
      {
        type: 'pointer',
        id: 'mouse',
        parameters: { pointerType: 'mouse' },
        actions: [
          { type: 'pointerMove', x, y },
          { type: 'pointerDown', button: 0 },
          { type: 'pointerUp', button: 0 },
        ],
      },
    ]);
  }

  /** keys presses keys one after the other; held stays pressed meanwhile. */
  async keys(list: Iterable<string>, held?: string): Promise<void> {
    const actions = [...list].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    if (held) actions.unshift({ type: 'keyDown', value: held }), actions.push({ type: 'keyUp', value: held });
    await this.driver.perform([{ type: 'key', id: 'keyboard', actions }]);
  }
}

const key = { control: '\uE009', home: '\uE011', down: '\uE015', right: '\uE014', enter: '\uE007' };

/** smoke uses the page: steps, goes back, runs a changed program. */
async function smoke(tab: Tab, url: string): Promise<void> {
  await tab.open(url + '#example=ifelse&step=1');
  await tab.says('.sentence', /^Step 1, line 13 mov\.u32 %i, %tid\.x/);
  await tab.click('button', 'Step');
  await tab.says('.sentence', /^Step 2, line 15/);
  await tab.keys([key.right]);
  await tab.says('.sentence', /^Step 3, line 16/);
  await tab.click('button', 'Step back');
  await tab.says('.sentence', /^Step 2, line 15/);
  await tab.click('button', 'Next split');
  await tab.says('.sentence', /The warp splits: /);
  await tab.click('[role=tab]', 'Results');
  await tab.says('.values', /^0 ?0 ?1 ?101 ?2 ?6 ?3 ?103/); // even numbers three times, 100 more than odd numbers
  await tab.click('button', 'Edit');
  await tab.click('.cm-content');
  await tab.keys([key.home], key.control);
  await tab.keys(Array<string>(22).fill(key.down)); // to the line "add.u32 %x, %x, 100"
  await tab.keys('add.u32 %x, %x, 7;\n');
  await tab.keys([key.enter], key.control);
  await tab.says('.values', /^0 ?0 ?1 ?108 ?2 ?6 ?3 ?110/);
  await tab.says('.sentence', /The warp splits: /);
}

/** browser declares the smoke test of a browser. */
function browser(name: string, missing: string | undefined, start: () => Promise<Driver>): void {
  const skip = amount !== 'all' ? 'GEMU_TEST=all runs it' : missing ? `there is no ${missing}` : false;
  test(`the page in ${name}: gemu play, and the page as files with the engine in WebAssembly`, { skip, timeout: 900_000 }, async () => {
    const files = await serveFiles(builtSite());
    const driver = await start();
    try {
      const tab = new Tab(driver);
      const sites = [(await play()).url, files.url];
      for (const url of sites) {
        await smoke(tab, url);
        const elsewhere = (await driver.requests()).filter((x) => !/^(data|blob):/.test(x) && !sites.some((s) => x.startsWith(new URL(s).origin + '/')));
        assert.deepEqual(elsewhere, [], 'requests of other sites');
      }
    } finally {
      await driver.close();
      files.close();
    }
  });
}

const absent = (...names: string[]): string | undefined => names.find((n) => !existsSync(n));

browser('Firefox', absent(commands.firefox), () => firefox(commands.firefox));
browser('WebKit', absent(commands.webkit, commands.miniBrowser, '/usr/bin/Xvfb'), () => webkit(commands.webkit, commands.miniBrowser));
