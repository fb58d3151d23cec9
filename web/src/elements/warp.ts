// <gemu-warp>: the lanes of a warp as cells, the groups of lanes with what each waits for, and the reconvergence stack.

import { css, html, nothing, type PropertyDeclarations, svg } from 'lit';
import { type Lanes, has, inWords, isEmpty, members, size, without } from '../lanes.ts';
import type { LaneGroup, Reason, RegisterView, State } from '../model.ts';
import { arrivals, capital, doing, isDeadlock, place } from '../sentences.ts';
import { baseOf, formatValue, short, tail } from '../values.ts';
import { GemuElement } from './base.ts';
import { hue, plural, tokens } from './tokens.ts';

const kinds: Record<Reason, string> = {
  runs: 'runs',
  masked: 'masked',
  ready: 'waits',
  joins: 'waits',
  barrier: 'waits',
  collective: 'waits',
  waits: 'waits',
  stuck: 'waits',
  ended: 'ended',
  absent: 'absent',
};

export class GemuWarp extends GemuElement {
  static override properties: PropertyDeclarations = {
    register: {},
    hex: { type: Boolean },
    lane: { attribute: false },
    asking: { type: Boolean },
    picked: { attribute: false },
    focusLane: { state: true },
  };

  static override styles = [
    tokens,
    css`
      .cells {
        display: grid;
        grid-template-columns: repeat(var(--columns, 16), minmax(0, 1fr));
        gap: 4px;
      }
      .cell {
        position: relative;
        min-width: 0;
        min-height: 46px;
        padding: 2px 0 3px;
        border-radius: 6px;
        border: 2px solid var(--hue);
        background: var(--card);
        color: var(--ink);
        text-align: center;
        font: 11px/1.25 var(--mono);
        overflow: hidden;
      }
      .cell .n {
        display: flex;
        justify-content: space-between;
        padding: 0 3px;
        font-size: 10.5px;
      }
      .cell b {
        display: block;
        font-size: 12px;
        font-weight: 700;
        letter-spacing: -0.04em;
        margin-top: 2px;
      }
      .cell b.long {
        font-size: 10px;
        line-height: 15px;
      }
      .cell.runs {
        background: var(--hue);
        color: var(--on);
      }
      .cell.masked {
        background: repeating-linear-gradient(135deg, transparent 0 4px, color-mix(in srgb, var(--hue) 38%, transparent) 4px 6px);
      }
      .cell.waits {
        border-style: solid;
      }
      .cell.joins {
        border-style: double;
        border-width: 4px;
        padding: 0 0 1px;
      }
      .cell.ended,
      .cell.absent {
        border: 1.5px dashed var(--edge);
        color: var(--soft);
      }
      .cell.absent {
        border-style: none;
        background: transparent;
      }
      .cell[aria-pressed='true'] {
        outline: 3px solid var(--accent);
        outline-offset: 0;
        font-weight: 400;
      }
      .asking .cell {
        background: var(--card);
        color: var(--ink);
        border: 2px dashed var(--edge);
      }
      .asking .cell[aria-pressed='true'] {
        background: var(--accent);
        border: 2px solid var(--accent);
        color: var(--on);
      }
      .scroll {
        overflow-x: auto;
        margin-top: 10px;
        position: relative;
      }
      table {
        width: 100%;
        font-size: 13.5px;
      }
      th,
      td {
        padding: 3px 10px 3px 0;
        vertical-align: middle;
        text-align: left;
      }
      .at,
      .short {
        white-space: nowrap;
      }
      tbody tr + tr td {
        border-top: 1px solid var(--line);
      }
      .mask {
        display: block;
        width: 100px;
        height: 12px;
      }
      .mask rect.off {
        fill: var(--idle);
      }
      .mask rect.on {
        fill: var(--hue);
      }
      .mask rect.hollow {
        fill: var(--card);
        stroke: var(--hue);
        stroke-width: 1;
      }
      .key {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 14px;
        margin: 8px 0 0;
        padding: 0;
        list-style: none;
        font-size: 12.5px;
        color: var(--soft);
      }
      .key i {
        display: inline-block;
        width: 15px;
        height: 11px;
        border-radius: 3px;
        margin-right: 5px;
        vertical-align: -1px;
        border: 2px solid var(--edge);
      }
      .key .runs {
        background: var(--edge);
      }
      .key .joins {
        border-style: double;
        border-width: 3px;
      }
      .key .ended {
        border: 1.5px dashed var(--edge);
      }
      .key .masked {
        background: repeating-linear-gradient(135deg, transparent 0 3px, var(--edge) 3px 5px);
      }
      @media (max-width: 560px) {
        .cells {
          --columns: 8 !important;
        }
        th:nth-child(2),
        td:nth-child(2) {
          display: none; /* the cells show it */
        }
      }
      @media (forced-colors: active) {
        .cell.runs {
          forced-color-adjust: none;
          background: CanvasText;
          color: Canvas;
          border-color: CanvasText;
        }
        .mask rect.on {
          fill: CanvasText;
        }
        .mask rect.off,
        .mask rect.hollow {
          fill: Canvas;
          stroke: GrayText;
        }
      }
    `,
  ];

  register = '';
  lane = -1;
  asking = false;
  picked: Lanes = { lo: 0, hi: 0 };
  focusLane = 0;
  hex = false;

  private pick(lane: number): void {
    if (this.asking) this.send('gemu-pick', { lane });
    else this.send('gemu-lane', { lane: this.lane === lane ? -1 : lane });
  }

  /** tabLane returns the lane whose cell Tab reaches: the latest one in focus, or the first lane if that one has no thread. */
  private get tabLane(): number {
    const { lanes } = this.model!;
    return has(lanes, this.focusLane) ? this.focusLane : (members(lanes)[0] ?? 0);
  }

  private key(e: KeyboardEvent): void {
    const W = this.model!.launch.warpSize;
    const columns = getComputedStyle(this.renderRoot.querySelector('.cells')!).gridTemplateColumns.split(' ').length;
    const by: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
    if (!(e.key in by) || e.shiftKey || e.ctrlKey || e.altKey) return;
    const { lanes } = this.model!;
    let next = this.tabLane + by[e.key];
    while (next >= 0 && next < W && !has(lanes, next)) next += by[e.key];
    e.preventDefault();
    e.stopPropagation();
    if (next < 0 || next >= W) return;
    this.focusLane = next;
    void this.updateComplete.then(() => (this.renderRoot.querySelectorAll('.cell')[next] as HTMLElement).focus());
  }

  /** shown returns the register whose values the cells show: the chosen one, else the one written last. */
  private shown(views: RegisterView[]): RegisterView | undefined {
    return views.find((r) => r.register.name === this.register) ?? [...views].filter((r) => r.last >= 0).sort((a, b) => b.last - a.last)[0];
  }

  private cell(state: State, lane: number, view: RegisterView | undefined): unknown {
    const m = this.model!;
    const g = state.groups[state.group[lane]];
    const reason: Reason = g?.reason ?? 'absent';
    const block = g && g.instruction >= 0 ? m.launch.instructions[g.instruction].block : -1;
    const letter = block >= 0 ? m.launch.blocks[block].letter : '';
    const value = view?.values[lane];
    const base = view ? baseOf(m, view.register, this.hex) : 10;
    const shown = reason === 'ended' ? 'end' : value === undefined ? '·' : formatValue(value, view!.register.type, view!.register.bits, base);
    const does = g ? doing(m, g, state.groups) : 'has no thread';
    const brief = base === 16 ? tail(shown.replace(/^0x/, ''), 5) : short(shown, 5);
    const label = this.asking ? `lane ${lane}` : `lane ${lane}: ${does}${g && g.instruction >= 0 ? `, ${place(m.launch, g.instruction)}` : ''}${view && value !== undefined ? `, ${view.register.name} is ${shown}` : ''}`;
    const pressed = this.asking ? has(this.picked, lane) : this.lane === lane;
    return html`<button
      class="cell ${kinds[reason]} ${reason === 'joins' ? 'joins' : ''}"
      style=${hue(block)}
      aria-pressed=${pressed}
      tabindex=${lane === this.tabLane ? 0 : -1}
      ?disabled=${reason === 'absent'}
      @click=${() => ((this.focusLane = lane), this.pick(lane))}
      @pointerenter=${() => this.send('gemu-hover', { text: this.asking ? '' : capital(label) })}
      @pointerleave=${() => this.send('gemu-hover', { text: '' })}
    ><span class="hidden">${label}</span><span class="n" aria-hidden="true"><span>${lane}</span><span>${this.asking ? (pressed ? '✓' : '') : letter}</span></span><b class=${brief.length > 4 ? 'long' : ''} aria-hidden="true">${brief}</b></button>`;
  }

  private mask(g: { lanes: Lanes }, filled: boolean): unknown {
    const W = this.model!.launch.warpSize;
    return maskPicture(g.lanes, W, filled);
  }

  private groups(state: State): unknown {
    const m = this.model!;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Groups of lanes">
      <table>
        <caption class="hidden">Groups of lanes, and what each waits for</caption>
        <thead><tr><th scope="col">lanes</th><th scope="col"><span class="hidden">picture</span></th><th scope="col">at</th><th scope="col">now</th></tr></thead>
        <tbody>${state.groups.map((g) => this.group(g, state.groups, m.launch.instructions[g.instruction]?.block ?? -1))}</tbody>
      </table>
    </div>`;
  }

  private group(g: LaneGroup, groups: LaneGroup[], block: number): unknown {
    const m = this.model!;
    const letter = m.launch.blocks[block]?.letter;
    const all = doing(m, g, groups);
    const text = size(g.lanes) === 1 ? all.replace(/^are\b/, 'is').replace(/^have\b/, 'has').replace(/^(run|wait)\b/, '$1s') : all;
    const who = inWords(g.lanes, m.lanes);
    return html`<tr style=${hue(block)}>
      <td class=${who.length < 16 ? 'short' : ''}>${who}</td>
      <td>${this.mask(g, g.reason === 'runs')}</td>
      <td class="at">${g.reason === 'ended' ? '–' : html`${letter ? html`<span class="letter">${letter}</span> ` : nothing}${place(m.launch, g.instruction)}`}</td>
      <td>${text}</td>
    </tr>`;
  }

  override render(): unknown {
    const m = this.model;
    if (this.failure) return html`<p>${this.failure}</p>`;
    if (!m) return nothing;
    const W = m.launch.warpSize;
    const state = m.state(this.step);
    const view = this.shown(m.registers(this.step));
    const reasons = new Set(state.groups.map((g) => g.reason));
    const columns = W >= 16 ? 16 : W;
    return html`<div class="cells ${this.asking ? 'asking' : ''}" style="--columns:${columns}" role="group" aria-label=${this.asking ? 'Lanes that run next' : `Lanes of the warp${view ? `, with the values of ${view.register.name}` : ''}`} @keydown=${this.key}>
        ${Array.from({ length: W }, (_, l) => this.cell(state, l, view))}
      </div>
      ${this.asking
        ? nothing
        : html`<ul class="key">
              ${reasons.has('runs') ? html`<li><i class="runs"></i>runs</li>` : nothing}
              ${reasons.has('masked') ? html`<li><i class="masked"></i>guard does not hold</li>` : nothing}
              ${reasons.has('joins') ? html`<li><i class="joins"></i>waits at the reconvergence point</li>` : nothing}
              ${['ready', 'barrier', 'collective', 'waits', 'stuck'].some((r) => reasons.has(r as Reason)) ? html`<li><i></i>waits</li>` : nothing}
              ${reasons.has('ended') ? html`<li><i class="ended"></i>has ended</li>` : nothing}
              <li>letter: basic block</li>
              ${view ? html`<li>number: <span class="mono">${view.register.name}</span>${baseOf(m, view.register, this.hex) === 16 ? ' in hexadecimal' : ''}</li>` : nothing}
            </ul>
            ${this.groups(state)}`}`;
  }
}

/** maskPicture draws a set of lanes as a row of small cells. */
export function maskPicture(lanes: Lanes, W: number, filled: boolean): unknown {
  return html`<svg class="mask" viewBox="0 0 ${W * 4} 12" preserveAspectRatio="none" aria-hidden="true">${Array.from({ length: W }, (_, l) => rect(l, has(lanes, l) ? (filled ? 'on' : 'hollow') : 'off'))}</svg>`;
}

const rect = (l: number, kind: string) => svg`<rect x=${l * 4 + 0.5} y="0.5" width="3" height="11" class=${kind}/>`;

const titles = {
  running: 'These lanes execute the instruction of this step',
  ready: 'These lanes can execute; the policy runs others first',
  blocked: 'These lanes wait at a barrier, or for an instruction of other lanes',
  point: 'Reconvergence point: lanes wait here until all that meet here have arrived',
};

/** GemuStack is the reconvergence stack, or the warp splits of a policy without a stack. */
export class GemuStack extends GemuElement {
  static override styles = [
    tokens,
    css`
      ol {
        margin: 0;
        padding: 0;
        list-style: none;
        display: grid;
        gap: 4px;
      }
      li {
        display: grid;
        grid-template-columns: 64px 108px 1fr;
        gap: 10px;
        align-items: center;
        padding: 5px 10px;
        border: 1px solid var(--line);
        border-left: 5px solid var(--hue);
        border-radius: 6px;
        background: var(--card);
        font-size: 13.5px;
      }
      li.running {
        background: var(--now);
      }
      li.point {
        border-left-style: double;
      }
      b {
        font-weight: 650;
      }
      .mask {
        width: 104px;
        height: 12px;
        display: block;
      }
      .mask rect.off {
        fill: var(--idle);
      }
      .mask rect.on {
        fill: var(--hue);
      }
      .mask rect.hollow {
        fill: var(--card);
        stroke: var(--hue);
      }
      p {
        margin: 0 0 8px;
        font-size: 13.5px;
        color: var(--soft);
      }
      @media (max-width: 560px) {
        li {
          grid-template-columns: 64px 1fr;
        }
        li > :last-child {
          grid-column: 1 / -1;
        }
      }
      @media (forced-colors: active) {
        .mask rect.on {
          fill: CanvasText;
        }
        .mask rect.off,
        .mask rect.hollow {
          fill: Canvas;
          stroke: GrayText;
        }
      }
    `,
  ];

  override render(): unknown {
    const m = this.model;
    if (!m) return nothing;
    if (!m.launch.has.stack) return html`<p>The recording has no stack. Record with --with stack.</p>`;
    const { stack } = m.state(this.step);
    if (this.step >= m.steps && isEmpty(without(m.lanes, m.ended(m.steps)))) return html`<p>All lanes have ended.</p>`;
    const points = stack.filter((x) => x.kind === 'point').length;
    const end = this.step >= m.steps;
    const names = { running: end ? (isDeadlock(m.launch) ? 'blocked' : 'stopped') : 'running', ready: 'waiting', blocked: 'blocked', point: 'point' };
    return html`<p>${stack.length <= 1
      ? 'The warp is one group: no lanes wait for others.'
      : `${plural(stack.length - points, 'warp split')} (lanes that execute together)${points ? `, and ${points === 1 ? 'a reconvergence point' : `${points} reconvergence points`}, where the lanes that have arrived wait for the others` : ''}. The innermost is first.`}</p>
      <ol>
        ${stack.map((x) => {
          const ins = m.launch.instructions[x.instruction];
          const letter = ins ? m.launch.blocks[ins.block]?.letter : '';
          return html`<li class=${end && x.kind === 'running' ? 'blocked' : x.kind} style="${hue(ins?.block ?? -1)};margin-left:${Math.min(x.depth, 12) * 10}px">
            <b title=${end ? nothing : titles[x.kind]}>${names[x.kind]}</b>${maskPicture(x.kind === 'point' ? x.arrived : x.lanes, m.launch.warpSize, x.kind === 'running' && !end)}
            <span>${letter ? html`<span class="letter">${letter}</span> ` : nothing}${place(m.launch, x.instruction)}:
            ${x.kind === 'point' ? arrivals(x.arrived, x.lanes, m.lanes) : inWords(x.lanes, m.lanes)}</span>
          </li>`;
        })}
      </ol>`;
  }
}

customElements.define('gemu-warp', GemuWarp);
customElements.define('gemu-stack', GemuStack);
