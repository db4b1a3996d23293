import type { Operation, Phase } from '#modules/operations';
import { duration } from '../ui/format.ts';
import { Glyph, type Tone } from '../ui/status.tsx';
import { useNow } from '../ui/time.tsx';
import { PHASE_NAMES } from './kinds.ts';
import type { PhaseMark } from './use-operation.ts';

const LAST = new Set(['healthy', 'rolled_back', 'failed', 'ready']);
/** What a deploy goes through, to show what is still to come. */
const DEPLOY = ['queued', 'building', 'pushing', 'rolling_out', 'healthy'] as const;

interface TimelineProps {
  operation: Operation;
  phases: readonly PhaseMark[];
  /** How long each phase of the deploy before took. */
  before?: ReadonlyMap<Phase, number> | undefined;
}

interface Stage {
  phase: PhaseMark['phase'];
  tone: Tone;
  ms: number | undefined;
  message: string;
}

/** Phases as they follow each other, each as long as it took. */
export const Timeline = ({ operation, phases, before }: TimelineProps) => {
  const now = useNow();
  const stages = stagesOf(operation, phases, now);
  const total = stages.reduce((sum, { ms = 0 }) => sum + ms, 0);
  return (
    <ol className="timeline" aria-label="Phases">
      {stages.map(({ phase, tone, ms, message }, index) => (
        <li
          // A phase can come again, after a restart.
          // oxlint-disable-next-line react/no-array-index-key
          key={`${phase}-${index}`}
          className={`stage ${tone}`}
          style={{ flexGrow: 1 + (total === 0 ? 0 : ((ms ?? 0) / total) * 5) }}
          aria-current={tone === 'busy' ? 'step' : undefined}
        >
          <span className="bar" />
          <span className="row">
            <Glyph tone={tone} />
            <strong>{PHASE_NAMES[phase]}</strong>
            {ms !== undefined && <span className="quiet small nowrap">{duration(ms)}</span>}
          </span>
          {ms !== undefined && <Beside ms={ms} before={before?.get(phase)} />}
          {tone === 'busy' && message !== '' && <span className="message small quiet">{message}</span>}
        </li>
      ))}
    </ol>
  );
};

/** How long the same phase took before. */
const Beside = ({ ms, before }: { ms: number; before: number | undefined }) => {
  const text = besideText(ms, before);
  return text === '' ? null : <span className="beside small">{text}</span>;
};

/** Differences below this say nothing. */
const SAME_MS = 100;
const SAME_SHARE = 0.05;

export const besideText = (ms: number, before: number | undefined): string => {
  if (before === undefined || (ms < SAME_MS && before < SAME_MS)) return '';
  if (Math.abs(ms - before) <= Math.max(SAME_MS, before * SAME_SHARE)) return 'as before';
  return `${duration(before)} before`;
};

export const stagesOf = (operation: Operation, phases: readonly PhaseMark[], now: number): Stage[] => {
  const marks = merged(phases);
  const end = operation.finished_at === null ? now : Date.parse(operation.finished_at);
  const stages = marks.map(({ phase, ts, message }, index): Stage => {
    const next = marks[index + 1];
    if (LAST.has(phase)) return { phase, tone: toneOfEnd(phase), ms: undefined, message };
    const ms = (next === undefined ? end : Date.parse(next.ts)) - Date.parse(ts);
    const running = next === undefined && operation.finished_at === null;
    return { phase, tone: running ? 'busy' : 'ok', ms: Math.max(0, ms), message };
  });
  const failed = stages.findIndex(({ tone }) => tone === 'bad');
  const cause = stages[failed - 1];
  if (cause !== undefined) cause.tone = 'bad';
  return [...stages, ...toCome(operation, stages)];
};

/** A phase that is told again with another message goes on. */
const merged = (phases: readonly PhaseMark[]): PhaseMark[] => {
  const marks: PhaseMark[] = [];
  for (const mark of phases) {
    const before = marks.at(-1);
    if (before?.phase === mark.phase) marks[marks.length - 1] = { ...before, message: mark.message };
    else marks.push(mark);
  }
  return marks;
};

const toneOfEnd = (phase: PhaseMark['phase']): Tone => (phase === 'healthy' || phase === 'ready' ? 'ok' : 'bad');

const toCome = ({ kind, finished_at: finished }: Operation, stages: readonly Stage[]): Stage[] => {
  if (kind !== 'deploy' || finished !== null) return [];
  const reached = Math.max(-1, ...stages.map(({ phase }) => DEPLOY.findIndex((each) => each === phase)));
  return DEPLOY.slice(reached + 1).map((phase) => ({ phase, tone: 'none', ms: undefined, message: '' }));
};
