import type { Dir } from '../../source-tree.ts';
import { type Element, elementsOf } from './msbuild.ts';

/** What a project file says, with what Directory.Build.props says for it. */
export interface DotnetProject {
  /** Path inside the solution's folder. */
  path: string;
  /** The file's name without its ending. */
  name: string;
  kind: 'web' | 'wasm' | 'program' | 'library' | 'test' | 'other';
  assembly: string;
  /** Target frameworks as written: `net8.0`. */
  frameworks: string[];
  /** Paths of the projects that it refers to. */
  references: string[];
  packages: string[];
  /** It refers to ASP.NET's shared framework without being a web project. */
  aspNet: boolean;
  nativeAot: boolean;
  /** npm runs while it is built. */
  usesNode: boolean;
}

export const PROJECT = /\.(cs|fs|vb)proj$/;
const MAX_PROJECTS = 300;

/** Every project below a folder, but for what builds leave behind. */
export const readProjects = (root: Dir): DotnetProject[] =>
  root
    .files()
    .filter((file) => PROJECT.test(file) && !/(^|\/)(bin|obj|node_modules)\//.test(file))
    .slice(0, MAX_PROJECTS)
    .map((path) => readProject(root, path));

const readProject = (root: Dir, path: string): DotnetProject => {
  const folder = path.includes('/') ? path.replace(/\/[^/]*$/, '') : '';
  const name = path.replace(/^.*\//, '').replace(PROJECT, '');
  const own = elementsOf(root, path);
  const shared = propsFor(root, folder);
  const properties = propertiesOf([...shared, ...own], name);
  const property = (key: string): string => expand(properties.get(key) ?? '', properties);
  const frameworks = (property('TargetFramework') || property('TargetFrameworks'))
    .split(';')
    .map((text) => text.trim());
  const included = (element: string): string[] =>
    [...shared, ...own].filter((one) => one.name === element).flatMap(({ attributes }) => attributes['Include'] ?? []);
  const packages = included('PackageReference');
  return {
    path,
    name,
    kind: kindOf(own, property, packages),
    assembly: property('AssemblyName') || name,
    frameworks: frameworks.filter((text) => text !== ''),
    references: included('ProjectReference').flatMap((reference) => resolve(folder, reference) ?? []),
    packages,
    aspNet: included('FrameworkReference').includes('Microsoft.AspNetCore.App'),
    nativeAot: property('PublishAot').toLowerCase() === 'true',
    usesNode: usesNode(own),
  };
};

/** MSBuild takes the nearest Directory.Build.props upwards. */
const propsFor = (root: Dir, folder: string): Element[] => {
  for (let place = folder; ; place = place.includes('/') ? place.replace(/\/[^/]*$/, '') : '') {
    const path = [place, 'Directory.Build.props'].filter((part) => part !== '').join('/');
    if (root.has(path)) return elementsOf(root, path);
    if (place === '') return [];
  }
};

const propertiesOf = (elements: Element[], name: string): Map<string, string> => {
  const properties = new Map<string, string>([['MSBuildProjectName', name]]);
  for (const { name: key, text } of elements) if (text !== '') properties.set(key, text);
  return properties;
};

const expand = (text: string, properties: ReadonlyMap<string, string>, depth = 0): string =>
  depth > 5
    ? text
    : text.replaceAll(/\$\((\w+)\)/g, (_whole, key: string) =>
        expand(properties.get(key) ?? '', properties, depth + 1),
      );

const TESTS = /^(Microsoft\.NET\.Test\.Sdk|xunit(\.v3)?|nunit|MSTest(\.TestFramework)?|TUnit)$/i;

const kindOf = (elements: Element[], property: (key: string) => string, packages: string[]): DotnetProject['kind'] => {
  const sdks = elements
    .filter(({ name }) => ['Project', 'Sdk', 'Import'].includes(name))
    .flatMap(({ name, attributes }) => (name === 'Sdk' ? attributes['Name'] : attributes['Sdk']) ?? [])
    .map((sdk) => sdk.replace(/\/.*$/, ''));
  if (property('IsTestProject').toLowerCase() === 'true' || packages.some((name) => TESTS.test(name))) return 'test';
  // An Aspire host starts the other projects on a developer's machine.
  if (sdks.includes('Aspire.AppHost.Sdk') || property('IsAspireHost').toLowerCase() === 'true') return 'other';
  if (sdks.includes('Microsoft.NET.Sdk.BlazorWebAssembly')) return 'wasm';
  if (sdks.includes('Microsoft.NET.Sdk.Web')) return property('OutputType') === 'Library' ? 'library' : 'web';
  if (sdks.includes('Microsoft.NET.Sdk.Worker') || /^(win)?exe$/i.test(property('OutputType'))) return 'program';
  return sdks.length === 0 ? 'other' : 'library';
};

const usesNode = (elements: Element[]): boolean =>
  elements.some(
    ({ name, attributes, text }) =>
      (name === 'SpaRoot' && text !== '') ||
      (name === 'Exec' && /^\s*(npm|npx|yarn|pnpm|node)\s/.test(attributes['Command'] ?? '')) ||
      (name === 'ProjectReference' && (attributes['Include'] ?? '').endsWith('.esproj')),
  );

/** A path relative to a folder, with either kind of slash; undefined when it leaves the solution. */
const resolve = (folder: string, written: string): string | undefined => {
  const parts = folder === '' ? [] : folder.split('/');
  for (const part of written.replaceAll('\\', '/').split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
};

/** A project with everything that it refers to, itself first. */
export const closureOf = (projects: readonly DotnetProject[], first: DotnetProject): DotnetProject[] => {
  const found = [first];
  for (const project of found) {
    for (const path of project.references) {
      const next = projects.find((candidate) => candidate.path === path);
      if (next && !found.includes(next)) found.push(next);
    }
  }
  return found;
};
