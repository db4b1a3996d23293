import { useCallback, useDeferredValue, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { useShortcuts } from '../shell/shortcuts.ts';
import { Button } from '../ui/button.tsx';
import { VirtualList, type VirtualListHandle } from '../ui/virtual-list.tsx';
import { LogBar, LogCut } from './log-bar.tsx';
import type { LogModel, Step } from './log-model.ts';
import { LogRow } from './log-row.tsx';

/** The least that a target may be high (WCAG 2.2, 2.5.8): each line number is one. */
const ROW_HEIGHT = 24;
/** More than are ever in view: rows that leave lend their elements to those that come. */
const SLOTS = 512;

interface LogViewProps {
  /** Changes in itself; whoever changes it calls `onChange`. */
  log: LogModel;
  onChange: () => void;
  /** Whether more is to come. */
  open: boolean;
  fileName: string;
}

/** The log of an operation: live, folded by steps, searched, with an address for each line. */
export const LogView = ({ log, onChange, open, fileName }: LogViewProps) => {
  const list = useRef<VirtualListHandle>(null);
  const [following, setFollowing] = useState(true);
  const [text, setText] = useState('');
  const [at, setAt] = useState(-1);
  const [shown, setShown] = useState<number>();
  const search = useRef<HTMLInputElement>(null);
  const [marked, setMarked] = useLineOfAddress();
  const place = usePlacing(list, log);
  const wanted = useDeferredValue(text);
  const found = log.search(wanted);
  const failedAt = open ? undefined : log.failedAt();
  const rows = log.rows();

  const show = (line: number): void => {
    setFollowing(false);
    place(line);
    onChange();
  };
  const step = (by: number): void => {
    // Of what is typed now: Enter does not wait until all matches are drawn.
    const matches = log.search(text);
    if (matches.length === 0) return;
    const next = at === -1 ? (by > 0 ? 0 : matches.length - 1) : (at + by + matches.length) % matches.length;
    setAt(next);
    setShown(matches[next]);
    show(matches[next] ?? 0);
  };
  const point = (line: number): void => {
    setShown(line);
    show(line);
  };
  const fold = useCallback(
    (step: Step) => {
      log.fold(step, !step.folded);
      onChange();
    },
    [log, onChange],
  );
  const toEnd = (): void => {
    setFollowing(true);
    list.current?.scrollToEnd();
  };
  useShortcuts({
    f: () => search.current?.focus(),
    n: () => step(1),
    N: () => step(-1),
    End: toEnd,
  });
  // The line of the address is shown as soon as it is there, once; without one, what failed.
  const arrived = useRef(false);
  useEffect(() => {
    const wantedLine = marked ?? failedAt;
    if (arrived.current || wantedLine === undefined || wantedLine >= log.lines.length) return;
    arrived.current = true;
    show(wantedLine);
  });
  return (
    <div className="log">
      <LogBar
        search={search}
        log={log}
        text={text}
        found={wanted === '' ? undefined : found.length}
        at={at}
        onText={(next) => {
          setText(next);
          setAt(-1);
          setShown(undefined);
        }}
        {...(failedAt !== undefined && { onFailure: () => point(failedAt) })}
        onStep={step}
        onChange={onChange}
        onSave={() => save(log, fileName)}
      />
      <LogCut log={log} onShow={point} />
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
            key={index % SLOTS}
            row={rows[index]}
            log={log}
            query={wanted}
            marked={marked}
            shown={shown}
            onMark={setMarked}
            onFold={fold}
          />
        )}
      />
      {open && !following && (
        <span className="log-follow">
          <Button slim look="primary" icon="down" onClick={toEnd}>
            Follow
          </Button>
        </span>
      )}
    </div>
  );
};

/** Brings a line into view, once its row is there: its step may have been folded. The caller renders anew. */
const usePlacing = (list: RefObject<VirtualListHandle | null>, log: LogModel): ((line: number) => void) => {
  const goal = useRef<number>(undefined);
  useLayoutEffect(() => {
    if (goal.current === undefined) return;
    list.current?.scrollTo(log.rowOf(goal.current));
    goal.current = undefined;
  });
  return (line) => {
    log.rowOf(line);
    goal.current = line;
  };
};

/** The line that the address names by `#L12`, and the way to name another. */
const useLineOfAddress = (): [number | undefined, (line: number) => void] => {
  const read = (): number | undefined => {
    const number = /^#L(\d{1,9})$/.exec(location.hash)?.[1];
    return number === undefined ? undefined : Number(number) - 1;
  };
  const [line, setLine] = useState(read);
  const mark = useCallback((next: number): void => {
    setLine(next);
    history.replaceState(history.state, '', `#L${next + 1}`);
  }, []);
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
