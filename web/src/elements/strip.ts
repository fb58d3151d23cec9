// <gemu-strip>: every step of every lane over time.

import { css, html, nothing, type PropertyDeclarations } from 'lit';
import { has, isEmpty, without } from '../lanes.ts';
import { differs, firstDifference, type WarpModel } from '../model.ts';
import { countsText, endText, limitText, ofLane, runsOfBoth, sentence, text } from '../sentences.ts';
import { type Palette, runAt, runsOf, stripSVG, tableRow } from '../strip-data.ts';
import { GemuElement } from './base.ts';
import { clamp, hue, hues, tokens } from './tokens.ts';

/** View is the visible steps of a strip. */
export interface View {
  from: number;
  to: number;
}

const [labelWidth, bandHeight, lineHeight] = [30, 18, 15];
/** widestStep is the largest width of a step in pixels. */
const widestStep = 56;
/** tableRows is the number of rows of the table that are shown at once. */
const tableRows = 40;

export class GemuStrip extends GemuElement {
  static override properties: PropertyDeclarations = {
    label: {},
    laneHeight: { type: Number, attribute: 'lane-height' },
    view: { attribute: false },
    revealed: { attribute: false },
    other: { attribute: false },
    otherLabel: { attribute: false },
    lane: { attribute: false },
    lines: { attribute: false },
    width: { state: true },
    open: { state: true },
    tableFrom: { state: true },
    dragged: { state: true },
  };

  static override styles = [
    tokens,
    css`
      .head {
        display: flex;
        flex-wrap: wrap;
        align-items: baseline;
        gap: 2px 12px;
        margin-bottom: 3px;
      }
      h3 {
        margin: 0;
        font: 700 14px/1.4 var(--mono);
      }
      h3 button {
        font: inherit;
        min-height: 26px;
        padding: 1px 9px;
      }
      p {
        margin: 0;
        font-size: 13px;
        color: var(--soft);
      }
      p.differs b {
        color: var(--ink);
      }
      .bad {
        color: var(--bad);
        font-weight: 600;
      }
      .wrap {
        position: relative;
        overflow: hidden;
        border-radius: 6px;
        touch-action: pan-y;
        cursor: crosshair;
        user-select: none;
        -webkit-user-select: none;
      }
      .wrap:focus-visible {
        outline-offset: 1px;
      }
      canvas {
        display: block;
        width: 100%;
      }
      .head-line,
      .drag,
      .lit {
        position: absolute;
        pointer-events: none;
      }
      .head-line {
        top: 15px; /* below the letters */
        bottom: 0;
        border: 2px solid var(--accent);
        border-radius: 4px;
        background: color-mix(in srgb, var(--accent) 9%, transparent);
      }
      .lit {
        bottom: 0;
        height: 3px;
        background: var(--accent);
      }
      .drag {
        top: 0;
        bottom: 0;
        background: color-mix(in srgb, var(--accent) 18%, transparent);
        border: solid var(--accent);
        border-width: 0 1px;
      }
      .tools {
        display: flex;
        flex-wrap: wrap;
        gap: 4px;
        margin-left: auto;
        align-items: center;
      }
      .tools button {
        font-size: 12.5px;
        min-height: 26px;
        min-width: 26px;
        padding: 0 7px;
        border-color: transparent;
        background: none;
        color: var(--soft);
      }
      .tools button:hover {
        color: var(--ink);
      }
      .tools button[aria-expanded='true'] {
        color: var(--accent);
        text-decoration: underline;
      }
      .scroll {
        overflow-x: auto;
        margin: 6px 0;
        border: 1px solid var(--line);
        border-radius: 6px;
        background: var(--card);
      }
      td,
      th {
        padding: 2px 12px;
        border-bottom: 1px solid var(--line);
        font-size: 13px;
        white-space: nowrap;
        text-align: left;
      }
      tr.now td {
        background: var(--now);
      }
      .pages {
        display: flex;
        gap: 6px;
        align-items: center;
        font-size: 13px;
      }
      @media (forced-colors: active) {
        .head-line {
          border-color: Highlight;
        }
      }
    `,
  ];

  label = '';
  laneHeight = 0;
  view?: View;
  revealed = Infinity;
  other?: WarpModel;
  otherLabel = '';
  lane = -1;
  lines: Set<number> = new Set();
  width = 0;
  open = false;
  tableFrom = -1;
  dragged?: View;
  private drawn = '';
  private press?: { x: number; step: number; touch: boolean };
  private readonly observer = new ResizeObserver(() => (this.width = this.wrap?.clientWidth ?? 0));

  private get wrap(): HTMLElement | null {
    return this.renderRoot.querySelector('.wrap');
  }

  /** visible returns the visible steps, and the width of a step in pixels. */
  private visible(): View & { w: number } {
    const n = (this.model?.steps ?? 0) + 1;
    const v = this.view ?? { from: 0, to: n };
    const room = Math.max(this.width - labelWidth - 4, 40);
    return { ...v, w: Math.min(widestStep, room / Math.max(v.to - v.from, 1)) };
  }

  private get height(): number {
    const W = this.model?.launch.warpSize ?? 32;
    return this.laneHeight || (W <= 8 ? 14 : W <= 16 ? 9 : W <= 32 ? 5 : 3);
  }

  override firstUpdated(): void {
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', this.repaint);
    matchMedia('(forced-colors: active)').addEventListener('change', this.repaint);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.observer.disconnect();
    matchMedia('(prefers-color-scheme: dark)').removeEventListener('change', this.repaint);
    matchMedia('(forced-colors: active)').removeEventListener('change', this.repaint);
  }

  private readonly repaint = (): void => {
    this.drawn = '';
    this.requestUpdate();
  };

  override updated(): void {
    const wrap = this.wrap;
    if (wrap) {
      this.observer.observe(wrap);
      if (!this.width && wrap.clientWidth) this.width = wrap.clientWidth;
      this.paint();
    }
  }

  /** palette returns the colours as the browser computes them for this element. */
  palette(): Palette {
    const probe = document.createElement('i');
    this.renderRoot.append(probe);
    const color = (name: string) => {
      probe.style.color = name;
      return getComputedStyle(probe).color;
    };
    const forced = matchMedia('(forced-colors: active)').matches;
    const p: Palette = forced
      ? { blocks: [color('CanvasText')], on: color('Canvas'), idle: color('GrayText'), edge: color('GrayText'), ink: color('CanvasText'), soft: color('CanvasText'), card: color('Canvas') }
      : {
          blocks: Array.from({ length: hues }, (_, i) => color(`var(--b${i})`)),
          on: color('var(--on)'),
          idle: color('var(--idle)'),
          edge: color('var(--edge)'),
          ink: color('var(--ink)'),
          soft: color('var(--soft)'),
          card: color('var(--card)'),
        };
    probe.remove();
    return p;
  }

  private paint(): void {
    const canvas = this.renderRoot.querySelector('canvas');
    const m = this.model;
    if (!canvas || !m || !this.width) return;
    const { from, to, w } = this.visible();
    const key = [m.info.cta, m.info.warp, this.label, this.width, this.height, from, to, this.revealed, devicePixelRatio, this.lane, this.other?.launch.policy].join();
    if (this.drawn === key && this.drawnModel === m && this.drawnOther === this.other) return;
    [this.drawn, this.drawnModel, this.drawnOther] = [key, m, this.other];
    const p = this.palette();
    const W = m.launch.warpSize;
    const h = this.height;
    const ratio = devicePixelRatio || 1;
    const total = bandHeight + W * h + lineHeight;
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(total * ratio);
    canvas.style.height = `${total}px`;
    const x = canvas.getContext('2d')!;
    x.scale(ratio, ratio);
    x.clearRect(0, 0, this.width, total);
    const left = (s: number) => labelWidth + (s - from) * w;
    const until = Math.min(to, m.steps, this.revealed + 1);
    x.font = '10px ui-monospace, Menlo, Consolas, monospace';
    x.textBaseline = 'middle';
    x.fillStyle = p.soft;
    x.textAlign = 'right';
    for (let l = 0; l < W; l += h >= 10 ? 1 : 8) x.fillText(String(l), labelWidth - 6, bandHeight + l * h + Math.max(h / 2, 4));
    x.save();
    x.beginPath();
    x.rect(labelWidth, 0, this.width - labelWidth, total);
    x.clip();
    const runs = runsOf(m);
    const [first, last] = [runAt(runs, Math.floor(from)), runAt(runs, Math.ceil(until) - 1)];
    if (runs.length > 0 && last - first < 6000) this.paintRuns(x, p, first, last, until, left, w);
    else if (runs.length > 0) this.paintColumns(x, p, until, left, w, ratio);
    // Lanes that have ended: a dotted line, so that they differ from a future that is not drawn.
    x.strokeStyle = p.edge;
    x.globalAlpha = 0.55;
    x.setLineDash([1, 3]);
    x.lineWidth = 1;
    for (let l = 0; l < W; l++) {
      if (!has(m.lanes, l)) continue;
      const s = endStep(m, l);
      if (s >= until) continue;
      x.beginPath();
      const y = bandHeight + l * h + h / 2;
      x.moveTo(Math.max(left(s), labelWidth) + 2, y);
      x.lineTo(left(until), y);
      x.stroke();
    }
    x.setLineDash([]);
    x.globalAlpha = 1;
    if (m.steps > to && this.revealed >= m.steps) {
      // An arrow: the strip goes on.
      const [ax, ay] = [left(to), bandHeight / 2];
      x.fillStyle = p.ink;
      x.beginPath();
      x.moveTo(ax, ay);
      x.lineTo(ax - 9, ay - 6);
      x.lineTo(ax - 9, ay + 6);
      x.fill();
    }
    if (until === m.steps && to > m.steps) this.paintEnd(x, p, left(m.steps), Math.max(w, 6), W * h);
    x.textAlign = 'center';
    x.fillStyle = p.soft;
    const wide = m.launch.instructions.some((i) => i.line >= 1000) ? 30 : m.launch.instructions.some((i) => i.line >= 100) ? 22 : 16;
    if (w >= wide) for (let s = Math.max(0, Math.floor(from)); s < until; s++) x.fillText(String(m.line(s)), left(s + 0.5), total - lineHeight / 2 + 1);
    if (this.other) {
      x.fillStyle = p.ink;
      for (let s = Math.max(0, Math.floor(from)); s < Math.min(until, this.revealed + 1); s++) if (differs(this.other, m, s)) x.fillRect(left(s), bandHeight + W * h + 1, Math.max(w - 0.5, 0.5), 2);
    }
    if (this.lane >= 0 && this.lane < W) {
      x.strokeStyle = p.ink;
      x.lineWidth = 1.5;
      x.strokeRect(labelWidth + 0.75, bandHeight + this.lane * h - 0.75, left(until) - labelWidth - 1.5, h + 1);
    }
    x.restore();
  }

  private drawnModel?: WarpModel;
  private drawnOther?: WarpModel;

  private paintRuns(x: CanvasRenderingContext2D, p: Palette, first: number, last: number, until: number, left: (s: number) => number, w: number): void {
    const m = this.model!;
    const [W, h] = [m.launch.warpSize, this.height];
    const gap = w >= 5 ? 1 : 0;
    const laneGap = h >= 4 ? 0.8 : 0;
    const runs = runsOf(m);
    for (let i = first; i <= last; i++) {
      const r = runs[i];
      const to = Math.min(r.to, until);
      const [x0, x1] = [left(r.from), left(to)];
      const idle = without(without(m.lanes, m.ended(r.from)), r.active);
      const color = p.blocks[Math.max(r.block, 0) % p.blocks.length];
      for (const [lanes, fill] of [
        [idle, p.idle],
        [r.active, color],
      ] as const) {
        if (isEmpty(lanes)) continue;
        x.fillStyle = fill;
        for (let l = 0; l < W; l++) if (has(lanes, l)) x.fillRect(x0, bandHeight + l * h, Math.max(x1 - x0 - gap, 0.6), h - laneGap);
      }
      // Active lanes whose guard does not hold, paler.
      if (w >= 3) {
        x.fillStyle = p.card;
        x.globalAlpha = 0.6;
        for (let s = r.from; s < to; s++) {
          const off = m.branches(s) ? undefined : without(m.active(s), m.executing(s));
          if (!off || isEmpty(off)) continue;
          for (let l = 0; l < W; l++) if (has(off, l)) x.fillRect(left(s), bandHeight + l * h, w - gap, h - laneGap);
        }
        x.globalAlpha = 1;
      }
      if (gap && w >= 10) {
        x.fillStyle = p.card;
        for (let s = r.from + 1; s < to; s++) x.fillRect(left(s) - gap, bandHeight, gap, W * h);
      }
      const letter = m.launch.blocks[r.block]?.letter;
      const visibleFrom = Math.max(x0, labelWidth);
      if (letter && x1 - visibleFrom >= 9) {
        x.fillStyle = color;
        x.fillRect(visibleFrom, 1, Math.max(x1 - visibleFrom - gap, 1), bandHeight - 4);
        x.fillStyle = p.on;
        x.textAlign = 'center';
        x.font = 'bold 11px ui-monospace, Menlo, Consolas, monospace';
        x.fillText(letter, (visibleFrom + Math.min(x1, this.width)) / 2, bandHeight / 2 - 0.5);
        x.font = '10px ui-monospace, Menlo, Consolas, monospace';
      }
    }
  }

  /** paintColumns paints many short runs: for each column of pixels and lane, the latest step in which the lane runs. */
  private paintColumns(x: CanvasRenderingContext2D, p: Palette, until: number, left: (s: number) => number, w: number, ratio: number): void {
    const m = this.model!;
    const [W, h] = [m.launch.warpSize, this.height];
    const { from } = this.visible();
    const width = Math.ceil(left(until) - labelWidth);
    if (width <= 0) return;
    const image = new ImageData(width, W);
    const pixels = new Uint32Array(image.data.buffer);
    const colors = [...p.blocks, p.idle].map((c) => {
      const [r, g, b] = c.match(/[\d.]+/g)!.map(Number);
      return (255 << 24) | (b << 16) | (g << 8) | r;
    });
    for (let px = 0; px < width; px++) {
      const a = Math.max(0, Math.floor(from + px / w));
      const b = Math.min(until, Math.max(a + 1, Math.floor(from + (px + 1) / w)));
      for (let l = 0; l < W; l++) {
        if (!has(m.lanes, l)) continue;
        let color = 0;
        for (let s = b - 1; s >= a && !color; s--) if (((l < 32 ? m.activeLo[s] >>> l : m.activeHi[s] >>> (l - 32)) & 1) === 1) color = colors[Math.max(m.instructionAt(s)!.block, 0) % p.blocks.length];
        if (!color && !has(m.ended(a), l)) color = colors[colors.length - 1];
        pixels[l * width + px] = color;
      }
    }
    const buffer = document.createElement('canvas');
    [buffer.width, buffer.height] = [width, W];
    buffer.getContext('2d')!.putImageData(image, 0, 0);
    x.imageSmoothingEnabled = ratio < 1;
    x.drawImage(buffer, labelWidth, bandHeight, width, W * h);
  }

  /** paintEnd paints how the warp ends: a wall for lanes that can never continue. */
  private paintEnd(x: CanvasRenderingContext2D, p: Palette, at: number, w: number, height: number): void {
    const m = this.model!;
    const left = without(m.lanes, m.ended(m.steps));
    if (isEmpty(left)) return;
    const stopped = m.launch.outcome === 'stopped' || m.launch.outcome === 'done';
    x.strokeStyle = p.ink;
    x.lineWidth = 2;
    x.setLineDash(stopped ? [3, 4] : []);
    x.beginPath();
    x.moveTo(at + 1, bandHeight - 2);
    x.lineTo(at + 1, bandHeight + height + 2);
    x.stroke();
    x.setLineDash([]);
    if (stopped) return;
    x.save();
    x.beginPath();
    x.rect(at + 1, bandHeight - 2, Math.max(w, 10), height + 4);
    x.clip();
    x.lineWidth = 1;
    x.beginPath();
    for (let y = -20; y < height + 20; y += 6) {
      x.moveTo(at, bandHeight + y + 14);
      x.lineTo(at + 40, bandHeight + y - 26);
    }
    x.stroke();
    x.restore();
  }

  private pointed(e: PointerEvent): { step: number; lane: number; x: number } {
    const r = this.wrap!.getBoundingClientRect();
    const { from, w } = this.visible();
    const x = e.clientX - r.left;
    return { x, step: Math.floor(from + (x - labelWidth) / w), lane: Math.floor((e.clientY - r.top - bandHeight) / this.height) };
  }

  private readonly down = (e: PointerEvent): void => {
    if (e.button !== 0) return;
    const { x, step } = this.pointed(e);
    this.press = { x, step, touch: e.pointerType !== 'mouse' };
    this.wrap!.setPointerCapture(e.pointerId);
    if (this.press.touch) this.to(step);
  };

  private readonly move = (e: PointerEvent): void => {
    const { x, step, lane } = this.pointed(e);
    const m = this.model!;
    if (this.press?.touch) this.to(step);
    else if (this.press && Math.abs(x - this.press.x) > 6) this.dragged = { from: Math.min(this.press.step, step), to: Math.max(this.press.step, step) + 1 };
    const inside = step >= 0 && step < m.steps && step <= this.revealed && lane >= 0 && lane < m.launch.warpSize;
    this.send('gemu-hover', { text: inside ? `${this.label ? this.label + ': ' : ''}${ofLane(m, step, lane)}` : '' });
  };

  private readonly up = (e: PointerEvent): void => {
    const { step } = this.pointed(e);
    const { press, dragged } = this;
    this.press = this.dragged = undefined;
    if (!press) return;
    if (dragged) this.zoom({ from: clamp(dragged.from, 0, this.model!.steps), to: clamp(dragged.to, 1, this.model!.steps + 1) });
    else this.to(step);
  };

  private to(step: number): void {
    this.go(clamp(step, 0, Math.min(this.model!.steps, this.revealed)));
  }

  private zoom(view: View | undefined): void {
    const e = new CustomEvent('gemu-zoom', { detail: { view }, bubbles: true, composed: true, cancelable: true });
    if (this.dispatchEvent(e)) this.view = view;
  }

  private scale(factor: number): void {
    const { from, to } = this.visible();
    const n = (to - from) * factor;
    const whole = this.model!.steps + 1;
    if (n >= whole) return this.zoom(undefined);
    const start = clamp(this.step + 0.5 - n / 2, 0, whole - n);
    this.zoom({ from: Math.round(start), to: Math.round(start) + Math.max(4, Math.round(n)) });
  }

  private readonly key = (e: KeyboardEvent): void => {
    const steps = this.model!.steps;
    const by: Record<string, () => void> = {
      ArrowRight: () => this.to(this.step + 1),
      ArrowLeft: () => this.to(this.step - 1),
      ArrowUp: () => this.to(this.step - 1),
      ArrowDown: () => this.to(this.step + 1),
      PageUp: () => this.to(this.step - 10),
      PageDown: () => this.to(this.step + 10),
      Home: () => this.to(0),
      End: () => this.to(steps),
      '+': () => this.scale(0.5),
      '=': () => this.scale(0.5),
      '-': () => this.scale(2),
      '0': () => this.zoom(undefined),
    };
    if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey && e.key.startsWith('Arrow') || !by[e.key]) return;
    by[e.key]();
    e.preventDefault();
    e.stopPropagation();
  };

  /** svg returns the visible steps as a drawing. */
  svg(): string {
    const { from, to } = this.visible();
    return stripSVG(this.model!, this.label || this.model!.launch.policy, Math.floor(from), Math.min(Math.ceil(to), this.model!.steps, this.revealed + 1), this.palette());
  }

  private get fileName(): string {
    return `${this.model!.launch.kernel}-${(this.label || this.model!.launch.policy).replace(/\W+/g, '-')}`;
  }

  private saveSVG(): void {
    save(new Blob([this.svg()], { type: 'image/svg+xml' }), this.fileName + '.svg');
  }

  private async savePNG(): Promise<void> {
    const image = new Image();
    image.src = 'data:image/svg+xml,' + encodeURIComponent(this.svg());
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width * 2, image.height * 2];
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((b) => b && save(b, this.fileName + '.png'));
  }

  private difference(): unknown {
    const m = this.model!;
    if (!this.other) return nothing;
    const at = firstDifference(this.other, m);
    if (at < 0) return html`<p class="differs">The same lanes in the same order as under <b>${this.otherLabel}</b>.</p>`;
    if (at > this.revealed) return nothing;
    const [here, there] = runsOfBoth(m, this.other, at);
    return html`<p class="differs">As under <b>${this.otherLabel}</b> up to step ${at}; then here <b>${here}</b>, there ${there}. The marks below show the steps that differ.</p>`;
  }

  private table(): unknown {
    const m = this.model!;
    const runs = runsOf(m);
    const shown = runs.length ? Math.min(runs.length, runAt(runs, Math.min(this.revealed, m.steps - 1)) + 1) : 0;
    const now = runs.length ? runAt(runs, Math.min(this.step, m.steps - 1)) : 0;
    const from = clamp(this.tableFrom >= 0 ? this.tableFrom : now - tableRows / 2, 0, Math.max(0, shown - tableRows));
    const to = Math.min(shown, from + tableRows);
    const page = (at: number) => () => (this.tableFrom = clamp(at, 0, Math.max(0, shown - tableRows)));
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Table of ${this.label}">
        <table>
          <caption class="hidden">Every step of every lane, ${this.label}</caption>
          <thead><tr><th scope="col">steps</th><th scope="col">block</th><th scope="col">lines</th><th scope="col">lanes that run</th><th scope="col">the others</th></tr></thead>
          <tbody>
            ${runs.slice(from, to).map((r, i) => {
              const t = tableRow(m, r);
              return html`<tr class=${from + i === now && this.step < m.steps ? 'now' : ''}><td>${t.steps}</td><td>${t.letter ? html`<span class="letter" style=${hue(r.block)}>${t.letter}</span>` : ''}</td><td>${t.lines}</td><td>${t.active}</td><td>${t.others || '–'}</td></tr>`;
            })}
          </tbody>
        </table>
      </div>
      ${shown > tableRows
        ? html`<div class="pages"><button ?disabled=${from === 0} @click=${page(from - tableRows)}>Earlier</button><button ?disabled=${to >= shown} @click=${page(from + tableRows)}>Later</button><span>rows ${from + 1}–${to} of ${shown}</span></div>`
        : nothing}
      ${this.revealed >= m.steps ? html`<p>${endText(m)}</p>` : nothing}`;
  }

  override render(): unknown {
    const m = this.model;
    if (this.failure) return html`<p class="bad">${this.failure}</p>`;
    if (!m) return nothing;
    const { from, to, w } = this.visible();
    const hides = this.revealed < m.steps;
    const step = clamp(this.step, 0, m.steps);
    const x = labelWidth + (step - from) * w;
    const shown = step >= from && step <= to;
    const outcome = hides ? 'done' : m.launch.outcome;
    const zoomed = from > 0 || to < m.steps;
    const name = this.label || m.launch.policy;
    return html`<div class="head">
        <h3><slot name="title">${name}</slot></h3>
        ${outcome === 'deadlock' || outcome === 'trap' ? html`<span class="bad">${outcome === 'deadlock' ? '✕ deadlock' : '✕ stopped by an error'}</span>` : nothing}
        ${outcome === 'stopped' ? html`<span class="soft">${limitText(m.launch)}</span>` : nothing}
        ${(outcome === 'deadlock' || outcome === 'trap') && to < m.steps ? html`<span class="soft">… and so on up to step ${m.steps.toLocaleString('en')}</span>` : nothing}
        <p>${hides ? 'Predict which lanes run next: the future is not drawn yet.' : countsText(m)}</p>
        <div class="tools">
          ${zoomed
            ? html`<button @click=${() => this.scale(2)} aria-label="Zoom out, ${name}" title="Zoom out (−)">−</button><button @click=${() => this.scale(0.5)} aria-label="Zoom in, ${name}" title="Zoom in (+)">+</button><button @click=${() => this.zoom({ from: 0, to: m.steps + 1 })} title="Show all steps (0)">all steps</button>`
            : nothing}
          <button aria-expanded=${this.open} @click=${() => ((this.open = !this.open), (this.tableFrom = -1))}>table</button>
          <button @click=${this.saveSVG} aria-label="Save ${name} as SVG">SVG</button>
          <button @click=${this.savePNG} aria-label="Save ${name} as PNG">PNG</button>
          <slot name="tools"></slot>
        </div>
      </div>
      <div
        class="wrap"
        tabindex="0"
        role="slider"
        aria-label="Lanes over time, ${name}"
        aria-orientation="horizontal"
        aria-valuemin="1"
        aria-valuemax=${m.steps + 1}
        aria-valuenow=${step + 1}
        aria-valuetext=${text(sentence(m, step, hides && step >= this.revealed))}
        @pointerdown=${this.down}
        @pointermove=${this.move}
        @pointerup=${this.up}
        @pointercancel=${() => (this.press = this.dragged = undefined)}
        @pointerleave=${() => this.send('gemu-hover', { text: '' })}
        @keydown=${this.key}
      >
        <canvas></canvas>
        ${[...this.marked(from, to)].map((s) => html`<div class="lit" style="left:${labelWidth + (s.from - from) * w}px;width:${Math.max(1, (s.to - s.from) * w)}px"></div>`)}
        ${shown ? html`<div class="head-line" style="left:${x - 1}px;width:${Math.max(w + 1, 5)}px"></div>` : nothing}
        ${this.dragged ? html`<div class="drag" style="left:${labelWidth + (this.dragged.from - from) * w}px;width:${(this.dragged.to - this.dragged.from) * w}px"></div>` : nothing}
      </div>
      ${this.difference()} ${this.open ? this.table() : nothing}`;
  }

  /** marked returns the visible steps at the marked lines, as ranges; not more than are worth drawing. */
  private *marked(from: number, to: number): Iterable<View> {
    const m = this.model!;
    if (this.lines.size === 0) return;
    let run: View | undefined;
    let n = 0;
    for (let s = Math.max(0, Math.floor(from)); s < Math.min(to, m.steps, this.revealed + 1) && n < 300; s++) {
      if (!this.lines.has(m.line(s))) continue;
      if (run && run.to === s) run.to = s + 1;
      else {
        if (run) yield run;
        run = { from: s, to: s + 1 };
        n++;
      }
    }
    if (run) yield run;
  }
}

/** endStep returns the step before which a lane ends; Infinity if it does not end. */
function endStep(m: WarpModel, lane: number): number {
  if (!has(m.ended(m.steps), lane)) return Infinity;
  let [lo, hi] = [0, m.steps];
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (has(m.ended(mid), lane)) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}

/** save offers a file for download. */
export function save(b: Blob, name: string): void {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(b);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}

customElements.define('gemu-strip', GemuStrip);
