// <gemu-listing>: the lines of a function or a source file with their counts, and the branches as arcs.

import { css, html, LitElement, nothing, type PropertyDeclarations } from 'lit';
import type { Column, Counts, Part, ReportListing, Row } from '../report-data.ts';
import { hue, tokens } from './tokens.ts';
import { codeOf, drawArcs, layOut, listingStyles, rowHeight, widthOf } from './listing-view.ts';

const headHeight = 32;

/** bar draws shares as a short bar. */
const bar = (parts: Part[] = []): unknown =>
  html`<span class="mini" aria-hidden="true">${parts.map((p) => (p.count ? html`<i class=${p.class} style="width:${p.width}%"></i>` : nothing))}</span>`;

export class GemuListing extends LitElement {
  static override properties: PropertyDeclarations = {
    listing: { attribute: false },
    columns: { attribute: false },
    register: { state: true },
  };

  static override styles = [
    tokens,
    listingStyles,
    css`
      .scroll {
        position: relative;
        overflow-x: auto;
        border: 1px solid var(--line);
        border-radius: 8px;
        background: var(--card);
      }
      table {
        position: relative;
        border-collapse: separate;
        border-spacing: 0;
        margin-bottom: 6px;
        font: 12.5px/22px var(--mono);
        width: 100%;
      }
      thead tr > * {
        height: ${headHeight}px;
        border-bottom: 1px solid var(--line);
        white-space: nowrap;
      }
      th {
        padding: 0 7px;
      }
      td {
        height: ${rowHeight}px;
        padding: 0 7px;
        white-space: pre;
        vertical-align: top;
      }
      .fill,
      .line td.code {
        width: 100%;
      }
      .line td.code {
        min-width: 36ch;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      th.arcs,
      td.arcs {
        padding: 0;
      }
      td.block,
      th.block {
        padding: 0 2px 0 6px;
      }
      td.number,
      th.number {
        text-align: right;
      }
      td.line {
        color: var(--soft);
        font-size: 12px;
        padding: 0 6px;
      }
      tbody tr:hover td {
        background: color-mix(in srgb, var(--ink) 6%, transparent);
      }
      .counted td {
        background: var(--accent-soft);
      }
      .dead td {
        color: var(--soft);
      }
      .source .code {
        color: var(--soft);
        font-style: italic;
      }
      .register,
      .guard {
        cursor: pointer;
      }
      svg.flow {
        top: ${headHeight}px;
      }
      .mini,
      .lanes i {
        display: inline-block;
        width: 44px;
        height: 8px;
        margin-right: 8px;
        border-radius: 2px;
        overflow: hidden;
        vertical-align: middle;
        background: var(--idle);
      }
      .mini i {
        display: inline-block;
        height: 8px;
        vertical-align: top;
        background: var(--soft);
      }
      .lanes i::before {
        content: '';
        display: block;
        width: var(--part);
        height: 100%;
        background: var(--soft);
      }
      .mini i.u {
        background: var(--u);
      }
      .mini i.a {
        background: var(--a);
      }
      .mini i.g {
        background: var(--g);
      }
      .mini i.d {
        background: var(--d);
      }
      @media (max-width: 600px) {
        .mini,
        .lanes i {
          display: none;
        }
        table {
          font-size: 12px;
        }
        td,
        th {
          padding: 0 5px;
        }
      }
      @media (forced-colors: active) {
        .mini,
        .mini i,
        .lanes i,
        .lanes i::before {
          forced-color-adjust: none;
        }
      }
      @media print {
        tr {
          break-inside: avoid;
        }
      }
    `,
  ];

  listing?: ReportListing;
  columns: Column[] = [];
  register = '';

  private classes(c: Counts): unknown {
    if (!c.execs) return html`<span class="chip">–<span class="hidden"> never executed</span></span>`;
    return html`${c.parts?.some((p) => p.count) ? bar(c.parts) : nothing}${c.chips?.map((x) => html`${x.lead ? ` ${x.lead} ` : nothing}<span class="chip ${x.class}">${x.text}</span>`)}`;
  }

  private row(r: Row, arcs: boolean, ofFile: boolean): unknown {
    const c = r.counts;
    if (this.listing?.plain) {
      return html`<tr class="line ${c ? 'counted' : ''}" title=${c?.title ?? nothing}>
        <td class="number line">${r.line ?? ''}</td>
        <td class="code">${r.text.replaceAll('\t', '    ')}</td>
        ${this.columns.map((_, i) => html`<td class="number">${c?.more?.[i] ?? nothing}</td>`)}
      </tr>`;
    }
    const isPTX = r.kind === 'instruction' || r.kind === 'label';
    const bars = (percent = 0) => html`<i style="--part:${percent}%" aria-hidden="true"></i>`;
    const code = isPTX ? codeOf(r.kind === 'label' ? r.text : `  ${r.text}`, this.register, (name) => (this.register = this.register === name ? '' : name)) : r.text.replaceAll('\t', '    ');
    const rest = 3 + this.columns.length; // columns after the code
    return html`<tr class="${r.kind} ${c && !c.execs ? 'dead' : ''}">
      ${ofFile
        ? nothing
        : html`${arcs ? html`<td class="arcs"></td>` : nothing}<td class="block">${r.letter ? html`<span class="letter" style=${hue(r.block ?? 0)}>${r.letter}</span>` : nothing}</td>`}
      <td class="number line">${r.line ?? ''}</td>
      <td title=${c?.title ?? nothing}>${c ? this.classes(c) : nothing}</td>
      ${c
        ? html`<td class="code">${code}</td>
            <td class="number">${c.execs || '–'}</td>
            ${ofFile ? html`<td class="number lanes">${c.execs ? html`${bars(c.sharePercent)}${c.share}` : nothing}</td>` : nothing}
            <td class="number lanes">${c.execs ? html`${ofFile ? nothing : bars(c.lanesPercent)}${c.lanes}` : '–'}</td>
            ${this.columns.map((_, i) => html`<td class="number">${c.more?.[i] ?? nothing}</td>`)} ${ofFile ? nothing : html`<td></td>`}`
        : html`<td class="code" colspan=${rest + 1}>${code}</td>`}
    </tr>`;
  }

  override render(): unknown {
    const l = this.listing;
    if (!l) return nothing;
    const ofFile = l.rows.some((r) => r.kind === 'line');
    const arcs = layOut((l.jumps ?? []).map(([from, to]) => ({ from, to, column: 0 })));
    const number = (name: string, doc?: string) => html`<th scope="col" class="number" title=${doc ?? nothing}>${name}</th>`;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Lines of ${l.title}">
      <table>
        <caption class="hidden">${l.title}</caption>
        <thead>
          <tr>
            ${ofFile ? nothing : html`${arcs.length ? html`<td class="arcs" style="min-width:${widthOf(arcs)}px"></td>` : nothing}<th scope="col" class="block"><span class="hidden">block</span></th>`}
            ${number('line')} ${l.plain ? nothing : html`<th scope="col">class</th>`}
            <th scope="col">${ofFile ? 'source' : 'instruction'}</th>
            ${l.plain ? nothing : html`${number('execs', 'number of executions by warps')} ${ofFile ? number('share', 'share of all executions') : nothing} ${number('lanes', 'mean number of executing lanes')}`}
            ${this.columns.map((x) => number(x.name, x.doc))}
            ${ofFile ? nothing : html`<td class="fill"></td>`}
          </tr>
        </thead>
        <tbody>${l.rows.map((r) => this.row(r, arcs.length > 0, ofFile))}</tbody>
      </table>
      ${arcs.length ? drawArcs(arcs, l.rows.length) : nothing}
    </div>`;
  }
}

customElements.define('gemu-listing', GemuListing);
