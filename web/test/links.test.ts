// Links, the answers of engines, and the texts of examples.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parseAnswer, type Request } from '../src/engine.ts';
import { fromHash, toHash } from '../src/permalink.ts';
import { docOf, launchOf, parseExtent, policiesToRun } from '../src/request.ts';
import { root } from './gemu.ts';

const request: Request = { name: 'ä.ptx', source: '.version 8.0 // ü\n'.repeat(50), kernel: 'k', grid: [2, 1, 1], block: [32, 2, 1], arguments: ['u32[32]=iota', '7'] };
/** whole has every field of a request. */
const whole: Required<Request> = {
  ...request,
  policy: 'its',
  warp: 16,
  sm: '90',
  maxEvents: 5,
  maxSteps: 6,
  memory: false,
  shared: 128,
  cluster: [2, 1, 1],
  cooperative: true,
  seed: 77,
  set: ['c=1'],
  files: { 'a.cu': 'text' },
};

test('a link gives back what it holds', () => {
  const hash = toHash({ request, policies: ['stack', 'its:8'], policy: 'its:8', step: 17, cta: 1, warp: 0, lane: 5, pane: 'memory', view: { from: 3, to: 40 }, predict: true });
  assert.match(hash, /^#v1:[\w-]+$/);
  assert.ok(hash.length < 400);
  const p = fromHash(hash)!;
  assert.deepEqual(p.request, request);
  assert.deepEqual([p.policies, p.policy, p.step, p.cta, p.warp, p.lane, p.pane, p.view, p.predict], [['stack', 'its:8'], 'its:8', 17, 1, 0, 5, 'memory', { from: 3, to: 40 }, true]);
});

test('a link carries every field of play.Request', () => {
  const go = /^type Request struct \{([\s\S]*?)^\}/m.exec(readFileSync(path.join(root, 'play/play.go'), 'utf8'))![1];
  const fields = [...go.matchAll(/json:"(\w+)/g)].map((m) => m[1]);
  assert.deepEqual(Object.keys(whole).sort(), fields.sort());
  assert.deepEqual(fromHash(toHash({ request: whole, policies: ['stack'] }))!.request, whole);
});

test('a link is not made above the size that is read', () => {
  const place = (n: number) => ({ request: { ...request, source: 'x'.repeat(n) }, policies: ['stack'] });
  const rest = new TextEncoder().encode(JSON.stringify(place(0))).length;
  const largest = (4 << 20) - rest;
  assert.equal(fromHash(toHash(place(largest)))!.request.source.length, largest);
  assert.throws(() => toHash(place(largest + 1)), /at most 4 MiB/);
});

test('extents of the form: one to three numbers, zeros without a text, errors for others', () => {
  assert.deepEqual(parseExtent('32'), [32, 1, 1]);
  assert.deepEqual(parseExtent(' 8, 4 '), [8, 4, 1]);
  assert.deepEqual(parseExtent('2x3×4'), [2, 3, 4]);
  assert.deepEqual(parseExtent(' '), [0, 0, 0]);
  for (const bad of ['many', '1,2,3,4', '0', '8,0', '-1', '1.5', '8,,4', '1e3', '99999999999', '2147483648', ',']) assert.throws(() => parseExtent(bad), /want one to three numbers/, bad);
});

test('the form gives the launch, and names the fields that are wrong', () => {
  const form = { grid: '4', block: '32', cluster: '', shared: '', seed: '', cooperative: false };
  const plain = { grid: [4, 1, 1], block: [32, 1, 1], cluster: undefined, shared: undefined, seed: undefined, cooperative: undefined };
  assert.deepEqual(launchOf(form), { launch: plain, faults: {} });
  const all = launchOf({ ...form, cluster: '2,1', shared: ' 1024 ', seed: '9007199254740991', cooperative: true });
  assert.deepEqual(all, { launch: { ...plain, cluster: [2, 1, 1], shared: 1024, seed: 9007199254740991, cooperative: true }, faults: {} });
  for (const bad of ['-1', '1.5', 'many', '1e3', '9007199254740992', '0x10']) {
    assert.match(launchOf({ ...form, seed: bad }).faults.seed, /want a whole number from 0 to 9,007,199,254,740,991/, bad);
  }
  const { faults } = launchOf({ grid: 'x', block: '0', cluster: '1,2,3,4', shared: '2147483648', seed: '?', cooperative: false });
  assert.deepEqual(Object.keys(faults).sort(), ['block', 'cluster', 'grid', 'seed', 'shared']);
});

test('a policy has the description of the engine, with any time slice', () => {
  const known = [{ name: 'its', doc: 'in rotation' }, { name: 'its:8', doc: 'eight each' }];
  assert.deepEqual(['its', 'its:8', 'its:30', 'pc2', 'pc2:1'].map((p) => docOf(known, p)), ['in rotation', 'eight each', 'in rotation, with time slices of exactly 30 instructions', '', '']);
});

test('a new policy runs with those whose runs it interrupts', () => {
  const runs = [{ label: 'stack', busy: false }, { label: 'its', busy: true }];
  assert.deepEqual(policiesToRun(['stack', 'its', 'pc2'], runs, 'pc2'), ['its', 'pc2']);
  assert.deepEqual(policiesToRun(['stack', 'its'], runs), ['stack', 'its']);
});

test('a damaged or hostile link is refused, or read with fields of the right types', () => {
  assert.equal(fromHash('#section'), undefined);
  assert.throws(() => fromHash('#v2:abc'), /another version/);
  const hash = toHash({ request, policies: ['stack'] });
  for (let n = 5; n < hash.length - 1; n += 3) assert.throws(() => fromHash(hash.slice(0, n)), /damaged|holds no program/, `${n} characters`);
  assert.throws(() => fromHash('#v1:' + btoa('no deflate')), /damaged/);
  const hostile = { request: { source: 'x', grid: 'many', block: [1e99, -5, {}], arguments: [1, 'a', null], name: {} }, policies: 'stack', step: 'NaN', view: { from: 9, to: 1 }, lane: -77 };
  const p = fromHash(toHash(hostile as never))!;
  assert.deepEqual(p.request.grid, [1, 1, 1]);
  assert.deepEqual(p.request.arguments, ['', 'a', '']);
  assert.deepEqual([p.policies, p.step, p.view, p.lane], [[], undefined, undefined, undefined]);
});

test('an answer of an engine is split; one that is cut off is refused', () => {
  const json = Buffer.from('{"status":"done","message":""}');
  const head = Buffer.alloc(4);
  head.writeUInt32LE(json.length);
  const a = parseAnswer(new Uint8Array(Buffer.concat([head, json, Buffer.from([1, 2, 3])])));
  assert.equal(a.response.status, 'done');
  assert.deepEqual([...a.recording], [1, 2, 3]);
  assert.throws(() => parseAnswer(new Uint8Array([200, 0, 0, 0, 1])), /cut off/);
  assert.throws(() => parseAnswer(new Uint8Array(2)), /empty/);
});
