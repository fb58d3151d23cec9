// A layered drawing of a control-flow graph: blocks in layers from the entry down, forward edges from layer to layer, back edges at
// the side.

import type { BasicBlock } from './model.ts';

/** Box is a block in the drawing. */
export interface Box {
  block: number;
  x: number; // centre
  y: number; // top
}

/** FlowEdge is an edge in the drawing. */
export interface FlowEdge {
  from: number;
  to: number; // -1: the end
  back: boolean;
  path: string;
}

export interface FlowDrawing {
  boxes: Box[];
  edges: FlowEdge[];
  width: number;
  height: number;
}

export const boxWidth = 132;
export const boxHeight = 44;
const [gapX, gapY, side] = [26, 34, 16];

/** layout places the given blocks, of which the first is the entry. */
export function layout(blocks: BasicBlock[]): FlowDrawing {
  const nodes = blocks.filter((b) => b.instructions > 0);
  const known = new Set(nodes.map((b) => b.index));
  // A block without instructions stands for the next one.
  const byIndex = new Map(blocks.map((b) => [b.index, b]));
  const resolve = (i: number): number => {
    const visited = new Set<number>();
    while (!known.has(i)) {
      if (visited.has(i)) return -1;
      visited.add(i);
      i = byIndex.get(i)?.next[0] ?? -1;
    }
    return i;
  };
  const next = new Map(nodes.map((b) => [b.index, [...new Set(b.next.map(resolve))]]));
  // Back edges, by a search in depth.
  const state = new Map<number, number>();
  const back = new Set<string>();
  const order: number[] = [];
  const visit = (n: number): void => {
    state.set(n, 1);
    for (const t of next.get(n) ?? []) {
      if (t < 0) continue;
      if (state.get(t) === 1) back.add(`${n} ${t}`);
      else if (!state.has(t)) visit(t);
    }
    state.set(n, 2);
    order.unshift(n);
  };
  for (const b of nodes) if (!state.has(b.index)) visit(b.index);
  const layer = new Map<number, number>();
  for (const n of order) {
    layer.set(n, layer.get(n) ?? 0);
    for (const t of next.get(n) ?? []) if (t >= 0 && !back.has(`${n} ${t}`)) layer.set(t, Math.max(layer.get(t) ?? 0, layer.get(n)! + 1));
  }
  const layers: number[][] = [];
  for (const b of nodes) (layers[layer.get(b.index)!] ??= []).push(b.index);
  // Order in the layers by the mean place of the predecessors, twice down.
  const place = new Map<number, number>();
  layers.forEach((l) => l.forEach((n, i) => place.set(n, i - (l.length - 1) / 2)));
  for (let pass = 0; pass < 2; pass++) {
    for (const l of layers.slice(1)) {
      const mean = (n: number) => {
        const from = nodes.filter((b) => next.get(b.index)!.includes(n) && !back.has(`${b.index} ${n}`)).map((b) => place.get(b.index)!);
        return from.length ? from.reduce((a, b) => a + b, 0) / from.length : place.get(n)!;
      };
      const means = new Map(l.map((n) => [n, mean(n)]));
      l.sort((a, b) => means.get(a)! - means.get(b)! || a - b);
      l.forEach((n, i) => place.set(n, i - (l.length - 1) / 2));
    }
  }
  const widest = Math.max(1, ...layers.map((l) => l.length));
  const backs = back.size;
  const skips = nodes.some((b) => next.get(b.index)!.some((t) => t >= 0 && layer.get(t)! - layer.get(b.index)! > 1)) ? 1 : 0;
  const margin = 14 + Math.max(backs, skips * 2) * side;
  const width = widest * (boxWidth + gapX) + 2 * margin;
  const center = width / 2;
  const at = new Map<number, Box>();
  layers.forEach((l, k) => l.forEach((n) => at.set(n, { block: n, x: center + place.get(n)! * (boxWidth + gapX), y: 8 + k * (boxHeight + gapY) })));
  const edges: FlowEdge[] = [];
  let right = 0;
  let left = 0;
  for (const b of nodes) {
    const [from, list] = [at.get(b.index)!, next.get(b.index)!];
    const order = list.map((t) => at.get(t)?.x ?? -Infinity).sort((p, q) => p - q);
    list.forEach((t) => {
      const i = order.indexOf(at.get(t)?.x ?? -Infinity);
      const x0 = from.x + (i - (list.length - 1) / 2) * 28;
      const y0 = from.y + boxHeight;
      if (t < 0) {
        edges.push({ from: b.index, to: -1, back: false, path: `M${x0} ${y0}v14` });
        return;
      }
      const to = at.get(t)!;
      if (back.has(`${b.index} ${t}`)) {
        const lane = Math.max(...[...at.values()].filter((p) => p.y >= to.y && p.y <= from.y).map((p) => p.x)) + boxWidth / 2 + 10 + side * right++;
        const edge = from.x + boxWidth / 2;
        edges.push({ from: b.index, to: t, back: true, path: `M${edge} ${from.y + boxHeight / 2}H${lane - 6}q6 0 6 -6V${to.y + boxHeight / 2 + 6}q0 -6 -6 -6H${to.x + boxWidth / 2 + 5}` });
      } else if (layer.get(t)! - layer.get(b.index)! > 1 && [...at.values()].some((p) => p.y > from.y && p.y < to.y && Math.abs(p.x - (x0 + to.x) / 2) < boxWidth / 2 + 4)) {
        const lane = Math.min(...[...at.values()].filter((p) => p.y >= from.y && p.y <= to.y).map((p) => p.x)) - boxWidth / 2 - 10 - side * left++;
        edges.push({ from: b.index, to: t, back: false, path: `M${from.x - boxWidth / 2} ${from.y + boxHeight / 2}H${lane + 6}q-6 0 -6 6V${to.y - 20}q0 6 6 6H${to.x - 26}q6 0 6 6V${to.y - 5}` });
      } else {
        const y1 = to.y - 5;
        const x1 = to.x + Math.max(-14, Math.min(14, x0 - to.x));
        edges.push({ from: b.index, to: t, back: false, path: `M${x0} ${y0}C${x0} ${y0 + gapY * 0.7} ${x1} ${y1 - gapY * 0.7} ${x1} ${y1}` });
      }
    });
  }
  return { boxes: [...at.values()], edges, width, height: layers.length * (boxHeight + gapY) + 8 };
}
