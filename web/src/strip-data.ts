// Strips as data: runs of equal steps, and their drawings as SVG. A strip shows what each lane of a warp does at each step.

import { type Lanes, has, inWords, isEmpty, lanesOf, without } from './lanes.ts';
import type { WarpModel } from './model.ts';
import { endText, nounVerb } from './sentences.ts';

/** StripRun is consecutive steps of one basic block by the same lanes. */
export interface StripRun {
  from: number;
  to: number; // exclusive
  block: number;
  active: Lanes;
}

const cache = new WeakMap<WarpModel, StripRun[]>();

/** runsOf returns the steps of a warp as runs. */
export function runsOf(m: WarpModel): StripRun[] {
  let list = cache.get(m);
  if (list) return list;
  list = [];
  let last: StripRun | undefined;
  for (let s = 0; s < m.steps; s++) {
    const block = m.instructionAt(s)!.block;
    const again = s > 0 && m.instruction[s] <= m.instruction[s - 1]; // a new pass of a loop
    if (last && !again && last.block === block && last.active.lo === m.activeLo[s] && last.active.hi === m.activeHi[s]) last.to = s + 1;
    else list.push((last = { from: s, to: s + 1, block, active: lanesOf(m.activeLo[s], m.activeHi[s]) }));
  }
  cache.set(m, list);
  return list;
}

/** runAt returns the index of the run of a step. */
export function runAt(list: StripRun[], step: number): number {
  let [lo, hi] = [0, list.length];
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (list[mid].to <= step) lo = mid + 1;
    else hi = mid;
  }
  return Math.min(lo, list.length - 1);
}

/** TableRow is a run in words. */
export interface TableRow {
  steps: string;
  letter: string;
  lines: string;
  active: string;
  others: string;
}

/** tableRow returns a run as a row of the table of a strip. */
export function tableRow(m: WarpModel, r: StripRun): TableRow {
  const [a, b] = [m.line(r.from), m.line(r.to - 1)];
  const ended = m.ended(r.from);
  const waiting = without(without(m.lanes, ended), r.active);
  const others: string[] = [];
  if (!isEmpty(waiting)) others.push(nounVerb(waiting, m.lanes, 'wait', 'waits'));
  if (!isEmpty(ended)) others.push(`${nounVerb(ended, m.lanes, 'have', 'has')} ended`);
  return {
    steps: r.to - r.from === 1 ? `${r.from + 1}` : `${r.from + 1}–${r.to}`,
    letter: m.launch.blocks[r.block]?.letter ?? '',
    lines: a === b ? `${a}` : `${a}–${b}`,
    active: inWords(r.active, m.lanes),
    others: others.join('; '),
  };
}

/** Palette is the colours of a drawing. */
export interface Palette {
  blocks: string[];
  on: string;
  idle: string;
  edge: string;
  ink: string;
  soft: string;
  card: string;
}

const escape = (s: string): string => s.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** maxSVGRuns bounds the size of an exported drawing. */
const maxSVGRuns = 5000;

/** stripSVG returns steps from to to of a strip as a drawing for papers and slides. */
export function stripSVG(m: WarpModel, title: string, from: number, to: number, p: Palette): string {
  const W = m.launch.warpSize;
  const n = Math.max(1, to - from);
  const w = Math.max(1, Math.min(24, 960 / n));
  const h = W <= 8 ? 14 : W <= 16 ? 9 : 6;
  const [left, top] = [34, 44];
  const width = Math.ceil(left + n * w + 12);
  const height = top + W * h + 26;
  const out: string[] = [];
  const runs = runsOf(m).filter((r) => r.to > from && r.from < to);
  for (const r of runs.slice(0, maxSVGRuns)) {
    const [a, b] = [Math.max(r.from, from), Math.min(r.to, to)];
    const x = left + (a - from) * w;
    const fill = p.blocks[Math.max(r.block, 0) % p.blocks.length];
    const ended = m.ended(r.from);
    for (let l = 0; l < W; ) {
      const kind = !has(m.lanes, l) || has(ended, l) ? 0 : has(r.active, l) ? 2 : 1;
      let e = l + 1;
      while (e < W && (!has(m.lanes, e) || has(ended, e) ? 0 : has(r.active, e) ? 2 : 1) === kind) e++;
      if (kind) out.push(`<rect x="${x.toFixed(2)}" y="${top + l * h}" width="${((b - a) * w - (w > 4 ? 1 : 0)).toFixed(2)}" height="${(e - l) * h - 0.6}" fill="${kind === 2 ? fill : p.idle}"/>`);
      l = e;
    }
    const letter = m.launch.blocks[r.block]?.letter;
    if (letter && (b - a) * w >= 9) out.push(`<text x="${(x + ((b - a) * w) / 2).toFixed(1)}" y="${top - 6}" text-anchor="middle" font-weight="700" fill="${fill}">${letter}</text>`);
  }
  for (let l = 0; l < W; l += W <= 8 ? 1 : 8) out.push(`<text x="${left - 6}" y="${top + l * h + h / 2 + 3.5}" text-anchor="end" fill="${p.soft}">${l}</text>`);
  if (w >= 15) for (let s = from; s < Math.min(to, m.steps); s++) out.push(`<text x="${(left + (s - from + 0.5) * w).toFixed(1)}" y="${top + W * h + 12}" text-anchor="middle" fill="${p.soft}">${m.line(s)}</text>`);
  const label = `${title}: ${m.steps} instructions of warp ${m.info.warp} of CTA ${m.launch.ctaName(m.info.cta)}. ${endText(m)}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="10"><title>${escape(label)}</title><rect width="100%" height="100%" fill="${p.card}"/><text x="${left}" y="18" font-size="13" font-weight="700" fill="${p.ink}" font-family="system-ui, sans-serif">${escape(title)}</text>${out.join('')}</svg>\n`;
}

