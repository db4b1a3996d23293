import type { Ref } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import { SearchInput } from '../ui/field.tsx';
import { count } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { cutReason, type LogModel } from './log-model.ts';

interface LogBarProps {
  search: Ref<HTMLInputElement>;
  log: LogModel;
  text: string;
  /** How many lines fit; undefined while nothing is searched. */
  found: number | undefined;
  /** Which of them is shown; -1 for none yet. */
  at: number;
  onText: (text: string) => void;
  onStep: (by: 1 | -1) => void;
  /** Brings what failed into view; not given when nothing did. */
  onFailure?: () => void;
  onChange: () => void;
  onSave: () => void;
}

/** What can be done with the log: search, fold, keep. */
export const LogBar = (props: LogBarProps) => {
  const { search, log, text, found, at, onText, onStep, onFailure, onChange, onSave } = props;
  const anyOpen = log.steps.some(({ folded, from, to }) => !folded && to > from);
  return (
    <div className="log-bar">
      <SearchInput
        ref={search}
        label="Search the log"
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onText('');
          if (event.key !== 'Enter') return;
          event.preventDefault();
          onStep(event.shiftKey ? -1 : 1);
        }}
      />
      <span className="small quiet nowrap" {...(found !== undefined && { role: 'status' })}>
        {saidOf(log.lines.length, found, at)}
      </span>
      {found !== undefined && found > 0 && (
        <span className="row tight">
          <IconButton slim icon="up" label="Match before" onClick={() => onStep(-1)} />
          <IconButton slim icon="down" label="Next match" onClick={() => onStep(1)} />
        </span>
      )}
      <span className="grow" />
      {onFailure !== undefined && (
        <Button slim look="quiet" onClick={onFailure}>
          To the failure
        </Button>
      )}
      <Button
        slim
        look="quiet"
        onClick={() => {
          log.foldAll(anyOpen);
          onChange();
        }}
        disabled={log.steps.length === 0}
      >
        {anyOpen ? 'Fold all' : 'Unfold all'}
      </Button>
      <IconButton slim icon="download" label="Download the log" onClick={onSave} />
    </div>
  );
};

/** Says that lines are missing, and leads to where. */
export const LogCut = ({ log, onShow }: { log: LogModel; onShow: (line: number) => void }) => {
  const [at] = log.cuts;
  const reason = at === undefined ? undefined : cutReason(log.lines[at]?.line ?? '');
  if (at === undefined || reason === undefined) return null;
  return (
    <div className="log-cut">
      <Icon name="warn" />
      <span className="grow small">Part of this log is missing: {reason}.</span>
      <Button slim look="quiet" onClick={() => onShow(at)}>
        Show where
      </Button>
    </div>
  );
};

const saidOf = (lines: number, found: number | undefined, at: number): string => {
  if (found === undefined) return count(lines, 'line');
  if (found === 0) return 'nothing found';
  return at === -1 ? `${found} found` : `${at + 1} of ${found}`;
};
