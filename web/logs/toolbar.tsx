import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState, type Ref } from 'react';
import { releasesRead, serviceRead } from '../data/reads.ts';
import { useMay } from '../session/session.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { SearchInput, Select } from '../ui/field.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { toast } from '../ui/toast.tsx';
import { wholeLog } from './download.ts';
import { lineLink } from './gutter.tsx';
import type { NumberedLine } from './lines.ts';
import { TimeDialog } from './time-dialog.tsx';
import type { LogChoices } from './use-choices.ts';

interface SearchState {
  ref: Ref<HTMLInputElement>;
  found: number;
  /** Whether there are older matches still. */
  more: boolean;
  /** Whether the stored log is just being searched. */
  reading: boolean;
  /** Of the match shown; -1 for none. */
  place: number;
  move: (to: number) => void;
  only: boolean;
  setOnly: (only: boolean) => void;
}

interface ToolbarProps {
  project: string;
  service: string;
  choices: LogChoices;
  search: SearchState;
  wrap: boolean;
  setWrap: (wrap: boolean) => void;
  follow: boolean;
  setFollow: (follow: boolean) => void;
  canFollow: boolean;
  onDownload: () => void;
  /** The line that a link to this place should name. */
  linkHere: () => NumberedLine | undefined;
}

export const Toolbar = (props: ToolbarProps) => {
  const { project, service, choices, wrap, setWrap, follow, setFollow, canFollow } = props;
  return (
    <div className="journal-bar" role="group" aria-label="What is shown">
      <Button
        icon={follow ? 'pause' : 'play'}
        look={follow ? 'plain' : 'primary'}
        disabled={!canFollow}
        onClick={() => setFollow(!follow)}
      >
        {follow ? 'Pause' : 'Follow'}
      </Button>
      <LogSearch choices={choices} search={props.search} />
      <Filters project={project} service={service} choices={choices} />
      <TimeJump choices={choices} />
      <span className="row journal-tools">
        <Button aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
          Wrap
        </Button>
        <More {...props} />
      </span>
    </div>
  );
};

const LogSearch = ({ choices, search }: Pick<ToolbarProps, 'choices' | 'search'>) => {
  const { found, more, reading, place, move, only, setOnly } = search;
  const total = `${found.toLocaleString()}${more ? ' or more' : ''}`;
  const said = place === -1 ? `${reading ? 'searching, ' : ''}${total} found` : `${place + 1} of ${total}`;
  return (
    <span className="journal-search">
      <SearchInput
        ref={search.ref}
        label="Search"
        value={choices.typed}
        onChange={(event) => choices.setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') move(event.shiftKey ? previous(place) : place + 1);
          if (event.key === 'Escape') choices.setTyped('');
        }}
      />
      {choices.typed !== '' && (
        <span className="row journal-found">
          <span className="small quiet nowrap" role="status">
            {said}
          </span>
          <IconButton
            slim
            icon="up"
            label="Match before"
            disabled={found === 0}
            onClick={() => move(previous(place))}
          />
          <IconButton slim icon="down" label="Next match" disabled={found === 0} onClick={() => move(place + 1)} />
          <Button slim aria-pressed={only} onClick={() => setOnly(!only)}>
            Only these
          </Button>
        </span>
      )}
    </span>
  );
};

const previous = (place: number): number => (place === -1 ? -1 : place - 1);

const Filters = ({
  project,
  service,
  choices: { replica, release, set },
}: Pick<ToolbarProps, 'project' | 'service' | 'choices'>) => {
  const may = useMay();
  const { data } = useQuery({ ...serviceRead(project, service), enabled: may('read') });
  const { data: pages } = useInfiniteQuery({ ...releasesRead(project, service), enabled: may('read') });
  const replicas = withChosen(data?.replica_states.map(({ name }) => name) ?? [], replica);
  const releases = withChosen(pages?.pages.flatMap((page) => page.releases.map(({ id }) => id)) ?? [], release);
  return (
    <>
      <Select
        aria-label="Replica"
        value={replica}
        onChange={(event) => set({ replica: event.target.value })}
        options={[{ value: '', label: 'All replicas' }, ...replicas.map((name) => ({ value: name, label: name }))]}
      />
      <Select
        aria-label="Release"
        value={release}
        onChange={(event) => set({ release: event.target.value })}
        options={[{ value: '', label: 'All releases' }, ...releases.map((id) => ({ value: id, label: id }))]}
      />
    </>
  );
};

/** What is chosen can be gone by now. */
const withChosen = (names: readonly string[], chosen: string): string[] =>
  chosen === '' || names.includes(chosen) ? [...names] : [chosen, ...names];

const MINUTE_MS = 60_000;
const JUMPS: readonly [label: string, minutes: number][] = [
  ['10 minutes ago', 10],
  ['1 hour ago', 60],
  ['6 hours ago', 360],
  ['1 day ago', 1440],
];

const TimeJump = ({ choices: { since, set } }: Pick<ToolbarProps, 'choices'>) => {
  const [open, setOpen] = useState(false);
  const items: MenuItem[] = [
    { kind: 'choice', label: 'Newest lines', chosen: since === '', onSelect: () => set({ since: '', line: '' }) },
    ...JUMPS.map(([label, minutes]): MenuItem => ({
      label: `From ${label}`,
      onSelect: () => set({ since: new Date(Date.now() - minutes * MINUTE_MS).toISOString(), line: '' }),
    })),
    { kind: 'rule' },
    { label: 'From a point in time…', icon: 'events', onSelect: () => setOpen(true) },
  ];
  return (
    <>
      <Menu
        items={items}
        trigger={(trigger) => (
          <Button icon="events" {...trigger}>
            {since === '' ? 'Newest' : 'From'}
          </Button>
        )}
      />
      {open && (
        <TimeDialog since={since} onChoose={(next) => set({ since: next, line: '' })} onClose={() => setOpen(false)} />
      )}
    </>
  );
};

const More = ({ project, service, onDownload, linkHere, choices }: ToolbarProps) => {
  const copy = (): void => {
    const line = linkHere();
    if (line === undefined) return;
    navigator.clipboard.writeText(`${location.origin}${lineLink({ project, service, line })}`).then(
      () => toast('ok', 'Copied a link to the first line in view'),
      () => toast('warn', 'The browser refused to copy: use the link of a line’s time instead'),
    );
  };
  return (
    <Menu
      items={[
        { label: 'Download these lines', icon: 'download', onSelect: onDownload },
        {
          label: choices.typed === '' ? 'Download the whole log' : 'Download all lines that match',
          icon: 'download',
          onSelect: () => wholeLog({ project, service }, { ...choices, text: choices.typed }),
        },
        { label: 'Copy a link to this place', icon: 'link', onSelect: copy },
        { kind: 'rule' },
        {
          label: 'Clear all filters',
          icon: 'close',
          onSelect: () => {
            choices.setTyped('');
            choices.set({ replica: '', release: '', since: '', line: '' });
          },
        },
      ]}
      trigger={(trigger) => <IconButton icon="more" label="More" look="plain" {...trigger} />}
    />
  );
};
