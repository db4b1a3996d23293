import type { Capability } from '#kernel/scope';
import type { BrowserSession } from '#modules/sessions';
import type { Token, UpdateToken } from '#modules/tokens';

/** What each capability lets its bearer do, in the order of the picker. */
export const CAPABILITIES: readonly (readonly [name: Capability, what: string])[] = [
  ['read', 'See services, releases, logs, events and usage'],
  ['deploy', 'Deploy, roll back, restart and delete services'],
  ['scale', 'Change replicas and limits'],
  ['manage_env', 'Set and unset environment variables'],
  ['manage_repos', 'Push to repositories, which may deploy; change them'],
  ['manage_datastores', 'Create, restore and delete datastores, open tunnels'],
  ['query_datastores', 'Query data; write it too with manage_datastores'],
  ['manage_projects', 'Create and delete projects'],
  ['manage_tokens', 'Mint tokens, never beyond its own rights'],
  ['admin', 'Everything, and run the server'],
];

type Rights = Pick<BrowserSession, 'capabilities' | 'projects' | 'token_expires_at'>;

/** What a token may hand on: no token reaches beyond the one that made it. */
export const grantable = ({ capabilities }: Rights): Capability[] =>
  CAPABILITIES.map(([name]) => name).filter((name) => capabilities.includes('admin') || capabilities.includes(name));

export const mayGrantAll = ({ projects }: Rights): boolean => projects.includes('*');

export type Lifetime = '7' | '30' | '90' | '365' | 'never' | 'limit' | 'date';

const DAY_MS = 86_400_000;
const LABELS: Record<Lifetime, string> = {
  '7': '7 days',
  '30': '30 days',
  '90': '90 days',
  '365': '1 year',
  never: 'Never',
  limit: 'When yours does',
  date: 'On a date…',
};

/** The lifetimes that fit within the caller's own. */
export const lifetimes = ({ token_expires_at: limit }: Rights, now: number): { value: Lifetime; label: string }[] =>
  (Object.keys(LABELS) as Lifetime[])
    .filter((each) => {
      if (each === 'date') return true;
      if (limit === null) return each !== 'limit';
      if (each === 'limit') return true;
      return each !== 'never' && now + Number(each) * DAY_MS <= Date.parse(limit);
    })
    .sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))
    .map((value) => ({ value, label: LABELS[value] }));

const ORDER: readonly Lifetime[] = ['7', '30', '90', '365', 'never', 'limit', 'date'];

export interface Expires {
  lifetime: Lifetime;
  /** As a date input has it. */
  date: string;
}

interface Around {
  now: number;
  /** When the caller's own token expires. */
  limit: string | null;
}

/** As the API takes it; a date means its end, as the browser's clock has it, or that day's moment when the caller's own ends. */
export const expiryOf = ({ lifetime, date }: Expires, { now, limit }: Around): string | null => {
  if (lifetime === 'never') return null;
  if (lifetime === 'limit') return limit;
  if (lifetime !== 'date') return new Date(now + Number(lifetime) * DAY_MS).toISOString();
  const end = new Date(`${date}T23:59:59`);
  return limit !== null && dayOf(end.getTime()) === dayOf(Date.parse(limit)) ? limit : end.toISOString();
};

/** As a date input has it, by the browser's clock. */
export const dayOf = (time: number): string => {
  const at = new Date(time);
  return [
    String(at.getFullYear()).padStart(4, '0'),
    String(at.getMonth() + 1).padStart(2, '0'),
    String(at.getDate()).padStart(2, '0'),
  ].join('-');
};

type Granted = Pick<Token, 'capabilities' | 'projects'>;

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((each) => b.includes(each));

/** What differs, as the API takes it; `expires_at` undefined leaves the expiry as it is. */
export const tokenChanges = (
  before: Granted,
  after: Granted & { expires_at: string | null | undefined },
): UpdateToken => ({
  ...(!sameSet(before.capabilities, after.capabilities) && { capabilities: after.capabilities }),
  ...(!sameSet(before.projects, after.projects) && { projects: after.projects }),
  ...(after.expires_at !== undefined && { expires_at: after.expires_at }),
});
