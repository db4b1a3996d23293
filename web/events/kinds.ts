import type { Event } from '#modules/events';
import { bytes } from '../ui/format.ts';
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
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
};

const SUBJECTS = ['service', 'datastore', 'repo', 'name', 'token', 'token_id'];
/** Or told by what is linked. */
const SHOWN_ELSEWHERE = new Set([...SUBJECTS, 'operation_id', 'digest', 'service_url']);

/** What it happened to, as far as the event says. */
export const subjectOf = ({ data }: Pick<Event, 'data'>): string =>
  SUBJECTS.map((key) => data[key]).find((value): value is string => typeof value === 'string') ?? '';

/** What else the event says, in words. */
export const detailsOf = ({ data }: Pick<Event, 'data'>): [name: string, value: string][] =>
  Object.entries(data)
    .filter(([key, value]) => !SHOWN_ELSEWHERE.has(key) && value !== null && value !== '')
    .map(([key, value]) =>
      key.endsWith('_bytes') && typeof value === 'number'
        ? [nameOfField(key.slice(0, -'_bytes'.length)), bytes(value)]
        : [nameOfField(key), textOf(value)],
    );

const nameOfField = (key: string): string => key.replaceAll('_', ' ');

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(', ');
  return JSON.stringify(value);
};
