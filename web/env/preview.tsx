import { Badge, type Tone } from '../ui/status.tsx';
import { describeRestarts } from './announce.ts';
import type { EnvPlan, Fate } from './changes.ts';

const TONES: Record<Fate, Tone> = { new: 'ok', replaced: 'busy', unchanged: 'idle', unset: 'bad' };

/** What a change would do, name by name, and what restarts for it. */
export const Preview = ({ plan: { names, restarts } }: { plan: EnvPlan }) => (
  <>
    <ul className="plan env-plan" aria-label="What changes" tabIndex={0}>
      {names.map(({ name, fate }) => (
        <li key={name}>
          <span>
            <Badge tone={TONES[fate]}>{fate}</Badge>
          </span>
          <code className="env-name">{name}</code>
        </li>
      ))}
    </ul>
    <p>{describeRestarts(restarts)}</p>
  </>
);

export const changesAnything = ({ names }: EnvPlan): boolean => names.some(({ fate }) => fate !== 'unchanged');
