// The drawing of control flow, of blocks made by hand.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layout } from '../src/flow.ts';
import type { BasicBlock } from '../src/model.ts';

const block = (index: number, instructions: number, next: number[]): BasicBlock => ({ index, function: 'k', labels: [], first: 0, instructions, letter: 'A', next, postDominator: -1 });

test('empty blocks stand for the next block with instructions; a cycle of empty blocks stands for the end', () => {
  const edges = (blocks: BasicBlock[]) => layout(blocks).edges.map((e) => [e.from, e.to]);
  assert.deepEqual(edges([block(0, 2, [1]), block(1, 0, [2]), block(2, 0, [3]), block(3, 1, [-1])]), [[0, 3], [3, -1]]);
  assert.deepEqual(edges([block(0, 2, [1]), block(1, 0, [2]), block(2, 0, [1])]), [[0, -1]]);
  assert.deepEqual(edges([block(0, 2, [1]), block(1, 0, [])]), [[0, -1]]);
});
