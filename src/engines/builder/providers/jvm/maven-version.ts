import { placeOf } from '../support/fields.ts';
import { configured, lineage, propertyOf, remoteParent, type Pom } from './pom.ts';
import { type JavaWish, javaLine } from './version.ts';

/** What a pom.xml says about Java, the newest level of several. */
export const mavenWish = (pom: Pom): JavaWish | undefined => {
  const toolchain = configured(pom, 'maven-toolchains-plugin', 'toolchains', 'jdk', 'version');
  if (toolchain !== undefined && /^[\d.]+$/.test(toolchain)) {
    return { written: toolchain, source: place(pom, 'jdk'), kind: 'toolchain' };
  }
  const levels = [releaseLevel(pom), compilerLevel(pom), kotlinLevel(pom)].filter((wish) => wish !== undefined);
  const newest = levels.toSorted((left, right) => lineNumber(right) - lineNumber(left))[0];
  return newest ?? springDefault(pom);
};

const lineNumber = ({ written }: JavaWish): number => Number(javaLine(written)) || Infinity;

const level = (written: string | undefined, source: string): JavaWish | undefined =>
  written === undefined || written === '' ? undefined : { written, source, kind: 'level' };

const firstOf = (pom: Pom, option: string, properties: string[]): JavaWish | undefined => {
  const plugin = configured(pom, 'maven-compiler-plugin', option);
  if (plugin !== undefined) return level(plugin, `<${option}> of maven-compiler-plugin in pom.xml`);
  for (const name of properties) {
    const written = propertyOf(pom, name);
    if (written !== undefined) return level(written, `${name} in ${place(pom, name)}`);
  }
  return undefined;
};

/** Compilers know `--release` since Java 9: a project that uses it is not built with Java 8. */
const releaseLevel = (pom: Pom): JavaWish | undefined => {
  const wish = firstOf(pom, 'release', ['maven.compiler.release']);
  if (wish === undefined || lineNumber(wish) > 8) return wish;
  return { ...wish, written: '9', source: `${wish.source} (${wish.written}, by a compiler that knows releases)` };
};

const compilerLevel = (pom: Pom): JavaWish | undefined =>
  firstOf(pom, 'target', ['maven.compiler.target']) ??
  firstOf(pom, 'source', ['maven.compiler.source']) ??
  level(propertyOf(pom, 'java.version'), `java.version in ${place(pom, 'java.version')}`) ??
  level(propertyOf(pom, 'jdk.version'), `jdk.version in ${place(pom, 'jdk.version')}`);

const kotlinLevel = (pom: Pom): JavaWish | undefined => {
  const option = configured(pom, 'kotlin-maven-plugin', 'jvmTarget');
  if (option !== undefined) return level(option, place(pom, 'jvmTarget'));
  const name = 'kotlin.compiler.jvmTarget';
  return level(propertyOf(pom, name), `${name} in ${place(pom, name)}`);
};

/** What Spring Boot's parent sets `java.version` to. */
const springDefault = (pom: Pom): JavaWish | undefined => {
  const major = /^org\.springframework\.boot:spring-boot-starter-parent:(\d+)/.exec(remoteParent(pom))?.[1];
  if (major === undefined) return undefined;
  return { written: Number(major) < 3 ? '8' : '17', source: `Spring Boot ${major} in pom.xml`, kind: 'level' };
};

/** `file:line` of an element, wherever in the lineage it stands. */
const place = (pom: Pom, element: string): string => {
  const pattern = new RegExp(`<${element.replaceAll('.', '\\.')}>`);
  const holder = lineage(pom).find(({ dir }) => pattern.test(dir.read('pom.xml') ?? ''));
  return holder === undefined ? 'pom.xml' : placeOf(holder.dir, 'pom.xml', pattern);
};
