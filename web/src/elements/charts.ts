// <gemu-shares>, <gemu-histogram>: the charts of a report, each with a table that says the same.

import { css, html, LitElement, nothing, type PropertyDeclarations } from 'lit';
import type { LaneCount, Shares } from '../report-data.ts';
import { tokens } from './tokens.ts';

export const chartStyles = css`
  :host {
    padding: 14px 16px;
    border: 1px solid var(--line);
    border-radius: 8px;
    background: var(--card);
  }
  p {
    margin: 8px 0 0;
    font-size: 14px;
    color: var(--soft);
  }
  details {
    margin-top: 8px;
    font-size: 13.5px;
  }
  summary {
    cursor: pointer;
    min-height: 24px;
    color: var(--accent);
  }
  .scroll {
    position: relative;
    overflow-x: auto;
  }
  table {
    font: 13px/22px var(--mono);
  }
  td,
  th {
    padding: 0 14px 0 0;
    text-align: right;
    white-space: nowrap;
  }
  th:first-child {
    text-align: left;
  }
`;

/** table returns a table that says the same as a chart. */
function table(name: string, head: string[], rows: string[][]): unknown {
  return html`<details>
    <summary>The same as a table</summary>
    <div class="scroll" tabindex="0" role="region" aria-label=${name}>
      <table>
        <thead><tr>${head.map((h) => html`<th scope="col">${h}</th>`)}</tr></thead>
        <tbody>${rows.map(([first, ...rest]) => html`<tr><th scope="row">${first}</th>${rest.map((c) => html`<td>${c}</td>`)}</tr>`)}</tbody>
      </table>
    </div>
  </details>`;
}

export class GemuShares extends LitElement {
  static override properties: PropertyDeclarations = { shares: { attribute: false } };

  static override styles = [
    tokens,
    chartStyles,
    css`
      .rows {
        display: grid;
        grid-template-columns: auto 1fr;
        gap: 6px 12px;
        align-items: center;
        font-size: 14px;
      }
      .bar {
        display: flex;
        height: 22px;
        border-radius: 4px;
        overflow: hidden;
        background: var(--idle);
        font: 600 11.5px/22px var(--mono);
        color: var(--on);
      }
      .bar > span {
        overflow: hidden;
        white-space: nowrap;
        text-align: center;
      }
      .u {
        background: var(--u);
      }
      .a {
        background: var(--a);
      }
      .g {
        background: var(--g);
      }
      @media (forced-colors: active) {
        .bar > span {
          border-right: 2px solid CanvasText;
        }
      }
    `,
  ];

  shares: Shares[] = [];

  override render(): unknown {
    const cell = (s: Shares, i: number) => (s.parts[i] ? `${s.parts[i].percent} % (${s.parts[i].count.toLocaleString('en')})` : 'none');
    return html`<div class="rows">
        ${this.shares.map(
          (s) => html`<b aria-hidden="true">${s.name}</b>
            ${s.parts.length
              ? html`<div class="bar" role="img" aria-label="${s.name}: ${s.parts.map((p) => `${p.percent} % ${p.kind}`).join(', ')}">
                  ${s.parts.map((p) => (p.count ? html`<span class=${p.class} style="width:${p.width}%" title="${p.kind}: ${p.percent} %, ${p.count.toLocaleString('en')}">${p.width >= 14 ? `${p.percent} %` : nothing}</span>` : nothing))}
                </div>`
              : html`<span class="soft"><span class="hidden">${s.name}: </span>none</span>`}`,
        )}
      </div>
      <p>Addresses are called shared, strided and indexed in place of uniform, affine and generic.</p>
      ${table('Shares of uniform, affine and generic', ['', 'uniform', 'affine', 'generic'], this.shares.map((s) => [s.name, cell(s, 0), cell(s, 1), cell(s, 2)]))}`;
  }
}

export class GemuHistogram extends LitElement {
  static override properties: PropertyDeclarations = { lanes: { attribute: false } };

  static override styles = [
    tokens,
    chartStyles,
    css`
      .chart {
        display: grid;
        grid-template-columns: auto 1fr;
        gap: 0 8px;
        font: 12px/16px var(--mono);
        color: var(--soft);
      }
      .axis {
        display: flex;
        flex-direction: column;
        justify-content: space-between;
        text-align: right;
        margin: -8px 0;
      }
      .columns {
        display: flex;
        align-items: flex-end;
        gap: 2px;
        height: 150px;
        border-bottom: 1px solid var(--soft);
      }
      .columns i {
        flex: 1;
        min-width: 1px;
        border-radius: 2px 2px 0 0;
        background: var(--accent);
      }
      .ticks {
        grid-column: 2;
        display: flex;
        gap: 2px;
        margin-top: 4px;
      }
      .ticks span {
        flex: 1 1 0;
        width: 0;
        display: flex;
        justify-content: center;
      }
      @media (forced-colors: active) {
        .columns i {
          background: CanvasText;
        }
      }
    `,
  ];

  lanes: LaneCount[] = [];

  override render(): unknown {
    const n = this.lanes.length;
    const top = this.lanes.reduce((a, b) => (b.count > a.count ? b : a), { count: 0, share: '0' });
    const say = (c: LaneCount, i: number) => `${i + 1} active: ${c.count.toLocaleString('en')} instructions, ${c.share} %`;
    return html`<div class="chart" role="img" aria-label="Warp instructions by the number of lanes that execute them${top.count ? `; most, ${top.share} %, by ${this.lanes.indexOf(top) + 1}` : ': none'}">
        <div class="axis"><span>${top.share} %</span><span>0 %</span></div>
        <div class="columns">${this.lanes.map((c, i) => html`<i title=${say(c, i)} style="height:${c.count ? `max(1px, ${(c.count / top.count) * 100}%)` : '0'}"></i>`)}</div>
        <div class="ticks">${this.lanes.map((_, i) => html`<span>${i === 0 || (i + 1) % Math.max(1, Math.floor(n / 8)) === 0 ? i + 1 : nothing}</span>`)}</div>
      </div>
      <p>Warp instructions by the number of lanes that execute them.</p>
      ${table('Warp instructions by active lanes', ['active lanes', 'instructions', 'share'], this.lanes.flatMap((c, i) => (c.count ? [[String(i + 1), c.count.toLocaleString('en'), `${c.share} %`]] : [])))}`;
  }
}

customElements.define('gemu-shares', GemuShares);
customElements.define('gemu-histogram', GemuHistogram);
