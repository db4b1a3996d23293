import { useCallback, useEffect, useRef, useState } from 'react';
import { to } from '../locations.ts';
import { useShortcuts } from '../shell/shortcuts.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { ErrorCard, ErrorLine } from '../ui/error-card.tsx';
import { count as counted } from '../ui/format.ts';
import { downloadLines } from './download.ts';
import { Gutter, placeOf } from './gutter.tsx';
import { Before, BeforeMatches, Foot, Nothing, statusText } from './log-frame.tsx';
import { indexOfSeq, LogList, type LogListHandle } from './log-list.tsx';
import type { NumberedLine } from './lines.ts';
import { Toolbar } from './toolbar.tsx';
import { useLogChoices, type LogChoices } from './use-choices.ts';
import { useServiceLog, type LogWish } from './use-service-log.ts';
import { matchAt, placeIn, useShown } from './use-shown.ts';
import { useFresh, useMarked, useWrap } from './view-hooks.ts';

/** The lines with everything that narrows, searches and keeps them. */
export const LogView = ({ project, service }: { project: string; service: string }) => {
  const choices = useLogChoices();
  const { replica, release, since, line: marked } = choices;
  const view = useServiceLog({ project, service, ...pickWish(choices) });
  const { lines, state, error } = view;
  const shown = useShown({ project, service, choices, view });
  const { found, earlier, narrowed, lineAt, count } = shown;
  const [follow, setFollow] = useState(since === '');
  // What begins in the past is read from its beginning.
  useEffect(() => setFollow(since === ''), [since]);
  const [wrap, setWrap] = useWrap();
  const [current, setCurrent] = useState(-1);
  const list = useRef<LogListHandle>(null);
  const search = useRef<HTMLInputElement>(null);
  const openPlace = (place: { since: string; line: string }): void => {
    // Among its neighbours, not among the other matches.
    shown.setOnly(false);
    choices.set(place);
  };
  const gutter = useGutter(project, service, openPlace);
  const fresh = useFresh(lines.dropped + lines.all.length, follow);
  useMarked(list, { marked, ready: state !== 'loading', indexOf: (seq) => indexOfSeq(count, lineAt, seq) });
  const matches = { lines, found, earlier };
  const moveTo = (at: number): void => {
    const { place, index, line } = matchAt(matches, at);
    if (line === undefined) return;
    setFollow(false);
    setCurrent(line.seq);
    if (narrowed) list.current?.show(place);
    else if (index !== undefined) list.current?.show(index);
    // Not in the page: the log is read again from there on.
    else openPlace(placeOf(line));
  };
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
        search={{
          ref: search,
          found: shown.total,
          more: earlier.more,
          reading: earlier.reading,
          place: placeIn(matches, current),
          move: moveTo,
          only: shown.only,
          setOnly: shown.setOnly,
        }}
        wrap={wrap}
        setWrap={setWrap}
        follow={follow && state !== 'window'}
        setFollow={setFollow}
        canFollow={state !== 'window'}
        onDownload={() =>
          downloadLines(
            { project, service },
            narrowed ? Array.from({ length: count }, (_none, index) => lineAt(index)) : lines.all,
          )
        }
        linkHere={() => lineAt(list.current?.first() ?? 0)}
      />
      {error !== undefined && <ErrorCard error={error} onRetry={view.again} />}
      {earlier.error !== null && <ErrorLine error={earlier.error} />}
      <div className="journal-frame">
        {narrowed ? (
          <BeforeMatches earlier={earlier} />
        ) : (
          <Before choices={choices} shown={lines.all.length} dropped={lines.dropped} state={state} />
        )}
        {count === 0 ? (
          <Nothing state={state} narrowed={narrowed || replica !== '' || release !== '' || since !== ''} />
        ) : (
          <LogList
            key={`${since} ${replica} ${release}`}
            ref={list}
            count={count}
            lineAt={lineAt}
            generation={`${narrowed} ${lines.dropped} ${narrowed ? earlier.lines.length : 0}`}
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
      <Foot status={statusText(state, follow, fresh)} lines={lines.all.length}>
        {state === 'window' && (
          <LinkButton slim look="quiet" to={to('logs', { project, service })}>
            Newest lines
          </LinkButton>
        )}
      </Foot>
    </>
  );
};

/** One and the same function: a row is drawn anew only when its line changes. */
const useGutter = (project: string, service: string, onOpen: (place: { since: string; line: string }) => void) => {
  const open = useRef(onOpen);
  open.current = onOpen;
  return useCallback(
    (line: NumberedLine) => (
      <Gutter project={project} service={service} line={line} onOpen={(place) => open.current(place)} />
    ),
    [project, service],
  );
};

/** What of the choices the server reads by. */
const pickWish = ({ replica, release, since, tail }: LogChoices): Pick<LogWish, keyof LogWish & keyof LogChoices> => ({
  replica,
  release,
  since,
  tail,
});

const lookOf = (line: NumberedLine, marked: number, current: number): string =>
  [line.stream === 'stderr' ? 'stderr' : '', line.seq === marked ? 'marked' : '', line.seq === current ? 'current' : '']
    .filter((part) => part !== '')
    .join(' ');
