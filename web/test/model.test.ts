// The state of warps: of kernels whose course is known, and for workloads against the classes that the recorder has found.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { equal, fromMembers, inWords, lanesOf, members, ranges, firstLanes } from '../src/lanes.ts';
import { firstDifference, launchesOf, outcomeOf, type WarpModel } from '../src/model.ts';
import { Recording } from '../src/recording.ts';
import { arrivals, countsText, endText, isDeadlock, limitText, ofLane, runsOfBoth, sentence, text } from '../src/sentences.ts';
import { formatValue, formula, short, structureOf } from '../src/values.ts';
import { kernel, record } from './gemu.ts';

function warp(...args: string[]): WarpModel {
  return launchesOf(new Recording(record(...args).bytes))[0].warp(0);
}

const ifelse = ['-g', '1', '-b', '32', '-a', 'u32[32]', 'u32[32]=iota'];

test('if and else under stack', () => {
  const m = warp(kernel('ifelse'), '--reconverge', 'stack', ...ifelse);
  const [odd, even] = [lanesOf(0xaaaaaaaa), lanesOf(0x55555555)];
  assert.equal(m.steps, 15);
  assert.deepEqual(
    Array.from({ length: 15 }, (_, s) => m.line(s)),
    [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 23, 25, 26],
  );
  assert.ok(m.splits(9));
  assert.deepEqual([...m.turningPoints()], [9, 11, 12]);
  // At the branch all lanes are together; afterwards the even lanes could run, then the odd lanes wait at the end of the if.
  assert.deepEqual(
    m.state(9).groups.map((g) => [g.reason, ranges(g.lanes)]),
    [['runs', '0–31']],
  );
  const s = m.state(10);
  assert.deepEqual(
    s.groups.map((g) => [g.reason, m.launch.instructions[g.instruction].line]),
    [
      ['runs', 20],
      ['ready', 23],
    ],
  );
  assert.ok(equal(s.groups[0].lanes, odd) && equal(s.groups[1].lanes, even));
  const later = m.state(12);
  assert.deepEqual(
    later.groups.map((g) => [g.reason, m.launch.instructions[g.instruction].line]),
    [
      ['runs', 23],
      ['joins', 25],
    ],
  );
  assert.ok(equal(later.groups[1].missing, even));
  assert.deepEqual(
    s.stack.map((x) => x.kind),
    ['running', 'ready', 'point'],
  );
  const end = m.state(15);
  assert.deepEqual(
    end.groups.map((g) => g.reason),
    ['ended'],
  );
  assert.equal(endText(m), 'All lanes have ended.');
  assert.equal(text(sentence(m, 9)), 'Step 10, line 19: @%p bra EVEN. All 32 lanes execute it. The warp splits: the odd lanes go to line 20, the even lanes go to line 23. Next the odd lanes run, at line 20.');
  assert.equal(text(sentence(m, 9, true)), 'Step 10, line 19: @%p bra EVEN. All 32 lanes execute it.');
  assert.equal(text(sentence(m, 12)), 'Step 13, line 23: mul.lo.u32 %x, %x, 3. The even lanes execute it. All 32 lanes are together again, at line 25.');
  assert.equal(ofLane(m, 10, 0), 'Step 11, lane 0 waits for the odd lanes, which run first; they meet at line 25 – line 23: mul.lo.u32 %x, %x, 3');
  assert.equal(countsText(m), '15 instructions; in 3 of them some lanes do not run. On average 28.8 of 32 lanes run, 90 %: as if 1.5 steps were wasted.');
});

test('registers at each step of if and else', () => {
  const m = warp(kernel('ifelse'), '--reconverge', 'stack', ...ifelse);
  const x = (step: number) => m.registers(step).find((r) => r.register.name === '%x')!;
  // in[i] = i; odd lanes add 100, even lanes multiply by 3.
  assert.deepEqual(x(6).values, Array.from({ length: 32 }, (_, i) => BigInt(i)));
  assert.deepEqual(x(10).values, Array.from({ length: 32 }, (_, i) => BigInt(i % 2 ? i + 100 : i)));
  assert.deepEqual(x(14).values, Array.from({ length: 32 }, (_, i) => BigInt(i % 2 ? i + 100 : 3 * i)));
  assert.equal(x(10).structure.class, 'affine'); // over the odd lanes
  assert.equal(x(13).structure.class, 'generic');
  assert.ok(x(10).written && x(10).read && !x(11).written);
  const p = m.registers(8).find((r) => r.register.name === '%p')!;
  assert.deepEqual(p.values, Array.from({ length: 32 }, (_, i) => BigInt(i % 2 ? 0 : 1)));
  assert.equal(p.structure.class, 'generic');
  const off = m.registers(3).find((r) => r.register.name === '%off')!;
  assert.equal(formula({ ...off.structure, base: 0x200n, stride: 64n }, '.u64', 64, 16), '0x200 + 0x40 · lane');
  assert.equal(formula({ ...off.structure, base: 0n, stride: -64n }, '.u64', 64, 16), '0 − 0x40 · lane');
  assert.equal(formula(off.structure, '.u64', 64), '4 · lane');
  assert.equal(m.registers(3).find((r) => r.register.name === '%pi')!.structure.class, 'uniform');
  assert.equal(m.registers(0).length, 1);
  const [a] = m.accesses(6);
  assert.equal(a.sectors, 4); // 32 lanes × 4 bytes
  assert.equal(a.addresses[5]! - a.addresses[4]!, 4n);
});

test('a lock: a deadlock under stack, a staircase under its', () => {
  const args = ['-g', '1', '-b', '8', '-a', 'u32[1]', 'u32[1]'];
  const wall = warp(kernel('spin'), '--reconverge', 'stack', '--max-events', '2000', ...args);
  assert.ok(isDeadlock(wall.launch));
  const end = wall.state(wall.steps);
  assert.equal(end.groups.find((g) => g.reason === 'joins')?.lanes.lo, 1);
  assert.match(endText(wall), /^Deadlock: no thread can make progress\. .*[Ll]ane 0 is at line 16/);
  const stairs = warp(kernel('spin'), '--reconverge', 'its', ...args);
  assert.equal(endText(stairs), 'All lanes have ended.');
  const order: number[] = [];
  for (let s = 0; s < stairs.steps; s++) if (stairs.line(s) === 21 && stairs.instructionAt(s)!.text === 'ret') order.push(...members(stairs.active(s)));
  assert.deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.equal(firstDifference(wall, stairs) > 5, true);
});

test('the outcome of a launch: by the kind of its trap, not by a word in a name', () => {
  const at = 'deadlock.ptx:3:5: trap in kernel deadlock: ';
  assert.equal(outcomeOf('deadlock', at + 'misaligned address 0x3 (cta (0,0,0) warp 0 thread (0,0,0))', true), 'trap');
  assert.equal(outcomeOf('deadlock', at + 'deadlock: no thread can make progress (cta (0,0,0))', true), 'deadlock');
  assert.equal(outcomeOf('deadlock', at + 'step limit reached: warp 0 has executed 9 instructions without ending', true), 'stopped');
  assert.equal(outcomeOf('deadlock', '', true), 'done');
  assert.equal(outcomeOf('deadlock', '', false), 'stopped');
  assert.equal(outcomeOf('deadlock', 'stopped at the limit of 9 events', false), 'stopped');
  assert.equal(outcomeOf('deadlock', 'the host has no memory', true), 'trap');
});

test('a launch that a limit ends has not failed', () => {
  const cut = warp(kernel('ifelse'), '--max-events', '9', ...ifelse);
  assert.equal(cut.launch.outcome, 'stopped');
  assert.match(endText(cut), /^Stopped at the limit of the recording\. All/);
  const steps = warp(kernel('ifelse'), '--steps', '5', ...ifelse);
  assert.equal(steps.launch.outcome, 'stopped');
  assert.equal(limitText(steps.launch), 'stopped: step limit reached');
});

test('a barrier in a branch: who waits for whom', () => {
  const m = warp(kernel('barbranch'), '--reconverge', 'its', '-g', '1', '-b', '32', '-a', 'u32[64]', '16');
  const end = m.state(m.steps);
  assert.deepEqual(
    end.groups.map((g) => [g.reason, g.barrier, ranges(g.lanes), m.launch.instructions[g.instruction].line]),
    [
      ['barrier', 0, '0–15', 15],
      ['barrier', 0, '16–31', 18],
    ],
  );
  assert.match(text(sentence(m, m.steps - 1)), /Lanes 16–31 execute it\. Then lanes 16–31 wait at barrier 0\./);
});

test('lanes without a thread, several warps and CTAs', () => {
  const l = launchesOf(new Recording(record(kernel('ifelse'), '-g', '2', '-b', '40', '-a', 'u32[80]', 'u32[80]=iota').bytes))[0];
  assert.deepEqual(
    l.warps.map((w) => [w.cta, w.warp, ranges(w.lanes)]),
    [
      [0, 0, '0–31'],
      [0, 1, '0–7'],
      [1, 0, '0–31'],
      [1, 1, '0–7'],
    ],
  );
  const m = l.warp(3);
  assert.equal(m.state(0).group[8], -1);
  assert.equal(inWords(m.active(0), m.lanes), 'all 8 lanes');
  // The other warps at the moment of a step.
  const step = m.stepAtEvent(m.eventOf(4));
  assert.equal(step, 4);
});

test('an early exit, and the same event in another run', () => {
  const args = ['-g', '1', '-b', '32', '-a', 'u32[32]'];
  const m = warp(kernel('early'), '--reconverge', 'stack', ...args, '20');
  assert.equal(endText(m), 'All lanes have ended.');
  const other = warp(kernel('early'), '--reconverge', 'pc2-wait', ...args, '20');
  const at = m.find(other.occurrence(6));
  assert.equal(m.line(at), other.line(6));
  assert.equal(m.find({ line: 999, text: 'nop', n: 0 }), -1);
});

for (const [name, args] of [
  ['loop', [kernel('loopbreak'), '-g', '1', '-b', '32', '-a', 'u32[32]', '200']],
  ['mandelbrot', ['@mandelbrot', '--max-events', '20000', '--cta', '0']],
  ['transpose', ['@transpose', '--max-events', '20000', '--cta', '0']],
  ['warps of 8 lanes', ['@mandelbrot', '--max-events', '5000', '--cta', '0', '--warp', '8']],
  ['warps of 64 lanes', ['@mandelbrot', '--max-events', '5000', '--cta', '0', '--warp', '64']],
] as const) {
  test(`registers have the class and the lanes of the recorded results: ${name}`, () => {
    const rec = new Recording(record(...args).bytes);
    const launch = launchesOf(rec)[0];
    const t = rec.table('results');
    const [event, register, cls, lanes] = [t.counts('event'), t.numbers('register'), t.numbers('class'), t.wide('lanes')];
    const m = launch.warp(launch.warps.reduce((a, w, i) => (w.steps > launch.warps[a].steps ? i : a), 0));
    let checked = 0;
    // Random jumps must give the same state as the way from the beginning.
    let seed = 1;
    for (let k = 0; k < 400; k++) {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      const step = seed % m.steps;
      const row = m.eventOf(step);
      const views = m.registers(step);
      for (let i = event.indexOf(row); i >= 0 && event[i] === row; i++) {
        const v = views.find((x) => x.register === launch.registers[launch.firstRegister.get(register[i])!])!;
        assert.ok(v.written);
        const s = structureOf(lanesOf(lanes.lo[i], lanes.hi[i]), v.register.bits, (l) => v.values[l]!);
        const want = ['uniform', 'affine', 'generic', 'generic'][cls[i]];
        assert.equal(s.class, want, `step ${step}, ${v.register.name}`);
        checked++;
      }
    }
    assert.ok(checked > 100);
  });
}

test('numbers of 64 bits', () => {
  const m = warp(kernel('wide'), '-g', '1', '-b', '32', '-a', 'u64[32]');
  let n = 0xffffff00n;
  for (let k = 0; k < 40; k++) {
    n += 0x40000001n;
    assert.equal(m.registers(2 + 4 * k).find((r) => r.register.name === '%n')!.values[31], n);
  }
  const x = m.registers(m.steps - 1).find((r) => r.register.name === '%x')!;
  assert.deepEqual(x.values, Array.from({ length: 32 }, (_, i) => n + 0x80000000n * BigInt(i)));
  assert.equal(x.structure.stride, 0x80000000n);
});

test('a jump to any step gives the registers of the way from the beginning', () => {
  const rec = new Recording(record(kernel('loopbreak'), '-g', '1', '-b', '64', '-a', 'u32[64]', '200').bytes);
  const launch = launchesOf(rec)[0];
  // The way: the results of each lane, from the tables alone.
  const t = rec.table('results');
  const v = rec.table('values').wide('low');
  const big = (x: { lo: Uint32Array; hi: Uint32Array }, i: number) => (BigInt(x.hi[i]) << 32n) | BigInt(x.lo[i]);
  const [event, register, cls, lanes, base, stride, values] = [t.counts('event'), t.numbers('register'), t.numbers('class'), t.wide('lanes'), t.wide('base'), t.wide('stride'), t.wide('values')];
  const longest = launch.warps.reduce((a, w, i) => (w.steps > launch.warps[a].steps ? i : a), 0);
  const { warp: warpIndex, steps } = launch.warps[longest];
  assert.ok(steps > 1000);
  for (const step of [steps - 1, 700, 64, 63, 1000, 65, 128, 1, 999]) {
    const m = launchesOf(rec)[0].warp(longest);
    for (const at of [step, 800, step]) m.registers(at); // in both directions
    const warp = rec.table('events').numbers('warp');
    const want = new Map<number, (bigint | undefined)[]>();
    for (let i = 0; i < t.rows && event[i] <= m.eventOf(step); i++) {
      if (warp[event[i]] !== warpIndex) continue;
      const list = want.get(register[i]) ?? [];
      want.set(register[i], list);
      const bits = rec.table('registers').numbers('bits')[register[i]];
      members(lanesOf(lanes.lo[i], lanes.hi[i])).forEach((l, k) => {
        list[l] = BigInt.asUintN(bits, [base.lo.length ? big(base, i) : 0n, big(base, i) + big(stride, i) * BigInt(l), 0n, (big(base, i) >> BigInt(l)) & 1n][cls[i]]);
        if (cls[i] === 2) list[l] = BigInt(v.lo[values.lo[i] + k]) | (BigInt(v.hi[values.lo[i] + k]) << 32n);
      });
    }
    for (const r of m.registers(step)) {
      const list = want.get([...launch.firstRegister].find(([, index]) => index === r.register.index)![0])!;
      for (let l = 0; l < 32; l++) assert.equal(r.values[l], list[l], `step ${step}, ${r.register.name}, lane ${l}`);
    }
  }
});

test('the registers of a step do not depend on the steps that were asked for before', () => {
  for (const [name, ...args] of [['ifelse', ...ifelse], ['recursion', '-g', '1', '-b', '32', '-a', 'u32[32]'], ['volta', '-g', '1', '-b', '32', '-a', 'u32[32]', '--reconverge', 'its:1']]) {
    const { bytes } = record(kernel(name), ...args);
    const model = () => launchesOf(new Recording(bytes))[0].warp(0);
    const [forward, back] = [model(), model()];
    for (let s = 0; s <= forward.steps; s++) {
      const want = model().registers(s);
      assert.deepEqual(forward.registers(s), want, `${name}, step ${s}, forward`);
      assert.deepEqual(back.registers(forward.steps - s), model().registers(forward.steps - s), `${name}, step ${forward.steps - s}, back`);
    }
  }
});

test('sets of lanes in words', () => {
  const all = firstLanes(32);
  assert.equal(inWords(all, all), 'all 32 lanes');
  assert.equal(inWords(lanesOf(0x55555555), all), 'the even lanes');
  assert.equal(inWords(fromMembers([5]), all), 'lane 5');
  assert.equal(inWords(fromMembers([0, 1, 2, 3, 8]), all), 'lanes 0–3, 8');
  assert.equal(inWords(lanesOf(0), all), 'no lane');
  assert.equal(inWords(fromMembers([0, 2, 5, 7, 9, 12, 15]), all), '7 lanes (0, 2, 5, 7, …)');
  assert.equal(ranges(firstLanes(64)), '0–63');
});

test('two runs that differ: the lines, or the lanes at the same line', () => {
  const [a, b] = [warp(kernel('ifelse'), '--reconverge', 'stack', ...ifelse), warp(kernel('ifelse'), '--reconverge', 'stack', '-g', '1', '-b', '16', '-a', 'u32[32]', 'u32[32]=iota')];
  assert.deepEqual(runsOfBoth(a, b, 0), ['line 10 runs in all 32 lanes', 'line 10 runs in all 16 lanes']);
  const none = { ...b, steps: 0, lanes: b.lanes } as WarpModel;
  assert.deepEqual(runsOfBoth(a, none, 0), ['line 10 runs', 'nothing more runs']);
});

test('who has arrived at a reconvergence point', () => {
  const all = firstLanes(32);
  assert.equal(arrivals(lanesOf(0), all, all), 'all 32 lanes meet here; none has arrived');
  assert.equal(arrivals(lanesOf(1), all, all), 'lane 0 has arrived, lanes 1–31 have not');
  assert.equal(arrivals(all, all, all), 'all 32 lanes have arrived');
});

test('values as texts', () => {
  assert.equal(formatValue(0x3fc00000n, '.f32', 32), '1.5');
  assert.equal(formatValue(0xffffffffn, '.s32', 32), '−1');
  assert.equal(formatValue(0xffffffffn, '.u32', 32), '4294967295');
  assert.equal(formatValue(0x10000200n, '.u64', 64), '0x10000200');
  assert.equal(formatValue(1n, '.pred', 1), '1');
  assert.deepEqual([formatValue(0x3fc00000n, '.f32', 32, 16), formatValue(0xffffffffn, '.s32', 32, 16), formatValue(9n, '.u32', 32, 16), formatValue(1n, '.pred', 1, 16)], ['0x3fc00000', '0xffffffff', '0x9', '1']);
  const s = structureOf(fromMembers([1, 3]), 32, (l) => BigInt(100 + l));
  assert.ok(s.few && s.class === 'affine');
});

test('a number that is too long for a cell is rounded; other texts keep their ends', () => {
  for (const [text, most, want] of [
    ['268435456', 6, '2.68e8'],
    ['−1234567890', 6, '−1.2e9'],
    ['−1234567890', 4, '−1e9'],
    ['18446744073709551615', 5, '2e19'],
    ['100000', 6, '100000'],
    ['1000000', 6, '1e6'],
    ['0.3333333', 6, '0.3333'],
    ['-0.3333333', 6, '-0.333'],
    ['1.234568e-10', 6, '1e-10'],
    ['0x10000204', 4, '…204'],
  ] as const) {
    assert.equal(short(text, most), want);
  }
});
