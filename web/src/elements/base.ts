// What all elements share: colours, the small controls, and the loading of a recording by the attribute src.

import { LitElement, css, type PropertyDeclarations } from 'lit';
import { type Launch, launchesOf, type WarpModel } from '../model.ts';
import { Recording } from '../recording.ts';

/** hues is the number of colours of basic blocks. */
export const hues = 8;

/** tokens is the colours and the type of all elements. u, a and g are the colours of uniform, affine and generic on all pages of gemu. */
export const tokens = css`
  :host {
    --paper: light-dark(#fbfaf7, #14181d);
    --card: light-dark(#ffffff, #1b2027);
    --well: light-dark(#f4f3ef, #161b21);
    --ink: light-dark(#1d232b, #e4e8ec);
    --soft: light-dark(#56616c, #9fabb7);
    --line: light-dark(#dcdfe3, #333b45);
    --edge: light-dark(#7b8691, #7d8996);
    --u: light-dark(#1f6fb5, #6cb2f2);
    --a: light-dark(#17803d, #5fcf8a);
    --g: light-dark(#b4500a, #f0995a);
    --u-soft: light-dark(#e4eef8, #1c3247);
    --a-soft: light-dark(#e1f3e7, #1a3726);
    --g-soft: light-dark(#fbeadd, #43291a);
    --on: light-dark(#ffffff, #10151a);
    --accent: light-dark(#4338ca, #a5b4fc);
    --accent-soft: light-dark(#eceafd, #262a4d);
    --now: light-dark(#fff4cf, #3a3216);
    --bad: light-dark(#b3261e, #ff8a80);
    --bad-soft: light-dark(#fdecea, #3d1d1b);
    --good: light-dark(#17803d, #5fcf8a);
    --idle: light-dark(#e9eaec, #2b323a);
    --b0: light-dark(#5b6673, #8d9aa8);
    --b1: light-dark(#6a4cc0, #ab92fb);
    --b2: light-dark(#a92b84, #ee82c8);
    --b3: light-dark(#0b757e, #45c0c8);
    --b4: light-dark(#7d6000, #d8b545);
    --b5: light-dark(#b3263e, #ff8496);
    --b6: light-dark(#75462a, #cf9d7b);
    --b7: light-dark(#3d4a9e, #93a3f5);
    --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace;
    --sans: system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
    display: block;
    color: var(--ink);
    font: 15px/1.5 var(--sans);
  }
  :host([hidden]) {
    display: none;
  }
  * {
    box-sizing: border-box;
  }
  .hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  .soft {
    color: var(--soft);
  }
  .mono {
    font-family: var(--mono);
  }
  button,
  select,
  input,
  summary {
    font: inherit;
    color: inherit;
  }
  button,
  .button {
    min-width: 32px;
    min-height: 32px;
    padding: 3px 10px;
    border: 1px solid var(--line);
    border-radius: 7px;
    background: var(--card);
    cursor: pointer;
    font-size: 14px;
    line-height: 1.4;
    white-space: nowrap;
    text-decoration: none;
  }
  button:hover:not(:disabled) {
    border-color: var(--edge);
  }
  button:disabled {
    opacity: 0.45;
    cursor: default;
  }
  button[aria-pressed='true'],
  button[aria-selected='true'] {
    border-color: var(--accent);
    background: var(--accent-soft);
    color: var(--accent);
    font-weight: 600;
  }
  button.primary {
    background: var(--accent);
    border-color: var(--accent);
    color: var(--on);
    font-weight: 600;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  .chip {
    display: inline-block;
    min-width: 1.5em;
    padding: 0 0.45em;
    border-radius: 4px;
    text-align: center;
    font: 600 12px/1.6 var(--mono);
    background: var(--idle);
    white-space: nowrap;
  }
  .chip.u {
    background: var(--u-soft);
    color: var(--u);
  }
  .chip.a {
    background: var(--a-soft);
    color: var(--a);
  }
  .chip.g {
    background: var(--g-soft);
    color: var(--g);
  }
  .letter {
    display: inline-block;
    width: 1.5em;
    border-radius: 4px;
    text-align: center;
    font: 700 12px/1.5 var(--mono);
    color: var(--on);
    background: var(--hue);
  }
  table {
    border-collapse: collapse;
  }
  th {
    text-align: left;
    font-weight: 600;
    font-size: 12.5px;
    color: var(--soft);
  }
  @media (forced-colors: active) {
    .letter,
    .chip {
      border: 1px solid CanvasText;
    }
    button[aria-pressed='true'],
    button[aria-selected='true'] {
      forced-color-adjust: none;
      background: Highlight;
      color: HighlightText;
    }
  }
  @media (prefers-reduced-motion: reduce) {
    * {
      transition: none !important;
      animation: none !important;
      scroll-behavior: auto !important;
    }
  }
`;

/** hue returns the style of a basic block's colour. */
export const hue = (block: number): string => `--hue: var(--b${(block < 0 ? 0 : block) % hues})`;

/**
 * GemuElement is an element that draws a warp at a step. Its model is given by the property model, or read from the recording that the
 * attribute src names; then the attributes launch, cta and warp choose the warp.
 */
export class GemuElement extends LitElement {
  static override properties: PropertyDeclarations = {
    model: { attribute: false },
    step: { type: Number, reflect: true },
    src: {},
    launch: { type: Number },
    cta: { type: Number },
    warp: { type: Number },
    failure: { state: true },
  };

  model?: WarpModel;
  step = 0;
  src = '';
  launch = 0;
  cta = -1;
  warp = -1;
  failure = '';

  override willUpdate(changed: Map<string, unknown>): void {
    if (this.src && ['src', 'launch', 'cta', 'warp'].some((k) => changed.has(k))) void this.load();
  }

  private async load(): Promise<void> {
    try {
      const launches = await loadRecording(this.src);
      const launch = launches[this.launch];
      if (!launch) throw new Error(`${this.src} has no launch ${this.launch}`);
      const index = this.cta < 0 && this.warp < 0 ? 0 : launch.findWarp(Math.max(this.cta, 0), Math.max(this.warp, 0));
      this.model = launch.warp(index);
      this.failure = '';
    } catch (e) {
      this.failure = (e as Error).message;
    }
  }

  /** send dispatches an event that leaves the element. */
  send(type: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
  }

  /** go asks for a step: an element that stands alone takes it. */
  go(step: number): void {
    const e = new CustomEvent('gemu-step', { detail: { step }, bubbles: true, composed: true, cancelable: true });
    if (this.dispatchEvent(e)) this.step = step;
  }
}

const loaded = new Map<string, Promise<Launch[]>>();

function loadRecording(src: string): Promise<Launch[]> {
  let p = loaded.get(src);
  if (!p) {
    p = fetch(src).then(async (r) => {
      if (!r.ok) throw new Error(`${src}: ${r.status} ${r.statusText}`);
      return launchesOf(new Recording(new Uint8Array(await r.arrayBuffer())));
    });
    loaded.set(src, p);
  }
  return p;
}

/** clamp limits a number. */
export const clamp = (x: number, least: number, most: number): number => Math.max(least, Math.min(most, x));

/** plural joins a number and a noun. */
export const plural = (n: number, one: string, many = one + 's'): string => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
