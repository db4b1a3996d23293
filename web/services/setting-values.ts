import type { Service, Settings } from '#modules/services';

export interface Setting {
  key: 'health_path' | 'health_timeout_seconds' | 'drain_seconds' | 'memory_mb' | 'cpus';
  label: string;
  hint: string;
  /** What is wrong with the text; undefined when it will do. */
  check: (text: string) => string | undefined;
}

const number =
  (from: number, to: number, whole = true) =>
  (text: string): string | undefined => {
    const value = Number(text);
    const fits = text.trim() !== '' && value >= from && value <= to && (!whole || Number.isInteger(value));
    return fits ? undefined : `a ${whole ? 'whole ' : ''}number from ${from} to ${to}`;
  };

/** In the order of the form. */
export const SETTINGS: readonly Setting[] = [
  {
    key: 'health_path',
    label: 'Health path',
    hint: 'Must answer 2xx or 3xx before a release takes traffic. Empty: it only has to accept connections.',
    check: (text) =>
      text === '' || /^\/[\x21-\x7e]{0,255}$/.test(text) ? undefined : 'a path that begins with /, without spaces',
  },
  {
    key: 'health_timeout_seconds',
    label: 'Health timeout, in seconds',
    hint: 'How long a new replica may take.',
    check: number(1, 600),
  },
  {
    key: 'drain_seconds',
    label: 'Drain, in seconds',
    hint: 'How long requests under way have to end.',
    check: number(0, 300),
  },
  {
    key: 'memory_mb',
    label: 'Memory of a replica, in MiB',
    hint: 'Beyond it the replica is killed and started anew.',
    check: number(16, 1_048_576),
  },
  {
    key: 'cpus',
    label: 'CPU of a replica, in cores',
    hint: 'Parts of a core too: 0.5.',
    check: number(0.05, 256, false),
  },
];

export type SettingKey = Setting['key'] | 'protocol';
export type Values = Record<SettingKey, string>;

/** The settings of a service as texts of a form. */
export const valuesOf = (service: Service): Values => ({
  health_path: service.health_path ?? '',
  health_timeout_seconds: String(service.health_timeout_seconds),
  drain_seconds: String(service.drain_seconds),
  memory_mb: String(service.memory_mb),
  cpus: String(service.cpus),
  protocol: service.protocol,
});

/** What was typed, and what stood there when it was. */
export type Edits = Partial<Record<SettingKey, { typed: string; from: string }>>;

/** An edit keeps what it began from, whatever happens to the service meanwhile. */
export const withEdit = (edits: Edits, key: SettingKey, typed: string, current: Values): Edits => ({
  ...edits,
  [key]: { typed, from: edits[key]?.from ?? current[key] },
});

export const typedOver = (current: Values, edits: Edits): Values => {
  const values = { ...current };
  for (const [key, edit] of Object.entries(edits) as [SettingKey, { typed: string }][]) values[key] = edit.typed;
  return values;
};

/** What to send: only what is to be another value than the service has now. */
export const changesOf = (current: Values, now: Values): Settings => {
  const settings: Record<string, unknown> = {};
  for (const key of Object.keys(now) as SettingKey[]) {
    if (now[key] === current[key]) continue;
    if (key === 'protocol') settings[key] = now[key];
    else if (key === 'health_path') settings[key] = now[key] === '' ? null : now[key];
    else settings[key] = Number(now[key]);
  }
  return settings;
};

/** Settings that somebody else gave another value while they were edited here. */
export const conflictsOf = (current: Values, edits: Edits): SettingKey[] =>
  (Object.keys(edits) as SettingKey[]).filter((key) => {
    const edit = edits[key];
    return edit !== undefined && edit.from !== current[key] && edit.typed !== current[key];
  });
