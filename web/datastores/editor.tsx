import { autocompletion, closeBrackets, closeCompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, Prec, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import type { Datastore } from '#modules/datastores';

export interface EditorProps {
  kind: Datastore['kind'];
  label: string;
  hint: string;
  value: string;
  /** Columns by table, for completion. */
  schema: Record<string, string[]>;
  onChange: (value: string) => void;
  /** Ctrl+Enter; the selection when there is one. */
  onRun: (query: string) => void;
}

/**
 * CodeMirror in a shadow root: there it styles itself by constructed sheets, which the page's policy allows, and not by inline ones,
 * which it forbids. Tab leaves it, as it leaves every field.
 */
const Editor = ({ kind, label, hint, value, schema, onChange, onRun }: EditorProps) => {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const calls = useRef({ onChange, onRun });
  calls.current = { onChange, onRun };
  const language = useRef(new Compartment());
  const initial = useRef(value);
  useEffect(() => {
    const node = host.current;
    if (node === null) return undefined;
    const root = node.shadowRoot ?? node.attachShadow({ mode: 'open' });
    const runIt = (editor: EditorView): boolean => {
      closeCompletion(editor);
      calls.current.onRun(chosenText(editor.state));
      return true;
    };
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: initial.current,
        extensions: [
          Prec.highest(keymap.of([{ key: 'Mod-Enter', run: runIt }])),
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) calls.current.onChange(update.state.doc.toString());
          }),
          language.current.of([]),
          placeholder(hint),
          ...BASE,
        ],
      }),
    });
    view.current = editor;
    return () => {
      view.current = undefined;
      editor.destroy();
    };
  }, [label, hint]);
  useEffect(() => {
    view.current?.dispatch({ effects: language.current.reconfigure(languageOf(kind, schema)) });
  }, [kind, schema]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === value) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      selection: { anchor: value.length },
    });
  }, [value]);
  return <div ref={host} className="editor" />;
};

const chosenText = (state: EditorState): string => {
  const { from, to } = state.selection.main;
  return from === to ? state.doc.toString() : state.sliceDoc(from, to);
};

const languageOf = (kind: Datastore['kind'], schema: Record<string, string[]>): Extension => {
  if (kind === 'postgres') return sql({ dialect: PostgreSQL, schema });
  return kind === 'mongo' ? json() : [];
};

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: 'var(--text-3)', fontStyle: 'italic' },
  { tag: [tags.propertyName, tags.typeName], color: 'var(--text)' },
]);

const LOOK = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', font: '450 0.8125rem/1.25rem var(--mono)' },
  // The frame around it and its buttons shows the focus.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--mono)',
    lineHeight: '1.25rem',
    minHeight: '8.75rem',
    maxHeight: '18rem',
    overflow: 'auto',
  },
  '.cm-content': { padding: '0.625rem 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 0.75rem' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-placeholder': { color: 'var(--text-3)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--accent-wash)',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-wash)',
    outline: '1px solid var(--line-strong)',
  },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: '0.375rem',
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '0.8125rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-wash)', color: 'var(--text)' },
});

const BASE: readonly Extension[] = [
  history(),
  drawSelection(),
  bracketMatching(),
  closeBrackets(),
  autocompletion({ icons: false }),
  EditorView.lineWrapping,
  syntaxHighlighting(COLOURS),
  LOOK,
  keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
];

export default Editor;
