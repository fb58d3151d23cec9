// The state of the page's model equals the state of the engine at every step, for random kernels under all policies.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { has } from '../src/lanes.ts';
import { launchesOf, type WarpModel } from '../src/model.ts';
import { Recording } from '../src/recording.ts';
import { count, root } from './gemu.ts';

/** Split is a warp split of the engine, as play/model_test.go writes it. */
interface Split {
  lanes: string;
  running: boolean;
  instruction: number;
  function: string;
  /** registers is the place of the values of each register in values of States. */
  registers: Record<string, number>;
}

interface Moment {
  cta: number;
  warp: number;
  step: number;
  splits: Split[] | null;
  points: { arrived: string; instruction: number }[] | null;
}

interface States {
  /** values is values of the lanes of a split, the lowest first, in hexadecimal; one value if all are equal. */
  values: string[][];
  moments: Moment[];
}

/** values counts the compared values of registers, and those of the engine that the page lacks. */
const values = { compared: 0, missing: 0 };

/** compare returns the differences of a model from the engine at a moment, at most some. */
function compare(m: WarpModel, moment: Moment, lists: bigint[][]): string[] {
  const wrong: string[] = [];
  const state = m.state(moment.step);
  const where = `cta ${moment.cta} warp ${moment.warp} step ${moment.step}`;
  const shown = m.instructionAt(moment.step - 1)?.function; // the page shows the registers of this function
  const registers = moment.step > 0 ? new Map(m.registers(moment.step - 1).map((r) => [r.register.name, r])) : new Map();
  let all = 0n;
  for (const split of moment.splits ?? []) {
    const lanes = BigInt('0x' + split.lanes);
    all |= lanes;
    const list = split.function === shown ? Object.entries(split.registers).map(([name, place]) => ({ name, want: lists[place], got: registers.get(name)?.values ?? [] })) : [];
    let k = 0;
    for (let lane = 0; lane < m.launch.warpSize; lane++) {
      if (!((lanes >> BigInt(lane)) & 1n)) continue;
      const group = state.groups[state.group[lane]];
      // Lanes at the end of a function (-1) are in the page at the instruction that they execute after their return.
      if (!group || (split.instruction >= 0 && group.instruction !== split.instruction)) wrong.push(`${where} lane ${lane}: at ${group?.instruction} (${group?.reason}), engine at ${split.instruction}`);
      if (has(state.active, lane) !== split.running) wrong.push(`${where} lane ${lane}: active ${has(state.active, lane)}, engine ${split.running}`);
      for (const { name, want, got } of list) {
        const wanted = want.length === 1 ? want[0] : want[k];
        values.compared++;
        // A register that was never written has no value in the page; in the engine it is 0, or what another register has left.
        if (got[lane] === undefined && wanted !== 0n) values.missing++;
        else if ((got[lane] ?? 0n) !== wanted) wrong.push(`${where} lane ${lane}: ${name} = ${got[lane]}, engine ${wanted}`);
      }
      k++;
    }
  }
  for (const point of moment.points ?? []) {
    const arrived = BigInt('0x' + point.arrived) & ~all;
    for (let lane = 0; lane < m.launch.warpSize; lane++) {
      const group = state.groups[state.group[lane]];
      if ((arrived >> BigInt(lane)) & 1n && (group?.reason !== 'joins' || group.instruction !== point.instruction)) {
        wrong.push(`${where} lane ${lane}: ${group?.reason} at ${group?.instruction}, engine waits at point ${point.instruction}`);
      }
    }
    all |= arrived;
  }
  for (let lane = 0; lane < m.launch.warpSize; lane++) {
    const lives = ((all >> BigInt(lane)) & 1n) === 1n;
    const group = state.groups[state.group[lane]];
    if (lives !== (group !== undefined && group.reason !== 'ended')) wrong.push(`${where} lane ${lane}: ${group?.reason}, engine ${lives ? 'alive' : 'ended'}`);
  }
  return wrong;
}

test('the model has the state of the engine at every step of random kernels', () => {
  const n = count(10, 200, 1000);
  const dir = mkdtempSync(path.join(tmpdir(), 'gemu-states-'));
  try {
    execFileSync('go', ['test', './play', '-run', '^TestModelStates$', '-count=1', '-timeout=30m'], { cwd: root, env: { ...process.env, GEMU_STATES: dir, GEMU_KERNELS: String(n) }, stdio: ['ignore', 'ignore', 'inherit'] });
    let moments = 0;
    for (let i = 0; i < n; i++) {
      const [launch] = launchesOf(new Recording(new Uint8Array(readFileSync(path.join(dir, `${i}.gemu`)))));
      const { values: lists, moments: list } = JSON.parse(readFileSync(path.join(dir, `${i}.json`), 'utf8')) as States;
      const numbers = lists.map((x) => x.map((v) => BigInt('0x' + v)));
      const wrong = list.flatMap((moment) => compare(launch.warp(launch.findWarp(moment.cta, moment.warp)), moment, numbers));
      assert.deepEqual(wrong.slice(0, 20), [], `kernel ${i}`);
      moments += list.length;
    }
    assert.ok(moments > 50 * n);
    assert.ok(values.missing * 1000 < values.compared, `the page lacks ${values.missing} of ${values.compared} values`);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
