// <gemu-registers>: registers × lanes, with the class and the formula of each.

import { css, html, nothing, type PropertyDeclarations } from 'lit';
import { has } from '../lanes.ts';
import type { RegisterView } from '../model.ts';
import { baseOf, formatValue, formula, short, type Structure, tail } from '../values.ts';
import { GemuElement } from './base.ts';
import { tokens } from './tokens.ts';
import { Rover } from './rover.ts';

export class GemuRegisters extends GemuElement {
  static override properties: PropertyDeclarations = {
    register: {},
    lane: { attribute: false },
    all: { state: true },
    hex: { type: Boolean, reflect: true },
  };

  static override styles = [
    tokens,
    css`
      .bar {
        display: flex;
        flex-wrap: wrap;
        gap: 4px 16px;
        align-items: center;
        margin-bottom: 6px;
        font-size: 13px;
        color: var(--soft);
      }
      .choice button {
        min-height: 26px;
        font-size: 12.5px;
        padding: 0 9px;
      }
      .scroll {
        position: relative;
        overflow: auto;
        max-height: 520px;
        border: 1px solid var(--line);
        border-radius: 8px;
        background: var(--card);
      }
      table {
        border-collapse: separate;
        border-spacing: 0;
        font: 12px/24px var(--mono);
        width: 100%;
      }
      thead th {
        position: sticky;
        top: 0;
        z-index: 2;
        background: var(--card);
        border-bottom: 1px solid var(--line);
        font: 600 11.5px/24px var(--mono);
        text-align: right;
      }
      th,
      td {
        padding: 0 4px;
        white-space: nowrap;
        text-align: right;
        border-bottom: 1px solid color-mix(in srgb, var(--line) 60%, transparent);
      }
      th.name {
        position: sticky;
        left: 0;
        z-index: 1;
        background: var(--card);
        text-align: left;
        padding: 0;
        color: var(--ink);
      }
      thead th.name {
        z-index: 3;
        padding: 0 10px;
      }
      th.name button {
        border: 0;
        border-radius: 0;
        background: none;
        min-height: 24px;
        height: 24px;
        padding: 0 8px 0 10px;
        width: 100%;
        text-align: left;
        font: 600 12.5px/24px var(--mono);
      }
      th.name button[aria-pressed='true'] {
        text-decoration: underline;
        text-decoration-thickness: 2px;
      }
      td.class,
      td.formula,
      th.left {
        text-align: left;
      }
      td.formula {
        padding-right: 12px;
        min-width: 110px;
      }
      tr.written td,
      tr.written th.name {
        background: var(--now);
      }
      td.off {
        color: var(--soft);
        background: color-mix(in srgb, var(--idle) 55%, transparent);
      }
      tr.written td.off {
        background: color-mix(in srgb, var(--idle) 70%, var(--now));
      }
      td.lane,
      th.lane {
        box-shadow: inset 2px 0 var(--accent), inset -2px 0 var(--accent);
      }
      .mark {
        display: inline-block;
        min-width: 1.2em;
        color: var(--accent);
        font-weight: 700;
      }
      p {
        margin: 6px 0 0;
        font-size: 13px;
        color: var(--soft);
      }
    `,
  ];

  register = '';
  lane = -1;
  all = false;
  hex = false;
  private readonly rover = new Rover(this, 'th.name button', 'th.name button[aria-pressed=true]');

  /** choose sets the base of numbers; the page keeps it. */
  private choose(hex: boolean): void {
    this.hex = hex;
    this.send('gemu-hex', { hex });
  }

  private chip(s: Structure): unknown {
    if (s.class === 'none') return html`<span class="chip" title="No active lane has a value">–</span>`;
    const name = s.class;
    if (s.few && s.lanes > 0) return html`<span class="chip few" title="Any ${s.lanes === 1 ? 'single value is uniform' : 'two values are uniform or affine'}: the class of ${s.lanes} ${s.lanes === 1 ? 'lane' : 'lanes'} says nothing">${s.lanes} ${s.lanes === 1 ? 'lane' : 'lanes'}</span>`;
    return html`<span class="chip ${name[0]}" title=${name}>${name[0]}<span class="hidden">: ${name}</span></span>`;
  }

  private line(r: RegisterView, lanes: number[]): unknown {
    const m = this.model!;
    const active = this.step < m.steps ? m.active(this.step) : m.lanes;
    const { name, type, bits } = r.register;
    const base = baseOf(m, r.register, this.hex);
    const marks = [r.read && ['→', 'read'], r.written && ['←', 'written']].filter((x) => !!x);
    return html`<tr class=${r.written ? 'written' : ''}>
      <th class="name" scope="row"><button aria-pressed=${this.register === name} title="${name} ${type}: show its values in the cells of the warp" @click=${() => this.send('gemu-register', { name })}>${name}</button></th>
      <td class="class">${this.chip(r.structure)} <span class="mark" title=${marks.length ? `${marks.map(([, what]) => what).join(' and ')} by this step` : ''}>${marks.map(([mark]) => mark).join('')}</span></td>
      <td class="formula">${r.structure.few ? '' : formula(r.structure, type, bits, base)}</td>
      ${lanes.map((l) => {
        const v = r.values[l];
        const text = v === undefined ? '·' : formatValue(v, type, bits, base);
        const off = !has(active, l);
        return html`<td class="${off ? 'off' : ''} ${l === this.lane ? 'lane' : ''}" title="lane ${l}: ${text}${off ? ', not active' : ''}">${base === 16 ? tail(text.replace(/^0x/, ''), this.hex ? 8 : 4) : short(text, 6)}</td>`;
      })}
    </tr>`;
  }

  override render(): unknown {
    const m = this.model;
    if (this.failure) return html`<p>${this.failure}</p>`;
    if (!m) return nothing;
    if (!m.launch.has.results) return html`<p>The recording has no values. Record with --with results.</p>`;
    const lanes = Array.from({ length: m.launch.warpSize }, (_, l) => l).filter((l) => has(m.lanes, l));
    let views = m.registers(this.step);
    const total = views.length;
    // Of a kernel with many registers, those of the latest steps.
    if (!this.all && total > 24) {
      const latest = new Set([...views].sort((a, b) => b.last - a.last).slice(0, 20));
      views = views.filter((r) => latest.has(r) || r.read || r.register.name === this.register);
    }
    return html`<div class="bar">
        <span>class over the active lanes:</span><span><span class="chip u">u</span> uniform: one value</span><span><span class="chip a">a</span> affine: base + stride · lane</span><span><span class="chip g">g</span> generic: anything</span>
        <span>in this step: <span class="mark">→</span>read, <span class="mark">←</span>written</span>
        <span class="choice" role="group" aria-label="Numbers">${[false, true].map((x) => html`<button aria-pressed=${this.hex === x} title=${x ? 'All numbers in hexadecimal, floats as their bits' : 'Numbers in decimal, addresses in hexadecimal'} @click=${() => this.choose(x)}>${x ? 'hexadecimal' : 'decimal'}</button>`)}</span>
        ${total > 24 ? html`<button aria-pressed=${this.all} @click=${() => (this.all = !this.all)}>all ${total} registers</button>` : nothing}
      </div>
      ${views.length === 0
        ? html`<p>No register has a value yet.</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label="Registers by lane">
            <table @keydown=${this.rover.key} @focusin=${this.rover.focused}>
              <caption class="hidden">Values of registers in each lane</caption>
              <thead><tr><th class="name" scope="col">register</th><th class="left" scope="col">class</th><th class="left" scope="col">formula</th>${lanes.map((l) => html`<th scope="col" class=${l === this.lane ? 'lane' : ''}><span class="hidden">lane </span>${l}</th>`)}</tr></thead>
              <tbody>${views.map((r) => this.line(r, lanes))}</tbody>
            </table>
          </div>`}`;
  }
}

customElements.define('gemu-registers', GemuRegisters);
