// The editor of programs: CodeMirror with PTX and CUDA C. The page loads it when it is needed.

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from '@codemirror/language';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType, drawSelection, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags as t } from '@lezer/highlight';

/** Mark is a message at a place of the text; line and column count from 1. */
export interface Mark {
  line: number;
  column: number;
  message: string;
}

export interface Editor {
  readonly text: string;
  setText(text: string): void;
  setMarks(marks: Mark[]): void;
  focus(): void;
  destroy(): void;
}

export interface EditorOptions {
  parent: HTMLElement;
  root: Document | ShadowRoot;
  text: string;
  label: string;
  run(): void;
}

/** program is the language of the editor: PTX, and as much of CUDA C as its words differ. */
const program = StreamLanguage.define<{ comment: boolean; start: boolean }>({
  name: 'ptx',
  startState: () => ({ comment: false, start: true }),
  token(s, state) {
    if (s.sol()) state.start = true;
    if (state.comment || s.match('/*')) {
      state.comment = !s.skipTo('*/');
      if (state.comment) s.skipToEnd();
      else s.match('*/');
      return 'comment';
    }
    if (s.eatSpace()) return null;
    const start = state.start;
    state.start = false;
    if (s.match(/^\/\/.*/)) return 'comment';
    if (s.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
    if (s.match(/^@!?%?\w+/)) {
      state.start = true;
      return 'keyword';
    }
    if (s.match(/^%[\w$.]+/)) return 'variableName';
    if (start && s.match(/^[A-Za-z_$][\w$]*:(?!:)/)) {
      state.start = true;
      return 'labelName';
    }
    if (s.match(/^\.[a-z]\w*/)) return 'typeName';
    if (s.match(/^(?:0[xXbBfFdD][\da-fA-F]+|\d[\w.]*)/)) return 'number';
    if (s.match(/^(?:__\w+__|if|else|for|while|do|return|break|continue|void|int|unsigned|float|double|char|bool|const|volatile|struct|switch|case)\b/)) return 'keyword';
    if (start && s.match(/^[a-z][\w]*(?:[.:]{1,2}[\w]+)*/)) return 'operatorKeyword';
    if (s.match(/^[\w$]+/)) return null;
    if (/[;{}]/.test(s.next()!)) state.start = true;
    return null;
  },
  languageData: { commentTokens: { line: '//', block: { open: '/*', close: '*/' } } },
});

const setMarks = StateEffect.define<Mark[]>();

/** Message is the text of a mark, below its line. */
class Message extends WidgetType {
  constructor(private readonly mark: Mark) {
    super();
  }
  override eq(other: Message): boolean {
    return other.mark.message === this.mark.message;
  }
  toDOM(): HTMLElement {
    const box = document.createElement('div');
    box.className = 'cm-message';
    box.setAttribute('role', 'alert');
    box.textContent = this.mark.message;
    return box;
  }
}

/** marked shows the marks: the line, the place in it, and the message below. An edit of the line removes them. */
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, tr) {
    for (const e of tr.effects) {
      if (!e.is(setMarks)) continue;
      const doc = tr.state.doc;
      return Decoration.set(
        e.value.flatMap((m) => {
          const line = doc.line(Math.max(1, Math.min(m.line, doc.lines)));
          const from = Math.min(line.from + Math.max(0, m.column - 1), Math.max(line.from, line.to - 1));
          return [
            Decoration.line({ class: 'cm-bad-line' }).range(line.from),
            ...(from < line.to ? [Decoration.mark({ class: 'cm-bad' }).range(from, line.to)] : []),
            Decoration.widget({ widget: new Message(m), side: 1, block: true }).range(line.to),
          ];
        }),
        true,
      );
    }
    return tr.docChanged ? Decoration.none : set;
  },
  provide: (f) => EditorView.decorations.from(f),
});

const highlight = HighlightStyle.define([
  { tag: t.comment, color: 'var(--soft)', fontStyle: 'italic' },
  { tag: t.keyword, color: 'var(--accent)' },
  { tag: t.operatorKeyword, fontWeight: '600' },
  { tag: t.typeName, color: 'var(--soft)' },
  { tag: t.labelName, fontWeight: '700' },
  { tag: t.string, color: 'var(--b3)' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', color: 'var(--ink)', backgroundColor: 'var(--card)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '22px' },
  '.cm-gutters': { backgroundColor: 'var(--card)', color: 'var(--soft)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--ink) 5%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'color-mix(in srgb, var(--accent) 25%, transparent)' },
  '.cm-bad-line': { backgroundColor: 'var(--bad-soft)' },
  '.cm-bad': { textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '4px' },
  '.cm-message': { padding: '4px 12px', borderLeft: '5px solid var(--bad)', backgroundColor: 'var(--bad-soft)', color: 'var(--ink)', whiteSpace: 'pre-wrap', fontFamily: 'var(--mono)', fontSize: '12.5px', lineHeight: '18px' },
});

/** createEditor creates an editor in an element. */
export function createEditor(o: EditorOptions): Editor {
  const view = new EditorView({
    parent: o.parent,
    root: o.root,
    state: EditorState.create({
      doc: o.text,
      extensions: [
        lineNumbers(),
        marked,
        history(),
        drawSelection(),
        highlightActiveLine(),
        bracketMatching(),
        program,
        syntaxHighlighting(highlight),
        EditorState.tabSize.of(4),
        keymap.of([
          {
            key: 'Mod-Enter',
            run: () => {
              o.run();
              return true;
            },
          },
          // Tab leaves the editor after Escape, as WCAG 2.1.2 asks.
          { key: 'Escape', run: (v) => (v.contentDOM.blur(), true) },
          indentWithTab,
          ...defaultKeymap,
          ...historyKeymap,
        ]),
        EditorView.contentAttributes.of({ 'aria-label': o.label, tabindex: '0' }),
        theme,
      ],
    }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    setText(text) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    setMarks(marks) {
      const effects: StateEffect<unknown>[] = [setMarks.of(marks)];
      if (marks.length) {
        const line = view.state.doc.line(Math.max(1, Math.min(marks[0].line, view.state.doc.lines)));
        effects.push(EditorView.scrollIntoView(line.from, { y: 'center' }));
      }
      view.dispatch({ effects });
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
