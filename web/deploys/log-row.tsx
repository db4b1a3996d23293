import { memo } from 'react';
import { LineText } from '../logs/log-row.tsx';
import { clockTime } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { Glyph, type Tone } from '../ui/status.tsx';
import type { LogModel, Row, Step } from './log-model.ts';

interface LogRowProps {
  row: Row | undefined;
  log: LogModel;
  query: string;
  /** The line that the address names. */
  marked: number | undefined;
  /** The match that is shown, or the line that failed. */
  shown: number | undefined;
  onMark: (line: number) => void;
  onFold: (step: Step) => void;
}

const AnyRow = ({ row, log, query, marked, shown, onMark, onFold }: LogRowProps) => {
  if (row === undefined) return null;
  if ('step' in row) return <StepRow step={row.step} log={log} onFold={onFold} />;
  const entry = log.lines[row.line];
  if (entry === undefined) return null;
  const number = row.line + 1;
  return (
    <div
      className={`log-row ${row.line === marked ? 'marked' : ''} ${row.line === shown ? 'current' : ''} ${log.cuts.includes(row.line) ? 'dropped' : ''}`}
    >
      <a
        href={`#L${number}`}
        className="log-number"
        aria-label={`Link to line ${number}`}
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
      <span className={entry.source === 'build' ? 'log-text' : 'log-text own'} dir="ltr">
        <LineText line={entry} typed={query} />
      </span>
    </div>
  );
};

/** A line of the log, or the head of a step. */
export const LogRow = memo(AnyRow);

const STEP_TONES: Record<Step['outcome'], Tone> = {
  open: 'busy',
  done: 'ok',
  cached: 'ok',
  failed: 'bad',
  stopped: 'warn',
};

const StepRow = ({ step, log, onFold }: { step: Step; log: LogModel; onFold: (step: Step) => void }) => {
  const size = step.to - step.from;
  return (
    <button
      type="button"
      className={`log-step ${step.kind} ${step.outcome === 'failed' ? 'failed' : ''}`}
      aria-expanded={size === 0 ? undefined : !step.folded}
      disabled={size === 0}
      onClick={() => onFold(step)}
    >
      <span className={step.folded ? 'turn' : 'turn open'}>{size > 0 && <Icon name="right" size={12} />}</span>
      {step.kind === 'step' && <Glyph tone={STEP_TONES[step.outcome]} size={8} />}
      <span className="cut">{step.title}</span>
      <span className="said">{step.said.replace('CACHED', 'from cache')}</span>
      {log.cuts.some((line) => line >= step.from && line < step.to) && <span className="said dropped">output cut</span>}
      {step.folded && <span className="said">{size} lines</span>}
    </button>
  );
};
