import type { Dir } from '../../source-tree.ts';
import { type Catalogue, type GradleScript, SETTINGS, readCatalogue, readScript, scriptOf } from './gradle-script.ts';
import { closing, scriptTokens } from './tokens.ts';
import { joined } from './pom.ts';

/** A build of one or more projects. */
export interface GradleBuild {
  workspace: Dir;
  catalogue: Catalogue;
  projects: GradleProject[];
}

export interface GradleProject {
  /** `:services:api`; empty for the root project. */
  path: string;
  dir: Dir;
  script: GradleScript;
  /** Ids of its plugins, with those of convention plugins and of the scripts above it. */
  plugins: string[];
}

const MAX_PROJECTS = 300;

/** The build that an app's folder belongs to: its own, or one above whose settings include it. */
export const readGradleBuild = (repo: Dir, app: Dir): GradleBuild => {
  const workspace = workspaceOf(repo, app);
  const catalogue = readCatalogue(workspace);
  const root = readScript(workspace, catalogue);
  const folders = [['', workspace] as const, ...[...includedProjects(repo, workspace)].slice(0, MAX_PROJECTS)];
  const projects = folders.map(([path, dir]): GradleProject => {
    const script = path === '' ? root : readScript(dir, catalogue);
    const above = path === '' ? [] : root.inherited;
    return { path, dir, script, plugins: withConventions(workspace, [...script.plugins, ...above], catalogue) };
  });
  return { workspace, catalogue, projects };
};

const workspaceOf = (repo: Dir, app: Dir): Dir => {
  if (app.firstOf(...SETTINGS) !== undefined) return app;
  const parts = app.path === '' ? [] : app.path.split('/');
  for (let length = parts.length - 1; length >= 0; length -= 1) {
    const folder = parts.slice(0, length).join('/');
    const above = folder === '' ? repo : repo.dir(folder);
    if (above.firstOf(...SETTINGS) === undefined) continue;
    if ([...includedProjects(repo, above).values()].some(({ path }) => path === app.path)) return above;
  }
  return app;
};

/** The projects that the settings include, by their paths; `projectDir` may put one elsewhere. */
const includedProjects = (repo: Dir, workspace: Dir): Map<string, Dir> => {
  const file = workspace.firstOf(...SETTINGS);
  const tokens = scriptTokens(file === undefined ? undefined : workspace.read(file));
  const moved = movedFolders(workspace, file);
  const found = new Map<string, Dir>();
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'name' || token.text !== 'include') continue;
    const opens = tokens[index + 1]?.text === '(' || tokens[index + 1]?.text === '[';
    const end = opens ? closing(tokens, index + 1) : tokens.length;
    for (let at = index + (opens ? 2 : 1); at < end; at += 1) {
      const word = tokens[at];
      if (word?.kind !== 'string') {
        if (word?.text === ',') continue;
        break;
      }
      const path = `:${word.text.replace(/^:/, '')}`;
      const folder = joined(workspace.path, moved.get(path) ?? path.slice(1).replaceAll(':', '/'));
      if (folder !== undefined && /^[\w:.-]+$/.test(path)) found.set(path, folder === '' ? repo : repo.dir(folder));
    }
  }
  return found;
};

/** `project(":api").projectDir = file("services/api")`. */
const movedFolders = (workspace: Dir, file: string | undefined): Map<string, string> => {
  const source = file === undefined ? '' : (workspace.read(file) ?? '');
  const pattern =
    /project\(\s*['"](:[\w:.-]+)['"]\s*\)\s*\.\s*projectDir\s*=\s*(?:new\s+)?[fF]ile\(\s*(?:settingsDir\s*,\s*|rootDir\s*,\s*)?['"]([^'"]+)['"]/g;
  return new Map([...source.matchAll(pattern)].map(([, path = '', folder = '']) => [path, folder]));
};

const CONVENTIONS = [
  'buildSrc/src/main/kotlin',
  'buildSrc/src/main/groovy',
  'build-logic/src/main/kotlin',
  'build-logic/src/main/groovy',
];

/** Plugins that the build writes itself apply others in turn. */
const withConventions = (workspace: Dir, ids: string[], catalogue: Catalogue): string[] => {
  const known = new Set(ids);
  for (const id of known) {
    const file = CONVENTIONS.flatMap((folder) => [`${folder}/${id}.gradle.kts`, `${folder}/${id}.gradle`]).find(
      (path) => workspace.has(path),
    );
    if (file === undefined || known.size > 100) continue;
    for (const applied of scriptOf(workspace.read(file), catalogue).plugins) known.add(applied);
  }
  return [...known];
};
