import { Link } from 'wouter';
import { useBrowserLocation } from 'wouter/use-browser-location';
import { useSummaries } from '../data/follow.ts';
import { findLocation, to } from '../locations.ts';
import { isThere, preload } from '../routes.tsx';
import { useMay } from '../session/session.ts';
import { Icon, Mark } from '../ui/icons.tsx';
import { Kbd } from '../ui/layout.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { Account } from './account.tsx';
import { Connection } from './connection.tsx';
import { isOffered, PROJECT_PLACES, projectPlace, SERVER_PLACES, type Place } from './places.ts';
import { PALETTE_KEYS } from './shortcuts.ts';

interface SidebarProps {
  project: string | undefined;
  onPalette: () => void;
}

export const Sidebar = ({ project, onPalette }: SidebarProps) => (
  <>
    <div className="side-head">
      <Link href={to('home')} className="row brand">
        <Mark />
        <span>berth</span>
      </Link>
      <span className="grow" />
      <Connection />
    </div>
    <button type="button" className="jump" onClick={onPalette}>
      <Icon name="search" />
      <span className="grow">Search or jump</span>
      <Kbd>{PALETTE_KEYS}</Kbd>
    </button>
    <ProjectSwitcher project={project} />
    <nav aria-label="Main" className="side-nav">
      {project !== undefined && <ProjectLinks project={project} />}
      <ServerLinks />
    </nav>
    <div className="side-foot">
      <Account />
    </div>
  </>
);

const ProjectSwitcher = ({ project }: { project: string | undefined }) => {
  const may = useMay();
  const projects = useSummaries() ?? [];
  const items: MenuItem[] = [
    { kind: 'label', label: 'Projects' },
    ...projects.map(({ name }): MenuItem => ({
      kind: 'link',
      label: name,
      icon: name === project ? 'check' : 'projects',
      to: to('project', { project: name }),
    })),
    { kind: 'rule' },
    { kind: 'link', label: 'All projects', icon: 'anchor', to: to('home') },
    ...(may('manage_projects')
      ? [{ kind: 'link', label: 'New project', icon: 'plus', to: `${to('home')}?do=new` } as const]
      : []),
  ];
  return (
    <Menu
      items={items}
      trigger={(props) => (
        <button type="button" className="switcher" {...props}>
          <Icon name="projects" />
          <span className="grow cut">{project ?? 'All projects'}</span>
          <span className="sr-only">, switch project</span>
          <Icon name="updown" />
        </button>
      )}
    />
  );
};

interface Entry extends Pick<Place, 'name' | 'label' | 'icon' | 'also'> {
  href: string;
}

const ProjectLinks = ({ project }: { project: string }) => (
  <NavList
    label="Project"
    entries={PROJECT_PLACES.map((place) => ({ ...place, href: projectPlace(place, project) }))}
  />
);

const ServerLinks = () => {
  const may = useMay();
  return (
    <NavList
      label="Server"
      entries={SERVER_PLACES.filter((place) => isOffered(place, may)).map((place) => ({
        ...place,
        href: to(place.name),
      }))}
    />
  );
};

const NavList = ({ label, entries }: { label: string; entries: readonly Entry[] }) => {
  const [path] = useBrowserLocation();
  const here = findLocation(path)?.name;
  return (
    <>
      <h2 className="nav-label">{label}</h2>
      <ul>
        {entries
          .filter(({ name }) => isThere(name))
          .map(({ name, label, icon, href, also = [] }) => (
            <li key={name}>
              <Link
                href={href}
                className="nav-link"
                aria-current={here === name ? 'page' : here !== undefined && also.includes(here) ? 'true' : undefined}
                onPointerEnter={() => preload(name)}
                onFocus={() => preload(name)}
              >
                <Icon name={icon} />
                {label}
              </Link>
            </li>
          ))}
      </ul>
    </>
  );
};
