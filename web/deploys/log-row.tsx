import { parseAnsi } from '../ui/ansi.ts';
import { clockTime } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { Glyph, type Tone } from '../ui/status.tsx';
import type { LogEntry, LogModel, Row, Step } from './log-model.ts';

interface LogRowProps {
  row: Row | undefined;
  log: LogModel;
  query: string;
  marked: number | undefined;
  onMark: (line: number) => void;
  onFold: (step: Step) => void;
}

/** A line of the log, or the head of a step. */
export const LogRow = ({ row, log, query, marked, onMark, onFold }: LogRowProps) => {
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
