import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { IconButton } from './button.tsx';

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

/** The last lines of a log, as evidence: the very last ones are in view. */
export const LogTail = ({ text, label }: { text: string; label: string }) => {
  const box = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <div className="code-block">
      <pre ref={box} className="tail" tabIndex={0} aria-label={label} role="region">
        <code>{text}</code>
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
