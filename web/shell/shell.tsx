import { useQuery } from '@tanstack/react-query';
import { Suspense, lazy, useEffect, useState, type ReactNode } from 'react';
import { useBrowserLocation } from 'wouter/use-browser-location';
import { useProjectsLive } from '../data/follow.ts';
import { operationRead } from '../data/reads.ts';
import { findLocation, to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { IconButton } from '../ui/button.tsx';
import { useModal } from '../ui/dialog.tsx';
import { Mark } from '../ui/icons.tsx';
import { Connection } from './connection.tsx';
import { jumpsFrom } from './places.ts';
import { usePaletteKey, useShortcuts } from './shortcuts.ts';
import { Sidebar } from './sidebar.tsx';

const Palette = lazy(() => import('./palette.tsx'));
const ShortcutHelp = lazy(() => import('./shortcut-help.tsx'));

/** What is around every page: navigation, connection, palette. */
export const Shell = ({ children }: { children: ReactNode }) => {
  const [path, navigate] = useBrowserLocation();
  const [open, setOpen] = useState<'palette' | 'help' | 'drawer'>();
  const project = useProject(path);
  const may = useMay();
  usePaletteKey(() => setOpen(open === 'palette' ? undefined : 'palette'));
  useShortcuts({
    '/': () => setOpen('palette'),
    '?': () => setOpen('help'),
    ...(may('deploy') && { n: () => navigate(project === undefined ? to('start') : to('newService', { project })) }),
    ...Object.fromEntries(
      Object.entries(jumpsFrom(project, may)).map(([keys, place]) => [keys, () => navigate(place)]),
    ),
  });
  // A drawer leads somewhere: once there, it is in the way.
  useEffect(() => setOpen((before) => (before === 'drawer' ? undefined : before)), [path]);
  useProjectsLive(may('read'));
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <IconButton icon="menu" label="Menu" onClick={() => setOpen('drawer')} />
        <a className="row brand" href={to('home')}>
          <Mark />
          <span>berth</span>
        </a>
        <span className="grow" />
        <Connection brief />
        <IconButton icon="search" label="Search or jump" onClick={() => setOpen('palette')} />
      </header>
      <aside className="side">
        <Sidebar project={project} onPalette={() => setOpen('palette')} />
      </aside>
      {open === 'drawer' && (
        <Drawer onClose={() => setOpen(undefined)}>
          <Sidebar project={project} onPalette={() => setOpen('palette')} />
        </Drawer>
      )}
      <main id="main" className="main" tabIndex={-1}>
        {children}
      </main>
      <Suspense fallback={null}>
        {open === 'palette' && (
          <Palette project={project} onClose={() => setOpen(undefined)} onHelp={() => setOpen('help')} />
        )}
        {open === 'help' && <ShortcutHelp onClose={() => setOpen(undefined)} />}
      </Suspense>
    </div>
  );
};

/** The project that a place belongs to; an operation says its own. */
const useProject = (path: string): string | undefined => {
  const { project, operation } = findLocation(path)?.params ?? {};
  const { data } = useQuery({ ...operationRead(operation ?? ''), enabled: operation !== undefined });
  return project ?? (operation === undefined ? undefined : data?.project);
};

const Drawer = ({ onClose, children }: { onClose: () => void; children: ReactNode }) => {
  const ref = useModal(onClose);
  return (
    <dialog ref={ref} className="drawer" aria-label="Menu">
      {children}
    </dialog>
  );
};
