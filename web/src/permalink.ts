// Links that hold a program and a place in its run: "#v1:" and JSON, deflated, in the alphabet of base64 for addresses.

import { deflateSync, inflateSync } from 'fflate';
import type { Request } from './engine.ts';

/** Place is the content of a link: a program, its launch and a place in its run. */
export interface Place {
  request: Request;
  policies: string[];
  /** policy is the selected policy. */
  policy?: string;
  step?: number;
  cta?: number;
  warp?: number;
  lane?: number;
  register?: string;
  /** hex shows numbers in hexadecimal. */
  hex?: boolean;
  pane?: string;
  view?: { from: number; to: number };
  predict?: boolean;
}

const prefix = '#v1:';
/** maxPlaceBytes bounds the text of a link after inflation. */
const maxPlaceBytes = 4 << 20;

/** toHash returns the fragment of a link. It throws an error for a place that fromHash would not read. */
export function toHash(p: Place): string {
  const json = new TextEncoder().encode(JSON.stringify(p));
  if (json.length > maxPlaceBytes) throw new Error(`A link can hold a program of at most ${maxPlaceBytes >> 20} MiB, with its source files: send the files instead.`);
  const bytes = deflateSync(json, { level: 9 });
  let text = '';
  for (const b of bytes) text += String.fromCharCode(b);
  return prefix + btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** fromHash returns the place of a link; undefined if the fragment is of another kind. It throws an error for a damaged link. */
export function fromHash(hash: string): Place | undefined {
  if (!hash.startsWith('#v')) return undefined;
  if (!hash.startsWith(prefix)) throw new Error('the link was made by another version of the page: this page reads links that begin with ' + prefix);
  let place: unknown;
  try {
    const text = atob(hash.slice(prefix.length).replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
    const out = inflateSync(bytes, { out: new Uint8Array(Math.min(maxPlaceBytes, bytes.length * 1032 + 1)) });
    place = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(out));
  } catch {
    throw new Error('the link is damaged: a part of it may be missing. Copy it again');
  }
  return checkPlace(place);
}

/** checkPlace returns a place with fields of the right types; fields of other types are left out. It throws an error if there is no program. */
export function checkPlace(x: unknown): Place {
  const p = x as Place;
  const number = (v: unknown): number | undefined => (typeof v === 'number' && Number.isSafeInteger(Math.floor(v)) && v >= 0 ? Math.floor(v) : undefined);
  const boolean = (v: unknown): boolean | undefined => (typeof v === 'boolean' ? v : undefined);
  const text = (v: unknown): string => (typeof v === 'string' ? v : '');
  const texts = (v: unknown): string[] => (Array.isArray(v) ? v.map(text) : []);
  const three = (v: unknown): [number, number, number] => {
    const [a, b, c] = Array.isArray(v) ? v.map(number) : [];
    return [a ?? 1, b ?? 1, c ?? 1];
  };
  const r = p?.request;
  if (typeof r !== 'object' || r === null || typeof r.source !== 'string') throw new Error('the link holds no program');
  const [from, to] = [number(p.view?.from), number(p.view?.to)];
  const request: { [K in keyof Required<Request>]: Request[K] | undefined } = {
    name: text(r.name) || 'kernel.ptx',
    source: r.source,
    kernel: text(r.kernel),
    grid: three(r.grid),
    block: three(r.block),
    arguments: texts(r.arguments),
    policy: text(r.policy) || undefined,
    warp: number(r.warp),
    sm: text(r.sm) || undefined,
    maxEvents: number(r.maxEvents),
    maxSteps: number(r.maxSteps),
    memory: boolean(r.memory),
    shared: number(r.shared),
    cluster: r.cluster && three(r.cluster),
    cooperative: boolean(r.cooperative),
    seed: number(r.seed),
    set: r.set && texts(r.set),
    files: r.files && Object.fromEntries(Object.entries(r.files).filter(([, v]) => typeof v === 'string')),
  };
  return {
    request: Object.fromEntries(Object.entries(request).filter(([, v]) => v !== undefined)) as unknown as Request,
    policies: texts(p.policies).filter(Boolean).slice(0, 8),
    policy: text(p.policy) || undefined,
    step: number(p.step),
    cta: number(p.cta),
    warp: number(p.warp),
    lane: number(p.lane),
    register: text(p.register) || undefined,
    hex: boolean(p.hex),
    pane: text(p.pane) || undefined,
    view: from !== undefined && to !== undefined && to > from ? { from, to } : undefined,
    predict: p.predict === true,
  };
}
