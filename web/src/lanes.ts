// Sets of lanes: as bits in two numbers of 32 bits, and in words.

/** Lanes is a set of lanes of a warp of at most 64: bit i of lo is lane i, bit i of hi is lane 32+i. */
export interface Lanes {
  readonly lo: number;
  readonly hi: number;
}

export const noLanes: Lanes = { lo: 0, hi: 0 };

/** lanesOf returns the set with the given bits. */
export function lanesOf(lo: number, hi = 0): Lanes {
  return { lo: lo >>> 0, hi: hi >>> 0 };
}

/** has reports whether a lane is in the set. */
export function has(m: Lanes, lane: number): boolean {
  return ((lane < 32 ? m.lo >>> lane : m.hi >>> (lane - 32)) & 1) === 1;
}

export const and = (a: Lanes, b: Lanes): Lanes => lanesOf(a.lo & b.lo, a.hi & b.hi);
export const or = (a: Lanes, b: Lanes): Lanes => lanesOf(a.lo | b.lo, a.hi | b.hi);
export const without = (a: Lanes, b: Lanes): Lanes => lanesOf(a.lo & ~b.lo, a.hi & ~b.hi);
export const equal = (a: Lanes, b: Lanes): boolean => a.lo >>> 0 === b.lo >>> 0 && a.hi >>> 0 === b.hi >>> 0;
export const isEmpty = (a: Lanes): boolean => (a.lo | a.hi) === 0;

function bits32(x: number): number {
  x -= (x >>> 1) & 0x55555555;
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return (((x + (x >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** size returns the number of lanes. */
export const size = (m: Lanes): number => bits32(m.lo) + bits32(m.hi);

/** members returns the lanes in ascending order. */
export function members(m: Lanes): number[] {
  const list: number[] = [];
  for (let i = 0; i < 64; i++) if (has(m, i)) list.push(i);
  return list;
}

/** fromMembers returns the set of the given lanes. */
export function fromMembers(list: Iterable<number>): Lanes {
  let [lo, hi] = [0, 0];
  for (const l of list) {
    if (l < 32) lo |= 1 << l;
    else hi |= 1 << (l - 32);
  }
  return lanesOf(lo, hi);
}

/** firstLanes returns the lanes 0 to n-1. */
export function firstLanes(n: number): Lanes {
  const low = (k: number) => (k >= 32 ? 0xffffffff : (1 << k) - 1);
  return lanesOf(low(Math.min(n, 32)), n > 32 ? low(n - 32) : 0);
}

/** ranges returns the set as a list of ranges, such as "0-3, 8". */
export function ranges(m: Lanes): string {
  const list: string[] = [];
  for (let i = 0; i < 64; i++) {
    if (!has(m, i)) continue;
    let end = i;
    while (end < 63 && has(m, end + 1)) end++;
    list.push(end === i ? `${i}` : end === i + 1 ? `${i}, ${end}` : `${i}–${end}`);
    i = end;
  }
  return list.join(', ');
}

/** parity returns "even" or "odd" if the set is all lanes of that kind of a set of at least 6, otherwise undefined. */
function parity(m: Lanes, all: Lanes): 'even' | 'odd' | undefined {
  const even = and(all, lanesOf(0x55555555, 0x55555555));
  if (size(m) >= 3 && equal(m, even)) return 'even';
  if (size(m) >= 3 && equal(m, without(all, even))) return 'odd';
  return undefined;
}

/**
 * inWords names a set of lanes of a warp, whose lanes are all: "all 32 lanes", "the odd lanes", "lane 5", "lanes 0–15", and for a set
 * of more than six ranges its size and its beginning: "13 lanes (0, 2, 5, 7, …)".
 */
export function inWords(m: Lanes, all: Lanes): string {
  const n = size(m);
  if (n === 0) return 'no lane';
  if (n > 1 && equal(m, all)) return `all ${n} lanes`;
  const p = parity(m, all);
  if (p) return `the ${p} lanes`;
  const text = ranges(m);
  if (n === 1) return `lane ${text}`;
  const list = text.split(', ');
  if (list.length > 6) return `${n} lanes (${list.slice(0, 4).join(', ')}, …)`;
  return `lanes ${text}`;
}
