import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { useShortcuts } from '../shell/shortcuts.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { count as counted } from '../ui/format.ts';
import { Empty, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { downloadLines } from './download.ts';
import { Gutter } from './gutter.tsx';
import { indexOfSeq, LogList, type LogListHandle } from './log-list.tsx';
import { MOST_LINES, type NumberedLine } from './lines.ts';
import { Toolbar } from './toolbar.tsx';
import { useLogChoices, type LogChoices } from './use-choices.ts';
import { useSearch } from './use-search.ts';
import { useServiceLog } from './use-service-log.ts';

interface LogsProps {
  project: string;
  service: string;
}

/** The log of a service: live, searched, filtered, from any point in time on. */
const LogsPage = ({ project, service }: LogsProps) => {
  const may = useMay();
  return (
    <div className="logs-page">
      <PageHead
        title="Logs"
        crumbs={[
          { label: project, to: to('project', { project }) },
          { label: service, to: to('service', { project, service }) },
        ]}
      />
      {may('read') ? <LogView project={project} service={service} /> : <NotAllowed />}
    </div>
  );
};

export default LogsPage;

const NotAllowed = () => (
  <Empty icon="logs" title="This token may not read logs">
    It lacks the capability “read”. Sign in with one that has it, or ask whoever minted it.
  </Empty>
);

const LogView = ({ project, service }: LogsProps) => {
  const choices = useLogChoices();
  const { replica, release, since, tail, line: marked } = choices;
  const view = useServiceLog({ project, service, replica, release, since, tail });
  const { lines, version, state, error } = view;
  const found = useSearch(lines, version, choices.typed);
  const [follow, setFollow] = useState(since === '');
  // What begins in the past is read from its beginning.
  useEffect(() => setFollow(since === ''), [since]);
  const [wrap, setWrap] = useWrap();
  const [only, setOnly] = useState(false);
  const [current, setCurrent] = useState(-1);
  const list = useRef<LogListHandle>(null);
  const search = useRef<HTMLInputElement>(null);
  const narrowed = only && choices.typed !== '';
  const count = narrowed ? found.length : lines.all.length;
  const lineAt = useCallback(
    (index: number): NumberedLine | undefined => lines.all[narrowed ? (found[index] ?? -1) : index],
    // `version` stands for what changes inside of `lines`.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [lines, narrowed, narrowed ? found : version],
  );
  const open = useRef(choices.set);
  open.current = choices.set;
  // One and the same function: a row is drawn anew only when its line changes.
  const gutter = useCallback(
    (line: NumberedLine) => (
      <Gutter project={project} service={service} line={line} onOpen={(place) => open.current(place)} />
    ),
    [project, service],
  );
  const fresh = useFresh(lines.dropped + lines.all.length, follow);
  useMarked(list, { marked, ready: state !== 'loading', indexOf: (seq) => indexOfSeq(count, lineAt, seq) });
  const moveTo = (at: number): void => {
    if (found.length === 0) return;
    const next = ((at % found.length) + found.length) % found.length;
    setFollow(false);
    setCurrent(lines.all[found[next] ?? 0]?.seq ?? -1);
    list.current?.show(narrowed ? next : (found[next] ?? 0));
  };
  const place = found.findIndex((index) => lines.all[index]?.seq === current);
  useShortcuts({
    f: () => search.current?.focus(),
    w: () => setWrap(!wrap),
    p: () => setFollow(!follow),
    End: () => setFollow(true),
  });
  return (
    <>
      <Toolbar
        project={project}
        service={service}
        choices={choices}
        search={{ ref: search, found: found.length, place, move: moveTo, only, setOnly }}
        wrap={wrap}
        setWrap={setWrap}
        follow={follow && state !== 'window'}
        setFollow={setFollow}
        canFollow={state !== 'window'}
        onDownload={() =>
          downloadLines({ project, service }, narrowed ? found.map((index) => lines.all[index]) : lines.all)
        }
        linkHere={() => lineAt(list.current?.first() ?? 0)}
      />
      {error !== undefined && <ErrorCard error={error} onRetry={view.again} />}
      <div className="journal-frame">
        <Before choices={choices} shown={lines.all.length} dropped={lines.dropped} state={state} />
        {count === 0 ? (
          <Nothing state={state} narrowed={narrowed || replica !== '' || release !== '' || since !== ''} />
        ) : (
          <LogList
            key={`${since} ${replica} ${release}`}
            ref={list}
            count={count}
            lineAt={lineAt}
            generation={`${narrowed} ${lines.dropped}`}
            wrap={wrap}
            follow={follow}
            onFollow={setFollow}
            gutter={gutter}
            lookOf={(line) => lookOf(line, marked, current)}
            typed={choices.typed}
            label={`Log of ${service}`}
          />
        )}
        {!follow && fresh > 0 && state === 'live' && (
          <div className="journal-fresh">
            <Button look="primary" slim icon="down" onClick={() => setFollow(true)}>
              {counted(fresh, 'new line')}
            </Button>
          </div>
        )}
      </div>
      <p className="journal-foot small quiet">
        <span role="status">{statusText(state, follow, fresh)}</span>
        <span>{counted(lines.all.length, 'line')}</span>
        {state === 'window' && (
          <LinkButton slim look="quiet" to={to('logs', { project, service })}>
            Newest lines
          </LinkButton>
        )}
      </p>
    </>
  );
};

const lookOf = (line: NumberedLine, marked: number, current: number): string =>
  [line.stream === 'stderr' ? 'stderr' : '', line.seq === marked ? 'marked' : '', line.seq === current ? 'current' : '']
    .filter((part) => part !== '')
    .join(' ');

const statusText = (state: string, follow: boolean, fresh: number): string => {
  if (state === 'loading') return 'Reading the log';
  if (state === 'window') return `The first ${MOST_LINES.toLocaleString()} lines from here on; there are more`;
  if (follow) return 'Following';
  // Spoken, so in steps: not at every line.
  return fresh === 0 ? 'Paused' : `Paused, ${fresh < 10 ? 'a few' : fresh < 100 ? 'tens of' : 'hundreds of'} new lines`;
};

const WRAP_KEY = 'berth.logs.wrap';

const useWrap = (): [boolean, (wrap: boolean) => void] => {
  const [wrap, setWrap] = useState(() => localStorage.getItem(WRAP_KEY) === 'yes');
  return [
    wrap,
    (next) => {
      localStorage.setItem(WRAP_KEY, next ? 'yes' : 'no');
      setWrap(next);
    },
  ];
};

/** How many lines came since the reader stopped to follow. */
const useFresh = (total: number, follow: boolean): number => {
  const seen = useRef(total);
  if (follow) seen.current = total;
  return Math.max(0, total - seen.current);
};

/** Brings the line that the address names into view, once it is there. */
const useMarked = (
  list: { current: LogListHandle | null },
  { marked, ready, indexOf }: { marked: number; ready: boolean; indexOf: (seq: number) => number },
): void => {
  const done = useRef(-1);
  useEffect(() => {
    if (!ready || marked === -1 || done.current === marked) return;
    done.current = marked;
    list.current?.show(indexOf(marked));
  });
};

const STEPS = [2_000, 20_000, MOST_LINES];

/** Above the first line: whether there may be more, and how to get them. */
const Before = ({
  choices,
  shown,
  dropped,
  state,
}: {
  choices: LogChoices;
  shown: number;
  dropped: number;
  state: string;
}) => {
  const more = useMemo(() => STEPS.find((step) => step > choices.tail), [choices.tail]);
  if (choices.since !== '')
    return (
      <p className="journal-before small">
        From {new Date(choices.since).toLocaleString()} on
        <Button slim look="quiet" onClick={() => choices.set({ since: '', line: '' })}>
          Newest instead
        </Button>
      </p>
    );
  if (state === 'loading' || shown + dropped < choices.tail || more === undefined) return null;
  return (
    <p className="journal-before small">
      The newest {choices.tail.toLocaleString()} lines and what came since
      <Button slim look="quiet" onClick={() => choices.set({ tail: String(more) })}>
        Show {more.toLocaleString()}
      </Button>
    </p>
  );
};

const Nothing = ({ state, narrowed }: { state: string; narrowed: boolean }) => {
  if (state === 'loading') return <SkeletonLines lines={5} />;
  return (
    <Empty icon="logs" title={narrowed ? 'No line fits' : 'Nothing logged yet'}>
      {narrowed
        ? 'Loosen the filters or go further back. What comes from now on is shown here as it fits.'
        : 'What the replicas write to standard output and standard error appears here as they write it.'}
    </Empty>
  );
};
