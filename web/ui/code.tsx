import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { IconButton } from './button.tsx';
import { causeLine } from './cause-line.ts';

const SHOWN_MS = 1600;

/** A button that copies, and says that it has. */
export const CopyButton = ({ text, label = 'Copy' }: { text: string; label?: string }) => {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle');
  useEffect(() => {
    if (state === 'idle') return undefined;
    const timer = setTimeout(() => setState('idle'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const said = { idle: label, copied: 'Copied', refused: 'The browser refused: select and copy it' }[state];
  return (
    <>
      <IconButton
        slim
        icon={{ idle: 'copy' as const, copied: 'check' as const, refused: 'warn' as const }[state]}
        label={said}
        onClick={() => {
          navigator.clipboard.writeText(text).then(
            () => setState('copied'),
            () => setState('refused'),
          );
        }}
      />
      <span className="sr-only" role="status">
        {state === 'idle' ? '' : said}
      </span>
    </>
  );
};

/** Lines to copy. */
export const CodeBlock = ({ code, label = 'Copy' }: { code: string; label?: string }) => (
  <div className="code-block">
    <pre tabIndex={0}>
      <code>{code}</code>
    </pre>
    <CopyButton text={code} label={label} />
  </div>
);

const LINES_ABOVE = 3;

/** The last lines of a log, as evidence: in view is the line that says why, or else the very last ones. */
export const LogTail = ({ text, label }: { text: string; label: string }) => {
  const box = useRef<HTMLPreElement>(null);
  const cause = useRef<HTMLElement>(null);
  const at = causeLine(text);
  useLayoutEffect(() => {
    if (box.current === null) return;
    // Not further than to the cause, with what stands right above it.
    const above = LINES_ABOVE * Number.parseFloat(getComputedStyle(box.current).lineHeight);
    box.current.scrollTop = cause.current === null ? box.current.scrollHeight : cause.current.offsetTop - above;
  }, [text]);
  return (
    <div className="code-block">
      <pre ref={box} className="tail" tabIndex={0} aria-label={label} role="region">
        <code>
          {at === undefined ? (
            text
          ) : (
            <>
              {text.slice(0, at.from)}
              <strong ref={cause}>{text.slice(at.from, at.to)}</strong>
              {text.slice(at.to)}
            </>
          )}
        </code>
      </pre>
    </div>
  );
};

/** A value that people copy, such as an id. */
export const Copyable = ({ text, children }: { text: string; children?: ReactNode }) => (
  <span className="copyable">
    <code className="cut">{children ?? text}</code>
    <CopyButton text={text} label={`Copy ${text}`} />
  </span>
);
