import type { Capability } from '#kernel/scope';
import type { ProjectSummary } from '#modules/live';
import { LOCATIONS, to, type LocationName } from '../locations.ts';
import { isThere } from '../routes.tsx';
import type { IconName } from '../ui/icons.tsx';
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
  const { project, projects } = source;
  const near = [...projects].sort((a, b) => Number(b.name === project) - Number(a.name === project));
  return [
    ...near.flatMap(placesOf),
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

const placesOf = ({ name: project, services, datastores }: ProjectSummary): Command[] => [
  ...services.map(({ name: service }) =>
    link(service, `service in ${project}`, 'service', to('service', { project, service })),
  ),
  ...(isThere('logs')
    ? services.map(({ name: service }) => link(`Logs of ${service}`, project, 'logs', to('logs', { project, service })))
    : []),
  ...(isThere('datastore')
    ? datastores.map(({ name: datastore }) =>
        link(datastore, `datastore in ${project}`, 'datastore', to('datastore', { project, datastore })),
      )
    : []),
];

const PROJECT_PLACES: readonly [
  name: 'env' | 'events' | 'datastores' | 'repos' | 'projectSettings',
  label: string,
  icon: IconName,
][] = [
  ['env', 'Environment', 'env'],
  ['events', 'Events', 'events'],
  ['datastores', 'Datastores', 'datastore'],
  ['repos', 'Repositories', 'repo'],
  ['projectSettings', 'Settings', 'settings'],
];

const projectPlaces = (project: string): Command[] =>
  PROJECT_PLACES.filter(([name]) => isThere(name)).map(([name, label, icon]) =>
    link(label, project, icon, to(name, { project })),
  );

const SERVER_PLACES: readonly [
  name: 'home' | 'operations' | 'tokens' | 'admin',
  label: string,
  icon: IconName,
  needs?: Capability,
][] = [
  ['home', 'All projects', 'projects'],
  ['operations', 'Operations', 'operations'],
  ['tokens', 'Tokens', 'token', 'manage_tokens'],
  ['admin', 'Admin', 'admin', 'admin'],
];

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
  ...SERVER_PLACES.filter(
    ([name, , , needs]) => isThere(name satisfies LocationName) && (needs === undefined || may(needs)),
  ).map(([name, label, icon]) => link(label, 'server', icon, LOCATIONS[name])),
  { id: 'theme light', label: 'Light theme', where: 'theme', icon: 'sun', run: () => setTheme('light') },
  { id: 'theme dark', label: 'Dark theme', where: 'theme', icon: 'moon', run: () => setTheme('dark') },
  { id: 'theme auto', label: 'Theme as the system', where: 'theme', icon: 'auto', run: () => setTheme('auto') },
];

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
