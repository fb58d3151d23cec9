// <gemu-memory>: the accesses of a step: arcs from lanes to sectors of global memory, and the banks of shared memory as a comb.

import { css, html, nothing, type PropertyDeclarations, svg } from 'lit';
import { members } from '../lanes.ts';
import type { Access, WarpModel } from '../model.ts';
import { capital, nounVerb } from '../sentences.ts';
import { GemuElement } from './base.ts';
import { plural, tokens } from './tokens.ts';

const sectorBytes = 32n;
const banks = 32;

/** maxSummed is the number of steps that the table of accesses covers. */
const maxSummed = 4096;

/** Sum is the accesses of an instruction over the steps of a warp. */
interface Sum {
  instruction: number;
  space: string;
  steps: number[];
  sectors: number;
  /** used and moved are bytes of sectors: those that lanes access, and all. */
  used: number;
  moved: number;
  passes: number;
}

/** usedBytes returns the bytes of sectors that the lanes of an access use. */
function usedBytes(a: Access): number {
  const distinct = new Set(members(a.lanes).map((l) => a.addresses[l])).size;
  return Math.min(distinct * a.bytes, a.sectors * Number(sectorBytes));
}

/** percent returns a share in percent, with a digit after the point if it needs one. */
const percent = (used: number, all: number): string => `${Number(((used / all) * 100).toFixed(1))} %`;

export class GemuMemory extends GemuElement {
  static override properties: PropertyDeclarations = { until: { attribute: false }, width: { state: true } };

  /** until is the first step that is not shown yet. */
  until = Infinity;
  /** width is the width of the pictures in pixels. */
  private width = 960;
  private sums?: { model: WarpModel; until: number; list: Sum[] };
  private readonly observer = new ResizeObserver(() => (this.width = Math.max(300, this.clientWidth - 32)));

  override connectedCallback(): void {
    super.connectedCallback();
    this.observer.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.observer.disconnect();
  }

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
      }
      table {
        font-size: 13.5px;
      }
      th,
      td {
        padding: 3px 22px 3px 0;
        white-space: nowrap;
      }
      .number {
        text-align: right;
      }
      tr.now td {
        background: var(--now);
      }
      td button {
        min-height: 26px;
        padding: 0 8px;
        font-size: 13px;
      }
      text {
        font: 11px var(--mono);
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
      @media (max-width: 560px) {
        th,
        td {
          padding-right: 10px;
        }
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
    const verb = { load: 'load', store: 'store', atomic: 'change', zero: 'clear' }[a.kind];
    const n = members(a.lanes).length;
    const what = `${capital(nounVerb(a.lanes, m.lanes, verb, verb + 's'))} ${plural(a.bytes, 'byte')}${n === 1 ? '' : ' each'} ${a.kind === 'load' ? 'from' : 'in'} ${a.space} memory${a.allocation?.name ? ` (${a.allocation.name})` : ''}.`;
    if (a.space === 'shared') {
      return `${what} ${a.passes <= 1 ? 'One pass through the banks: no conflict.' : `${a.passes} passes through the banks, because lanes need ${a.passes} different words of one bank.`}`;
    }
    if (a.sectors > 0) {
      return `${what} ${plural(a.sectors, 'sector')} of 32 bytes; ${percent(usedBytes(a), a.sectors * 32)} of the transferred bytes are used.`;
    }
    return `${what}${a.passes > 1 ? ` ${a.passes} passes.` : ''}`;
  }

  private sectors(a: Access): unknown {
    const m = this.model!;
    const { width } = this;
    const lanes = members(a.lanes);
    const touched = new Set<bigint>();
    for (const l of lanes) for (let s = a.addresses[l]! / sectorBytes; s * sectorBytes < a.addresses[l]! + BigInt(Math.max(a.bytes, 1)); s++) touched.add(s);
    const list = [...touched].sort((x, y) => (x < y ? -1 : 1));
    if (list.length > 128) return nothing;
    // A gap between sectors that are not neighbours.
    const gaps: number[] = list.map((s, i) => (i > 0 && s !== list[i - 1] + 1n ? 1 : 0));
    const total = gaps.reduce((x, y) => x + y, 0);
    const gap = Math.min(6, width / 4 / Math.max(1, total));
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
    const label = (i: number) => w >= 82 || i === 0;
    const apart = Math.ceil(17 / ((width - 28) / m.launch.warpSize)); // lanes from number to number
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Lanes and sectors"><svg width=${width} height="150" role="img" aria-label="Arcs from ${lanes.length} lanes to ${list.length} sectors">
      ${lanes.map((l) => {
        const [x0, x1] = [lane(l), byte(a.addresses[l]!) + (Math.min(a.bytes, 32) / 64) * (w - 2)];
        return svg`<path class="arc" d="M${x0} 26C${x0} 70 ${x1} 62 ${x1} 104"/><circle class="dot" cx=${x0} cy="22" r=${apart > 1 ? 3 : 4.5}/>${l % apart === 0 ? svg`<text x=${x0} y="11">${l}</text>` : nothing}`;
      })}
      ${list.map((s, i) => svg`<rect class="sector" x=${x[i]} y="106" width=${Math.max(w - 2, 1)} height="20" rx="2"/>${label(i) ? svg`<text x=${w >= 82 ? x[i] + w / 2 : Math.max(x[i] + 36, 40)} y="142">${'0x' + (s * sectorBytes).toString(16)}</text>` : nothing}`)}
      ${[...new Set(lanes.map((l) => a.addresses[l]!))].map((address) => svg`<rect class="used" x=${byte(address) + 0.5} y="110" width=${Math.max((Math.min(a.bytes, 32) / 32) * (w - 2) - 1, 0.8)} height="12"/>`)}
    </svg></div>`;
  }

  private comb(a: Access): unknown {
    const { width } = this;
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
    const w = (width - 4) / banks;
    const [inset, apart] = w < 17 ? [1, 4] : [2, 1]; // of narrow columns every fourth has its number
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Banks of shared memory"><svg width=${width} height=${deepest * h + 28} role="img" aria-label="Words that the lanes need in each of 32 banks; at most ${deepest} in one bank">
      ${words.map((b, i) => svg`${i % apart === 0 ? svg`<text x=${2 + (i + 0.5) * w} y="12">${i}</text>` : nothing}<rect class="bank" x=${2 + i * w + inset} y="18" width=${w - 2 * inset} height=${deepest * h + 2} rx="3"/>${[...b.values()].map((who, k) => svg`<rect class="word ${k > 0 ? 'more' : ''}" x=${2 + i * w + 2 * inset} y=${19 + k * h} width=${w - 4 * inset} height=${h - 2} rx="2"><title>bank ${i}: ${who.length === 1 ? 'lane' : 'lanes'} ${who.join(', ')}</title></rect>`)}`)}
    </svg></div><p class="soft">Each column is a bank, each block a word that lanes need. A second block in a column costs a second pass.</p>`;
  }

  /** sum adds up the accesses of the shown steps by instruction. */
  private sum(m: WarpModel): Sum[] {
    if (this.sums?.model === m && this.sums.until === this.until) return this.sums.list;
    const sums = new Map<string, Sum>();
    for (let s = 0; s < Math.min(m.steps, this.until, maxSummed); s++) {
      for (const a of m.accesses(s)) {
        if (a.space === 'param') continue;
        const { index: instruction } = m.instructionAt(s)!;
        const key = `${instruction} ${a.space}`;
        let x = sums.get(key);
        if (!x) sums.set(key, (x = { instruction, space: a.space, steps: [], sectors: 0, used: 0, moved: 0, passes: 0 }));
        if (x.steps.at(-1) !== s) x.steps.push(s);
        x.sectors += a.sectors;
        x.moved += a.sectors * Number(sectorBytes);
        x.used += usedBytes(a);
        x.passes += a.passes;
      }
    }
    const list = [...sums.values()].sort((a, b) => a.instruction - b.instruction);
    this.sums = { model: m, until: this.until, list };
    return list;
  }

  /** table shows the sums, of the instructions with accesses. */
  private table(m: WarpModel): unknown {
    const list = this.sum(m);
    if (list.length === 0) return nothing;
    const mean = (x: Sum, n: number) => (n ? Number((n / x.steps.length).toFixed(1)) : '–');
    const next = (x: Sum) => x.steps.find((s) => s > this.step) ?? x.steps[0];
    return html`<div class="card"><p>The accesses of this warp, by instruction${m.steps > maxSummed ? ` (steps 1 to ${maxSummed.toLocaleString('en')})` : ''}${list.some((x) => x.steps.length > 1) ? '; sectors and passes are means' : ''}:</p>
      <div class="scroll" tabindex="0" role="region" aria-label="Accesses by instruction"><table>
        <thead><tr><th scope="col">line</th><th scope="col">memory</th><th scope="col" class="number">sectors</th><th scope="col" class="number">bytes used</th><th scope="col" class="number">passes</th><th scope="col" class="number">times</th><th scope="col">instruction</th></tr></thead>
        <tbody>${list.map((x) => {
          const i = m.launch.instructions[x.instruction];
          return html`<tr class=${x.steps.includes(this.step) ? 'now' : ''}>
            <td><button aria-label="Go to line ${i.line}" @click=${() => this.go(next(x))}>${i.line}</button></td><td>${x.space}</td>
            <td class="number">${mean(x, x.sectors)}</td><td class="number">${x.moved ? percent(x.used, x.moved) : '–'}</td><td class="number">${x.space === 'shared' ? mean(x, x.passes) : '–'}</td>
            <td class="number">${x.steps.length}</td><td class="mono">${i.text}</td>
          </tr>`;
        })}</tbody>
      </table></div></div>`;
  }

  private jump(direction: 1 | -1): () => void {
    return () => {
      const m = this.model!;
      for (let s = this.step + direction; s >= 0 && s < m.steps; s += direction) {
        if (m.accesses(s).some((a) => a.space !== 'param')) return this.go(s);
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
      ${list.slice(0, 8).map((a) => html`<div class="card"><p>${this.sentence(a)}</p>${a.space === 'shared' ? this.comb(a) : a.sectors > 0 ? this.sectors(a) : nothing}</div>`)}
      ${this.table(m)}`;
  }
}

customElements.define('gemu-memory', GemuMemory);
