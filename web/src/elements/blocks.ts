// <gemu-block>: a table of a report, or a chart with a table of the same values.

import { css, html, LitElement, nothing, svg, type PropertyDeclarations } from 'lit';
import type { Bars, Block, Heat, Plot, Table } from '../report-data.ts';
import { chartStyles } from './charts.ts';
import { hues, tokens } from './tokens.ts';

/** color returns the colour of a series; block colour 0 is that of no series. */
const color = (i: number): string => `var(--b${1 + (i % (hues - 1))})`;

const key = (names: string[]): unknown => (names.length < 2 ? nothing : html`<ul class="key">${names.map((n, i) => html`<li><i style="background:${color(i)}"></i>${n}</li>`)}</ul>`);

export class GemuBlock extends LitElement {
  static override properties: PropertyDeclarations = { block: { attribute: false } };

  static override styles = [
    tokens,
    chartStyles,
    css`
      h3 {
        margin: 0 0 10px;
        font-size: 14.5px;
        overflow-wrap: anywhere;
      }
      td.text,
      th.text {
        text-align: left;
      }
      tbody th {
        font: inherit;
        color: inherit;
      }
      td.text {
        white-space: normal;
        min-width: 20ch;
        overflow-wrap: anywhere;
      }
      .key {
        display: flex;
        flex-wrap: wrap;
        gap: 4px 16px;
        margin: 0 0 10px;
        padding: 0;
        list-style: none;
        font-size: 13.5px;
      }
      .key i {
        display: inline-block;
        width: 12px;
        height: 12px;
        margin-right: 6px;
        border-radius: 3px;
        forced-color-adjust: none;
      }
      .bars {
        display: grid;
        grid-template-columns: minmax(10ch, auto) minmax(0, 1fr) auto;
        gap: 6px 12px;
        align-items: center;
        font-size: 13.5px;
      }
      .bars .name {
        max-width: 44ch;
        overflow-wrap: anywhere;
        font: 12.5px/1.35 var(--mono);
      }
      .bars .value {
        font: 12.5px/1.35 var(--mono);
        text-align: right;
      }
      .bar {
        display: flex;
        gap: 1px;
        height: 18px;
        border-radius: 3px;
        overflow: hidden;
        background: var(--well);
      }
      .bar i {
        forced-color-adjust: none;
      }
      .plot {
        display: grid;
        grid-template-columns: auto 1fr;
        gap: 6px 10px;
        padding: 6px 12px 0 0;
        font: 12px/1.3 var(--mono);
        color: var(--soft);
      }
      .axis {
        display: flex;
        flex-direction: column;
        justify-content: space-between;
        text-align: right;
        margin: -8px 0;
      }
      .area {
        position: relative;
        height: 190px;
        border: solid var(--edge);
        border-width: 0 0 1px 1px;
        background: linear-gradient(var(--line), var(--line)) 0 50% / 100% 1px no-repeat, linear-gradient(var(--line), var(--line)) 0 0 / 100% 1px no-repeat;
      }
      .area svg {
        position: absolute;
        width: 100%;
        height: 100%;
        overflow: visible;
      }
      polyline {
        fill: none;
        stroke-width: 2;
        vector-effect: non-scaling-stroke;
      }
      .area i {
        position: absolute;
        width: 9px;
        height: 9px;
        margin: -4.5px;
        border-radius: 50%;
        forced-color-adjust: none;
      }
      .ticks {
        position: relative;
        grid-column: 2;
        height: 2.8em;
      }
      .ticks span {
        position: absolute;
        transform: translateX(-50%);
        white-space: nowrap;
      }
      .ticks span:last-of-type:not(:first-of-type) {
        transform: translateX(calc(-100% + 10px));
      }
      .ticks span:first-of-type {
        transform: translateX(-6px);
      }
      .ticks b {
        position: absolute;
        top: 1.4em;
        font-weight: 600;
      }
      .heat {
        display: grid;
        gap: 1px;
        min-width: max-content;
        font: 11px/14px var(--mono);
        color: var(--soft);
      }
      .heat > * {
        min-width: 16px;
        min-height: 14px;
      }
      .heat .head {
        text-align: right;
        padding-right: 6px;
        white-space: nowrap;
      }
      .heat .top {
        text-align: center;
      }
      .heat i {
        font-style: normal;
        text-align: center;
        padding: 0 4px;
        background: color-mix(in srgb, var(--accent) var(--part), var(--idle));
        forced-color-adjust: none;
      }
      .heat.small {
        min-width: 0;
        font: 12.5px/26px var(--mono);
      }
      .heat.small i {
        color: var(--ink);
        background: color-mix(in srgb, var(--accent) var(--part), var(--card));
      }
      .heat .mark {
        border: 2px solid var(--card);
        outline: 3px solid var(--bad);
        z-index: 1;
      }
      .texts {
        margin: 0;
        padding: 0;
        list-style: none;
      }
      .texts > li {
        margin-bottom: 12px;
      }
      .texts code {
        font: 12.5px/1.5 var(--mono);
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }
      .texts ul {
        margin: 2px 0 0;
        padding-left: 1.2em;
      }
      @media (max-width: 600px) {
        .bars {
          grid-template-columns: minmax(0, 1fr) auto;
        }
        .bars .name {
          grid-column: 1 / 3;
          margin-bottom: -4px;
        }
      }
    `,
  ];

  block?: Block;

  private bars(b: Bars): unknown {
    const width = (v: number) => (b.most > 0 ? (100 * v) / b.most : 0);
    return html`${key(b.series)}
      <div class="bars">
        ${b.rows.map(
          (r) => html`<span class="name" aria-hidden="true">${r.name}</span>
            <div class="bar" role="img" aria-label="${r.name}: ${r.text}">${r.values.map((v, i) => (v > 0 ? html`<i style="width:${width(v)}%;background:${color(i)}" title="${b.series[i]}: ${v.toLocaleString('en')}"></i>` : nothing))}</div>
            <span class="value" aria-hidden="true">${r.text}</span>`,
        )}
      </div>`;
  }

  private plot(p: Plot, name: string): unknown {
    const x = (i: number) => (p.ticks.length > 1 ? (100 * i) / (p.ticks.length - 1) : 50);
    const y = (v: number) => (p.most > 0 ? 100 - (100 * v) / p.most : 100);
    const say = (v: number) => `${v.toLocaleString('en', { maximumFractionDigits: v < 100 ? 1 : 0 })}${p.unit}`;
    return html`${key(p.lines.map((l) => l.name))}
      <div class="plot" role="img" aria-label="${name} by ${p.x}">
        <div class="axis"><span>${say(p.most)}</span><span>${say(p.most / 2)}</span><span>0</span></div>
        <div class="area">
          <svg viewBox="0 0 100 100" preserveAspectRatio="none">${p.lines.map((l, i) => svg`<polyline style="stroke:${color(i)}" points=${l.values.map((v, k) => `${x(k)},${y(v)}`).join(' ')}></polyline>`)}</svg>
          ${p.lines.map((l, i) => l.values.map((v, k) => html`<i style="left:${x(k)}%;top:${y(v)}%;background:${color(i)}" title="${l.name} ${p.ticks[k]}: ${say(v)}"></i>`))}
        </div>
        <div class="ticks">${p.ticks.map((t, k) => html`<span style="left:${x(k)}%">${t}</span>`)}<b>${p.x}</b></div>
      </div>`;
  }

  private heat(h: Heat, name: string): unknown {
    const share = (v: number) => (h.most > 0 ? (100 * v) / h.most : 0);
    const step = h.texts ? 1 : Math.max(1, Math.ceil(h.columns.length / 8));
    const labelled = (k: number) => (k + 1) % step === 0;
    const columns = `grid-template-columns: auto repeat(${h.columns.length}, minmax(${h.texts ? '7ch' : '16px'}, 1fr))`;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Map of ${name}">
      <div class="heat ${h.texts ? 'small' : ''}" style=${columns} role="img" aria-label="${name} by ${h.rowName} and ${h.columnName}">
        <span class="head">${h.rowName}</span>${h.columns.map((c, k) => html`<span class="top">${labelled(k) ? c : nothing}</span>`)}
        ${h.values.map(
          (row, i) => html`<span class="head">${h.rows[i]}</span>${row.map(
              (v, k) => html`<i class=${h.mark?.[0] === i && h.mark[1] === k ? 'mark' : ''} style="--part:${h.texts ? share(v) * 0.45 : share(v)}%" title="${h.rowName} ${h.rows[i]}, ${h.columnName} ${h.columns[k]}: ${h.texts?.[i][k] ?? v.toLocaleString('en')} ${h.unit}">${h.texts?.[i][k] ?? nothing}</i>`,
            )}`,
        )}
      </div>
      ${h.texts ? nothing : html`<p>From left to right: ${h.columnName}; from top to bottom: ${h.rowName}. Full colour is ${h.most} ${h.unit}${h.mark ? '; the frame is the launch' : nothing}.</p>`}
    </div>`;
  }

  private table(t: Table, name: string): unknown {
    const cell = (text: string, i: number) => {
      const of = t.head[i].text ? 'text' : '';
      return i === 0 ? html`<th scope="row" class=${of}>${text}</th>` : html`<td class=${of}>${text}</td>`;
    };
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Table of ${name}">
      <table>
        <thead><tr>${t.head.map((h) => html`<th scope="col" class=${h.text ? 'text' : ''} title=${h.doc || nothing}>${h.name}</th>`)}</tr></thead>
        <tbody>${t.rows.map((r) => html`<tr>${r.map(cell)}</tr>`)}</tbody>
      </table>
    </div>`;
  }

  override render(): unknown {
    const b = this.block;
    if (!b) return nothing;
    const chart = b.bars ? this.bars(b.bars) : b.plot ? this.plot(b.plot, b.title) : b.heat ? this.heat(b.heat, b.title) : undefined;
    return html`<h3>${b.title}</h3>
      ${chart ?? nothing}
      ${b.table ? (chart ? html`<details><summary>The same as a table</summary>${this.table(b.table, b.title)}</details>` : this.table(b.table, b.title)) : nothing}
      ${b.texts ? html`<ul class="texts">${b.texts.map((t) => html`<li><code><b>${t.place}</b>  ${t.code}</code><ul>${t.list.map((x) => html`<li>${x}</li>`)}</ul></li>`)}</ul>` : nothing}
      ${b.notes.map((n) => html`<p>${n}</p>`)}`;
  }
}

customElements.define('gemu-block', GemuBlock);
