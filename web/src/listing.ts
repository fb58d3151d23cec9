// The listing of a program: the lines of the functions of a launch, from its sources or, without them, from its instructions.

import type { Instruction, Launch } from './model.ts';

/** Line is a line of a listing. */
export interface Line {
  number: number;
  text: string;
  /** instructions is the instructions of the line. */
  instructions: Instruction[];
}

/** Listing is the lines of a program in a language. */
export interface Listing {
  kind: 'ptx' | 'compiled';
  name: string;
  lines: Line[];
}

const cache = new WeakMap<Launch, Listing[]>();

/** listingsOf returns the listings of a launch: the PTX first, then the files from which it was compiled. */
export function listingsOf(launch: Launch): Listing[] {
  let list = cache.get(launch);
  if (!list) cache.set(launch, (list = build(launch)));
  return list;
}

function build(launch: Launch): Listing[] {
  const ptx = launch.sources.find((s) => s.kind === 'ptx');
  const list: Listing[] = [{ kind: 'ptx', name: ptx?.name ?? launch.file, lines: ptx ? linesOf(launch, ptx.text, (i) => i.line, true) : bare(launch) }];
  for (const s of launch.sources) {
    if (s.kind !== 'compiled' || !launch.instructions.some((i) => i.sourceFile === s.name)) continue;
    list.push({ kind: 'compiled', name: s.name, lines: linesOf(launch, s.text, (i) => (i.sourceFile === s.name ? i.sourceLine : 0), false) });
  }
  return list;
}

/** bare returns the lines of a listing without sources. */
function bare(launch: Launch): Line[] {
  const lines = new Map<number, Line>();
  for (const i of launch.instructions) {
    const l = lines.get(i.line);
    if (l) {
      l.instructions.push(i);
      l.text += ` ${i.text};`;
    } else lines.set(i.line, { number: i.line, text: `\t${i.text};`, instructions: [i] });
  }
  return [...lines.values()].sort((a, b) => a.number - b.number);
}

/** linesOf returns the lines of the functions that have instructions. */
function linesOf(launch: Launch, text: string, line: (i: Instruction) => number, isPTX: boolean): Line[] {
  const all = text.split(/\r?\n/);
  const at = new Map<number, Instruction[]>();
  const ranges: [number, number][] = [];
  const functions = new Map<string, [number, number]>(); // first and last line with an instruction
  for (const i of launch.instructions) {
    const n = line(i);
    if (n < 1 || n > all.length) continue;
    const here = at.get(n);
    if (here) here.push(i);
    else at.set(n, [i]);
    const range = functions.get(i.function);
    functions.set(i.function, [Math.min(range?.[0] ?? n, n), Math.max(range?.[1] ?? n, n)]);
  }
  for (let [first, last] of functions.values()) {
    // From the head of the function, or of the C function, to its closing brace.
    const head = isPTX ? /\.(entry|func)\b/ : /__(global|device)__|^\S.*\)\s*\{?\s*$/;
    for (let n = first; n > Math.max(0, first - 200); n--) {
      if (head.test(all[n - 1])) {
        first = n;
        break;
      }
    }
    for (let n = last; n <= Math.min(all.length, last + 20); n++) {
      if (/^\}/.test(all[n - 1])) {
        last = n;
        break;
      }
    }
    ranges.push([first, last]);
  }
  ranges.sort((a, b) => a[0] - b[0]);
  const lines: Line[] = [];
  let done = 0;
  for (const [first, last] of ranges) {
    for (let n = Math.max(first, done + 1); n <= last; n++) if (!isPTX || !/^\s*\.loc\s/.test(all[n - 1])) lines.push({ number: n, text: all[n - 1], instructions: at.get(n) ?? [] });
    done = Math.max(done, last);
  }
  return lines;
}

/** Token is a part of a line of PTX with its kind. */
export interface Token {
  kind: '' | 'op' | 'register' | 'directive' | 'number' | 'comment' | 'label' | 'guard';
  text: string;
}

const ptxToken = /(\/\/.*|\/\*.*?\*\/)|(@!?%\w+)|(%[\w.]+)|(^\s*[\w$]+:)|((?<![\w.])\.[a-z]\w*)|(\b0[xXfFdD][\da-fA-F]+\b|\b\d[\w.]*\b)|((?:^|(?<=[\s;}:]))[a-z][a-z0-9_]*(?:\.[a-z0-9_:]+)*(?=[\s;]))/g;

/** tokensOf splits a line of PTX. */
export function tokensOf(text: string): Token[] {
  const list: Token[] = [];
  let at = 0;
  for (const m of text.matchAll(ptxToken)) {
    if (m.index > at) list.push({ kind: '', text: text.slice(at, m.index) });
    const kind = m[1] ? 'comment' : m[2] ? 'guard' : m[3] ? 'register' : m[4] ? 'label' : m[5] ? 'directive' : m[6] ? 'number' : 'op';
    list.push({ kind, text: m[0] });
    at = m.index + m[0].length;
  }
  if (at < text.length) list.push({ kind: '', text: text.slice(at) });
  return list;
}
