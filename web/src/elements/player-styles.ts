// The layout of the page.

import { css } from 'lit';

export const pageStyles = css`
  .page {
    min-height: 100vh;
    background: var(--paper);
    overflow-x: clip;
  }
  .page.dropping {
    outline: 4px dashed var(--accent);
    outline-offset: -8px;
  }
  header {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 6px 14px;
    padding: 9px 20px;
    border-bottom: 1px solid var(--line);
    background: var(--card);
  }
  .brand {
    font: 600 19px/1 var(--mono);
    letter-spacing: -0.03em;
    color: var(--soft);
  }
  .brand b {
    color: var(--accent);
  }
  h1 {
    margin: 0;
    font-size: 17px;
    font-weight: 650;
  }
  .shape {
    flex: 1 1 12em;
    font-size: 13px;
    color: var(--soft);
  }
  nav {
    display: flex;
    gap: 6px;
    margin-left: auto;
  }
  main {
    max-width: 1480px;
    margin: 0 auto;
    padding: 0 20px 48px;
  }
  h2 {
    margin: 0;
    font-size: 14px;
    font-weight: 650;
  }
  h3 {
    margin: 12px 0 4px;
    font-size: 13px;
  }
  select,
  input:not([type='range'], [type='checkbox']) {
    min-height: 32px;
    max-width: 100%;
    padding: 3px 8px;
    border: 1px solid var(--edge);
    border-radius: 7px;
    background: var(--card);
    font-size: 14px;
  }
  input[aria-invalid='true'] {
    border: 2px solid var(--bad);
  }
  .field {
    display: inline-flex;
    gap: 6px;
    align-items: center;
    font-size: 13px;
    color: var(--soft);
  }
  .field select,
  .field input {
    color: var(--ink);
    font-size: 13px !important;
    min-height: 28px !important;
  }
  .slice {
    width: 74px;
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 14px;
    align-items: baseline;
    margin-bottom: 6px;
  }
  .bar > .soft {
    font-size: 13px;
  }
  .hint {
    margin-left: auto;
  }
  .small {
    min-height: 26px;
    min-width: 26px;
    font-size: 12.5px;
    padding: 0 7px;
    border-color: transparent;
    background: none;
    color: var(--soft);
  }
  .small:hover {
    color: var(--ink);
  }
  .intro {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 4px 14px;
    padding: 12px 0 0;
  }
  .intro .ask {
    margin: 0;
    font-size: 16px;
  }
  .intro details[open] {
    flex-basis: 100%;
  }
  summary {
    cursor: pointer;
    min-height: 24px;
    font-size: 13.5px;
    color: var(--accent);
  }
  .prose {
    max-width: 72ch;
  }
  .prose p,
  .prose ul {
    margin: 6px 0;
  }
  .prose code,
  .ask code {
    font: 0.9em/1.4 var(--mono);
  }
  .prose td,
  .prose th {
    padding: 3px 10px;
    text-align: left;
    border-bottom: 1px solid var(--line);
  }
  pre {
    margin: 6px 0 0;
    padding: 10px 12px;
    overflow-x: auto;
    border-radius: 6px;
    background: var(--well);
    font: 12.5px/1.5 var(--mono);
    white-space: pre;
  }
  .sticky {
    position: sticky;
    top: 0;
    z-index: 5;
    margin: 0 -20px;
    padding: 10px 20px 4px;
    background: var(--paper);
  }
  .transport {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px 14px;
  }
  .buttons {
    display: flex;
    flex-wrap: wrap;
    gap: 5px;
    align-items: center;
  }
  .icon {
    display: inline-grid;
    place-items: center;
    width: 38px;
    height: 34px;
    padding: 0;
  }
  .transport input[type='range'] {
    flex: 1 1 180px;
    min-width: 120px;
    height: 28px;
    accent-color: var(--accent);
    margin: 0;
  }
  .position {
    min-width: 9.5em;
    font-size: 14px;
    font-variant-numeric: tabular-nums;
    color: var(--soft);
  }
  .check {
    display: inline-flex;
    align-items: center;
    gap: 6px;
    min-height: 28px;
    font-size: 14px;
  }
  .check input {
    width: 24px;
    height: 24px;
    accent-color: var(--accent);
    margin: 0;
  }
  .say {
    margin-top: 8px;
  }
  .sentence {
    margin: 0;
    min-height: 1.5em;
    font-size: 16px;
  }
  .sentence code {
    margin: 0 8px;
    padding: 1px 7px;
    border-radius: 5px;
    background: var(--now);
    font: 600 14px/1.5 var(--mono);
  }
  .hover {
    margin: 1px 0 0;
    height: 1.5em;
    overflow: hidden;
    white-space: nowrap;
    text-overflow: ellipsis;
    font-size: 13px;
    color: var(--soft);
  }
  .faint {
    opacity: 0.9;
  }
  .time {
    margin-top: 6px;
    padding: 10px 14px 12px;
    border: 1px solid var(--line);
    border-radius: 10px;
    background: var(--card);
  }
  .strip + .strip {
    margin-top: 10px;
    padding-top: 8px;
    border-top: 1px solid var(--line);
  }
  .key {
    display: flex;
    flex-wrap: wrap;
    gap: 2px 14px;
    margin: 8px 0 0;
    padding: 0;
    list-style: none;
    font-size: 12.5px;
    color: var(--soft);
  }
  .key i {
    display: inline-block;
    width: 15px;
    height: 11px;
    margin-right: 5px;
    vertical-align: -1px;
  }
  .key .filled {
    background: var(--b0);
  }
  .key .idle {
    background: var(--idle);
  }
  .key .dots {
    height: 6px;
    vertical-align: 3px;
    border-bottom: 1px dotted var(--edge);
  }
  .key .hatched {
    background: repeating-linear-gradient(135deg, transparent 0 3px, var(--ink) 3px 4px);
  }
  .strip-title {
    display: flex;
    gap: 10px;
    align-items: center;
    font-size: 13.5px;
    min-height: 28px;
  }
  .pick {
    font: 700 14px/1.4 var(--mono);
    min-height: 28px;
    padding: 1px 10px;
  }
  .bad {
    color: var(--bad);
  }
  .busy {
    font-size: 12.5px;
    font-weight: 600;
    color: var(--accent);
  }
  .columns {
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
    gap: 18px 22px;
    margin-top: 16px;
  }
  .stack-head {
    margin-top: 14px;
  }
  .panes {
    margin-top: 18px;
  }
  .tabs {
    display: flex;
    flex-wrap: wrap;
    gap: 5px;
    margin-bottom: 10px;
  }
  .card {
    margin-top: 12px;
    padding: 12px 16px;
    border: 1px solid var(--line);
    border-radius: 10px;
    background: var(--card);
  }
  .card p {
    margin: 4px 0;
  }
  .bad-card {
    border-color: var(--bad);
    border-left-width: 6px;
    background: var(--bad-soft);
  }
  .bad-card h2 {
    color: var(--bad);
    font-size: 16px;
  }
  .bad-card pre {
    background: color-mix(in srgb, var(--card) 75%, transparent);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .empty {
    margin-top: 40px;
    text-align: center;
    padding: 48px 16px;
  }
  .help {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr));
    gap: 6px 32px;
    font-size: 14px;
  }
  .help dl {
    display: grid;
    grid-template-columns: auto 1fr;
    gap: 2px 14px;
    margin: 4px 0;
  }
  .help dt {
    font-family: var(--mono);
  }
  .help dd {
    margin: 0;
  }
  .question {
    margin-bottom: 10px;
    padding: 10px 14px;
    border: 2px solid var(--accent);
    border-radius: 9px;
    background: var(--accent-soft);
  }
  .question p {
    margin: 0 0 8px;
    font-size: 14.5px;
  }
  .verdict {
    margin: 0 0 10px;
    padding: 7px 12px;
    border-radius: 7px;
    border-left: 5px solid var(--edge);
    background: var(--well);
    font-size: 14.5px;
  }
  .question .verdict {
    margin: 8px 0 0;
  }
  .verdict.good {
    border-color: var(--good);
  }
  .verdict.no {
    border-color: var(--g);
  }
  .warps {
    margin-bottom: 10px;
  }
  .warp-list {
    display: flex;
    flex-wrap: wrap;
    gap: 4px;
    max-height: 150px;
    overflow: auto;
    padding: 3px;
  }
  .warp-list button {
    display: inline-flex;
    gap: 5px;
    align-items: center;
    min-height: 28px;
    padding: 1px 7px;
    font-size: 12px;
  }
  .meter {
    width: 32px;
    height: 8px;
    border-radius: 2px;
    overflow: hidden;
    background: var(--idle);
  }
  .meter i {
    display: block;
    height: 100%;
    background: var(--hue);
  }
  .edit {
    margin-top: 14px;
  }
  .editor-host {
    border: 1px solid var(--edge);
    border-radius: 8px;
    overflow: hidden;
    background: var(--card);
    resize: vertical;
  }
  .editor-host > p {
    padding: 0 14px;
  }
  .launch {
    display: flex;
    flex-wrap: wrap;
    gap: 8px 14px;
    align-items: center;
    margin-top: 8px;
    font-size: 13.5px;
  }
  form.launch label {
    display: inline-flex;
    gap: 6px;
    align-items: center;
    color: var(--ink);
  }
  form.launch input {
    scroll-margin: 200px 0 60px; /* clear of the sticky controls */
  }
  .one {
    display: inline-flex;
    flex-wrap: wrap;
    gap: 2px 8px;
    align-items: center;
  }
  .fault {
    flex-basis: 100%;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .more {
    flex-basis: 100%;
  }
  .launch .argument input {
    font-family: var(--mono);
    width: 16ch;
  }
  .values {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(78px, 1fr));
    gap: 2px;
    margin: 0;
    padding: 8px;
    list-style: none;
    font: 13px/1.6 var(--mono);
  }
  .values li {
    display: flex;
    justify-content: space-between;
    gap: 8px;
    padding: 0 6px;
    border-radius: 4px;
    background: var(--well);
  }
  .scroll {
    max-height: 320px;
    overflow: auto;
    border: 1px solid var(--line);
    border-radius: 8px;
    background: var(--card);
  }
  dialog {
    max-width: min(640px, 92vw);
    width: 100%;
    border: 1px solid var(--line);
    border-radius: 12px;
    background: var(--card);
    color: var(--ink);
    padding: 18px 20px;
  }
  dialog::backdrop {
    background: rgb(0 0 0 / 0.35);
  }
  dialog input {
    width: 100%;
    margin: 8px 0 12px;
    font-family: var(--mono);
  }
  dialog pre {
    max-height: 60vh;
    margin: 0 0 12px;
    overflow: auto;
    font: 12px/1.5 var(--mono);
    white-space: pre-wrap;
  }
  @media (max-width: 900px) {
    .columns {
      grid-template-columns: minmax(0, 1fr);
    }
  }
  @media (max-width: 560px) {
    header {
      padding: 8px 12px;
    }
    main {
      padding: 0 12px 40px;
    }
    nav {
      margin-left: 0;
      flex-basis: 100%;
    }
    .shape {
      flex-basis: 100%;
    }
    .sticky {
      margin: 0 -12px;
      padding: 8px 12px 4px;
    }
    .icon {
      width: 42px;
      height: 38px;
    }
    .transport .buttons {
      width: 100%;
      justify-content: space-between;
    }
    .transport {
      gap: 4px 12px;
    }
    .transport input[type='range'] {
      flex-basis: 100%;
    }
    .position {
      flex: 1;
      min-width: 0;
    }
    .sentence {
      font-size: 15px;
      max-height: 6em;
      overflow: auto;
    }
    .hover,
    .hint {
      display: none;
    }
    .time {
      padding: 8px 10px 10px;
    }
    .field {
      flex-wrap: wrap;
    }
  }
  @media (forced-colors: active) {
    .sentence code {
      border: 1px solid CanvasText;
    }
    .meter i {
      background: CanvasText;
    }
    .icon svg {
      forced-color-adjust: auto;
    }
  }
  @media print {
    .sticky {
      position: static;
    }
  }
`;
