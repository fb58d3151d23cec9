// <gemu-program>: the listing, with the lanes at each line, and the branches as arcs.

import { css, html, nothing, type PropertyDeclarations, svg } from 'lit';
import { type Lanes, has, inWords, isEmpty, noLanes, or } from '../lanes.ts';
import { type Line, listingsOf } from '../listing.ts';
import type { Instruction, State } from '../model.ts';
import { doing, runAndWait } from '../sentences.ts';
import { GemuElement } from './base.ts';
import { Rover } from './rover.ts';
import { hue, tokens } from './tokens.ts';
import { type Arc, codeOf, drawArcs, layOut, listingStyles, widthOf } from './listing-view.ts';

/** Branch is an arc from a block's last instruction to the first of another. */
interface Branch extends Arc {
  instruction: number;
  target: number; // instruction
}

export class GemuProgram extends GemuElement {
  static override properties: PropertyDeclarations = {
    language: { state: true },
    hover: { state: true },
    register: {},
    hideNext: { attribute: false },
  };

  private readonly rover = new Rover(this, '.number button', '.row.now .number button');

  static override styles = [
    tokens,
    listingStyles,
    css`
      :host {
        min-width: 0;
      }
      .tabs {
        display: flex;
        gap: 4px;
        margin-bottom: 6px;
      }
      .tabs button {
        min-height: 28px;
        font-size: 13px;
      }
      .scroll {
        position: relative;
        overflow: auto;
        max-height: var(--listing-height, 560px);
        border: 1px solid var(--line);
        border-radius: 8px;
        background: var(--card);
      }
      .rows {
        position: relative;
        display: grid;
        grid-template-columns: auto auto auto auto minmax(max-content, 1fr);
        font: 13px/22px var(--mono);
        padding: 6px 0;
        min-width: max-content;
        counter-reset: none;
      }
      .row {
        display: contents;
      }
      .row > * {
        height: 22px;
        white-space: pre;
      }
      .row.now > * {
        background: var(--now);
      }
      .row:hover > * {
        background: color-mix(in srgb, var(--ink) 6%, var(--card));
      }
      .row.now:hover > * {
        background: var(--now);
      }
      .arcs {
        width: var(--arcs);
      }
      .block {
        padding: 0 4px 0 6px;
      }
      .number {
        text-align: right;
      }
      .number button,
      .number span {
        display: block;
        width: 100%;
        min-width: 38px;
        min-height: 22px;
        height: 22px;
        padding: 0 6px;
        border: 0;
        border-radius: 4px;
        background: none;
        font: 12px/22px var(--mono);
        color: var(--soft);
        text-align: right;
      }
      .number button:hover {
        text-decoration: underline;
        color: var(--accent);
      }
      .now .number button {
        color: var(--ink);
        font-weight: 700;
      }
      .lanes {
        width: 112px;
        padding: 0 8px;
      }
      .lanes svg {
        display: block;
        width: 96px;
        height: 12px;
        margin-top: 5px;
      }
      .lanes .on {
        fill: var(--hue);
      }
      .lanes .hollow {
        fill: var(--card);
        stroke: var(--hue);
        stroke-width: 1;
      }
      .lanes .rail {
        fill: var(--idle);
      }
      .code {
        padding-right: 14px;
      }
      @media (max-width: 560px) {
        .lanes {
          width: 72px;
          padding: 0 6px 0 2px;
        }
        .lanes svg {
          width: 64px;
        }
        /* Outlines of lanes as narrow as these would touch and look filled. */
        .lanes .hollow {
          stroke: none;
          fill: color-mix(in srgb, var(--hue) 35%, var(--card));
        }
        .rows {
          font-size: 12px;
        }
        .block {
          padding: 0 2px;
        }
        .number button,
        .number span {
          min-width: 26px;
          padding: 0 3px;
        }
      }
      @media (forced-colors: active) {
        .row.now > * {
          border-block: 2px solid Highlight;
        }
        .lanes .on {
          fill: CanvasText;
        }
        .lanes .hollow {
          fill: Canvas;
          stroke: CanvasText;
        }
      }
    `,
  ];

  language = 0;
  hover = 0;
  register = '';
  /** hideNext hides the way of the branch that the reader is to predict. */
  hideNext = false;

  override updated(changed: Map<string, unknown>): void {
    if (!changed.has('step') && !changed.has('model') && !changed.has('language')) return;
    const box = this.renderRoot.querySelector('.scroll');
    const row = this.renderRoot.querySelector<HTMLElement>('.row.now .number');
    if (!box || !row) return;
    const [top, height] = [row.offsetTop, box.clientHeight];
    if (top < box.scrollTop + 30) box.scrollTop = Math.max(0, top - 60);
    else if (top + 60 > box.scrollTop + height) box.scrollTop = top + 90 - height;
  }

  private arcs(rowOf: Map<number, number>): Branch[] {
    const launch = this.model!.launch;
    const list: Branch[] = [];
    for (const b of launch.blocks) {
      if (b.instructions === 0) continue;
      const last = b.first + b.instructions - 1;
      for (const n of b.next) {
        const target = launch.blocks[n];
        if (!target || target.first === last + 1) continue;
        const [from, to] = [rowOf.get(last), rowOf.get(target.first)];
        if (from !== undefined && to !== undefined) list.push({ from, to, column: 0, instruction: last, target: target.first });
      }
    }
    return layOut(list);
  }

  override render(): unknown {
    const m = this.model;
    if (this.failure) return html`<p>${this.failure}</p>`;
    if (!m) return nothing;
    const listings = listingsOf(m.launch);
    const listing = listings[Math.min(this.language, listings.length - 1)];
    const isPTX = listing.kind === 'ptx';
    const state = m.state(this.step);
    const current = state.end ? -1 : state.instruction;
    const rowOf = new Map<number, number>(); // by instruction
    listing.lines.forEach((l, row) => l.instructions.forEach((i) => rowOf.set(i.index, row)));
    const arcs = isPTX ? this.arcs(rowOf) : [];
    const width = widthOf(arcs);
    const going = this.hideNext || state.end ? [] : m.outcome(this.step).groups.map((g) => g.instruction);
    return html`${listings.length > 1
        ? html`<div class="tabs" role="group" aria-label="Language">${listings.map((l, i) => html`<button aria-pressed=${i === this.language} @click=${() => (this.language = i)}>${l.kind === 'ptx' ? 'PTX' : l.name.split('/').pop()}</button>`)}</div>`
        : nothing}
      <div class="scroll" tabindex="0" role="region" aria-label="Lines of the program">
        <div class="rows" role="table" aria-label="Lines of ${listing.name}, with the lanes at each" @keydown=${this.rover.key} @focusin=${this.rover.focused} style="--arcs:${width}px">
          <div class="hidden" role="rowgroup"><div role="row"><span role="columnheader">block</span><span role="columnheader">line</span><span role="columnheader">lanes</span><span role="columnheader">code</span></div></div>
          <div role="rowgroup" style="display:contents">${listing.lines.map((l) => this.row(l, state, current, isPTX))}</div>
          ${drawArcs(arcs, listing.lines.length, (a) => a.instruction === current && going.includes(a.target))}
        </div>
      </div>`;
  }

  private row(l: Line, state: State, current: number, isPTX: boolean): unknown {
    const m = this.model!;
    const first = l.instructions[0];
    const now = l.instructions.some((i) => i.index === current);
    const block = first ? first.block : -1;
    const starts = isPTX && first && m.launch.blocks[block]?.first === first.index;
    const letter = starts ? m.launch.blocks[block].letter : '';
    return html`<div class="row ${now ? 'now' : ''}" role="row" @pointerenter=${() => this.point(l)} @pointerleave=${() => this.point(undefined)}>
      <span class="arcs" aria-hidden="true"></span>
      <span class="block" role="cell">${letter ? html`<span class="letter" style=${hue(block)}>${letter}</span>` : nothing}</span>
      <span class="number" role="cell">${first
        ? html`<button title="Run to line ${l.number}" aria-label="Run to line ${l.number}" aria-current=${now ? 'step' : nothing} @click=${() => this.send('gemu-run-to', { line: l.number, source: !isPTX, file: isPTX ? '' : this.file })}>${l.number}</button>`
        : html`<span>${l.number}</span>`}</span>
      <span class="lanes" role="cell">${first ? this.lanes(l.instructions, state) : nothing}</span>
      <span class="code" role="cell">${isPTX ? codeOf(l.text, this.register, (name) => this.send('gemu-register', { name })) : l.text.replaceAll('\t', '    ') || ' '}</span>
    </div>`;
  }

  private get file(): string {
    return listingsOf(this.model!.launch)[this.language]?.name ?? '';
  }

  private point(l: Line | undefined): void {
    const m = this.model!;
    const isPTX = this.language === 0;
    this.send('gemu-lines', { lines: l ? new Set(l.instructions.map((i) => i.line)) : new Set() });
    if (!l || l.instructions.length === 0) return this.send('gemu-hover', { text: '' });
    const state = m.state(this.step);
    const here = state.groups.filter((g) => l.instructions.some((i) => i.index === g.instruction));
    let n = 0;
    for (let s = 0; s < m.steps; s++) if (l.instructions.some((i) => i.index === m.instruction[s])) n++;
    const times = this.hideNext ? '' : ` The warp executes it ${n === 1 ? 'once' : n === 0 ? 'never' : `${n.toLocaleString('en')} times`}.`;
    const lanes = here.map((g) => `${inWords(g.lanes, m.lanes)} ${doing(m, g, state.groups)}`).join('; ');
    this.send('gemu-hover', { text: `Line ${l.number}: ${isPTX ? l.instructions.map((i) => i.text).join('; ') : l.text.trim()}.${times}${lanes ? ` Now ${lanes}.` : ''}` });
  }

  private lanes(instructions: Instruction[], state: State): unknown {
    const m = this.model!;
    let [runs, waits]: [Lanes, Lanes] = [noLanes, noLanes];
    for (const g of state.groups) {
      if (!instructions.some((i) => i.index === g.instruction)) continue;
      if (g.reason === 'runs') runs = or(runs, g.lanes);
      else waits = or(waits, g.lanes);
    }
    const all = or(runs, waits);
    if (isEmpty(all)) return nothing;
    const W = m.launch.warpSize;
    const label = runAndWait(runs, waits, m.lanes);
    const w = 96 / W;
    return html`<svg viewBox="0 0 96 12" preserveAspectRatio="none" style=${hue(instructions[0].block)} role="img" aria-label=${label}>
      <rect class="rail" x="0" y="5" width="96" height="2"></rect>
      ${Array.from({ length: W }, (_, l) => (has(all, l) ? svg`<rect class=${has(runs, l) ? 'on' : 'hollow'} x=${l * w + 0.4} y="1" width=${w - 0.8} height="10"/>` : nothing))}
    </svg>`;
  }
}

customElements.define('gemu-program', GemuProgram);
