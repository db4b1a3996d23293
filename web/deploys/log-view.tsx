import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import { SearchInput } from '../ui/field.tsx';
import { count } from '../ui/format.ts';
import { VirtualList, type VirtualListHandle } from '../ui/virtual-list.tsx';
import type { LogModel } from './log-model.ts';
import { LogRow } from './log-row.tsx';

/** The least that a target may be high (WCAG 2.2, 2.5.8): each line number is one. */
const ROW_HEIGHT = 24;

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
  const [at, setAt] = useState(-1);
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
    const next = at === -1 ? (by > 0 ? 0 : found.length - 1) : (at + by + found.length) % found.length;
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
  return (
    <div className="log">
      <LogBar
        log={log}
        text={text}
        found={wanted === '' ? undefined : found.length}
        at={at}
        onText={(next) => {
          setText(next);
          setAt(-1);
        }}
        onStep={step}
        onChange={onChange}
        onSave={() => save(log, fileName)}
      />
      <VirtualList
        ref={list}
        className="log-lines"
        label="Log"
        count={rows.length}
        style={{ height: `min(max(20rem, 100dvh - 20rem), ${rows.length * ROW_HEIGHT + 20}px)` }}
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

interface LogBarProps {
  log: LogModel;
  text: string;
  /** How many lines fit; undefined while nothing is searched. */
  found: number | undefined;
  /** Which of them is shown; -1 for none yet. */
  at: number;
  onText: (text: string) => void;
  onStep: (by: 1 | -1) => void;
  onChange: () => void;
  onSave: () => void;
}

const LogBar = ({ log, text, found, at, onText, onStep, onChange, onSave }: LogBarProps) => {
  const anyOpen = log.steps.some(({ folded, from, to }) => !folded && to > from);
  return (
    <div className="log-bar">
      <SearchInput
        label="Search the log"
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          onStep(event.shiftKey ? -1 : 1);
        }}
      />
      <span className="small quiet nowrap" role="status">
        {saidOf(log.lines.length, found, at)}
      </span>
      {found !== undefined && found > 0 && (
        <span className="row">
          <Button slim look="quiet" onClick={() => onStep(-1)}>
            Previous
          </Button>
          <Button slim look="quiet" onClick={() => onStep(1)}>
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
      <IconButton slim icon="download" label="Download the log" onClick={onSave} />
    </div>
  );
};

const saidOf = (lines: number, found: number | undefined, at: number): string => {
  if (found === undefined) return count(lines, 'line');
  if (found === 0) return 'nothing found';
  return at === -1 ? `${found} found` : `${at + 1} of ${found}`;
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
