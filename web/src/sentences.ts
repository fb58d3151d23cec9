// What happens at a step, in plain English.

import { type Lanes, and, equal, inWords, isEmpty, size, without } from './lanes.ts';
import type { LaneGroup, Launch, WarpModel } from './model.ts';

/** place names an instruction by its line; "the end" for -1. */
export function place(launch: Launch, instruction: number): string {
  return instruction < 0 ? 'the end' : `line ${launch.instructions[instruction].line}`;
}

/** nounVerb joins a set of lanes and a verb: "lane 3 goes", "lanes 0–3 go". */
export function nounVerb(m: Lanes, all: Lanes, plural: string, singular: string): string {
  return `${inWords(m, all)} ${size(m) === 1 ? singular : plural}`;
}

/** runAndWait says which lanes run and which wait, of a place: "lanes 0–3 run, lane 4 waits". */
export function runAndWait(runs: Lanes, waits: Lanes, all: Lanes): string {
  return [isEmpty(runs) ? '' : nounVerb(runs, all, 'run', 'runs'), isEmpty(waits) ? '' : nounVerb(waits, all, 'wait', 'waits')].filter(Boolean).join(', ');
}

/** capital returns a text with a capital first letter. */
export const capital = (s: string): string => s[0].toUpperCase() + s.slice(1);

/** Sentence explains a step; the text of its instruction is shown as code. */
export interface Sentence {
  /** head names the step, and the line. */
  head: string;
  /** code is the instruction. */
  code: string;
  /** rest says which lanes execute, and what they cause. */
  rest: string;
}

/** sentence says what a step does; without its outcome if the reader is to predict it. */
export function sentence(m: WarpModel, step: number, hideOutcome = false): Sentence {
  const launch = m.launch;
  const all = m.lanes;
  if (step >= m.steps) return { head: 'The end', code: '', rest: endText(m) };
  const ins = m.instructionAt(step)!;
  const [active, lanes] = [m.active(step), m.executing(step)];
  const s: Sentence = { head: `Step ${step + 1}, line ${ins.line}`, code: ins.text, rest: '' };
  const parts: string[] = [];
  const guarded = ins.text.startsWith('@');
  const isBranch = m.branches(step);
  if (guarded && !isBranch && !equal(active, lanes)) {
    parts.push(isEmpty(lanes) ? `${capital(nounVerb(active, all, 'are', 'is'))} here, but the guard holds for none.` : `The guard holds for ${inWords(lanes, all)} of ${size(active)}.`);
  } else parts.push(`${capital(nounVerb(active, all, 'execute', 'executes'))} it.`);
  if (hideOutcome) {
    s.rest = parts.join(' ');
    return s;
  }
  const o = m.outcome(step);
  if (o.split && o.groups.length > 1) {
    parts.push(`The warp splits: ${o.groups.map((g) => `${nounVerb(g.lanes, all, 'go', 'goes')} to ${place(launch, g.instruction)}`).join(', ')}.`);
  } else if (guarded && isBranch && o.groups.length === 1) {
    parts.push(isEmpty(lanes) ? 'No lane takes the branch.' : `All take the branch, to ${place(launch, o.groups[0].instruction)}.`);
  }
  if (o.called) parts.push(`They call ${o.called}.`);
  if (!isEmpty(o.waiting)) parts.push(`Then ${nounVerb(o.waiting, all, 'wait', 'waits')} ${o.barrier >= 0 ? `at barrier ${o.barrier}` : 'for other lanes of the warp'}.`);
  if (!isEmpty(o.woken) && isEmpty(and(o.woken, o.waiting))) parts.push(`${capital(nounVerb(o.woken, all, 'go on', 'goes on'))}.`);
  if (!isEmpty(o.ended)) parts.push(`${capital(nounVerb(o.ended, all, 'end', 'ends'))}.`);
  if (!isEmpty(o.reconverged)) parts.push(`${capital(nounVerb(o.reconverged, all, 'are', 'is'))} together again${step + 1 < m.steps ? `, at line ${m.line(step + 1)}` : ''}.`);
  else if (step + 1 < m.steps && !equal(active, m.active(step + 1)) && !(isEmpty(o.waiting) && equal(without(active, o.ended), m.active(step + 1)))) {
    parts.push(`Next ${nounVerb(m.active(step + 1), all, 'run', 'runs')}, at line ${m.line(step + 1)}.`);
  }
  if (o.trap) parts.push(`The kernel stops: ${o.trap}.`);
  s.rest = parts.join(' ');
  return s;
}

/** text joins the parts of a sentence. */
export const text = (s: Sentence): string => `${s.head}${s.code ? `: ${s.code}.` : '.'} ${s.rest}`;

/** endText says how a warp ends. */
export function endText(m: WarpModel): string {
  const launch = m.launch;
  const left = without(m.lanes, m.ended(m.steps));
  if (isEmpty(left)) return 'All lanes have ended.';
  const where = m
    .state(m.steps)
    .groups.filter((g) => g.reason !== 'ended')
    .map((g) => `${nounVerb(g.lanes, m.lanes, 'are', 'is')} at ${place(launch, g.instruction)}`);
  if (m.steps === 0) return `No step was recorded. ${capital(where.join(', '))}.`;
  const head = { deadlock: 'Deadlock: no thread can make progress', trap: 'The kernel has failed', stopped: capital(limitText(launch)), done: 'The recording ends here' };
  return `${head[launch.outcome]}. ${capital(where.join(', '))}.`;
}

/** isDeadlock reports whether a launch ended because no thread could make progress. */
export const isDeadlock = (launch: Launch): boolean => launch.outcome === 'deadlock';

/** limitText names the limit that stopped a launch, such as "stopped at the limit of 200000 events". */
export function limitText(launch: Launch): string {
  const limit = /\b(stopped at the limit of [^:;]+)|\b((?:step|time) limit reached)/.exec(launch.error);
  return limit?.[1] ?? (limit ? `stopped: ${limit[2]}` : 'stopped at the limit of the recording');
}

/** doing says what a group of lanes does, or what it waits for; groups are all groups of the warp. */
export function doing(m: WarpModel, g: LaneGroup, groups: LaneGroup[]): string {
  switch (g.reason) {
    case 'runs':
      return 'run now';
    case 'masked':
      return 'are here, but the guard does not hold';
    case 'ready':
      return isEmpty(g.missing)
        ? 'wait while the policy runs other lanes'
        : `wait for ${inWords(g.missing, m.lanes)}, which ${m.launch.policy.startsWith('its') ? 'take turns with them' : size(g.missing) === 1 ? 'runs first' : 'run first'}; they meet at ${place(m.launch, g.point)}`;
    case 'joins':
      return isEmpty(g.missing) ? `wait at the reconvergence point, ${place(m.launch, g.point)}` : `wait at the reconvergence point for ${inWords(g.missing, m.lanes)}`;
    case 'barrier':
      return `wait at the barrier in ${place(m.launch, g.instruction)} for ${others(m, g, groups)}`;
    case 'collective':
      return 'wait for the other lanes that the instruction names';
    case 'stuck':
      return isDeadlock(m.launch) ? 'can never continue' : 'are here when the recording ends';
    case 'waits':
      return 'wait until the policy runs them';
    case 'ended':
      return 'have ended';
    case 'absent':
      return 'have no thread';
  }
}

/** others names the lanes of the warp for which a group waits at a barrier, and where they wait. */
function others(m: WarpModel, g: LaneGroup, groups: LaneGroup[]): string {
  const list = groups.filter((x) => x !== g && !['ended', 'absent'].includes(x.reason));
  if (list.length === 0) return 'other threads of the CTA';
  return list.map((x) => inWords(x.lanes, m.lanes) + (x.reason === 'barrier' ? `, which ${size(x.lanes) === 1 ? 'waits' : 'wait'} at the barrier in ${place(m.launch, x.instruction)}` : '')).join(', and ');
}

/** arrivals says which lanes of a reconvergence point have arrived; lanes is all lanes that meet there. */
export function arrivals(arrived: Lanes, lanes: Lanes, all: Lanes): string {
  const missing = without(lanes, arrived);
  if (isEmpty(arrived)) return `${inWords(lanes, all)} meet here; none has arrived`;
  return `${nounVerb(arrived, all, 'have', 'has')} arrived${isEmpty(missing) ? '' : `, ${nounVerb(missing, all, 'have', 'has')} not`}`;
}

/** ofLane says what a lane does at a step, for a pointer over a strip. */
export function ofLane(m: WarpModel, step: number, lane: number): string {
  const state = m.state(step);
  const g = state.groups[state.group[lane]];
  if (!g) return `Lane ${lane} has no thread.`;
  const at = g.instruction >= 0 ? ` – line ${m.launch.instructions[g.instruction].line}: ${m.launch.instructions[g.instruction].text}` : '';
  const verb = doing(m, g, state.groups)
    .replace(/^(run|wait)\b/, '$1s')
    .replace(/^are\b/, 'is')
    .replace(/^have\b/, 'has');
  return `Step ${step + 1}, lane ${lane} ${verb}${at}`;
}

/** runsOfBoth says what runs at a step of two runs that differ there: the lines, or the lanes if the line is the same. */
export function runsOfBoth(a: WarpModel, b: WarpModel, step: number): [string, string] {
  const same = step < a.steps && step < b.steps && a.line(step) === b.line(step);
  const says = (m: WarpModel) => (step >= m.steps ? 'nothing more runs' : `line ${m.line(step)} runs${same ? ` in ${inWords(m.active(step), m.lanes)}` : ''}`);
  return [says(a), says(b)];
}

/** countsText is the sentence under a strip. */
export function countsText(m: WarpModel): string {
  const c = m.counts();
  const n = size(m.lanes);
  if (c.steps === 0) return 'No instruction is recorded.';
  const steps = `${c.steps.toLocaleString('en')} ${c.steps === 1 ? 'instruction' : 'instructions'}`;
  if (c.partial === 0) return `${steps}, each executed by all ${n} lanes.`;
  const idle = c.steps - c.activeSum / m.launch.warpSize;
  // Lanes that spin in vain, in a run that fails, run too.
  const wasted = m.launch.outcome === 'done' ? `: as if ${idle < 10 ? idle.toFixed(1) : Math.round(idle).toLocaleString('en')} steps were wasted` : '';
  return `${steps}; in ${c.partial.toLocaleString('en')} of them some lanes do not run. On average ${Number((c.activeSum / c.steps).toFixed(1))} of ${m.launch.warpSize} lanes run, ${(c.used * 100).toFixed(0)} %${wasted}.`;
}
