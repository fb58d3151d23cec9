// gemu play: its answers to the lessons' launches.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Example, parseAnswer } from '../src/engine.ts';
import { fromMembers, equal, without } from '../src/lanes.ts';
import { type Launch, launchesOf } from '../src/model.ts';
import { Recording } from '../src/recording.ts';
import { play, stopPlay } from './gemu.ts';

after(stopPlay);

let lessons: { url: string; examples: Example[] } | undefined;

/** examples returns the lessons, as gemu play serves them. */
async function examples(): Promise<{ url: string; examples: Example[] }> {
  if (!lessons) {
    const { url } = await play();
    lessons = { url, examples: (await (await fetch(new URL('examples.json', url))).json()) as Example[] };
  }
  return lessons;
}

/** launched runs a lesson under a policy. */
async function launched(id: string, policy?: string): Promise<{ launch: Launch; example: Example }> {
  const { url, examples: list } = await examples();
  const example = list.find((e) => e.id === id)!;
  const body = JSON.stringify({ ...example.request, policy: policy ?? example.moment!.policy, memory: true });
  const r = await fetch(new URL('run', url), { method: 'POST', headers: { 'Content-Type': 'application/json', Origin: new URL(url).origin }, body });
  return { launch: launchesOf(new Recording(parseAnswer(new Uint8Array(await r.arrayBuffer())).recording))[0], example };
}

// Lines that the questions, answers and strips of the lessons name for their moments.
const momentLines: Record<string, number> = { ifelse: 23, return: 19, nested: 21, memory: 19, values: 23 };

test('the line at the moment of a lesson is the line that the lesson names', async () => {
  for (const [id, line] of Object.entries(momentLines)) {
    const { launch, example } = await launched(id);
    assert.equal(launch.warp(0).line(example.moment!.step - 1), line, id);
  }
});

test('lanes that a branch sends to the end of the kernel do not take a step', async () => {
  const { launch } = await launched('return', 'stack'); // the lesson: 9 steps and 5
  const [a, b] = [launch.warp(0), launch.warp(1)];
  assert.deepEqual([a.steps, b.steps, launch.warps[0].steps], [9, 5, 9]);
  const late = fromMembers(Array.from({ length: 12 }, (_, i) => 20 + i));
  assert.ok(equal(a.outcome(3).ended, late));
  assert.ok(equal(a.active(4), without(a.lanes, late)));
  assert.equal((await launched('return', 'stack-wait')).launch.warp(0).steps, 9);
});

test('the stack has the innermost entry first', async () => {
  const { launch } = await launched('nested', 'stack');
  const m = launch.warp(0);
  assert.equal(m.state(5).stack.map((x) => launch.blocks[launch.instructions[x.instruction].block].letter).join(''), 'CDEFG');
});
