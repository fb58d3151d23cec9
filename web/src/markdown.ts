// The part of Markdown that the texts of examples use, as templates: headings, paragraphs, lists, tables as text, code, emphasis.
// Pictures are left out, and of links the text remains. No text becomes HTML.

import { html, type TemplateResult } from 'lit';

const inlineMark = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|!\[[^\]]*\]\([^)]*\)|\[([^\]]+)\]\([^)]*\)/g;

/** inline returns a line with code, emphasis and links. */
export function inline(text: string): (string | TemplateResult)[] {
  const list: (string | TemplateResult)[] = [];
  let at = 0;
  for (const m of text.matchAll(inlineMark)) {
    if (m.index > at) list.push(text.slice(at, m.index));
    if (m[1]) list.push(html`<code>${m[1]}</code>`);
    else if (m[2]) list.push(html`<b>${inline(m[2])}</b>`);
    else if (m[3]) list.push(html`<em>${inline(m[3])}</em>`);
    else if (m[4]) list.push(...inline(m[4]));
    at = m.index + m[0].length;
  }
  if (at < text.length) list.push(text.slice(at));
  return list;
}

/** blocks returns a text. */
export function blocks(text: string): TemplateResult[] {
  const list: TemplateResult[] = [];
  // Code first, so that blank lines in it do not end it.
  for (const [i, part] of text.split(/^```.*$/m).entries()) {
    if (i % 2 === 1) {
      list.push(html`<pre tabindex="0" aria-label="Code">${part.replace(/^\n|\n$/g, '')}</pre>`);
      continue;
    }
    for (const p of part.split(/\n\s*\n/)) {
      const t = p.trim();
      if (!t || /^!\[[^\]]*\]\([^)]*\)$/.test(t) || t.startsWith('<!--')) continue;
      const heading = /^(#+)\s+(.*)$/.exec(t);
      if (heading) {
        if (heading[1].length > 1) list.push(html`<h2>${inline(heading[2])}</h2>`);
      } else if (t.startsWith('|')) {
        const rows = t.split('\n').filter((r) => !/^\|[\s|:-]+\|$/.test(r));
        const cells = rows.map((r) => r.replace(/^\||\|$/g, '').split('|').map((c) => c.trim()));
        list.push(html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><tbody>${cells.map((r, k) => html`<tr>${r.map((c) => (k ? html`<td>${inline(c)}</td>` : html`<th scope="col">${inline(c)}</th>`))}</tr>`)}</tbody></table></div>`);
      } else if (/^([-*]|\d+\.)\s/.test(t)) {
        list.push(html`<ul>${t.split(/\n(?=(?:[-*]|\d+\.)\s)/).map((item) => html`<li>${inline(item.replace(/^([-*]|\d+\.)\s+/, '').replace(/\n\s*/g, ' '))}</li>`)}</ul>`);
      } else list.push(html`<p>${inline(t.replace(/\n\s*/g, ' '))}</p>`);
    }
  }
  return list;
}
