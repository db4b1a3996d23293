import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import {
  HighlightStyle,
  LanguageDescription,
  bracketMatching,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { languages } from '@codemirror/language-data';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, StateEffect, StateField, type Extension } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  drawSelection,
  highlightActiveLine,
  keymap,
  lineNumbers,
  type DecorationSet,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';

export interface EditorOptions {
  /** Where it goes. Its root is a shadow root, because there styles need no element that the page's policy forbids. */
  root: ShadowRoot;
  text: string;
  /** The language is chosen by it. */
  fileName: string;
  label: string;
  /** Told of each change; without it the text can only be read. */
  onChange?: (text: string) => void;
  /** Told which line number was pressed. */
  onLine?: (line: number, extend: boolean) => void;
}

export interface Editor {
  showLines(lines: { from: number; to: number } | undefined): void;
  destroy(): void;
}

/** Longer texts are shown without colours. */
const HIGHLIGHTED_LENGTH = 400_000;

/** A text to read or to edit, with line numbers, search and highlighting. */
export const createEditor = (options: EditorOptions): Editor => {
  const { root, text, fileName, label, onChange, onLine } = options;
  const language = new Compartment();
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorState.lineSeparator.of(separatorOf(text)),
        lineNumbers({
          domEventHandlers: {
            mousedown: (editor, block, event) => {
              onLine?.(editor.state.doc.lineAt(block.from).number, event instanceof MouseEvent && event.shiftKey);
              return onLine !== undefined;
            },
          },
        }),
        drawSelection(),
        bracketMatching(),
        search({ top: true }),
        highlightSelectionMatches(),
        syntaxHighlighting(COLOURS),
        THEME,
        LINES,
        language.of([]),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        onChange === undefined ? READ_ONLY : editable(onChange),
      ],
    }),
  });
  const described = LanguageDescription.matchFilename(languages, fileName);
  let gone = false;
  const colour = async (): Promise<void> => {
    if (described === null || text.length > HIGHLIGHTED_LENGTH) return;
    const support = await described.load();
    if (!gone) view.dispatch({ effects: language.reconfigure(support) });
  };
  // A text without colours can be read all the same.
  colour().catch(() => undefined);
  return {
    showLines: (lines) => show(view, lines),
    destroy: () => {
      gone = true;
      view.destroy();
    },
  };
};

/** Line ends stay as they are: what was not edited must not differ. */
const separatorOf = (text: string): string => (/\r\n/.test(text) && !/(?:^|[^\r])\n/.test(text) ? '\r\n' : '\n');

const READ_ONLY: Extension = [
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  keymap.of([...searchKeymap]),
];

const editable = (onChange: (text: string) => void): Extension => [
  history(),
  indentOnInput(),
  highlightActiveLine(),
  // Escape, then Tab leaves the field: the editor's own way out for the keyboard.
  keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
  EditorView.updateListener.of((update) => {
    if (update.docChanged) onChange(update.state.sliceDoc());
  }),
];

const setLines = StateEffect.define<{ from: number; to: number } | undefined>();
const marked = Decoration.line({ class: 'cm-marked' });

const LINES = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (before, transaction) => {
    let next = before.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setLines)) continue;
      next = effect.value === undefined ? Decoration.none : markLines(transaction.state, effect.value);
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** As many lines as somebody could mean. */
const MARKED_LINES = 5000;

const markLines = ({ doc }: EditorState, { from, to }: { from: number; to: number }): DecorationSet => {
  const last = Math.min(to, doc.lines, from + MARKED_LINES);
  const ranges = [];
  for (let line = from; line <= last; line += 1) ranges.push(marked.range(doc.line(line).from));
  return Decoration.set(ranges);
};

const show = (view: EditorView, lines: { from: number; to: number } | undefined): void => {
  const { doc } = view.state;
  const effects: StateEffect<unknown>[] = [setLines.of(lines)];
  if (lines !== undefined && lines.from <= doc.lines)
    effects.push(EditorView.scrollIntoView(doc.line(lines.from).from, { y: 'center' }));
  view.dispatch({ effects });
};

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.character], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.unit, tags.color], color: 'var(--code-number)' },
  { tag: [tags.comment, tags.meta], color: 'var(--code-comment)' },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.tagName, tags.heading], color: 'var(--code-type)' },
  {
    tag: [tags.definition(tags.variableName), tags.function(tags.variableName), tags.propertyName, tags.attributeName],
    color: 'var(--code-name)',
  },
  { tag: [tags.link, tags.url], color: 'var(--accent)', textDecoration: 'underline' },
  { tag: [tags.strong, tags.heading], fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

const THEME = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '0.8125rem' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.25rem', fontVariantLigatures: 'none' },
  '.cm-content': { padding: '0.5rem 0', caretColor: 'var(--accent)' },
  '.cm-gutters': {
    color: 'var(--text-3)',
    backgroundColor: 'var(--surface)',
    border: '0',
    minWidth: '3rem',
    cursor: 'pointer',
  },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 0.75rem 0 0.75rem' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in oklab, var(--hover) 55%, transparent)' },
  '.cm-marked': { backgroundColor: 'var(--warn-wash)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in oklab, var(--accent) 28%, transparent)',
  },
  '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--inset)', border: '0' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-wash)', outline: '1px solid var(--warn)' },
  '.cm-textfield': { color: 'var(--text)', backgroundColor: 'var(--surface)', border: '1px solid var(--line-strong)' },
  '.cm-button': { color: 'var(--text)', background: 'var(--surface)', border: '1px solid var(--line)' },
});
