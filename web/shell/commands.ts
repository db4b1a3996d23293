import type { Capability } from '#kernel/scope';
import type { ProjectSummary } from '#modules/live';
import { to } from '../locations.ts';
import { SERVICE_ACTIONS } from '../services/service-actions.ts';
import { SERVICE_TABS } from '../services/tabs.ts';
import type { IconName } from '../ui/icons.tsx';
import { leave } from './leave.ts';
import { isOffered, PROJECT_PLACES, projectPlace, SERVER_PLACES } from './places.ts';
import { setTheme } from './theme.ts';

export interface Command {
  id: string;
  label: string;
  /** What kind of thing it is, and in what. */
  where: string;
  icon: IconName;
  to?: string;
  run?: () => void;
}

export interface CommandSource {
  project: string | undefined;
  projects: readonly ProjectSummary[];
  may: (capability: Capability) => boolean;
}

/** Everything that the palette offers: nearest first. */
export const commandsOf = (source: CommandSource): Command[] => {
  const { project, projects, may } = source;
  const near = [...projects].sort((a, b) => Number(b.name === project) - Number(a.name === project));
  return [
    ...near.flatMap((each) => placesOf(each, may)),
    ...near.map(({ name }) => link(name, 'project', 'projects', to('project', { project: name }))),
    ...near.flatMap((tree) => projectPlaces(tree.name)),
    ...actions(source),
  ].filter((command) => command.run !== undefined || command.to !== undefined);
};

const link = (label: string, where: string, icon: IconName, to: string): Command => ({
  id: `${label} ${to}`,
  label,
  where,
  icon,
  to,
});

const placesOf = ({ name: project, services, datastores }: ProjectSummary, may: CommandSource['may']): Command[] => [
  ...services.map(({ name: service }) =>
    link(service, `service in ${project}`, 'service', to('service', { project, service })),
  ),
  ...services.flatMap((each) => servicePlaces(project, each, may)),
  ...datastores.flatMap(({ name: datastore }) => [
    link(datastore, `datastore in ${project}`, 'datastore', to('datastore', { project, datastore })),
    ...['data', 'console', 'backups'].map((tab) =>
      link(`${datastore}: ${tab}`, project, 'datastore', to('datastoreTab', { project, datastore, tab })),
    ),
  ]),
];

/** The pages of a service, and what can be done to it, by the address of its dialog. */
const servicePlaces = (
  project: string,
  service: ProjectSummary['services'][number],
  may: CommandSource['may'],
): Command[] => {
  const path = { project, service: service.name };
  return [
    ...SERVICE_TABS.filter(({ name }) => name !== 'service').map(({ name, label, icon }) =>
      link(`${label} of ${service.name}`, project, icon, to(name, path)),
    ),
    ...SERVICE_ACTIONS.filter(({ capability, fits }) => may(capability) && fits(service)).map(({ name, label, icon }) =>
      link(`${label}: ${service.name}`, project, icon, `${to('service', path)}?do=${name}`),
    ),
  ];
};

const projectPlaces = (project: string): Command[] =>
  PROJECT_PLACES.filter(({ name }) => name !== 'project').map((place) =>
    link(place.label, project, place.icon, projectPlace(place, project)),
  );

const actions = ({ project, may }: CommandSource): Command[] => [
  ...(may('deploy')
    ? [
        link(
          'Deploy something new',
          'action',
          'deploy',
          project === undefined ? to('start') : to('newService', { project }),
        ),
      ]
    : []),
  ...(may('manage_projects') ? [link('New project', 'action', 'plus', `${to('home')}?do=new`)] : []),
  ...SERVER_PLACES.filter((place) => isOffered(place, may)).map(({ name, label, icon }) =>
    link(name === 'home' ? 'All projects' : label, 'server', icon, to(name)),
  ),
  ...(may('admin')
    ? ['capacity', 'versions', 'audit'].map((tab) => link(`Admin: ${tab}`, 'server', 'admin', to('adminTab', { tab })))
    : []),
  { id: 'theme light', label: 'Light theme', where: 'theme', icon: 'sun', run: () => setTheme('light') },
  { id: 'theme dark', label: 'Dark theme', where: 'theme', icon: 'moon', run: () => setTheme('dark') },
  { id: 'theme auto', label: 'Theme as the system', where: 'theme', icon: 'auto', run: () => setTheme('auto') },
  { id: 'sign out', label: 'Sign out', where: 'session', icon: 'external', run: () => leave(false) },
  {
    id: 'sign out everywhere',
    label: 'Sign out everywhere',
    where: 'session',
    icon: 'external',
    run: () => leave(true),
  },
];

/** What somebody pastes from a log or a message. */
export const idCommands = (typed: string): Command[] => {
  const [id] = /^op_[0-9a-z]{1,40}$/.exec(typed.trim()) ?? [];
  return id === undefined ? [] : [link(id, 'operation', 'operations', to('operation', { operation: id }))];
};

/** Those that fit the letters typed, the best first: whole words, beginnings of words, then letters in order. */
export const rank = (commands: readonly Command[], typed: string): Command[] => {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...commands];
  return commands
    .map((command, index) => ({
      command,
      index,
      score: scoreOf(`${command.label} ${command.where}`.toLowerCase(), words),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map(({ command }) => command);
};

const scoreOf = (text: string, words: readonly string[]): number => {
  let total = 0;
  for (const word of words) {
    const score = wordScore(text, word);
    if (score === 0) return 0;
    total += score;
  }
  // The shorter the name, the more of it was typed.
  return total - text.length / 1000;
};

const wordScore = (text: string, word: string): number => {
  const at = text.indexOf(word);
  if (at === 0) return 10;
  if (at > 0) return /[\s/-]/.test(text[at - 1] ?? '') ? 8 : 5;
  return isSubsequence(text, word) ? 1 : 0;
};

const isSubsequence = (text: string, letters: string): boolean => {
  let from = 0;
  for (const letter of letters) {
    const at = text.indexOf(letter, from);
    if (at === -1) return false;
    from = at + 1;
  }
  return true;
};
