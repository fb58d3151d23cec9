// The look of all elements: colours, type and small controls; and two small functions.

import { css } from 'lit';

/** hues is the number of colours of basic blocks. */
export const hues = 8;

/** tokens is the colours and the type of all elements. u, a, g and d are the colours of uniform, affine, generic and divergent on all pages of gemu. */
export const tokens = css`
  :host {
    --paper: light-dark(#fbfaf7, #14181d);
    --card: light-dark(#ffffff, #1b2027);
    --well: light-dark(#f4f3ef, #161b21);
    --ink: light-dark(#1d232b, #e4e8ec);
    --soft: light-dark(#56616c, #9fabb7);
    --line: light-dark(#dcdfe3, #333b45);
    --edge: light-dark(#7b8691, #7d8996);
    --u: light-dark(#1a66a8, #6cb2f2);
    --a: light-dark(#14713a, #5fcf8a);
    --g: light-dark(#a14606, #f0995a);
    --d: light-dark(#7b3a9e, #d29df0);
    --u-soft: light-dark(#e4eef8, #1c3247);
    --a-soft: light-dark(#e1f3e7, #1a3726);
    --g-soft: light-dark(#fbeadd, #43291a);
    --d-soft: light-dark(#f2e6f8, #3a2547);
    --on: light-dark(#ffffff, #10151a);
    --accent: light-dark(#4338ca, #a5b4fc);
    --accent-soft: light-dark(#eceafd, #262a4d);
    --now: light-dark(#fff4cf, #3a3216);
    --bad: light-dark(#b3261e, #ff8a80);
    --bad-soft: light-dark(#fdecea, #3d1d1b);
    --good: light-dark(#17803d, #5fcf8a);
    --idle: light-dark(#dfe2e6, #39424d);
    --b0: light-dark(#5b6673, #8d9aa8);
    --b1: light-dark(#6a4cc0, #ab92fb);
    --b2: light-dark(#a92b84, #ee82c8);
    --b3: light-dark(#0b757e, #45c0c8);
    --b4: light-dark(#7d6000, #d8b545);
    --b5: light-dark(#b3263e, #ff8496);
    --b6: light-dark(#75462a, #cf9d7b);
    --b7: light-dark(#3d4a9e, #93a3f5);
    --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace;
    --sans: system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
    display: block;
    color: var(--ink);
    font: 15px/1.5 var(--sans);
  }
  :host([hidden]) {
    display: none;
  }
  * {
    box-sizing: border-box;
  }
  .hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  .soft {
    color: var(--soft);
  }
  .mono {
    font-family: var(--mono);
  }
  button,
  select,
  input,
  summary {
    font: inherit;
    color: inherit;
  }
  button,
  .button {
    min-width: 32px;
    min-height: 32px;
    padding: 3px 10px;
    border: 1px solid var(--line);
    border-radius: 7px;
    background: var(--card);
    cursor: pointer;
    font-size: 14px;
    line-height: 1.4;
    white-space: nowrap;
    text-decoration: none;
  }
  button:hover:not(:disabled) {
    border-color: var(--edge);
  }
  button:disabled {
    opacity: 0.45;
    cursor: default;
  }
  button[aria-pressed='true'],
  button[aria-selected='true'] {
    border-color: var(--accent);
    background: var(--accent-soft);
    color: var(--accent);
    font-weight: 600;
  }
  button.primary {
    background: var(--accent);
    border-color: var(--accent);
    color: var(--on);
    font-weight: 600;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  .chip {
    display: inline-block;
    min-width: 1.5em;
    padding: 0 0.45em;
    border-radius: 4px;
    text-align: center;
    font: 600 12px/1.6 var(--mono);
    background: var(--idle);
    white-space: nowrap;
  }
  .chip.u {
    background: var(--u-soft);
    color: var(--u);
  }
  .chip.a {
    background: var(--a-soft);
    color: var(--a);
  }
  .chip.g {
    background: var(--g-soft);
    color: var(--g);
  }
  .chip.d {
    border: 1px solid;
    background: var(--d-soft);
    color: var(--d);
  }
  .chip.few {
    border: 1px dashed;
    background: none;
    color: var(--soft);
  }
  .letter {
    display: inline-block;
    width: 1.5em;
    border-radius: 4px;
    text-align: center;
    font: 700 12px/1.5 var(--mono);
    color: var(--on);
    background: var(--hue);
  }
  table {
    border-collapse: collapse;
  }
  th {
    text-align: left;
    font-weight: 600;
    font-size: 12.5px;
    color: var(--soft);
  }
  @media (forced-colors: active) {
    .letter,
    .chip {
      border: 1px solid CanvasText;
    }
    button[aria-pressed='true'],
    button[aria-selected='true'] {
      forced-color-adjust: none;
      background: Highlight;
      color: HighlightText;
    }
  }
  @media (prefers-reduced-motion: reduce) {
    * {
      transition: none !important;
      animation: none !important;
      scroll-behavior: auto !important;
    }
  }
`;

/** hue returns the style of a basic block's colour. */
export const hue = (block: number): string => `--hue: var(--b${(block < 0 ? 0 : block) % hues})`;

/** clamp limits a number. */
export const clamp = (x: number, least: number, most: number): number => Math.max(least, Math.min(most, x));

/** plural joins a number and a noun. */
export const plural = (n: number, one: string, many = one + 's'): string => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
