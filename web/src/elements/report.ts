// <gemu-report>: the page of gemu structure, gemu profile and gemu machine. Counts of a whole run.

import { css, html, LitElement, nothing } from 'lit';
import type { Report, ReportListing } from '../report-data.ts';
import { tokens } from './tokens.ts';
import './blocks.ts';
import './charts.ts';
import './report-listing.ts';

export class GemuReport extends LitElement {
  static override styles = [
    tokens,
    css`
      main {
        max-width: 1240px;
        margin: 0 auto;
        padding: 24px 20px 60px;
      }
      h1,
      h3,
      p {
        overflow-wrap: anywhere;
      }
      h1 {
        margin: 0 0 4px;
        font-size: 24px;
      }
      h2 {
        margin: 26px 0 10px;
        font-size: 17px;
      }
      h3 {
        margin: 22px 0 8px;
        font: 600 14px var(--mono);
      }
      header p {
        margin: 2px 0;
      }
      section > p {
        margin: 0 0 10px;
      }
      gemu-block {
        margin-bottom: 16px;
      }
      .key {
        display: flex;
        flex-wrap: wrap;
        gap: 6px 18px;
        margin: 14px 0 0;
        padding: 0;
        list-style: none;
        font-size: 13.5px;
      }
      .two {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr));
        gap: 0 16px;
      }
      .two section {
        display: flex;
        flex-direction: column;
      }
      .two section > :last-child {
        flex: 1;
      }
      .tiles {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(168px, 1fr));
        gap: 10px;
        margin: 0;
      }
      .tiles div {
        padding: 10px 12px;
        border: 1px solid var(--line);
        border-radius: 8px;
        background: var(--card);
      }
      .tiles dt {
        font-weight: 600;
        font-size: 13.5px;
      }
      .tiles dd {
        margin: 0;
      }
      .tiles .value {
        font: 600 20px/1.4 var(--mono);
      }
      .tiles .doc {
        font-size: 12.5px;
        line-height: 1.35;
        color: var(--soft);
      }
      @media (max-width: 600px) {
        main {
          padding: 16px 10px 40px;
        }
      }
    `,
  ];

  private readonly report?: Report;
  private readonly failure: string = '';

  constructor() {
    super();
    try {
      this.report = JSON.parse(document.getElementById('gemu-report')?.textContent ?? '') as Report;
    } catch (e) {
      this.failure = `The report in this page cannot be read: ${(e as Error).message}`;
    }
  }

  override updated(): void {
    this.setAttribute('ready', '');
  }

  override render(): unknown {
    const r = this.report;
    if (!r) return html`<main><p role="alert">${this.failure}</p></main>`;
    const listing = (l: ReportListing) => html`<h3>${l.title}</h3><gemu-listing .listing=${l} .columns=${r.columns}></gemu-listing>`;
    return html`<main>
      <header>
        <h1>${r.title}</h1>
        ${r.launches.map((l) => html`<p>kernel ${l}</p>`)}
        <p class="soft">${r.about}</p>
      </header>
      ${[...r.sources, ...r.listings].every((l) => l.plain) ? nothing : html`<ul class="key" aria-label="Key">
        <li><span class="chip u">u</span> uniform: one value</li>
        <li><span class="chip a">a</span> affine: base + lane × stride</li>
        <li><span class="chip g">g</span> generic: anything</li>
        <li><span class="chip d">d</span> diverges: the lanes take different paths</li>
        <li><span class="chip few">a?</span> only one or two lanes, whose values are always uniform or affine</li>
        <li>a→g: address and loaded value; a←g: address and stored value</li>
        <li><span class="letter" style="--hue: var(--b0)">A</span> the first line of a basic block</li>
      </ul>`}
      ${r.sections.map((s) => html`<section aria-label=${s.title}><h2>${s.title}</h2>${s.notes.map((n) => html`<p class="soft">${n}</p>`)}<div class=${s.blocks.every((b) => b.plot) ? 'two' : ''}>${s.blocks.map((b) => html`<gemu-block .block=${b}></gemu-block>`)}</div></section>`)}
      ${r.sources.length ? html`<section aria-label="Source"><h2>Source</h2>${r.sources.map(listing)}</section>` : nothing}
      ${r.listings.length ? html`<section aria-label="Listing"><h2>Listing</h2>${r.listings.map(listing)}</section>` : nothing}
      ${r.lanes.some((n) => n.count)
        ? html`<div class="two">
              <section aria-label="Structure"><h2>Structure</h2><gemu-shares .shares=${r.shares}></gemu-shares></section>
              <section aria-label="Active lanes"><h2>Active lanes</h2><gemu-histogram .lanes=${r.lanes}></gemu-histogram></section>
            </div>
            <section aria-label="Summary">
              <h2>Summary</h2>
              <dl class="tiles">${r.summary.map((s) => html`<div><dt>${s.name}</dt><dd class="value">${s.value}</dd><dd class="doc">${s.doc}</dd></div>`)}</dl>
            </section>`
        : nothing}
    </main>`;
  }
}

customElements.define('gemu-report', GemuReport);
