import { useEffect, useRef } from 'react';
import { createEditor, type Editor } from './editor.ts';

interface CodeViewProps {
  text: string;
  fileName: string;
  label: string;
  /** Told of each change; without it the text can only be read. Fixed while it is shown. */
  onChange?: (text: string) => void;
  lines?: { from: number; to: number } | undefined;
  onLine?: (line: number, extend: boolean) => void;
}

/** A text with line numbers and highlighting. Another `text` or `fileName` begins anew. */
const CodeView = ({ text, fileName, label, onChange, lines, onLine }: CodeViewProps) => {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>(undefined);
  // What was typed stays when only the name of the file changes.
  const held = useRef({ from: text, now: text });
  if (held.current.from !== text) held.current = { from: text, now: text };
  const latest = useRef({ onChange, onLine });
  latest.current = { onChange, onLine };
  const edits = onChange !== undefined;
  useEffect(() => {
    const node = host.current;
    if (node === null) return undefined;
    const root = node.shadowRoot ?? node.attachShadow({ mode: 'open' });
    editor.current = createEditor({
      root,
      text: held.current.now,
      fileName,
      label,
      ...(edits && {
        onChange: (next: string) => {
          held.current.now = next;
          latest.current.onChange?.(next);
        },
      }),
      onLine: (line, extend) => latest.current.onLine?.(line, extend),
    });
    return () => {
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, [text, fileName, label, edits]);
  // By what it says: the same lines come as another object with each render.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  useEffect(() => editor.current?.showLines(lines), [lines?.from, lines?.to, text]);
  return <div ref={host} className="code-view" />;
};

export default CodeView;
