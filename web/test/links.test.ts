// Links, the answers of engines, and the texts of examples.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAnswer, type Request } from '../src/engine.ts';
import { fromHash, toHash } from '../src/permalink.ts';

const request: Request = { name: 'ä.ptx', source: '.version 8.0 // ü\n'.repeat(50), kernel: 'k', grid: [2, 1, 1], block: [32, 2, 1], arguments: ['u32[32]=iota', '7'] };

test('a link gives back what it holds', () => {
  const hash = toHash({ request, policies: ['stack', 'its:8'], policy: 'its:8', step: 17, cta: 1, warp: 0, lane: 5, pane: 'memory', view: { from: 3, to: 40 }, predict: true });
  assert.match(hash, /^#v1:[\w-]+$/);
  assert.ok(hash.length < 400);
  const p = fromHash(hash)!;
  assert.equal(p.request.source, request.source);
  assert.deepEqual([p.request.grid, p.request.block, p.request.arguments, p.request.name], [[2, 1, 1], [32, 2, 1], ['u32[32]=iota', '7'], 'ä.ptx']);
  assert.deepEqual([p.policies, p.policy, p.step, p.cta, p.warp, p.lane, p.pane, p.view, p.predict], [['stack', 'its:8'], 'its:8', 17, 1, 0, 5, 'memory', { from: 3, to: 40 }, true]);
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
