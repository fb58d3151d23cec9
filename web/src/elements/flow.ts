// <gemu-flow>: the control-flow graph of the function that executes, with the lanes in its blocks.

import { css, html, nothing, svg } from 'lit';
import { boxHeight, boxWidth, type FlowDrawing, layout } from '../flow.ts';
import { type Lanes, isEmpty, noLanes, or, size } from '../lanes.ts';
import type { BasicBlock } from '../model.ts';
import { runAndWait } from '../sentences.ts';
import { GemuElement } from './base.ts';
import { hue, tokens } from './tokens.ts';

/** mostBlocks is the largest graph that is drawn. */
const mostBlocks = 40;

export class GemuFlow extends GemuElement {
  static override properties = { hideNext: { attribute: false } };

  static override styles = [
    tokens,
    css`
      .scroll {
        overflow: auto;
        max-height: 560px;
        border: 1px solid var(--line);
        border-radius: 8px;
        background: var(--card);
        text-align: center;
      }
      svg {
        display: inline-block;
        max-width: 100%;
        height: auto;
        min-width: min(100%, 300px);
      }
      .box {
        fill: var(--card);
        stroke: var(--edge);
        stroke-width: 1.2;
      }
      .here .box {
        stroke: var(--hue);
        stroke-width: 2.5;
      }
      .runs .box {
        fill: var(--now);
      }
      .tag {
        fill: var(--hue);
      }
      .tag-text {
        fill: var(--on);
        font: 700 13px var(--mono);
        text-anchor: middle;
      }
      text {
        font: 11px var(--mono);
        fill: var(--soft);
      }
      text.lanes {
        fill: var(--ink);
        font-weight: 600;
      }
      .edge {
        fill: none;
        stroke: var(--edge);
        stroke-width: 1.3;
      }
      .edge.taken {
        stroke: var(--accent);
        stroke-width: 3;
      }
      p {
        margin: 0 0 8px;
        font-size: 13.5px;
        color: var(--soft);
      }
      @media (forced-colors: active) {
        .box {
          fill: Canvas;
          stroke: CanvasText;
        }
        .tag {
          fill: CanvasText;
        }
        .tag-text {
          fill: Canvas;
        }
        .edge {
          stroke: CanvasText;
        }
        .edge.taken {
          stroke: Highlight;
        }
        text {
          fill: CanvasText !important;
        }
      }
    `,
  ];

  hideNext = false;
  private drawings = new Map<string, FlowDrawing>();

  override render(): unknown {
    const m = this.model;
    if (!m) return nothing;
    const fn = (m.instructionAt(Math.min(this.step, m.steps - 1)) ?? m.launch.instructions[0])?.function;
    const blocks = m.launch.blocks.filter((b) => b.function === fn);
    if (blocks.length > mostBlocks) return html`<p>${fn} has ${blocks.length} basic blocks; a graph of more than ${mostBlocks} is not drawn. The arcs beside the program show its branches.</p>`;
    const key = `${m.launch.row} ${m.launch.policy} ${fn}`;
    let d = this.drawings.get(key);
    if (!d) this.drawings.set(key, (d = layout(blocks)));
    const state = m.state(this.step);
    const lanes = new Map<number, { runs: Lanes; waits: Lanes }>();
    for (const g of state.groups) {
      if (g.instruction < 0) continue;
      const b = m.launch.instructions[g.instruction].block;
      const x = lanes.get(b) ?? { runs: noLanes, waits: noLanes };
      if (g.reason === 'runs' || g.reason === 'masked') x.runs = or(x.runs, g.lanes);
      else x.waits = or(x.waits, g.lanes);
      lanes.set(b, x);
    }
    const outcome = this.hideNext || state.end ? [] : m.outcome(this.step).groups.map((g) => (g.instruction < 0 ? -1 : m.launch.instructions[g.instruction].block));
    const from = state.end ? -1 : m.launch.instructions[state.instruction].block;
    const summary = d.boxes
      .filter((x) => lanes.has(x.block))
      .map((x) => `block ${m.launch.blocks[x.block].letter}: ${runAndWait(lanes.get(x.block)!.runs, lanes.get(x.block)!.waits, m.lanes)}`)
      .join('; ');
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Control-flow graph">
      <svg viewBox="0 0 ${d.width} ${d.height}" width=${d.width} height=${d.height} role="img" aria-label="Control-flow graph of ${fn}. ${summary}">
        <defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5L8 4L0 7.5z" fill="context-stroke"/></marker></defs>
        ${d.edges.map((e) => svg`<path class="edge ${e.from === from && outcome.includes(e.to) ? 'taken' : ''}" d=${e.path} marker-end="url(#tip)"/>`)}
        ${d.boxes.map((x) => this.box(m.launch.blocks[x.block], x.x - boxWidth / 2, x.y, lanes.get(x.block)))}
      </svg>
    </div>`;
  }

  private box(b: BasicBlock, x: number, y: number, lanes: { runs: Lanes; waits: Lanes } | undefined): unknown {
    const m = this.model!;
    const [first, last] = [m.launch.instructions[b.first].line, m.launch.instructions[b.first + b.instructions - 1].line];
    const text = lanes ? [isEmpty(lanes.runs) ? '' : `${size(lanes.runs)} run`, isEmpty(lanes.waits) ? '' : `${size(lanes.waits)} wait`].filter(Boolean).join(', ') : '';
    return svg`<g class="${lanes ? 'here' : ''} ${lanes && !isEmpty(lanes.runs) ? 'runs' : ''}" style=${hue(b.index)}>
      <title>${b.letter}${b.labels.length ? `, ${b.labels.join(', ')}` : ''}: lines ${first} to ${last}${lanes ? `. ${runAndWait(lanes.runs, lanes.waits, m.lanes)}` : ''}</title>
      <rect class="box" x=${x} y=${y} width=${boxWidth} height=${boxHeight} rx="7"/>
      <rect class="tag" x=${x + 7} y=${y + 8} width="24" height="28" rx="5"/><text class="tag-text" x=${x + 19} y=${y + 27}>${b.letter}</text>
      <text x=${x + 40} y=${y + 19}>${b.labels[0] && b.labels[0] !== b.letter ? b.labels[0].slice(0, 13) : first === last ? `line ${first}` : `lines ${first}–${last}`}</text>
      <text class="lanes" x=${x + 40} y=${y + 34}>${text}</text>
    </g>`;
  }
}

customElements.define('gemu-flow', GemuFlow);
