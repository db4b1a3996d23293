import type { Dir } from '../../source-tree.ts';
import { CLASS_NAME, mainClasses } from './main-class.ts';
import {
  type Pom,
  artifactOf,
  configurationsOf,
  configured,
  dependenciesOf,
  goalsOf,
  joined,
  lineage,
  modulesOf,
  packagingOf,
  propertyOf,
  readPom,
  remoteParent,
  usesPlugin,
} from './pom.ts';
import { elementAt, elementsOf } from '../support/xml.ts';

/** A module that can be run, and what its build leaves. */
export interface MavenApp {
  pom: Pom;
  kind: 'spring' | 'quarkus' | 'fat' | 'classpath' | 'war';
  reason: string;
  /** What its manifest names; for a class path, every class that could be meant. */
  mainClasses: string[];
  /** Found by looking for `main` methods: weaker than what a manifest says. */
  guessed: boolean;
}

const MAX_MODULES = 500;

/** A pom and its modules, however deep. */
export const reactorOf = (repo: Dir, pom: Pom): Pom[] => {
  const found = new Map<string, Pom>([[pom.dir.path, pom]]);
  for (const current of found.values()) {
    for (const name of modulesOf(current)) {
      const folder = joined(current.dir.path, name);
      if (folder === undefined || found.has(folder) || found.size > MAX_MODULES) continue;
      const module = readPom(repo, folder);
      if (module !== undefined) found.set(folder, module);
    }
  }
  return [...found.values()];
};

/** The outermost folder above an app whose build includes it, or holds its parent. */
export const workspaceOf = (repo: Dir, pom: Pom): Dir => {
  const { path } = pom.dir;
  const parts = path === '' ? [] : path.split('/');
  for (let length = 0; length < parts.length; length += 1) {
    const folder = parts.slice(0, length).join('/');
    const above = readPom(repo, folder);
    if (above !== undefined && reactorOf(repo, above).some(({ dir }) => dir.path === path)) return above.dir;
  }
  const shared = lineage(pom).reduce((common, { dir }) => commonFolder(common, dir.path), path);
  return shared === path ? pom.dir : shared === '' ? repo : repo.dir(shared);
};

const commonFolder = (left: string, right: string): string => {
  const others = right.split('/');
  const parts = left.split('/');
  const differ = parts.findIndex((part, index) => part !== others[index]);
  return (differ < 0 ? parts : parts.slice(0, differ)).join('/');
};

/** What a module is when it can be run. */
export const mavenApp = (pom: Pom): MavenApp | null => {
  const packaging = packagingOf(pom);
  if (packaging === 'pom') return null;
  const app = (kind: MavenApp['kind'], reason: string): MavenApp => ({
    pom,
    kind,
    reason,
    mainClasses: [namedMain(pom) ?? ''].filter((name) => CLASS_NAME.test(name)),
    guessed: false,
  });
  if (usesPlugin(pom, 'quarkus-maven-plugin')) return app('quarkus', 'quarkus-maven-plugin');
  if (repackages(pom)) return app('spring', 'spring-boot-maven-plugin');
  if (packaging === 'war') return app('war', 'packaging war');
  if (remoteParent(pom).startsWith('io.micronaut.platform:micronaut-parent:')) return app('fat', 'micronaut-parent');
  if (usesPlugin(pom, 'maven-shade-plugin') && namesMain(pom, 'maven-shade-plugin'))
    return app('fat', 'maven-shade-plugin');
  if (assembles(pom)) return app('fat', 'maven-assembly-plugin');
  return classPathApp(pom);
};

/** Spring Boot's parent makes the plugin repackage; without it, an execution has to say so. */
const repackages = (pom: Pom): boolean => {
  const plugin = 'spring-boot-maven-plugin';
  if (!usesPlugin(pom, plugin) || configured(pom, plugin, 'skip') === 'true') return false;
  return goalsOf(pom, plugin).includes('repackage') || remoteParent(pom) !== '';
};

const namesMain = (pom: Pom, plugin: string): boolean =>
  configurationsOf(pom, plugin).some((configuration) => JSON.stringify(configuration).includes('"mainClass"')) ||
  configured(pom, 'maven-jar-plugin', 'archive', 'manifest', 'mainClass') !== undefined ||
  configurationsOf(pom, plugin).some((configuration) => JSON.stringify(configuration).includes('"Main-Class"'));

const assembles = (pom: Pom): boolean =>
  usesPlugin(pom, 'maven-assembly-plugin') &&
  goalsOf(pom, 'maven-assembly-plugin').includes('single') &&
  configurationsOf(pom, 'maven-assembly-plugin').some((configuration) =>
    elementsOf(elementAt(configuration, 'descriptorRefs')).some(({ text }) => text.trim() === 'jar-with-dependencies'),
  ) &&
  configured(pom, 'maven-assembly-plugin', 'archive', 'manifest', 'mainClass') !== undefined;

const PROPERTIES = ['exec.mainClass', 'mainClass', 'main.class', 'start-class', 'main-class'];

const classPathApp = (pom: Pom): MavenApp | null => {
  const named = namedMain(pom);
  const found = named !== undefined && CLASS_NAME.test(named) ? [named] : mainClasses(pom.dir);
  if (found.length === 0) return null;
  const guessed = named !== found[0];
  const reason = guessed ? 'it has a main method' : 'the pom.xml names it';
  return { pom, kind: 'classpath', reason, mainClasses: found, guessed };
};

/** The class that a manifest of the pom names, wherever it does. */
const namedMain = (pom: Pom): string | undefined =>
  configured(pom, 'maven-jar-plugin', 'archive', 'manifest', 'mainClass') ??
  configured(pom, 'maven-assembly-plugin', 'archive', 'manifest', 'mainClass') ??
  configured(pom, 'exec-maven-plugin', 'mainClass') ??
  configured(pom, 'kotlin-maven-plugin', 'mainClass') ??
  configured(pom, 'spring-boot-maven-plugin', 'mainClass') ??
  PROPERTIES.map((name) => propertyOf(pom, name)).find((value) => value !== undefined);

/** Ids that tell the framework. */
export const mavenIds = (pom: Pom): string[] => [
  ...(usesPlugin(pom, 'quarkus-maven-plugin') ? ['io.quarkus'] : []),
  ...(usesPlugin(pom, 'spring-boot-maven-plugin') ? ['org.springframework.boot'] : []),
  ...lineage(pom).flatMap((holder) => holder.remoteParent ?? []),
  ...dependenciesOf(pom),
];

/** Whether a module goes by this name: its artifact's, or its folder's. */
export const isCalled = (pom: Pom, name: string): boolean =>
  artifactOf(pom) === name || pom.dir.path.replace(/^.*\//, '') === name;
