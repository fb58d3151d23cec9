// The engine in a worker: the messages of play/site/static/engine.js, with a worker of the test.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineOf, type Request } from '../src/engine.ts';

const request: Request = { name: 'k.ptx', source: '', kernel: '', grid: [1, 1, 1], block: [32, 1, 1], arguments: [] };

/** answer is an answer of the engine, as play.Response.Encode writes it. */
function answer(text: string): Uint8Array {
  const json = new TextEncoder().encode(text);
  const bytes = new Uint8Array(4 + json.length);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 4);
  return bytes;
}

/** FakeWorker posts the given messages at its start, and reply(message) for each message that it receives. */
class FakeWorker extends EventTarget {
  static workers: FakeWorker[] = [];
  terminated = false;
  constructor(
    start: object[],
    private readonly reply: (m: { id: number }) => object[],
  ) {
    super();
    FakeWorker.workers.push(this);
    this.post(start);
  }
  private post(list: object[]): void {
    setTimeout(() => list.forEach((data) => this.dispatchEvent(new MessageEvent('message', { data }))));
  }
  postMessage(m: { id: number }): void {
    this.post(this.reply(m));
  }
  terminate(): void {
    this.terminated = true;
  }
}

/** engine returns an engine whose workers are made by the functions, one after the other. */
function engine(...make: (() => FakeWorker)[]): NonNullable<ReturnType<typeof engineOf>> {
  FakeWorker.workers = [];
  (globalThis as { gemuWorker?: () => unknown }).gemuWorker = () => make[FakeWorker.workers.length]();
  return engineOf('wasm')!;
}

const good = () => new FakeWorker([{ type: 'ready' }], ({ id }) => [{ type: 'response', id, bytes: answer('{"status":"done","message":""}') }]);

test('an engine that does not start is an error, and the next run starts another', { timeout: 5000 }, async () => {
  const e = engine(() => new FakeWorker([{ type: 'failed', message: 'gemu.wasm.gz: 404' }], () => []), good);
  await assert.rejects(e.examples(), /gemu\.wasm\.gz: 404/);
  assert.ok(FakeWorker.workers[0].terminated);
  assert.equal((await e.run(request, new AbortController().signal)).response.status, 'done');
  assert.equal(FakeWorker.workers.length, 2);
});

test('an engine that ends during a run is an error of the run, and the next run starts another', { timeout: 5000 }, async () => {
  const e = engine(() => new FakeWorker([{ type: 'ready' }], () => [{ type: 'failed', message: 'the engine has stopped: out of memory' }]), good);
  await assert.rejects(e.run(request, new AbortController().signal), /out of memory/);
  assert.ok(FakeWorker.workers[0].terminated);
  assert.equal((await e.run(request, new AbortController().signal)).response.status, 'done');
});

test('a run that is stopped ends its worker', { timeout: 5000 }, async () => {
  const e = engine(() => new FakeWorker([{ type: 'ready' }], () => []), good);
  const abort = new AbortController();
  const run = e.run(request, abort.signal);
  setTimeout(() => abort.abort(new Error('stopped by the reader')), 20);
  await assert.rejects(run, /stopped by the reader/);
  assert.ok(FakeWorker.workers[0].terminated);
});

test('the engine says its policies when it is ready', { timeout: 5000 }, async () => {
  const policies = [{ name: 'stack', doc: 'the newest first' }];
  const e = engine(() => new FakeWorker([{ type: 'ready', policies }], () => [{ type: 'examples', examples: [] }]));
  assert.equal(e.policies, undefined);
  await e.examples();
  assert.deepEqual(e.policies, policies);
});
