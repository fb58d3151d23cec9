// Links that hold a program and a place in its run: "#v1:" and JSON, deflated, in the alphabet of base64 for addresses.

import { deflateSync, inflateSync } from 'fflate';
import type { Request } from './engine.ts';

/** Place is what a link holds. */
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
  pane?: string;
  view?: { from: number; to: number };
  predict?: boolean;
}

const prefix = '#v1:';
/** maxPlaceBytes bounds the text of a link after inflation. */
const maxPlaceBytes = 4 << 20;

/** toHash returns the fragment of a link. */
export function toHash(p: Place): string {
  const bytes = deflateSync(new TextEncoder().encode(JSON.stringify(p)), { level: 9 });
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
  return check(place);
}

/** check returns a place with fields of the right types. */
function check(x: unknown): Place {
  const p = x as Place;
  const number = (v: unknown): number | undefined => (typeof v === 'number' && Number.isFinite(v) && v >= -1 ? Math.floor(v) : undefined);
  const text = (v: unknown): string => (typeof v === 'string' ? v : '');
  const texts = (v: unknown): string[] => (Array.isArray(v) ? v.map(text) : []);
  const three = (v: unknown): [number, number, number] => {
    const [a, b, c] = Array.isArray(v) ? v.map(number) : [];
    return [a ?? 1, b ?? 1, c ?? 1];
  };
  const r = p?.request;
  if (typeof r !== 'object' || r === null || typeof r.source !== 'string') throw new Error('the link holds no program');
  const view = p.view && number(p.view.from) !== undefined && number(p.view.to) !== undefined && p.view.to > p.view.from ? { from: Math.max(0, number(p.view.from)!), to: number(p.view.to)! } : undefined;
  const files = Object.fromEntries(Object.entries(r.files ?? {}).filter(([, v]) => typeof v === 'string'));
  return {
    request: {
      name: text(r.name) || 'kernel.ptx',
      source: r.source,
      kernel: text(r.kernel),
      grid: three(r.grid),
      block: three(r.block),
      arguments: texts(r.arguments),
      warp: number(r.warp),
      sm: text(r.sm) || undefined,
      maxEvents: number(r.maxEvents),
      maxSteps: number(r.maxSteps),
      shared: number(r.shared),
      set: texts(r.set),
      files,
    },
    policies: texts(p.policies).filter(Boolean).slice(0, 8),
    policy: text(p.policy) || undefined,
    step: number(p.step),
    cta: number(p.cta),
    warp: number(p.warp),
    lane: number(p.lane),
    register: text(p.register) || undefined,
    pane: text(p.pane) || undefined,
    view,
    predict: p.predict === true,
  };
}
