// Firefox and WebKit for tests, by the protocols of the W3C: WebDriver BiDi (Firefox speaks it itself) and WebDriver (WebKitWebDriver).

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { WebSocket } from 'ws';

/** Driver steers a browser with one window. */
export interface Driver {
  goto(url: string): Promise<void>;
  /** evaluate runs the body of an async function in the page, and returns its result, which must have a form in JSON. */
  evaluate<T>(body: string): Promise<T>;
  /** perform performs actions of input devices. */
  perform(actions: object[]): Promise<void>;
  /** requests returns the addresses that pages have requested; in WebKit, only those of loads that have not failed. */
  requests(): Promise<string[]>;
  close(): Promise<void>;
}

/** start starts a program and waits for a line of its output that matches; the first group is the result. */
function start(running: ChildProcess[], command: string, args: string[], want: RegExp, env: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const c = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    running.push(c);
    let output = '';
    for (const stream of [c.stdout, c.stderr]) {
      stream.on('data', (d) => {
        output += String(d);
        const m = want.exec(output);
        if (m) resolve(m[1]);
      });
    }
    c.on('error', reject);
    c.on('exit', (status) => reject(new Error(`${command} ends with ${status}: ${output}`)));
  });
}

async function stop(running: ChildProcess[]): Promise<void> {
  for (const c of running.reverse()) {
    c.removeAllListeners('exit');
    if (c.exitCode === null && c.kill()) await new Promise((r) => c.once('exit', r));
  }
}

/** json wraps a body for evaluate: its result, or its error, as a text. */
const json = (body: string): string => `async () => { try { return JSON.stringify({ value: await (async () => { ${body} })() }); } catch (e) { return JSON.stringify({ error: String(e && e.stack || e) }); } }`;

function valueOf<T>(text: string): T {
  const r = JSON.parse(text) as { value: T; error?: string };
  if (r.error) throw new Error(r.error);
  return r.value;
}

/** firefox starts Firefox. */
export async function firefox(command: string): Promise<Driver> {
  const running: ChildProcess[] = [];
  const profile = mkdtempSync(path.join(tmpdir(), 'gemu-firefox-'));
  const close = async () => {
    await stop(running);
    rmSync(profile, { recursive: true, maxRetries: 10, retryDelay: 100 });
  };
  try {
    const address = await start(running, command, ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'], /WebDriver BiDi listening on (ws:\S+)/);
    const socket = new WebSocket(address + '/session');
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const waiting = new Map<number, (m: { error?: string; message?: string; result?: unknown }) => void>();
    const requested: string[] = [];
    let n = 0;
    const call = <T>(method: string, params: object): Promise<T> =>
      new Promise((resolve, reject) => {
        waiting.set(++n, (m) => (m.error ? reject(new Error(`${method}: ${m.error}: ${m.message}`)) : resolve(m.result as T)));
        socket.send(JSON.stringify({ id: n, method, params }));
      });
    socket.on('message', (data: Buffer) => {
      const m = JSON.parse(data.toString()) as { id?: number; error?: string; message?: string; result?: unknown; method?: string; params?: { request: { url: string } } };
      if (m.method === 'network.beforeRequestSent') requested.push(m.params!.request.url);
      waiting.get(m.id ?? 0)?.(m);
      waiting.delete(m.id ?? 0);
    });
    await call('session.new', { capabilities: {} });
    await call('session.subscribe', { events: ['network.beforeRequestSent'] });
    const { contexts } = await call<{ contexts: { context: string }[] }>('browsingContext.getTree', {});
    const { context } = contexts[0];
    await call('browsingContext.setViewport', { context, viewport: { width: 1280, height: 900 } });
    return {
      goto: (url) => call('browsingContext.navigate', { context, url, wait: 'complete' }),
      async evaluate(body) {
        const { result } = await call<{ result: { value: string } }>('script.callFunction', { functionDeclaration: json(body), target: { context }, awaitPromise: true });
        return valueOf(result.value);
      },
      perform: (actions) => call('input.performActions', { context, actions }),
      requests: async () => requested,
      async close() {
        await call('browser.close', {}).catch(() => undefined);
        socket.close();
        await close();
      },
    };
  } catch (e) {
    await close();
    throw e;
  }
}

/** webkit starts WebKitWebDriver and MiniBrowser on a virtual screen. */
export async function webkit(command: string, browser: string): Promise<Driver> {
  const running: ChildProcess[] = [];
  try {
    const screen = await start(running, 'Xvfb', ['-displayfd', '1', '-screen', '0', '1400x1000x24', '-nolisten', 'tcp'], /^(\d+)\n/);
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const failed = start(running, command, [`--port=${port}`], /a^/, { DISPLAY: ':' + screen });
    failed.catch(() => undefined);
    const call = async <T>(method: string, name: string, body?: object): Promise<T> => {
      const r = await fetch(base + name, { method, body: body && JSON.stringify(body) });
      const { value } = (await r.json()) as { value: T & { error?: string; message?: string } };
      if (!r.ok) throw new Error(`${name}: ${value.error}: ${value.message}`);
      return value;
    };
    while (!(await Promise.race([failed, call('GET', '/status').catch(() => undefined)]))) await new Promise((r) => setTimeout(r, 50));
    const { sessionId } = await call<{ sessionId: string }>('POST', '/session', { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': { binary: browser, args: ['--automation'] } } } });
    const session = `/session/${sessionId}`;
    await call('POST', session + '/timeouts', { script: 120_000, pageLoad: 120_000 });
    await call('POST', session + '/window/rect', { x: 0, y: 0, width: 1280, height: 900 });
    const evaluate = async <T>(body: string): Promise<T> => valueOf<T>(await call('POST', session + '/execute/async', { script: `const done = arguments[arguments.length - 1]; (${json(body)})().then(done)`, args: [] }));
    return {
      goto: (url) => call('POST', session + '/url', { url }),
      evaluate,
      perform: (actions) => call('POST', session + '/actions', { actions }),
      requests: () => evaluate("return performance.getEntriesByType('resource').map((e) => e.name)"),
      async close() {
        await call('DELETE', session).catch(() => undefined);
        await stop(running);
      },
    };
  } catch (e) {
    await stop(running);
    throw e;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const s = createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address() as { port: number };
      s.close(() => resolve(port));
    });
  });
}
