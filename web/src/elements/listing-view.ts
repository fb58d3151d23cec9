// The parts of program listings that all elements share: rows of one height, branches as arcs beside them, and coloured PTX.

import { css, html, nothing, svg } from 'lit';
import { tokensOf } from '../listing.ts';

/** rowHeight is the height of a row in pixels. */
export const rowHeight = 22;

/** maxColumns is the number of columns of arcs: further arcs are not drawn. */
const maxColumns = 8;

/** Arc is a branch from a row to a row, drawn in a column: column 0 is the nearest to the text. */
export interface Arc {
  from: number;
  to: number;
  column: number;
}

/** layOut gives arcs their columns: short arcs are near the text, and arcs of a column do not overlap. It returns the arcs to draw. */
export function layOut<A extends Arc>(arcs: A[]): A[] {
  const used: A[] = [];
  for (const a of [...arcs].sort((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from))) {
    const [lo, hi] = [Math.min(a.from, a.to), Math.max(a.from, a.to)];
    while (used.some((x) => x.column === a.column && Math.min(x.from, x.to) <= hi && Math.max(x.from, x.to) >= lo)) a.column++;
    used.push(a);
  }
  return used.filter((a) => a.column < maxColumns);
}

/** widthOf returns the width of arcs in pixels. */
export function widthOf(arcs: Arc[]): number {
  const columns = arcs.reduce((n, a) => Math.max(n, a.column + 1), 0);
  return columns ? columns * 8 + 14 : 6;
}

/** drawArcs draws arcs beside a number of rows. taken tells the arcs of the branch that is just taken. */
export function drawArcs<A extends Arc>(arcs: A[], rows: number, taken: (a: A) => boolean = () => false): unknown {
  const width = widthOf(arcs);
  return html`<svg class="flow" width=${width} height=${rows * rowHeight} aria-hidden="true">
    ${arcs.map((a) => {
      const on = taken(a) ? 'taken' : '';
      const x = width - 8;
      const [y0, y1, out] = [(a.from + 0.5) * rowHeight, (a.to + 0.5) * rowHeight, x - 6 - a.column * 8];
      const r = Math.min(5, Math.abs(y1 - y0) / 2);
      const d = y1 > y0 ? 1 : -1;
      return svg`<path class=${on} d="M${x} ${y0}H${out + r}Q${out} ${y0} ${out} ${y0 + d * r}V${y1 - d * r}Q${out} ${y1} ${out + r} ${y1}H${x - 3}"/><path class="tip ${on}" d="M${x + 1} ${y1}l-6 -3.5v7z"/>`;
    })}
  </svg>`;
}

/** codeOf returns a line of PTX with its tokens in colour. register is the marked register; pick is called for a register that is pressed. */
export function codeOf(text: string, register = '', pick?: (name: string) => void): unknown {
  if (!text) return ' ';
  return tokensOf(text.replaceAll('\t', '    ')).map((t) => {
    if (t.kind === '') return t.text;
    if (t.kind !== 'register' && t.kind !== 'guard') return html`<span class=${t.kind === 'number' ? 'number-token' : t.kind}>${t.text}</span>`;
    const name = t.text.replace(/^@!?/, '');
    return html`<span class="${t.kind} ${name === register ? 'picked' : ''}" @click=${pick ? () => pick(name) : nothing}>${t.text}</span>`;
  });
}

/** listingStyles is the look of arcs and of PTX. */
export const listingStyles = css`
  svg.flow {
    position: absolute;
    left: 4px;
    top: 6px;
    pointer-events: none;
    overflow: visible;
  }
  svg.flow path {
    fill: none;
    stroke: var(--edge);
    stroke-width: 1.25;
  }
  svg.flow path.taken {
    stroke: var(--accent);
    stroke-width: 2.5;
  }
  svg.flow path.tip {
    fill: var(--edge);
    stroke: none;
  }
  svg.flow path.tip.taken {
    fill: var(--accent);
  }
  .op {
    color: var(--ink);
    font-weight: 600;
  }
  .register,
  .number-token {
    color: var(--ink);
  }
  .register.picked,
  .guard.picked {
    text-decoration: underline;
    text-decoration-thickness: 2px;
    text-decoration-color: var(--accent);
  }
  .guard {
    color: var(--accent);
  }
  .directive,
  .comment {
    color: var(--soft);
  }
  .comment {
    font-style: italic;
  }
  .label {
    font-weight: 700;
  }
`;
