// Fields of a request as the form of the page has them, and the policies that a run covers.

import type { Policy, Request } from './engine.ts';

/** warpSizes are the numbers of lanes that a warp may have. */
export const warpSizes = [1, 2, 4, 8, 16, 32, 64];

/** parseExtent returns the extents of a text such as "32", "8,4" or "2x2x2"; zeros for an empty text. It throws an error for other texts. */
export function parseExtent(text: string): [number, number, number] {
  const list = text.trim() ? text.trim().split(/\s*[,x×]\s*|\s+/) : ['0', '0', '0'];
  const numbers = list.map((n) => (/^\d{1,10}$/.test(n) ? Number(n) : NaN));
  if (list.length > 3 || (text.trim() && numbers.some((n) => !(n >= 1 && n < 2 ** 31)))) {
    throw new Error(`"${text.trim()}": want one to three numbers from 1 on, such as 32 or 8,4`);
  }
  return [numbers[0], numbers[1] ?? 1, numbers[2] ?? 1];
}

/** parseCount returns the whole number of a text, at most most; 0 for an empty text. It throws an error for other texts. */
export function parseCount(text: string, most: number): number {
  const t = text.trim();
  const n = t === '' ? 0 : /^\d{1,16}$/.test(t) ? Number(t) : NaN;
  if (!(n <= most)) throw new Error(`"${t}": want a whole number from 0 to ${most.toLocaleString('en')}`);
  return n;
}

/** Fields is the texts of the form's fields. */
export interface Fields {
  grid: string;
  block: string;
  cluster: string;
  shared: string;
  seed: string;
  cooperative: boolean;
}

/** LaunchFields is the fields of a request that the form's texts give. */
type LaunchFields = Pick<Request, 'grid' | 'block' | 'cluster' | 'shared' | 'seed' | 'cooperative'>;

/** launchOf returns the launch of a form, without fields that have their default, and the messages of the fields that are wrong. */
export function launchOf(f: Fields): { launch: LaunchFields; faults: Record<string, string> } {
  const faults: Record<string, string> = {};
  const read = <T>(name: string, otherwise: T, parse: () => T): T => {
    try {
      return parse();
    } catch (e) {
      faults[name] = (e as Error).message;
      return otherwise;
    }
  };
  const none: [number, number, number] = [0, 0, 0];
  const cluster = read('cluster', none, () => parseExtent(f.cluster));
  const launch: LaunchFields = {
    grid: read('grid', none, () => parseExtent(f.grid)),
    block: read('block', none, () => parseExtent(f.block)),
    cluster: cluster[0] ? cluster : undefined,
    shared: read('shared', 0, () => parseCount(f.shared, 2 ** 31 - 1)) || undefined,
    seed: read('seed', 0, () => parseCount(f.seed, Number.MAX_SAFE_INTEGER)) || undefined,
    cooperative: f.cooperative || undefined,
  };
  return { launch, faults };
}

/** docOf returns the description of a policy; of its with any time slice, that of its. */
export function docOf(known: Policy[], name: string): string {
  const exact = known.find((p) => p.name === name);
  if (exact) return exact.doc;
  const [policy, slice] = name.split(':');
  const doc = known.find((p) => p.name === policy)?.doc;
  return doc && slice ? `${doc}, with time slices of exactly ${slice} instructions` : '';
}

/** policiesToRun returns the policies that a run covers: all of them; or, for one policy, that policy and those whose runs it interrupts. */
export function policiesToRun(policies: string[], runs: { label: string; busy: boolean }[], only?: string): string[] {
  if (only === undefined) return policies;
  return policies.filter((p) => p === only || runs.some((r) => r.label === p && r.busy));
}
