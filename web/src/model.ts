// The state of every warp of a launch at every step, from a recording.
//
// A step of a warp is an instruction that it executes. The state at step s is the state while the warp executes instruction s: its
// lanes are at this instruction, all others are at their next instruction, wait or have ended; registers already hold the results.
// After the last step there is one more state, the end.

import { type Lanes, and, equal, fromMembers, has, isEmpty, lanesOf, members, noLanes, or, size, without } from './lanes.ts';
import { type Recording, RecordingError, type Table, type Wide } from './recording.ts';
import { type Structure, structureOf } from './values.ts';

/** Kinds of events, in the order of the table enumerations. */
export enum Kind {
  Instruction,
  Branch,
  Split,
  Reconverge,
  Wait,
  Wake,
  Call,
  Return,
  Exit,
  CTABegin,
  CTAEnd,
  WarpBegin,
  WarpEnd,
  Effect,
  Trap,
}

/** Class of a value in the tables results, accesses and stores. */
enum RowClass {
  Uniform,
  Affine,
  Generic,
  Mask,
  None,
}

export interface Instruction {
  /** index is the place in the launch's list of instructions. */
  index: number;
  function: string;
  line: number;
  class: string;
  text: string;
  sourceFile: string;
  sourceLine: number;
  /** block is the index of its basic block; -1 if it is unknown. */
  block: number;
}

export interface Register {
  index: number;
  function: string;
  name: string;
  type: string;
  bits: number;
}

/** BasicBlock is instructions that lanes execute from the first to the last. */
export interface BasicBlock {
  index: number;
  function: string;
  labels: string[];
  first: number;
  instructions: number;
  /** letter is its name in strips and the listing. */
  letter: string;
  /** next is the blocks to which control can continue; -1 is the end of the function. */
  next: number[];
  /** postDominator is the block where lanes that diverge at its end reconverge; -1 is the end of the function. */
  postDominator: number;
}

/** Source is the text of the PTX or of a file from which it was compiled. */
export interface Source {
  kind: 'ptx' | 'compiled';
  name: string;
  text: string;
}

/** WarpInfo names a warp of a launch. */
export interface WarpInfo {
  cta: number;
  warp: number;
  /** steps is the number of recorded instructions. */
  steps: number;
  /** lanes is the lanes with a thread. */
  lanes: Lanes;
}

interface Columns {
  kind: ArrayLike<number>;
  instruction: ArrayLike<number>;
  activeLo: Uint32Array;
  activeHi: Uint32Array;
  lanesLo: Uint32Array;
  lanesHi: Uint32Array;
  depth: ArrayLike<number>;
  reconverge: ArrayLike<number>;
}

interface ResultColumns {
  lanes: Wide;
  register: ArrayLike<number>;
  cls: ArrayLike<number>;
  base: Wide;
  high: Wide;
  stride: Wide;
  values: Wide;
  low: Wide;
  top: Wide;
  byEvent: ByEvent;
}

/** ByEvent finds the rows of a table that belong to an event; its column event ascends. */
class ByEvent {
  private readonly events: Float64Array;
  constructor(table: Table, column = 'event') {
    this.events = table.counts(column);
  }
  /** first returns the first row with an event of at least e. */
  first(e: number): number {
    let [lo, hi] = [0, this.events.length];
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (this.events[mid] < e) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  }
  *rows(e: number): Iterable<number> {
    for (let i = this.first(e); i < this.events.length && this.events[i] === e; i++) yield i;
  }
  event(row: number): number {
    return this.events[row];
  }
  get length(): number {
    return this.events.length;
  }
}

/** maxEvents bounds the number of events that the page shows; a launch with more has a message of its own. */
const maxEvents = 4_000_000;

/** launchesOf returns the launches of a recording. */
export function launchesOf(rec: Recording): Launch[] {
  const n = rec.table('launches').rows;
  if (n > 10_000) throw new RecordingError(0, `the recording has ${n} launches; the page shows at most 10000: record fewer (--only-kernel)`);
  const rows = rowsOf(rec.table('events').numbers('launch'), n);
  return rows.map((r, i) => new Launch(rec, i, r));
}

/** rowsOf returns the rows of each of n launches, in ascending order, from the column launch of a table. */
function rowsOf(launch: ArrayLike<number>, n: number): Uint32Array[] {
  const counts = new Uint32Array(n);
  for (let i = 0; i < launch.length; i++) if (launch[i] < n) counts[launch[i]]++;
  const rows = Array.from(counts, (c) => new Uint32Array(c));
  const next = new Uint32Array(n);
  for (let i = 0; i < launch.length; i++) if (launch[i] < n) rows[launch[i]][next[launch[i]]++] = i;
  return rows;
}

/** letterOf returns letter n of the alphabet of blocks: A to Z, 0 to 9, then #. */
const letterOf = (n: number): string => (n < 26 ? String.fromCharCode(65 + n) : n < 36 ? String(n - 26) : '#');

/** LaunchOutcome is the end of a launch: it is done, a limit has stopped it or its recording, it trapped, or no thread can continue. */
export type LaunchOutcome = 'done' | 'stopped' | 'trap' | 'deadlock';

/** outcomeOf returns the outcome of a launch from the table ends. The text of a trap is "FILE:LINE:COLUMN: trap in kernel NAME: KIND …" (probe.Trap). */
export function outcomeOf(kernel: string, error: string, complete: boolean): LaunchOutcome {
  if (!error) return complete ? 'done' : 'stopped';
  const head = `: trap in kernel ${kernel}: `;
  const at = error.indexOf(head);
  if (at < 0) return complete ? 'trap' : 'stopped';
  const kind = error.slice(at + head.length);
  if (/^(deadlock\b|a CTA waits for a CTA that cannot begin)/.test(kind)) return 'deadlock';
  return /^(step|time) limit reached/.test(kind) ? 'stopped' : 'trap';
}

/** Launch is a launch of a recording. */
export class Launch {
  readonly kernel: string;
  readonly file: string;
  readonly grid: [number, number, number];
  readonly block: [number, number, number];
  readonly warpSize: number;
  readonly policy: string;
  /** error is the reason of a failed launch, as the engine says it. */
  readonly error: string;
  /** complete reports that the whole launch is recorded. */
  readonly complete: boolean;
  /** outcome is the end of the launch as far as it is recorded. The status of a response is more precise, and replaces it. */
  outcome: LaunchOutcome;
  readonly instructions: Instruction[] = [];
  readonly registers: Register[] = [];
  readonly blocks: BasicBlock[] = [];
  readonly sources: Source[] = [];
  readonly warps: WarpInfo[] = [];
  /** has tells which optional parts the recording has. */
  readonly has: { results: boolean; accesses: boolean; stack: boolean };

  /** trap is the warp of the first trap. */
  trap?: { cta: number; warp: number };

  /** @internal */ readonly columns: Columns;
  /** @internal */ readonly firstRegister: Map<number, number> = new Map();
  private readonly firstInstruction: number;
  private readonly order: Uint32Array; // rows of the table events, warp after warp
  private readonly starts: number[] = []; // by warp: first place in order
  private readonly models = new Map<number, WarpModel>();
  private readonly index = new Map<string, ByEvent>();
  private readonly operands: { instruction: ArrayLike<number>; register: ArrayLike<number>; writes: ArrayLike<number> };

  constructor(
    readonly recording: Recording,
    readonly row: number,
    rows: Uint32Array, // of the table events
  ) {
    const rec = recording;
    const t = rec.table('launches');
    const number = (name: string) => Number(t.numbers(name)[row]);
    this.kernel = t.texts('kernel')[row];
    this.file = t.texts('file')[row];
    this.grid = [number('grid_x'), number('grid_y'), number('grid_z')];
    this.block = [number('block_x'), number('block_y'), number('block_z')];
    this.warpSize = number('warp_size') || 32;
    if (this.warpSize > 64) throw new RecordingError(0, `launch ${row} has warps of ${this.warpSize} lanes; want at most 64`);
    this.policy = t.texts('reconverge')[row];
    this.firstInstruction = number('first_instruction');
    const contents = new Set((rec.table('recording').texts('contents')[0] ?? '').split(/,\s*/));
    this.has = { results: contents.has('results'), accesses: contents.has('accesses'), stack: contents.has('stack') };
    const ends = rec.table('ends');
    const end = Array.from(ends.numbers('launch')).indexOf(row);
    this.error = end < 0 ? '' : ends.texts('error')[end];
    this.complete = end >= 0 && ends.numbers('complete')[end] === 1;
    this.outcome = outcomeOf(this.kernel, this.error, this.complete);
    this.readProgram(number('instructions'), number('first_block'), number('blocks'), number('first_source'), number('sources'));

    const e = rec.table('events');
    if (e.rows > maxEvents) throw new RecordingError(0, `the recording has ${e.rows} events; the page shows at most ${maxEvents}: record fewer (--max-events)`);
    const [active, lanes] = [e.wide('active'), e.wide('lanes')];
    this.columns = {
      kind: e.numbers('kind'),
      instruction: e.numbers('instruction'),
      activeLo: active.lo,
      activeHi: active.hi,
      lanesLo: lanes.lo,
      lanesHi: lanes.hi,
      depth: e.numbers('depth'),
      reconverge: e.numbers('reconverge'),
    };
    const o = rec.table('operands');
    this.operands = { instruction: o.numbers('instruction'), register: o.numbers('register'), writes: o.numbers('writes') };
    this.order = this.groupByWarp(e, rows);
  }

  private readProgram(instructions: number, firstBlock: number, blocks: number, firstSource: number, sources: number): void {
    const rec = this.recording;
    const t = rec.table('instructions');
    const [fn, line, cls, text, file, sourceLine] = [t.texts('function'), t.numbers('line'), t.texts('class'), t.texts('text'), t.texts('source_file'), t.numbers('source_line')];
    // A log without code has no list: its instructions are those of the whole table.
    const n = instructions || (this.firstInstruction === 0 && rec.table('launches').rows === 1 ? t.rows : 0);
    if (this.firstInstruction + n > t.rows) throw new RecordingError(0, `launch ${this.row} has instructions that the recording lacks`);
    const functions = new Set<string>();
    for (let i = 0; i < n; i++) {
      const k = this.firstInstruction + i;
      functions.add(fn[k]);
      this.instructions.push({ index: i, function: fn[k], line: line[k], class: cls[k], text: text[k], sourceFile: file[k], sourceLine: sourceLine[k], block: -1 });
    }
    const r = rec.table('registers');
    const [rfn, name, type, bits] = [r.texts('function'), r.texts('name'), r.texts('type'), r.numbers('bits')];
    for (let i = 0; i < r.rows; i++) {
      if (!functions.has(rfn[i])) continue;
      this.firstRegister.set(i, this.registers.length);
      this.registers.push({ index: this.registers.length, function: rfn[i], name: name[i], type: type[i], bits: bits[i] || 32 });
    }
    const b = rec.table('blocks');
    if (firstBlock + blocks > b.rows) throw new RecordingError(0, `launch ${this.row} has basic blocks that the recording lacks`);
    const [bfn, labels, first, count, post] = [b.texts('function'), b.texts('labels'), b.numbers('first'), b.numbers('instructions'), b.numbers('post_dominator')];
    for (let i = 0; i < blocks; i++) {
      const k = firstBlock + i;
      const block: BasicBlock = {
        index: i,
        function: bfn[k],
        labels: labels[k] ? labels[k].split(' ') : [],
        first: first[k] - this.firstInstruction,
        instructions: count[k],
        letter: '',
        next: [],
        postDominator: post[k] < 0 ? -1 : post[k] - firstBlock,
      };
      if (block.first < 0 || block.first + block.instructions > n) throw new RecordingError(0, `basic block ${k} has instructions that the launch lacks`);
      this.blocks.push(block);
      for (let j = 0; j < block.instructions; j++) this.instructions[block.first + j].block = i;
    }
    const edges = rec.table('edges');
    const [from, to] = [edges.numbers('from'), edges.numbers('to')];
    for (let i = 0; i < edges.rows; i++) {
      const block = this.blocks[from[i] - firstBlock];
      if (block) block.next.push(to[i] < 0 ? -1 : to[i] - firstBlock);
    }
    const s = rec.table('sources');
    if (firstSource + sources > s.rows) throw new RecordingError(0, `launch ${this.row} has texts that the recording lacks`);
    const [kind, sourceName, sourceText] = [s.numbers('kind'), s.texts('name'), s.texts('text')];
    for (let i = firstSource; i < firstSource + sources; i++) this.sources.push({ kind: kind[i] === 0 ? 'ptx' : 'compiled', name: sourceName[i], text: sourceText[i] });
  }

  /** letterBlocks gives each block with instructions a letter; a block whose label is one letter has this letter, and no other has it. */
  private letterBlocks(): void {
    const taken = new Set<string>();
    for (const b of this.blocks) {
      const own = b.labels.find((l) => /^[A-Za-z]$/.test(l));
      if (own && b.instructions > 0) taken.add((b.letter = own));
    }
    let n = 0;
    for (const b of this.blocks) {
      if (b.letter || b.instructions === 0) continue;
      while (taken.has(letterOf(n)) && letterOf(n) !== '#') n++;
      b.letter = letterOf(n++);
    }
  }

  /** findBlocks derives basic blocks from the observed transfers of control, for a recording without the table blocks. */
  private findBlocks(): void {
    const leaders = new Set<number>();
    const edges = new Map<number, Set<number>>(); // last instruction of a block to first
    const g = this.recording.table('groups');
    const [target, event, first] = [g.numbers('instruction'), this.byEvent('groups'), this.firstInstruction];
    const rows = new Set(this.order);
    for (let i = 0; i < g.rows; i++) {
      if (!rows.has(event.event(i))) continue;
      const from = this.columns.instruction[event.event(i)] - first;
      const to = target[i] < 0 ? -1 : target[i] - first;
      if (!edges.has(from)) edges.set(from, new Set());
      edges.get(from)!.add(to);
      leaders.add(from + 1);
      leaders.add(to);
    }
    this.instructions.forEach((x, i) => {
      const before = this.instructions[i - 1];
      if (!before || before.function !== x.function || leaders.has(i) || /^(@!?%\S+\s+)?(bra|brx|ret|exit|trap)\b/.test(before.text)) {
        this.blocks.push({ index: this.blocks.length, function: x.function, labels: [], first: i, instructions: 0, letter: '', next: [], postDominator: -1 });
      }
      const b = this.blocks[this.blocks.length - 1];
      b.instructions++;
      x.block = b.index;
    });
    for (const b of this.blocks) {
      const last = b.first + b.instructions - 1;
      const text = this.instructions[last].text;
      const next = edges.get(last) ?? new Set(/^(bra|brx|ret|exit|trap)\b/.test(text) || !this.instructions[last + 1] ? [] : [last + 1]);
      for (const to of next) b.next.push(to < 0 ? -1 : this.instructions[to].block);
      if (/^(@!?%\S+\s+)?(ret|exit)\b/.test(text) && !b.next.includes(-1)) b.next.push(-1);
    }
  }

  /** groupByWarp fills warps and starts, and returns the rows of the events of warps, warp after warp. */
  private groupByWarp(e: Table, rows: Uint32Array): Uint32Array {
    const [cta, warp, kind] = [e.numbers('cta'), e.numbers('warp'), e.numbers('kind')];
    const exits = this.exitsByBranch(e, rows);
    const place = new Map<number, number>();
    const of = new Int32Array(rows.length).fill(-1); // by place in rows: the warp
    const counts: number[] = [];
    let last = -1;
    let lastKey = -1;
    for (let k = 0; k < rows.length; k++) {
      const i = rows[k];
      if (warp[i] < 0 || exits.has(i)) continue;
      const key = cta[i] * 2048 + warp[i];
      if (key !== lastKey) {
        let w = place.get(key);
        if (w === undefined) {
          w = this.warps.length;
          place.set(key, w);
          this.warps.push({ cta: cta[i], warp: warp[i], steps: 0, lanes: noLanes });
          counts.push(0);
        }
        [last, lastKey] = [w, key];
      }
      of[k] = last;
      counts[last]++;
      const info = this.warps[last];
      if (kind[i] === Kind.Instruction) info.steps++;
      if (kind[i] === Kind.Trap) this.trap ??= { cta: cta[i], warp: warp[i] };
      info.lanes = or(info.lanes, lanesOf(this.columns.activeLo[i], this.columns.activeHi[i]));
    }
    // Warps in the order of CTA and warp, whatever the order of their first events.
    const sorted = this.warps.map((w, i) => ({ w, i })).sort((a, b) => a.w.cta - b.w.cta || a.w.warp - b.w.warp);
    const next = new Float64Array(this.warps.length);
    let at = 0;
    sorted.forEach(({ w, i }, k) => {
      this.warps[k] = w;
      this.starts.push(at);
      next[i] = at;
      at += counts[i];
    });
    this.starts.push(at);
    const order = new Uint32Array(at);
    for (let k = 0; k < rows.length; k++) if (of[k] >= 0) order[next[of[k]]++] = rows[k];
    return order;
  }

  /**
   * exitsByBranch returns the rows of the instruction events that are no steps: a branch sends lanes to the kernel's end, and other
   * lanes live on. Such an event is followed by the exit of the same lanes, and a later instruction event has the same step.
   */
  private exitsByBranch(e: Table, rows: Uint32Array): Set<number> {
    const [cta, warp, kind, step] = [e.numbers('cta'), e.numbers('warp'), e.numbers('kind'), e.wide('step')];
    const c = this.columns;
    const exits = new Set<number>();
    let later = -1; // row of the next instruction event of the launch that is a step
    const next = new Map<number, number>(); // row of the next event of a warp
    for (let k = rows.length - 1; k >= 0; k--) {
      const i = rows[k];
      if (warp[i] < 0) continue;
      const key = cta[i] * 2048 + warp[i];
      if (kind[i] === Kind.Instruction) {
        const n = next.get(key) ?? -1;
        const same = later >= 0 && step.lo[i] === step.lo[later] && step.hi[i] === step.hi[later];
        if (same && n >= 0 && kind[n] === Kind.Exit && c.lanesLo[n] === c.activeLo[i] && c.lanesHi[n] === c.activeHi[i]) exits.add(i);
        else later = i;
      }
      next.set(key, i);
    }
    return exits;
  }

  /** byEvent returns the index of a table by its column event. */
  byEvent(table: string): ByEvent {
    let x = this.index.get(table);
    if (!x) this.index.set(table, (x = new ByEvent(this.recording.table(table), table === 'stores' ? 'access' : 'event')));
    return x;
  }

  private resultColumns?: ResultColumns;

  /** @internal results returns the columns of the table results and of its values. */
  results(): ResultColumns {
    if (!this.resultColumns) {
      const [t, v] = [this.recording.table('results'), this.recording.table('values')];
      this.resultColumns = {
        lanes: t.wide('lanes'),
        register: t.numbers('register'),
        cls: t.numbers('class'),
        base: t.wide('base'),
        high: t.wide('high'),
        stride: t.wide('stride'),
        values: t.wide('values'),
        low: v.wide('low'),
        top: v.wide('high'),
        byEvent: this.byEvent('results'),
      };
    }
    return this.resultColumns;
  }

  /** instructionOfRow returns the index of an instruction from its row in the table; -1 for none. */
  instructionOfRow(row: number): number {
    if (row < 0) return -1;
    const i = row - this.firstInstruction;
    if (!(i < this.instructions.length && i >= 0)) throw new RecordingError(0, `an event names instruction ${row}, which the launch lacks`);
    return i;
  }

  /** findWarp returns the index of a warp in warps; -1 if it is not recorded. */
  findWarp(cta: number, warp: number): number {
    return this.warps.findIndex((w) => w.cta === cta && w.warp === warp);
  }

  /** warp returns the model of a warp by its index in warps. */
  warp(index: number): WarpModel {
    let m = this.models.get(index);
    if (!m) {
      if (!this.warps[index]) throw new RecordingError(0, 'the recording has no events of a warp');
      if (this.blocks.length === 0) this.findBlocks();
      if (this.models.size === 0) this.letterBlocks();
      if (this.models.size >= 8) this.models.delete(this.models.keys().next().value!);
      this.models.set(index, (m = new WarpModel(this, this.warps[index], this.order.subarray(this.starts[index], this.starts[index + 1]))));
    }
    return m;
  }

  private addresses?: Set<string>;

  /** isAddress reports whether an instruction uses a register as an address: "[%r1]", "[%r1+4]", or in a cvta. */
  isAddress(r: Register): boolean {
    if (!this.addresses) {
      this.addresses = new Set();
      for (const i of this.instructions) for (const m of i.text.matchAll(/^(?:@!?%\w+ )?cvta/.test(i.text) ? /(%[\w$]+)(?=[,;]|$)/g : /\[\s*(%[\w$]+)/g)) this.addresses.add(`${i.function} ${m[1]}`);
    }
    return this.addresses.has(`${r.function} ${r.name}`);
  }

  /** operandsOf returns the registers that an instruction reads or writes. */
  operandsOf(instruction: number, writes: boolean): number[] {
    const { instruction: at, register, writes: kind } = this.operands;
    const row = this.firstInstruction + instruction;
    let [lo, hi] = [0, at.length];
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (at[mid] < row) lo = mid + 1;
      else hi = mid;
    }
    const list: number[] = [];
    for (; lo < at.length && at[lo] === row; lo++) {
      const r = this.firstRegister.get(register[lo]);
      if (r !== undefined && (kind[lo] === 1) === writes && !list.includes(r)) list.push(r);
    }
    return list;
  }

  /** place returns the 3D index of a CTA in the grid, such as "(1,0,0)". */
  ctaName(cta: number): string {
    const [x, y] = this.grid;
    return `(${cta % x},${Math.floor(cta / x) % y},${Math.floor(cta / (x * y))})`;
  }
}

/** Group is lanes that continue at the same instruction after a branch. */
export interface Group {
  lanes: Lanes;
  /** instruction is the index; -1 is the end of the function. */
  instruction: number;
}

/** StackEntry is an entry of the reconvergence stack, or a warp split of a policy without a stack. */
export interface StackEntry {
  kind: 'running' | 'ready' | 'blocked' | 'point';
  lanes: Lanes;
  arrived: Lanes;
  instruction: number;
  depth: number;
}

const stackKinds = ['running', 'ready', 'blocked', 'point'] as const;

/** Reason is the activity of a lane while the warp executes a step. */
export type Reason =
  | 'runs' // executes the instruction
  | 'masked' // is active, but its guard does not hold
  | 'ready' // could run; the policy runs other lanes
  | 'joins' // waits at a reconvergence point for other lanes
  | 'barrier' // waits at a barrier
  | 'collective' // waits at a collective instruction for lanes of its warp
  | 'waits' // does not run, for an unknown reason
  | 'stuck' // at the end of a launch that failed, or of a recording that stopped
  | 'ended' // has ended
  | 'absent'; // has no thread

/** LaneGroup is lanes at the same place for the same reason. */
export interface LaneGroup {
  reason: Reason;
  lanes: Lanes;
  /** instruction is the index of the place; -1 is unknown, or the end. */
  instruction: number;
  /** point is the reconvergence point at which the lanes wait, or will wait; -1 is none, or the end. */
  point: number;
  /** missing is the lanes for which the group waits. */
  missing: Lanes;
  /** barrier is the number of the barrier; -1 is none. */
  barrier: number;
}

/** Access is an access to memory by the lanes of a step. */
export interface Access {
  kind: 'load' | 'store' | 'atomic' | 'zero';
  space: string;
  bytes: number;
  lanes: Lanes;
  /** addresses is the address of each lane; undefined for lanes without access. */
  addresses: (bigint | undefined)[];
  class: 'uniform' | 'affine' | 'generic' | 'none';
  sectors: number;
  passes: number;
  /** allocation is the name and base of the allocation; undefined if it is unknown. */
  allocation?: { name: string; base: bigint; size: bigint };
}

/** State is the state of a warp at a step. */
export interface State {
  step: number;
  /** end reports the state after the last step. */
  end: boolean;
  /** instruction is the index of the executing instruction; -1 at the end. */
  instruction: number;
  active: Lanes;
  lanes: Lanes;
  ended: Lanes;
  groups: LaneGroup[];
  /** group is the index in groups of each lane; -1 for absent lanes. */
  group: Int8Array;
  stack: StackEntry[];
  depth: number;
}

/** RegisterView is a register at a step. */
export interface RegisterView {
  register: Register;
  /** values is the value of each lane, undefined if it was never written. */
  values: (bigint | undefined)[];
  structure: Structure;
  /** written reports that this step writes the register. */
  written: boolean;
  /** read reports that this step reads the register. */
  read: boolean;
  /** last is the latest step that wrote the register. */
  last: number;
}

/** Counts is the sums of a strip. */
export interface Counts {
  steps: number;
  /** activeSum is the sum of the active lanes of all steps; used is its share of all lanes. */
  activeSum: number;
  used: number;
  splits: number;
  reconvergences: number;
  /** partial is the number of steps in which some lanes of the warp do not run. */
  partial: number;
}

/** Snapshot is the registers of a warp before a step. */
interface Snapshot {
  lo: Uint32Array;
  hi: Uint32Array;
  top: Map<number, bigint>; // bits 64 and up, by place in lo
  defined: Uint8Array;
  last: Int32Array;
  /** shown holds what registers returned for a register that has not changed since, by index of the register. */
  shown: ({ values: (bigint | undefined)[]; seen: Lanes; structure: Structure } | undefined)[];
}

/** snapshotSteps is the least number of steps from snapshot to snapshot. */
export const snapshotSteps = 64;
const maxSnapshotBytes = 24 << 20;

/** WarpModel is a warp of a launch: the sequence of its steps, and its state at each. */
export class WarpModel {
  /** steps is the number of steps. State steps is the end. */
  readonly steps: number;
  /** lanes is the lanes with a thread. */
  readonly lanes: Lanes;
  /** instruction is the executed instruction by step. */
  readonly instruction: Int32Array;
  readonly activeLo: Uint32Array;
  readonly activeHi: Uint32Array;
  readonly lanesLo: Uint32Array;
  readonly lanesHi: Uint32Array;
  /** endedLo and endedHi are the lanes that ended before the step; by step, and for the end. */
  readonly endedLo: Uint32Array;
  readonly endedHi: Uint32Array;
  private readonly at: Int32Array; // by step: place of its event in rows
  private readonly stackEvents: number[] = []; // rows of the table events at which the stack changes
  private readonly snapshots: Snapshot[] = [];
  /** latest holds the registers that were asked for last: the next step needs only its own results. */
  private latest?: { step: number; registers: Snapshot };
  private readonly interval: number;
  private stateCache?: State;
  private turns?: Uint32Array;
  private sums?: Counts;

  constructor(
    readonly launch: Launch,
    readonly info: WarpInfo,
    private readonly rows: Uint32Array,
  ) {
    const c = launch.columns;
    const n = info.steps;
    this.steps = n;
    this.at = new Int32Array(n);
    this.instruction = new Int32Array(n);
    [this.activeLo, this.activeHi, this.lanesLo, this.lanesHi] = [0, 0, 0, 0].map(() => new Uint32Array(n));
    [this.endedLo, this.endedHi] = [new Uint32Array(n + 1), new Uint32Array(n + 1)];
    let all = noLanes;
    let ended = noLanes;
    let s = 0;
    for (let i = 0; i < rows.length; i++) {
      const r = rows[i];
      switch (c.kind[r] as Kind) {
        case Kind.Instruction:
          this.at[s] = i;
          this.instruction[s] = launch.instructionOfRow(c.instruction[r]);
          if (this.instruction[s] < 0) throw new RecordingError(0, 'an instruction event has no instruction');
          this.activeLo[s] = c.activeLo[r];
          this.activeHi[s] = c.activeHi[r];
          this.lanesLo[s] = c.lanesLo[r];
          this.lanesHi[s] = c.lanesHi[r];
          this.endedLo[s] = ended.lo;
          this.endedHi[s] = ended.hi;
          s++;
          all = or(all, lanesOf(c.activeLo[r], c.activeHi[r]));
          break;
        case Kind.WarpBegin:
          all = or(all, lanesOf(c.activeLo[r], c.activeHi[r]));
          break;
        case Kind.Exit:
          ended = or(ended, lanesOf(c.lanesLo[r], c.lanesHi[r]));
          break;
        case Kind.WarpEnd:
          ended = all;
      }
    }
    this.endedLo[n] = ended.lo;
    this.endedHi[n] = ended.hi;
    this.lanes = all;
    const stack = launch.byEvent('stack');
    let from = 0;
    for (let i = 0; i < rows.length && stack.length > 0; i++) {
      // Both lists ascend.
      while (from < stack.length && stack.event(from) < rows[i]) from++;
      if (from < stack.length && stack.event(from) === rows[i]) this.stackEvents.push(rows[i]);
    }
    const bytes = launch.registers.length * launch.warpSize * 9;
    this.interval = snapshotSteps * Math.max(1, Math.ceil((bytes * (n / snapshotSteps)) / maxSnapshotBytes));
  }

  active(step: number): Lanes {
    return step < this.steps ? lanesOf(this.activeLo[step], this.activeHi[step]) : noLanes;
  }

  executing(step: number): Lanes {
    return step < this.steps ? lanesOf(this.lanesLo[step], this.lanesHi[step]) : noLanes;
  }

  ended(step: number): Lanes {
    return lanesOf(this.endedLo[step], this.endedHi[step]);
  }

  instructionAt(step: number): Instruction | undefined {
    return this.launch.instructions[this.instruction[step]];
  }

  line(step: number): number {
    return this.instructionAt(step)?.line ?? 0;
  }

  /** eventOf returns the row of the event of a step in the table events; for the end, the row after the last event of the warp. */
  eventOf(step: number): number {
    return step < this.steps ? this.rows[this.at[step]] : (this.rows[this.rows.length - 1] ?? 0) + 1;
  }

  /** stepAtEvent returns the latest step at or before an event of any warp: the step of this warp at that moment. */
  stepAtEvent(event: number): number {
    let [lo, hi] = [0, this.steps];
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (this.rows[this.at[mid]] <= event) lo = mid + 1;
      else hi = mid;
    }
    if (lo === this.steps && event > (this.rows[this.rows.length - 1] ?? 0)) return this.steps;
    return Math.max(0, lo - 1);
  }

  /** after returns the kinds and rows of the events between a step and the next. */
  private *after(step: number): Iterable<number> {
    for (let i = this.at[step] + 1; i < (step + 1 < this.steps ? this.at[step + 1] : this.rows.length); i++) yield this.rows[i];
  }

  /** outcome returns the effects of a step: branches, splits, reconvergences, waits, wakes, ends, a trap. */
  outcome(step: number): Outcome {
    const o: Outcome = { groups: [], split: false, reconverged: noLanes, waiting: noLanes, barrier: -1, woken: noLanes, ended: noLanes, called: '', returned: false, trap: '' };
    if (step >= this.steps) return o;
    const c = this.launch.columns;
    const rec = this.launch.recording;
    for (const r of this.after(step)) {
      const lanes = lanesOf(c.lanesLo[r], c.lanesHi[r]);
      switch (c.kind[r] as Kind) {
        case Kind.Branch:
        case Kind.Split:
          o.groups = this.groupsOf(r);
          o.split ||= c.kind[r] === Kind.Split;
          break;
        case Kind.Reconverge:
          o.reconverged = lanes;
          break;
        case Kind.Wait:
          o.waiting = or(o.waiting, lanes);
          o.barrier = this.barrierOf(r);
          break;
        case Kind.Wake:
          o.woken = or(o.woken, lanes);
          break;
        case Kind.Exit:
          o.ended = or(o.ended, lanes);
          break;
        case Kind.Call:
          for (const i of this.launch.byEvent('calls').rows(r)) o.called = rec.table('calls').texts('function')[i];
          break;
        case Kind.Return:
          o.returned = true;
          break;
        case Kind.Trap:
          for (const i of this.launch.byEvent('traps').rows(r)) o.trap = rec.table('traps').texts('message')[i];
      }
    }
    return o;
  }

  private groupsOf(row: number): Group[] {
    const g = this.launch.recording.table('groups');
    const [lanes, instruction] = [g.wide('lanes'), g.numbers('instruction')];
    const list: Group[] = [];
    for (const i of this.launch.byEvent('groups').rows(row)) list.push({ lanes: lanesOf(lanes.lo[i], lanes.hi[i]), instruction: this.launch.instructionOfRow(instruction[i]) });
    return list;
  }

  private barrierOf(row: number): number {
    const barrier = this.launch.recording.table('waits').numbers('barrier');
    for (const i of this.launch.byEvent('waits').rows(row)) return barrier[i];
    return -1;
  }

  /** splits reports whether the warp diverges at a step. */
  splits(step: number): boolean {
    const c = this.launch.columns;
    if (step >= this.steps) return false;
    for (const r of this.after(step)) if (c.kind[r] === Kind.Split) return true;
    return false;
  }

  /** branches reports whether a step is a branch: lanes whose guard does not hold execute it, too, and go to the next instruction. */
  branches(step: number): boolean {
    return /^(@\S+\s+)?(bra|brx)\b/.test(this.instructionAt(step)?.text ?? '');
  }

  /** reconverges reports whether warp splits become one after a step. */
  reconverges(step: number): boolean {
    const c = this.launch.columns;
    if (step >= this.steps) return false;
    for (const r of this.after(step)) if (c.kind[r] === Kind.Reconverge) return true;
    return false;
  }

  /** turningPoints returns the steps after which other lanes run, the warp splits, or reconverges; in ascending order. */
  turningPoints(): Uint32Array {
    if (!this.turns) {
      const list: number[] = [];
      for (let s = 0; s < this.steps; s++) {
        const moved = s + 1 < this.steps && (this.activeLo[s] !== this.activeLo[s + 1] || this.activeHi[s] !== this.activeHi[s + 1]);
        if (moved || this.splits(s) || this.reconverges(s)) list.push(s);
      }
      this.turns = Uint32Array.from(list);
    }
    return this.turns;
  }

  /** asksAt reports whether predict-first asks after a step: at each branch with a guard, and wherever other lanes run next. */
  asksAt(step: number): boolean {
    if (step + 1 >= this.steps) return false;
    if (!equal(this.active(step), this.active(step + 1))) return true;
    return this.branches(step) && this.instructionAt(step)!.text.startsWith('@');
  }

  /** stackAt returns the reconvergence stack, the innermost entry first; empty if it is not recorded. */
  stackAt(step: number): StackEntry[] {
    const event = this.eventOf(step);
    let [lo, hi] = [0, this.stackEvents.length];
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (this.stackEvents[mid] <= event) lo = mid + 1;
      else hi = mid;
    }
    if (lo === 0) return [];
    const t = this.launch.recording.table('stack');
    const [kind, lanes, arrived, instruction, depth] = [t.numbers('kind'), t.wide('lanes'), t.wide('arrived'), t.numbers('instruction'), t.numbers('depth')];
    const list: StackEntry[] = [];
    for (const i of this.launch.byEvent('stack').rows(this.stackEvents[lo - 1])) {
      const k = stackKinds[kind[i]] ?? 'ready';
      list.push({
        kind: k,
        lanes: lanesOf(lanes.lo[i], lanes.hi[i]),
        arrived: lanesOf(arrived.lo[i], arrived.hi[i]),
        instruction: k === 'running' && step < this.steps ? this.instruction[step] : this.launch.instructionOfRow(instruction[i]),
        depth: depth[i],
      });
    }
    return innermostFirst(list);
  }

  /** state returns the state at a step, from 0 to steps. */
  state(step: number): State {
    step = Math.max(0, Math.min(step, this.steps));
    if (this.stateCache?.step === step) return this.stateCache;
    const W = this.launch.warpSize;
    const end = step === this.steps;
    const [active, lanes, ended] = [this.active(step), this.executing(step), this.ended(step)];
    const stack = this.stackAt(step);
    const at = end ? -1 : this.instruction[step];
    const groups: LaneGroup[] = [];
    const group = new Int8Array(W).fill(-1);
    const put = (lane: number, reason: Reason, instruction: number, point = -1, missing = noLanes, barrier = -1) => {
      let i = groups.findIndex((g) => g.reason === reason && g.instruction === instruction && g.point === point && g.barrier === barrier);
      if (i < 0) i = groups.push({ reason, lanes: noLanes, instruction, point, missing, barrier }) - 1;
      groups[i].lanes = or(groups[i].lanes, fromMembers([lane]));
      group[lane] = i;
    };
    const idle = without(without(this.lanes, ended), active);
    const next = this.nextInstructions(step, idle);
    const waits = this.waitsAt(step, idle);
    for (let l = 0; l < W; l++) {
      if (!has(this.lanes, l)) continue;
      if (has(active, l)) put(l, has(lanes, l) || this.branches(step) ? 'runs' : 'masked', at);
      else if (has(ended, l)) put(l, 'ended', -1);
      else if (waits[l] !== undefined) {
        const w = waits[l]!;
        put(l, w.barrier >= 0 ? 'barrier' : 'collective', w.instruction, -1, noLanes, w.barrier);
      } else {
        const point = stack.find((x) => x.kind === 'point' && has(x.arrived, l));
        const split = stack.find((x) => (x.kind === 'ready' || x.kind === 'blocked') && has(x.lanes, l));
        const place = next[l] >= 0 ? next[l] : (split ?? point)?.instruction ?? -1;
        if (point) put(l, 'joins', point.instruction, point.instruction, without(and(point.lanes, this.lanes), or(point.arrived, ended)));
        else if (split && split.kind === 'ready') {
          const meeting = stack.find((x) => x.kind === 'point' && isEmpty(without(split.lanes, x.lanes)));
          put(l, 'ready', place, meeting?.instruction ?? -1, meeting ? without(without(and(meeting.lanes, this.lanes), ended), split.lanes) : noLanes);
        } else if (split) put(l, 'collective', place);
        else put(l, end ? 'stuck' : 'waits', place);
      }
    }
    const order: Reason[] = ['runs', 'masked', 'ready', 'waits', 'stuck', 'joins', 'collective', 'barrier', 'ended'];
    const sorted = groups.map((g, i) => ({ g, i })).sort((a, b) => order.indexOf(a.g.reason) - order.indexOf(b.g.reason) || a.g.instruction - b.g.instruction);
    const moved = new Map(sorted.map(({ i }, k) => [i, k]));
    for (let l = 0; l < W; l++) if (group[l] >= 0) group[l] = moved.get(group[l])!;
    const depth = end ? 0 : this.launch.columns.depth[this.eventOf(step)];
    return (this.stateCache = { step, end, instruction: at, active, lanes, ended, groups: sorted.map((x) => x.g), group, stack, depth });
  }

  /** nextInstructions returns for each given lane the instruction at which it continues; -1 if it is unknown. */
  private nextInstructions(step: number, lanes: Lanes): Int32Array {
    const list = new Int32Array(64).fill(-1);
    let left = lanes;
    for (let s = step + 1; s < this.steps && !isEmpty(left); s++) {
      const here = and(left, this.active(s));
      if (isEmpty(here)) continue;
      for (const l of members(here)) list[l] = this.instruction[s];
      left = without(left, here);
    }
    // Lanes that never continue: they are where their last step left them.
    for (let s = Math.min(step, this.steps) - 1; s >= 0 && !isEmpty(left); s--) {
      const here = and(left, this.active(s));
      if (isEmpty(here)) continue;
      const groups = this.outcome(s).groups;
      for (const l of members(here)) list[l] = groups.find((g) => has(g.lanes, l))?.instruction ?? Math.min(this.instruction[s] + 1, this.launch.instructions.length - 1);
      left = without(left, here);
    }
    // Lanes without a step: they are at the place of the trap.
    const trap = isEmpty(left) ? -1 : this.rows.findLast((r) => this.launch.columns.kind[r] === Kind.Trap) ?? -1;
    if (trap >= 0) for (const l of members(left)) list[l] = this.launch.instructionOfRow(this.launch.columns.instruction[trap]);
    return list;
  }

  /** waitsAt returns for each lane that waits at a barrier or a collective instruction its place. */
  private waitsAt(step: number, lanes: Lanes): ({ instruction: number; barrier: number } | undefined)[] {
    const list: ({ instruction: number; barrier: number } | undefined)[] = [];
    const c = this.launch.columns;
    let left = lanes;
    for (let i = (step < this.steps ? this.at[step] : this.rows.length) - 1; i >= 0 && !isEmpty(left); i--) {
      const r = this.rows[i];
      switch (c.kind[r] as Kind) {
        case Kind.Wait: {
          const here = and(left, lanesOf(c.lanesLo[r], c.lanesHi[r]));
          for (const l of members(here)) list[l] = { instruction: this.launch.instructionOfRow(c.instruction[r]), barrier: this.barrierOf(r) };
          left = without(left, here);
          break;
        }
        case Kind.Wake:
          left = without(left, lanesOf(c.lanesLo[r], c.lanesHi[r]));
          break;
        case Kind.Instruction:
          left = without(left, lanesOf(c.activeLo[r], c.activeHi[r]));
      }
    }
    return list;
  }

  /** apply writes the results of an event to registers. */
  private apply(x: Snapshot, step: number, row: number): void {
    const W = this.launch.warpSize;
    const { lanes, register, cls, base, high, stride, values, low, top, byEvent } = this.launch.results();
    const rows = low.lo.length;
    for (let i = byEvent.first(row); i < byEvent.length && byEvent.event(i) === row; i++) {
      const r = this.launch.firstRegister.get(register[i]);
      const kind = cls[i] as RowClass;
      if (r === undefined || kind === RowClass.None) continue;
      x.last[r] = step;
      x.shown[r] = undefined;
      const bits = this.launch.registers[r].bits;
      let from = values.lo[i];
      for (let l = 0; l < W; l++) {
        if (!((l < 32 ? lanes.lo[i] >>> l : lanes.hi[i] >>> (l - 32)) & 1)) continue;
        const k = r * W + l;
        x.defined[k] = 1;
        let [lo, hi] = [base.lo[i], base.hi[i]];
        if (kind === RowClass.Affine) {
          if (bits <= 32) lo = (lo + Math.imul(stride.lo[i], l)) >>> 0;
          else {
            const sum = BigInt.asUintN(64, ((BigInt(hi) << 32n) | BigInt(lo)) + (BigInt(l) * BigInt.asIntN(64, (BigInt(stride.hi[i]) << 32n) | BigInt(stride.lo[i]))));
            [lo, hi] = [Number(sum & 0xffffffffn), Number(sum >> 32n)];
          }
        } else if (kind === RowClass.Generic) {
          if (from >= rows) throw new RecordingError(0, 'a result names values that the recording lacks');
          [lo, hi] = [low.lo[from], low.hi[from]];
          if (bits > 64) x.top.set(k, (BigInt(top.hi[from]) << 32n) | BigInt(top.lo[from]));
          from++;
        } else if (kind === RowClass.Mask) {
          [lo, hi] = [(l < 32 ? base.lo[i] >>> l : base.hi[i] >>> (l - 32)) & 1, 0];
        } else if (bits > 64) x.top.set(k, (BigInt(high.hi[i]) << 32n) | BigInt(high.lo[i]));
        x.lo[k] = bits < 32 ? lo & ((1 << bits) - 1) : lo;
        x.hi[k] = bits > 32 ? hi : 0;
      }
    }
  }

  /** registersAfter returns the registers after a step, valid until its next call. It stores snapshots on the way. */
  private registersAfter(step: number): Snapshot {
    const size = this.launch.registers.length;
    const W = this.launch.warpSize;
    const copy = (x?: Snapshot): Snapshot =>
      x
        ? { lo: x.lo.slice(), hi: x.hi.slice(), top: new Map(x.top), defined: x.defined.slice(), last: x.last.slice(), shown: [] }
        : { lo: new Uint32Array(size * W), hi: new Uint32Array(size * W), top: new Map(), defined: new Uint8Array(size * W), last: new Int32Array(size).fill(-1), shown: [] };
    const until = Math.min(step, this.steps - 1);
    const n = Math.min(Math.floor(until / this.interval), this.snapshots.length);
    let from = n * this.interval;
    let x: Snapshot | undefined;
    if (this.latest && this.latest.step >= from && this.latest.step <= until) [x, from] = [this.latest.registers, this.latest.step + 1];
    else x = copy(n > 0 ? this.snapshots[n - 1] : undefined);
    this.latest = undefined; // an error leaves x incomplete
    for (let s = from; s <= until; s++) {
      // Snapshot k-1 holds the registers after step k * interval - 1.
      if (s > 0 && s % this.interval === 0 && s / this.interval === this.snapshots.length + 1) this.snapshots.push(copy(x));
      if (s > 0) this.forget(x, s - 1);
      this.apply(x, s, this.rows[this.at[s]]);
      for (const r of this.after(s)) if (this.launch.columns.kind[r] !== Kind.Branch) this.apply(x, s, r);
    }
    this.latest = { step: until, registers: x };
    return x;
  }

  /**
   * forget makes the registers of a called function unknown after the call or the return at a step: each call has registers of its own.
   * So those of a recursive function are unknown after the return, and never those of another call.
   */
  private forget(x: Snapshot, step: number): void {
    const { launch } = this;
    const c = launch.columns;
    const W = launch.warpSize;
    for (const r of this.after(step)) {
      let fn = '';
      if (c.kind[r] === Kind.Return) fn = this.instructionAt(step)!.function;
      else if (c.kind[r] === Kind.Call) for (const i of launch.byEvent('calls').rows(r)) fn = launch.recording.table('calls').texts('function')[i];
      if (!fn) continue;
      for (const { index, function: owner } of launch.registers) {
        if (owner !== fn) continue;
        x.shown[index] = undefined;
        for (let l = 0; l < W; l++) if (((l < 32 ? c.lanesLo[r] >>> l : c.lanesHi[r] >>> (l - 32)) & 1) === 1) x.defined[index * W + l] = 0;
      }
    }
  }

  /**
   * registers returns the registers at a step, of the function that executes. The class of each is over the active lanes; at the end,
   * over all lanes.
   */
  registers(step: number): RegisterView[] {
    const W = this.launch.warpSize;
    const x = this.registersAfter(step);
    const ins = step < this.steps ? this.instruction[step] : this.steps ? this.instruction[this.steps - 1] : -1;
    const fn = this.launch.instructions[ins]?.function;
    const reads = step < this.steps ? new Set(this.launch.operandsOf(ins, false)) : new Set<number>();
    const seen = step < this.steps ? this.active(step) : this.lanes;
    const list: RegisterView[] = [];
    for (const register of this.launch.registers) {
      const r = register.index;
      if (register.function !== fn || (x.last[r] < 0 && !reads.has(r))) continue;
      let values = x.shown[r]?.values;
      if (!values) {
        values = [];
        for (let l = 0; l < W; l++) {
          const k = r * W + l;
          values.push(x.defined[k] ? (x.hi[k] ? (BigInt(x.hi[k]) << 32n) | BigInt(x.lo[k]) : BigInt(x.lo[k])) | (register.bits > 64 ? (x.top.get(k) ?? 0n) << 64n : 0n) : undefined);
        }
      }
      let structure = x.shown[r]?.structure;
      if (!structure || !equal(x.shown[r]!.seen, seen)) {
        const known = fromMembers(members(seen).filter((l) => values[l] !== undefined));
        structure = structureOf(known, register.bits, (l) => values[l]!);
      }
      x.shown[r] = { values, seen, structure };
      list.push({
        register,
        values,
        structure,
        written: x.last[r] === step && step < this.steps,
        read: reads.has(r),
        last: x.last[r],
      });
    }
    return list;
  }

  /** accesses returns the accesses to memory of a step. */
  accesses(step: number): Access[] {
    if (step >= this.steps) return [];
    const rec = this.launch.recording;
    const t = rec.table('accesses');
    const v = rec.table('values').wide('low');
    const [kind, space, bytes, lanes, cls, base, stride, values] = [t.numbers('kind'), t.numbers('space'), t.numbers('bytes'), t.wide('lanes'), t.numbers('class'), t.wide('base'), t.wide('stride'), t.wide('values')];
    const spaces = ['global', 'shared', 'local', 'param', 'const', 'texture', 'surface'];
    const list: Access[] = [];
    for (const i of this.launch.byEvent('accesses').rows(this.eventOf(step))) {
      const m = lanesOf(lanes.lo[i], lanes.hi[i]);
      const addresses: (bigint | undefined)[] = [];
      let from = values.lo[i];
      const [b, s] = [(BigInt(base.hi[i]) << 32n) | BigInt(base.lo[i]), (BigInt(stride.hi[i]) << 32n) | BigInt(stride.lo[i])];
      for (const l of members(m)) {
        if (cls[i] === RowClass.Generic) {
          if (from >= v.lo.length) throw new RecordingError(0, 'an access names addresses that the recording lacks');
          addresses[l] = (BigInt(v.hi[from]) << 32n) | BigInt(v.lo[from]);
          from++;
        } else addresses[l] = cls[i] === RowClass.Affine ? BigInt.asUintN(64, b + s * BigInt(l)) : b;
      }
      const a = t.numbers('allocation')[i];
      const al = rec.table('allocations');
      const wide = (name: string) => (BigInt(al.wide(name).hi[a]) << 32n) | BigInt(al.wide(name).lo[a]);
      list.push({
        kind: (['load', 'store', 'atomic', 'zero'] as const)[kind[i]] ?? 'load',
        space: spaces[space[i]] ?? 'global',
        bytes: bytes[i],
        lanes: m,
        addresses,
        class: (['uniform', 'affine', 'generic', 'none', 'none'] as const)[cls[i]] ?? 'none',
        sectors: t.numbers('sectors')[i],
        passes: t.numbers('passes')[i],
        allocation: a >= 0 && a < al.rows ? { name: al.texts('name')[a], base: wide('base'), size: wide('size') } : undefined,
      });
    }
    return list;
  }

  /** counts returns the sums of a strip. */
  counts(): Counts {
    if (this.sums) return this.sums;
    let [activeSum, splits, reconvergences, partial] = [0, 0, 0, 0];
    const c = this.launch.columns;
    for (let s = 0; s < this.steps; s++) {
      const n = size(this.active(s));
      activeSum += n;
      if (n < size(this.lanes)) partial++;
    }
    for (const r of this.rows) {
      if (c.kind[r] === Kind.Split) splits++;
      if (c.kind[r] === Kind.Reconverge) reconvergences++;
    }
    return (this.sums = { steps: this.steps, activeSum, used: this.steps ? activeSum / this.steps / this.launch.warpSize : 0, splits, reconvergences, partial });
  }

  /** occurrence returns how often the instruction of a step was executed before: with the instruction it names the event of the step. */
  occurrence(step: number): { line: number; text: string; n: number } {
    const at = Math.min(step, this.steps - 1);
    let n = 0;
    for (let s = 0; s < at; s++) if (this.instruction[s] === this.instruction[at]) n++;
    const ins = this.instructionAt(at);
    return { line: ins?.line ?? 0, text: ins?.text ?? '', n };
  }

  /** find returns the step of an event: the n-th execution of the instruction with this text, the nearest to the line; -1 if there is none. */
  find(o: { line: number; text: string; n: number }): number {
    const same = this.launch.instructions.filter((x) => x.text === o.text).sort((a, b) => Math.abs(a.line - o.line) - Math.abs(b.line - o.line));
    const ins = (same[0] ?? this.launch.instructions.find((x) => x.line === o.line))?.index;
    if (ins === undefined) return -1;
    let last = -1;
    for (let s = 0, n = 0; s < this.steps; s++) {
      if (this.instruction[s] !== ins) continue;
      last = s;
      if (n++ === o.n) break;
    }
    return last;
  }

  /** nextAtLine returns the first step after the given step at which a line executes, around the end; -1 if it never executes. */
  nextAtLine(step: number, lines: (i: Instruction) => boolean): number {
    const hit = this.launch.instructions.map(lines);
    for (let k = 1; k <= this.steps; k++) {
      const s = (step + k) % this.steps;
      if (hit[this.instruction[s]]) return s;
    }
    return -1;
  }
}

/**
 * innermostFirst orders a stack: the running warp split, then for each reconvergence point, the innermost first, the warp splits that
 * meet there in the order in which they run, and the point. In a recording the warp split that runs next is the last.
 */
function innermostFirst(stack: StackEntry[]): StackEntry[] {
  const list = stack.filter((x) => x.kind === 'running');
  let left = stack.filter((x) => x.kind === 'ready' || x.kind === 'blocked').reverse();
  for (const p of stack.filter((x) => x.kind === 'point')) {
    const inside = (x: StackEntry) => isEmpty(without(x.lanes, p.lanes));
    list.push(...left.filter(inside), p);
    left = left.filter((x) => !inside(x));
  }
  return [...list, ...left];
}

/** Outcome has the effects of a step. */
export interface Outcome {
  groups: Group[];
  split: boolean;
  reconverged: Lanes;
  waiting: Lanes;
  barrier: number;
  woken: Lanes;
  ended: Lanes;
  called: string;
  returned: boolean;
  trap: string;
}

/** firstDifference returns the first step at which two models execute different instructions or lanes; -1 if there is none. */
export function firstDifference(a: WarpModel, b: WarpModel): number {
  let known = differences.get(a);
  if (!known) differences.set(a, (known = new WeakMap()));
  let at = known.get(b);
  if (at === undefined) {
    at = 0;
    const n = Math.max(a.steps, b.steps);
    while (at < n && !differs(a, b, at)) at++;
    if (at === n) at = -1;
    known.set(b, at);
  }
  return at;
}

const differences = new WeakMap<WarpModel, WeakMap<WarpModel, number>>();

/** differs reports whether two models execute different instructions or lanes at a step. */
export function differs(a: WarpModel, b: WarpModel, s: number): boolean {
  if (s >= a.steps || s >= b.steps) return s < a.steps || s < b.steps;
  return a.activeLo[s] !== b.activeLo[s] || a.activeHi[s] !== b.activeHi[s] || a.instructionAt(s)!.line !== b.instructionAt(s)!.line;
}
