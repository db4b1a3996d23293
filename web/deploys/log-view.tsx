import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { parseAnsi } from '../ui/ansi.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { SearchInput } from '../ui/field.tsx';
import { clockTime } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { Glyph, type Tone } from '../ui/status.tsx';
import { VirtualList, type VirtualListHandle } from '../ui/virtual-list.tsx';
import type { LogEntry, LogModel, Row, Step } from './log-model.ts';

const ROW_HEIGHT = 20;

interface LogViewProps {
  log: LogModel;
  /** Raised by the model with each change. */
  version: number;
  onChange: () => void;
  /** Whether more is to come. */
  open: boolean;
  fileName: string;
}

/** The log of an operation: live, folded by steps, searched, with an address for each line. */
export const LogView = ({ log, version, onChange, open, fileName }: LogViewProps) => {
  const list = useRef<VirtualListHandle>(null);
  const [following, setFollowing] = useState(true);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [marked, setMarked] = useLineOfAddress();
  const wanted = useDeferredValue(text);
  // The model is one and the same object; its version says when to look again.
  // oxlint-disable-next-line react/exhaustive-deps
  const found = useMemo(() => log.search(wanted), [log, wanted, version]);
  const rows = log.rows();

  const show = (line: number): void => {
    setFollowing(false);
    const row = log.rowOf(line);
    onChange();
    requestAnimationFrame(() => list.current?.scrollTo(row));
  };
  const step = (by: number): void => {
    if (found.length === 0) return;
    const next = (at + by + found.length) % found.length;
    setAt(next);
    show(found[next] ?? 0);
  };
  // The line of the address is shown as soon as it is there, once.
  const arrived = useRef(false);
  useEffect(() => {
    if (arrived.current || marked === undefined || marked >= log.lines.length) return;
    arrived.current = true;
    show(marked);
  });
  const anyOpen = log.steps.some(({ folded, from, to }) => !folded && to > from);
  return (
    <div className="log">
      <div className="log-bar">
        <SearchInput
          label="Search the log"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            step(event.shiftKey ? -1 : text === wanted && at === 0 ? 0 : 1);
            if (at === 0) setAt(1 % Math.max(1, found.length));
          }}
        />
        <span className="small quiet nowrap" role="status">
          {wanted === ''
            ? `${log.lines.length} lines`
            : found.length === 0
              ? 'nothing found'
              : `${Math.min(at + 1, found.length)} of ${found.length}`}
        </span>
        {found.length > 0 && (
          <span className="row">
            <Button slim look="quiet" onClick={() => step(-1)}>
              Previous
            </Button>
            <Button slim look="quiet" onClick={() => step(1)}>
              Next
            </Button>
          </span>
        )}
        <span className="grow" />
        <Button
          slim
          look="quiet"
          onClick={() => {
            log.foldAll(anyOpen);
            onChange();
          }}
        >
          {anyOpen ? 'Fold all' : 'Unfold all'}
        </Button>
        <IconButton slim icon="download" label="Download the log" onClick={() => save(log, fileName)} />
      </div>
      <VirtualList
        ref={list}
        className="log-lines"
        label="Log"
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        follow={following && open}
        onFollow={setFollowing}
        row={(index) => (
          <LogRow
            key={index}
            row={rows[index]}
            log={log}
            query={wanted}
            marked={marked}
            onMark={setMarked}
            onFold={(step) => {
              log.fold(step, !step.folded);
              onChange();
            }}
          />
        )}
      />
      {open && !following && (
        <span className="log-follow">
          <Button
            slim
            look="primary"
            icon="down"
            onClick={() => {
              setFollowing(true);
              list.current?.scrollToEnd();
            }}
          >
            Follow
          </Button>
        </span>
      )}
    </div>
  );
};

interface LogRowProps {
  row: Row | undefined;
  log: LogModel;
  query: string;
  marked: number | undefined;
  onMark: (line: number) => void;
  onFold: (step: Step) => void;
}

const LogRow = ({ row, log, query, marked, onMark, onFold }: LogRowProps) => {
  if (row === undefined) return null;
  if ('step' in row) return <StepRow step={row.step} onFold={onFold} />;
  const entry = log.lines[row.line];
  if (entry === undefined) return null;
  const number = row.line + 1;
  return (
    <div className={row.line === marked ? 'log-row marked' : 'log-row'}>
      <a
        href={`#L${number}`}
        className="log-number"
        aria-label={`Line ${number}`}
        onClick={(event) => {
          event.preventDefault();
          onMark(row.line);
        }}
      >
        {number}
      </a>
      <time className="log-time" dateTime={entry.ts}>
        {clockTime(Date.parse(entry.ts))}
      </time>
      <LineText entry={entry} query={query} />
    </div>
  );
};

const STEP_TONES: Record<Step['outcome'], Tone> = {
  open: 'busy',
  done: 'ok',
  cached: 'ok',
  failed: 'bad',
  stopped: 'warn',
};

const StepRow = ({ step, onFold }: { step: Step; onFold: (step: Step) => void }) => {
  const size = step.to - step.from;
  return (
    <button
      type="button"
      className={`log-step ${step.kind}`}
      aria-expanded={size === 0 ? undefined : !step.folded}
      disabled={size === 0}
      onClick={() => onFold(step)}
    >
      <span className={step.folded ? 'turn' : 'turn open'}>{size > 0 && <Icon name="right" size={12} />}</span>
      {step.kind === 'step' && <Glyph tone={STEP_TONES[step.outcome]} size={8} />}
      <span className="cut">{step.title}</span>
      <span className="said">{step.said.replace('CACHED', 'from cache')}</span>
      {step.folded && <span className="said">{size} lines</span>}
    </button>
  );
};

const LineText = ({ entry: { line, source }, query }: { entry: LogEntry; query: string }) => (
  <span className={`log-text ${source === 'berth' || source === 'rollout' ? 'own' : ''}`}>
    {parseAnsi(line).map(({ text, look }, index) => (
      // Pieces have no other name than their place.
      // oxlint-disable-next-line react/no-array-index-key
      <span key={index} className={look === '' ? undefined : look}>
        <Marked text={text} query={query} />
      </span>
    ))}
  </span>
);

const Marked = ({ text, query }: { text: string; query: string }) => {
  if (query === '') return text;
  const low = text.toLowerCase();
  const wanted = query.toLowerCase();
  const parts = [];
  let from = 0;
  for (let at = low.indexOf(wanted); at !== -1 && parts.length < 200; at = low.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + wanted.length)}</mark>);
    from = at + wanted.length;
  }
  return (
    <>
      {parts}
      {text.slice(from)}
    </>
  );
};

/** The line that the address names by `#L12`, and the way to name another. */
const useLineOfAddress = (): [number | undefined, (line: number) => void] => {
  const read = (): number | undefined => {
    const number = /^#L(\d{1,9})$/.exec(location.hash)?.[1];
    return number === undefined ? undefined : Number(number) - 1;
  };
  const [line, setLine] = useState(read);
  const mark = (next: number): void => {
    setLine(next);
    history.replaceState(history.state, '', `#L${next + 1}`);
  };
  return [line, mark];
};

const save = (log: LogModel, name: string): void => {
  const url = URL.createObjectURL(new Blob([log.text()], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
};
