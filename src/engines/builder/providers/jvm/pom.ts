import type { Dir } from '../../source-tree.ts';
import { type Xml, elementAt, elementsOf, readXml, xmlText } from '../support/xml.ts';

/** A pom.xml of the source with the parents that lie in the source too. */
export interface Pom {
  dir: Dir;
  project: Xml;
  parent: Pom | null;
  /** `group:artifact:version` of a parent that a repository holds; null when there is none. */
  remoteParent: string | null;
}

const MAX_PARENTS = 10;

/** Reads the pom.xml of a folder, and its parents as far as the source has them. */
export const readPom = (repo: Dir, folder: string, depth = 0): Pom | undefined => {
  const dir = folder === '' ? repo : repo.dir(folder);
  const project = readXml(dir, 'pom.xml');
  if (project === undefined) return undefined;
  const declared = elementAt(project, 'parent');
  if (declared === undefined) return { dir, project, parent: null, remoteParent: null };
  const parent = depth < MAX_PARENTS ? localParent(repo, folder, declared, depth) : undefined;
  const id = ['groupId', 'artifactId', 'version'].map((name) => xmlText(declared, name) ?? '').join(':');
  return { dir, project, parent: parent ?? null, remoteParent: parent === undefined ? id : null };
};

/** `relativePath` is `../pom.xml` unless it says otherwise; an empty one means a repository. */
const localParent = (repo: Dir, folder: string, declared: Xml, depth: number): Pom | undefined => {
  const path = elementAt(declared, 'relativePath');
  const written = path === undefined ? '../pom.xml' : path.text.trim();
  if (written === '') return undefined;
  const place = joined(folder, written.endsWith('.xml') ? written.replace(/(^|\/)[^/]*$/, '') : written);
  if (place === undefined || place === folder) return undefined;
  const parent = readPom(repo, place, depth + 1);
  return parent !== undefined && xmlText(parent.project, 'artifactId') === xmlText(declared, 'artifactId')
    ? parent
    : undefined;
};

/** A relative path below the source's root; undefined when it leads out of it. */
export const joined = (folder: string, path: string): string | undefined => {
  const parts = folder === '' ? [] : folder.split('/');
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join('/');
};

/** A pom and its parents in the source, nearest first. */
export const lineage = (pom: Pom): Pom[] => [pom, ...(pom.parent === null ? [] : lineage(pom.parent))];

/** The remote parent that the whole lineage ends in. */
export const remoteParent = (pom: Pom): string => lineage(pom).at(-1)?.remoteParent ?? '';

/** The folders of a pom's modules, those of profiles too. */
export const modulesOf = ({ project }: Pom): string[] =>
  [project, ...elementsOf(elementAt(project, 'profiles'))].flatMap((holder) =>
    elementsOf(elementAt(holder, 'modules')).map((module) => module.text.trim().replace(/\/pom\.xml$/, '')),
  );

/** The value of a property, wherever in the lineage it is set. */
export const propertyOf = (pom: Pom, name: string): string | undefined => rawProperty(pom, name, 0);

const rawProperty = (pom: Pom, name: string, depth: number): string | undefined => {
  for (const { project } of lineage(pom)) {
    const text = xmlText(project, 'properties', name) ?? projectField(project, name);
    if (text !== undefined) return interpolated(pom, text, depth);
  }
  return undefined;
};

const projectField = (project: Xml, name: string): string | undefined => {
  const field = /^(?:project|pom)\.(groupId|artifactId|version|packaging|name)$/.exec(name)?.[1];
  return field === undefined ? undefined : (xmlText(project, field) ?? xmlText(project, 'parent', field));
};

/** The text with its `${…}` filled in; undefined when one of them is not known here. */
export const interpolated = (pom: Pom, text: string, depth = 0): string | undefined => {
  let known = true;
  const filled = text.replaceAll(/\$\{([^${}]+)\}/g, (_whole, name: string) => {
    const value = depth < 8 ? rawProperty(pom, name, depth + 1) : undefined;
    if (value === undefined) known = false;
    return value ?? '';
  });
  return known ? filled.trim() : undefined;
};

const textIn = (pom: Pom, parent: Xml | undefined, ...names: string[]): string | undefined => {
  const text = xmlText(parent, ...names);
  return text === undefined ? undefined : interpolated(pom, text);
};

export const packagingOf = (pom: Pom): string => textIn(pom, pom.project, 'packaging') ?? 'jar';

export const artifactOf = (pom: Pom): string => textIn(pom, pom.project, 'artifactId') ?? '';

/** Whether a plugin runs in the build of this pom: managed plugins do not. */
export const usesPlugin = (pom: Pom, artifactId: string): boolean =>
  lineage(pom).some(({ project }) => declared(elementAt(project, 'build', 'plugins'), artifactId).length > 0);

/** Every `<configuration>` of a plugin, those of its executions and of managed ones too. */
export const configurationsOf = (pom: Pom, artifactId: string): Xml[] =>
  pluginElements(pom, artifactId).flatMap((plugin) =>
    [plugin, ...elementsOf(elementAt(plugin, 'executions'))].flatMap((holder) => elementsOf(holder, 'configuration')),
  );

/** The goals that the executions of a plugin name. */
export const goalsOf = (pom: Pom, artifactId: string): string[] =>
  pluginElements(pom, artifactId).flatMap((plugin) =>
    elementsOf(elementAt(plugin, 'executions')).flatMap((execution) =>
      elementsOf(elementAt(execution, 'goals')).map((goal) => goal.text.trim()),
    ),
  );

const pluginElements = (pom: Pom, artifactId: string): Xml[] =>
  lineage(pom).flatMap(({ project }) => [
    ...declared(elementAt(project, 'build', 'plugins'), artifactId),
    ...declared(elementAt(project, 'build', 'pluginManagement', 'plugins'), artifactId),
  ]);

const declared = (plugins: Xml | undefined, artifactId: string): Xml[] =>
  elementsOf(plugins, 'plugin').filter((plugin) => xmlText(plugin, 'artifactId') === artifactId);

/** The text of an element inside a plugin's configurations, filled in. */
export const configured = (pom: Pom, artifactId: string, ...path: string[]): string | undefined =>
  configurationsOf(pom, artifactId)
    .map((configuration) => textIn(pom, configuration, ...path))
    .find((text) => text !== undefined);

/** `group:artifact` of the dependencies, those of the parents too. */
export const dependenciesOf = (pom: Pom): string[] =>
  lineage(pom).flatMap((holder) =>
    elementsOf(elementAt(holder.project, 'dependencies')).flatMap((dependency) =>
      xmlText(dependency, 'scope') === 'test'
        ? []
        : `${textIn(holder, dependency, 'groupId') ?? ''}:${textIn(holder, dependency, 'artifactId') ?? ''}`,
    ),
  );

/** Whether a dependency of the pom is the tests of another module. */
export const usesTestJars = ({ project }: Pom): boolean =>
  elementsOf(elementAt(project, 'dependencies')).some(
    (dependency) => xmlText(dependency, 'type') === 'test-jar' || xmlText(dependency, 'classifier') === 'tests',
  );

/** Ids of the pom's profiles. */
export const profilesOf = (pom: Pom): string[] =>
  lineage(pom).flatMap(({ project }) =>
    elementsOf(elementAt(project, 'profiles')).flatMap((profile) => xmlText(profile, 'id') ?? []),
  );
