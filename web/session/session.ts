import { queryOptions, useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { navigate } from 'wouter/use-browser-location';
import type { Capability } from '#kernel/scope';
import type { BrowserSession } from '#modules/sessions';
import { asApiError, at, call, whenRefused, whenSignedOut } from '../api.ts';
import { queries } from '../data/client.ts';
import { stopLive, whenOpened } from '../live.ts';
import { to } from '../locations.ts';

/**
 * Whether somebody has signed in with this browser: no secret, only what keeps the page from asking for a session where
 * there can be none. The session itself is a cookie that no script sees.
 */
const HINT = 'berth.signed-in';

const sessionRead = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<BrowserSession | null> => {
    if (localStorage.getItem(HINT) === null) return null;
    try {
      const session = await call<BrowserSession>('GET', at('session'), { signal });
      forgetIfOthers(session);
      return session;
    } catch (thrown) {
      if (asApiError(thrown).status === 401) return null;
      throw thrown;
    }
  },
  // Rights can change under an open page.
  refetchInterval: 60_000,
});

/** What was read with other rights may not be shown any more; what lives by events follows them by itself. */
const forgetIfOthers = (session: BrowserSession): void => {
  const before = queries.getQueryData(sessionRead.queryKey);
  if (before === undefined || before === null || rightsOf(before) === rightsOf(session)) return;
  void queries.resetQueries({ predicate: ({ queryKey }) => !['session', 'summaries'].includes(String(queryKey[0])) });
};

const rightsOf = ({ capabilities, projects }: BrowserSession): string => JSON.stringify([capabilities, projects]);

/** Who is signed in; `data` is null for nobody. */
export const useSessionRead = () => useQuery(sessionRead);

/** Given by the entrance to all that lies behind it: it can't end under those who use it. */
export const SessionContext = createContext<BrowserSession | null>(null);

/** Who is signed in, for what is only there then. */
export const useSession = (): BrowserSession => {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('nobody is signed in');
  return session;
};

whenSignedOut(() => {
  stopLive();
  if (queries.getQueryData(sessionRead.queryKey) !== undefined) queries.setQueryData(sessionRead.queryKey, null);
});

/** Tabs of one browser share its session: who signs in or out in one does so in all. */
export const watchTabs = (): void =>
  window.addEventListener('storage', ({ key }) => {
    if (key === HINT) readAnew();
  });

const readAnew = (): void => void queries.invalidateQueries({ queryKey: sessionRead.queryKey });

whenRefused(readAnew);
whenOpened(readAnew);

export const signIn = async (token: string): Promise<void> => {
  const session = await call<BrowserSession>('POST', at('session'), { json: { token } });
  know(session);
};

/** What was read as somebody else is forgotten. The session's own query stays, since those who look at it hold on to it. */
const know = (session: BrowserSession | null): void => {
  if (session === null) localStorage.removeItem(HINT);
  else localStorage.setItem(HINT, String(Date.now()));
  queries.setQueryData(sessionRead.queryKey, session);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
};

/** Ends this browser's session, or all of this token's. */
export const signOut = async (everywhere: boolean): Promise<void> => {
  try {
    await call('DELETE', at(everywhere ? 'sessions' : 'session'));
  } catch (thrown) {
    // It had ended already.
    if (asApiError(thrown).status !== 401) throw thrown;
  }
  stopLive();
  know(null);
  // Who leaves on purpose is not led back to where they were.
  navigate(to('signIn'), { replace: true });
};

export const holds = ({ capabilities }: Pick<BrowserSession, 'capabilities'>, capability: Capability): boolean =>
  capabilities.includes('admin') || capabilities.includes(capability);

/** Whether the token may do something: what it may not do is not shown. The server decides all the same. */
export const useMay = (): ((capability: Capability) => boolean) => {
  const session = useSession();
  return (capability) => holds(session, capability);
};

/** A path of this page to come back to; anything else is the start. */
export const safePath = (path: string | null): string =>
  path !== null && /^\/(?![/\\])/.test(path) && !path.startsWith('/sign-in') ? path : '/';
