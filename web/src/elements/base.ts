// The base of the elements that draw a warp: the loading of a recording by the attribute src.

import { LitElement, type PropertyDeclarations } from 'lit';
import { type Launch, launchesOf, type WarpModel } from '../model.ts';
import { Recording } from '../recording.ts';

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
