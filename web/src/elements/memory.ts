// <gemu-memory>: the accesses of a step: arcs from lanes to sectors of global memory, and the banks of shared memory as a comb.

import { css, html, nothing, svg } from 'lit';
import { inWords, members } from '../lanes.ts';
import type { Access } from '../model.ts';
import { GemuElement } from './base.ts';
import { plural, tokens } from './tokens.ts';

const sectorBytes = 32n;
const width = 960;
const banks = 32;

export class GemuMemory extends GemuElement {
  static override styles = [
    tokens,
    css`
      .card {
        border: 1px solid var(--line);
        border-radius: 8px;
        background: var(--card);
        padding: 10px 14px;
      }
      .card + .card {
        margin-top: 10px;
      }
      p {
        margin: 0 0 8px;
        font-size: 14px;
      }
      .scroll {
        overflow-x: auto;
      }
      svg {
        display: block;
        width: 100%;
        min-width: 560px;
        height: auto;
      }
      text {
        font: 10px var(--mono);
        fill: var(--soft);
        text-anchor: middle;
      }
      text.value {
        fill: var(--ink);
      }
      .arc {
        fill: none;
        stroke: var(--accent);
        stroke-width: 1.2;
        opacity: 0.8;
      }
      .dot {
        fill: var(--accent);
      }
      .sector {
        fill: var(--idle);
        stroke: var(--edge);
        stroke-width: 0.8;
      }
      .used {
        fill: var(--accent);
      }
      .bank {
        fill: none;
        stroke: var(--line);
      }
      .word {
        fill: var(--accent);
      }
      .word.more {
        fill: var(--bad);
      }
      .where {
        display: flex;
        gap: 8px;
        align-items: center;
        flex-wrap: wrap;
      }
      @media (forced-colors: active) {
        .arc {
          stroke: CanvasText;
        }
        .dot,
        .used,
        .word {
          fill: CanvasText;
        }
        .sector,
        .bank {
          fill: Canvas;
          stroke: CanvasText;
        }
      }
    `,
  ];

  private sentence(a: Access): string {
    const m = this.model!;
    const who = inWords(a.lanes, m.lanes);
    const verb = { load: 'load', store: 'store', atomic: 'change', zero: 'clear' }[a.kind];
    const n = members(a.lanes).length;
    const what = `${who[0].toUpperCase() + who.slice(1)} ${n === 1 ? verb + 's' : verb} ${plural(a.bytes, 'byte')}${n === 1 ? '' : ' each'} ${a.kind === 'load' ? 'from' : 'in'} ${a.space} memory${a.allocation?.name ? ` (${a.allocation.name})` : ''}.`;
    const distinct = new Set(members(a.lanes).map((l) => a.addresses[l])).size;
    if (a.space === 'shared') {
      return `${what} ${a.passes <= 1 ? 'One pass through the banks: no conflict.' : `${a.passes} passes through the banks, because lanes need ${a.passes} different words of one bank.`}`;
    }
    if (a.sectors > 0) {
      const used = (distinct * a.bytes) / (a.sectors * 32);
      return `${what} ${plural(a.sectors, 'sector')} of 32 bytes; ${Math.min(100, used * 100).toFixed(0)} % of the transferred bytes are used.`;
    }
    return `${what}${a.passes > 1 ? ` ${a.passes} passes.` : ''}`;
  }

  private sectors(a: Access): unknown {
    const m = this.model!;
    const lanes = members(a.lanes);
    const touched = new Set<bigint>();
    for (const l of lanes) for (let s = a.addresses[l]! / sectorBytes; s * sectorBytes < a.addresses[l]! + BigInt(Math.max(a.bytes, 1)); s++) touched.add(s);
    const list = [...touched].sort((x, y) => (x < y ? -1 : 1));
    if (list.length > 128) return nothing;
    // A gap between sectors that are not neighbours.
    const gaps: number[] = list.map((s, i) => (i > 0 && s !== list[i - 1] + 1n ? 1 : 0));
    const gap = 6;
    const total = gaps.reduce((x, y) => x + y, 0);
    const w = Math.min(112, (width - 20 - total * gap) / list.length);
    const used = w * list.length + total * gap;
    let at = (width - used) / 2;
    const x = list.map((_, i) => (at += gaps[i] * gap + (i > 0 ? w : 0)));
    const index = new Map(list.map((s, i) => [s, i]));
    const lane = (l: number) => 14 + ((l + 0.5) * (width - 28)) / m.launch.warpSize;
    const byte = (address: bigint) => {
      const i = index.get(address / sectorBytes)!;
      return x[i] + (Number(address % sectorBytes) / 32) * (w - 2);
    };
    const label = (i: number) => w >= 62 || (i === 0 && w >= 8) || (gaps[i] && w >= 20);
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Lanes and sectors"><svg viewBox="0 0 ${width} 150" role="img" aria-label="Arcs from ${lanes.length} lanes to ${list.length} sectors">
      ${lanes.map((l) => {
        const [x0, x1] = [lane(l), byte(a.addresses[l]!) + (Math.min(a.bytes, 32) / 64) * (w - 2)];
        return svg`<path class="arc" d="M${x0} 26C${x0} 70 ${x1} 62 ${x1} 104"/><circle class="dot" cx=${x0} cy="22" r="4.5"/><text x=${x0} y="11">${l}</text>`;
      })}
      ${list.map((s, i) => svg`<rect class="sector" x=${x[i]} y="106" width=${Math.max(w - 2, 1)} height="20" rx="2"/>${label(i) ? svg`<text x=${w >= 62 ? x[i] + w / 2 : Math.max(x[i] + 30, 34)} y="142">${'0x' + (s * sectorBytes).toString(16)}</text>` : nothing}`)}
      ${[...new Set(lanes.map((l) => a.addresses[l]!))].map((address) => svg`<rect class="used" x=${byte(address) + 0.5} y="110" width=${Math.max((Math.min(a.bytes, 32) / 32) * (w - 2) - 1, 0.8)} height="12"/>`)}
    </svg></div>`;
  }

  private comb(a: Access): unknown {
    const lanes = members(a.lanes);
    const words: Map<bigint, number[]>[] = Array.from({ length: banks }, () => new Map());
    for (const l of lanes) {
      const first = a.addresses[l]! / 4n;
      for (let k = 0n; k < BigInt(Math.max(1, Math.ceil(a.bytes / 4))); k++) {
        const bank = words[Number((first + k) % BigInt(banks))];
        bank.set(first + k, [...(bank.get(first + k) ?? []), l]);
      }
    }
    const deepest = Math.max(1, ...words.map((b) => b.size));
    const h = deepest > 16 ? 6 : 14;
    const w = (width - 20) / banks;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Banks of shared memory"><svg viewBox="0 0 ${width} ${deepest * h + 40}" role="img" aria-label="Words that the lanes need in each of 32 banks; at most ${deepest} in one bank">
      ${words.map((b, i) => svg`<text x=${10 + (i + 0.5) * w} y="12">${i}</text><rect class="bank" x=${10 + i * w + 2} y="18" width=${w - 4} height=${deepest * h + 2} rx="3"/>${[...b.values()].map((who, k) => svg`<rect class="word ${k > 0 ? 'more' : ''}" x=${10 + i * w + 4} y=${19 + k * h} width=${w - 8} height=${h - 2} rx="2"><title>bank ${i}: ${who.length === 1 ? 'lane' : 'lanes'} ${who.join(', ')}</title></rect>`)}`)}
    </svg></div><p class="soft">Each column is a bank, each block a word that lanes need. A second block in a column costs a second pass.</p>`;
  }

  private jump(direction: 1 | -1): () => void {
    return () => {
      const m = this.model!;
      for (let s = this.step + direction; s >= 0 && s < m.steps; s += direction) {
        if (m.instructionAt(s)!.class === 'memory' && m.accesses(s).some((a) => a.space !== 'param')) return this.go(s);
      }
      this.send('gemu-hover', { text: `No ${direction > 0 ? 'later' : 'earlier'} step accesses memory.` });
    };
  }

  override render(): unknown {
    const m = this.model;
    if (!m) return nothing;
    if (!m.launch.has.accesses) return html`<p>The recording has no accesses. Record with --with accesses.</p>`;
    const list = m.accesses(this.step);
    return html`<p class="where"><button @click=${this.jump(-1)}>← access before</button><button @click=${this.jump(1)}>next access →</button>${list.length === 0 ? html`<span class="soft">This step does not access memory.</span>` : nothing}</p>
      ${list.slice(0, 8).map((a) => html`<div class="card"><p>${this.sentence(a)}</p>${a.space === 'shared' ? this.comb(a) : a.sectors > 0 ? this.sectors(a) : nothing}</div>`)}`;
  }
}

customElements.define('gemu-memory', GemuMemory);
