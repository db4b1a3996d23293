import type { Event } from '#modules/events';
import { bytes, capitalised, duration } from '../ui/format.ts';
import type { Tone } from '../ui/status.tsx';

/** Kinds by what they are about. The server's list is longer than this page may know: those go by their first word. */
export const GROUPS = [
  'deploy',
  'service',
  'replica',
  'env',
  'datastore',
  'backup',
  'repo',
  'token',
  'session',
  'project',
  'query',
  'tunnel',
];

/** What an event means, by how its kind ends. */
export const toneOf = (kind: Event['kind']): Tone => {
  if (/(?:failed|oom_killed|crash_loop|data_missing)$/.test(kind)) return 'bad';
  if (/(?:exited|rolled_back|read_only|canceled|deleted|revoked)$/.test(kind)) return 'warn';
  if (/(?:succeeded|ready|verified|created|writable)$/.test(kind)) return 'ok';
  return 'idle';
};

/** `deploy.rolled_back` → `Deploy rolled back`. */
export const nameOf = (kind: string): string => {
  const words = kind.replace('.', ' ').replaceAll('_', ' ');
  return capitalised(words);
};

const SUBJECTS = ['service', 'datastore', 'repo', 'name', 'principal', 'token', 'token_id'];
/** Or told by what is linked. */
const SHOWN_ELSEWHERE = new Set([
  'service',
  'datastore',
  'repo',
  'name',
  'principal',
  'operation_id',
  'digest',
  'service_url',
]);

/** What it happened to, as far as the event says. */
export const subjectOf = ({ data }: Pick<Event, 'data'>): string =>
  SUBJECTS.map((key) => data[key]).find((value): value is string => typeof value === 'string') ?? '';

/** What else the event says, in words; a flag that is not set says nothing. */
export const detailsOf = ({ data }: Pick<Event, 'data'>): [name: string, value: string][] =>
  Object.entries(data)
    .filter(
      ([key, value]) =>
        !SHOWN_ELSEWHERE.has(key) && value !== null && value !== false && value !== '' && value !== subjectOf({ data }),
    )
    .map(([key, value]) =>
      key.endsWith('_bytes') && typeof value === 'number'
        ? [nameOfField(key.slice(0, -'_bytes'.length)), bytes(value)]
        : key.endsWith('_ms') && typeof value === 'number'
          ? [nameOfField(key.slice(0, -'_ms'.length)), duration(value)]
          : [nameOfField(key), textOf(value)],
    );

/** Runs of what the same actor did to the same thing, by the first of each. */
export const folded = (events: readonly Event[]): { event: Event; times: number }[] => {
  const runs: { event: Event; times: number }[] = [];
  for (const event of events) {
    const last = runs.at(-1);
    if (last !== undefined && isAlike(last.event, event)) last.times += 1;
    else runs.push({ event, times: 1 });
  }
  return runs;
};

const isAlike = (one: Event, other: Event): boolean =>
  one.kind === other.kind && one.actor === other.actor && subjectOf(one) === subjectOf(other);

const nameOfField = (key: string): string => key.replaceAll('_', ' ');

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(', ');
  return JSON.stringify(value);
};
