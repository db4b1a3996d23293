import { Suspense, useEffect, useRef } from 'react';
import { Redirect } from 'wouter';
import { useBrowserLocation } from 'wouter/use-browser-location';
import { findLocation, to } from '../locations.ts';
import { pageOf } from '../routes.tsx';
import { SessionContext, useSessionRead } from '../session/session.ts';
import { ErrorCard } from '../ui/error-card.tsx';
import { Mark } from '../ui/icons.tsx';
import { SkeletonLines } from '../ui/layout.tsx';
import { Toasts } from '../ui/toast.tsx';
import { Boundary } from './boundary.tsx';
import { NoSuchPlace, NotThereYet } from './nowhere.tsx';
import { Shell } from './shell.tsx';

export const App = () => (
  <>
    <Entrance />
    <Toasts />
  </>
);

/** Lets in who is signed in, and brings others to the door and back. */
const Entrance = () => {
  const [path] = useBrowserLocation();
  const { data: session, error, refetch } = useSessionRead();
  const wasIn = useRef(false);
  if (session !== null && session !== undefined) wasIn.current = true;
  if (findLocation(path)?.name === 'signIn') return <Place path={path} />;
  if (session === undefined && error !== null) {
    return (
      <main className="sign-in">
        <ErrorCard error={error} onRetry={() => void refetch()} />
      </main>
    );
  }
  if (session === undefined) return <Splash />;
  if (session === null) {
    const next = `${path}${location.search}${location.hash}`;
    const query = new URLSearchParams({ ...(next !== '/' && { next }), ...(wasIn.current && { ended: '1' }) });
    return <Redirect to={`${to('signIn')}${query.size === 0 ? '' : `?${query.toString()}`}`} replace />;
  }
  return (
    <SessionContext value={session}>
      <Shell>
        <Place path={path} />
      </Shell>
    </SessionContext>
  );
};

const Splash = () => (
  <main className="splash" aria-busy="true">
    <Mark size={36} />
    <span className="sr-only">Loading</span>
  </main>
);

const Place = ({ path }: { path: string }) => {
  const match = findLocation(path);
  useArrival(path);
  if (match === undefined) return <NoSuchPlace />;
  const Page = pageOf(match.name);
  if (Page === undefined) return <NotThereYet name={match.name} params={match.params} />;
  return (
    <Boundary place={path}>
      <Suspense fallback={<SkeletonLines lines={4} />}>
        <Page key={JSON.stringify(match.params)} {...match.params} />
      </Suspense>
    </Boundary>
  );
};

/** A new place begins at its top, and is told to who can't see it; going back returns to where one was. */
const useArrival = (path: string): void => {
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    if (location.hash === '') scrollTo(0, 0);
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }, [path]);
};
