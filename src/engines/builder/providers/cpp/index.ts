import type { CacheMount, ContextFile, Plan } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { TOOLS } from '../../versions.ts';
import { type PlanContext, type Provider, versionOf } from '../provider.ts';
import { chooseProgram } from '../support/choose.ts';
import { COMPILED_BASE } from '../support/compiled.ts';
import { compiledPlan, touchSources } from '../support/compiled-plan.ts';
import { type CmakeProject, readCmake } from './cmake.ts';
import { readMakefile } from './makefile.ts';
import { readMeson } from './meson.ts';
import { packageManager } from './packages.ts';

const ENDINGS = [
  '.c',
  '.cc',
  '.cpp',
  '.cxx',
  '.h',
  '.hh',
  '.hpp',
  '.hxx',
  '.ipp',
  '.cmake',
  'CMakeLists.txt',
  'meson.build',
];

/** Where the build happens: outside of the source. */
const BUILD_DIR = '/build';
const CCACHE: CacheMount = { name: 'ccache', target: '/root/.cache/ccache' };
/** What FetchContent brought stays, and is not compiled again. */
const KEPT_BUILD: CacheMount = { name: 'cpp-build', target: BUILD_DIR, locked: true };
/** Downloads of subprojects. */
const WRAPS: CacheMount = { name: 'meson-wraps', target: '/root/.cache/meson' };

/** Apps in C and C++. */
export const cpp: Provider = {
  name: 'cpp',
  markers: ['CMakeLists.txt', 'meson.build', 'Makefile'],
  doc: {
    title: 'C, C++',
    detects: '`CMakeLists.txt`, `meson.build`, or a `Makefile` that links a program from C or C++ sources',
    notes:
      'the only executable target, the only one that is installed, or the one with the name of the service or project; the headers of well-known libraries (`find_package`, pkg-config, `dependency()`) come from Debian, those of `conanfile.txt` and `vcpkg.json` from there, and shared libraries go into the image with the program; what was compiled and fetched is kept between builds',
  },
  detect,
  plan: planCpp,
};

function detect(app: Dir): 'strong' | null {
  if (app.has('CMakeLists.txt') || app.has('meson.build')) return 'strong';
  return readMakefile(app) === null ? null : 'strong';
}

/** How one build system makes the program. */
interface Recipe {
  tools: string[];
  packages: string[];
  caches: CacheMount[];
  env: Record<string, string>;
  commands: string[];
  files: ContextFile[];
}

function planCpp(context: PlanContext): Plan {
  const { app, notes, overrides } = context;
  const gcc = versionOf(context, TOOLS.gcc, []).version;
  const usual = gcc === TOOLS.gcc.fallback;
  const manager = packageManager(app);
  const recipe = overrides.build === undefined ? recipeOf(context, manager?.cmakeFlags ?? []) : OWN;
  if (recipe.packages.length > 0) notes.decisions.push(`from Debian: ${recipe.packages.join(', ')}`);
  if (manager) notes.decisions.push(`libraries by ${manager.name}: ${manager.reason}`);
  const compilers = usual ? [] : [`gcc-${gcc}`, `g++-${gcc}`];
  const env = { ...recipe.env, ...(usual ? {} : { CC: `gcc-${gcc}`, CXX: `g++-${gcc}` }) };
  return compiledPlan(context, {
    provider: 'cpp',
    image: COMPILED_BASE,
    apt: [
      'build-essential',
      'ca-certificates',
      'git',
      'pkg-config',
      ...compilers,
      ...recipe.tools,
      ...recipe.packages,
      ...(manager?.apt ?? []),
    ],
    caches: [...recipe.caches, ...(manager?.caches ?? [])],
    ...(Object.keys(env).length === 0 ? {} : { env }),
    install: manager?.install ?? null,
    build: recipe.commands,
    endings: ENDINGS,
    files: recipe.files,
    remember: { gcc },
  });
}

/** For a build command of the user's own: every tool is there. */
const OWN: Recipe = {
  tools: ['ccache', 'cmake', 'meson', 'ninja-build'],
  packages: [],
  caches: [CCACHE],
  env: {},
  commands: [],
  files: [],
};

const recipeOf = (context: PlanContext, flags: string[]): Recipe => {
  const { app } = context;
  if (app.has('CMakeLists.txt')) return cmakeRecipe(context, flags);
  return app.has('meson.build') ? mesonRecipe(context) : makeRecipe(context);
};

const none = (title: string, tried: string, ways: string): { title: string; tried: string; ways: string } => ({
  title,
  tried,
  ways,
});

const cmakeRecipe = (context: PlanContext, flags: string[]): Recipe => {
  const project = readCmake(context.app);
  const target = chooseProgram(context, candidates(project), {
    where: 'this CMake project',
    what: 'executable target',
    own: { name: project.name, reason: 'it has the name of the project' },
    none: none(
      'a CMake project',
      'add_executable in CMakeLists.txt and the folders it adds',
      'add an executable target',
    ),
  });
  const options = [
    '-DCMAKE_BUILD_TYPE=Release',
    '-DBUILD_TESTING=OFF',
    '-DCMAKE_C_COMPILER_LAUNCHER=ccache',
    '-DCMAKE_CXX_COMPILER_LAUNCHER=ccache',
    '-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=/berth/target.cmake',
  ];
  return {
    tools: ['ccache', 'cmake', 'ninja-build'],
    caches: [CCACHE, KEPT_BUILD],
    env: {},
    packages: project.packages,
    // CMake itself says where the program is: its name and folder depend on properties that only CMake evaluates.
    files: [
      {
        path: 'berth/target.cmake',
        content: `file(GENERATE OUTPUT ${BUILD_DIR}/berth-target CONTENT "$<TARGET_FILE:${target}>")\n`,
      },
    ],
    commands: [
      touchSources('.git'),
      `cmake --fresh -S . -B ${BUILD_DIR} -G Ninja ${[...options, ...flags].join(' ')}`,
      `cmake --build ${BUILD_DIR} --target ${target}`,
      `install -Ds "$(cat ${BUILD_DIR}/berth-target)" /out/app`,
    ],
  };
};

/** Programs that are installed are meant to be run; without install rules, all of them count. */
const candidates = ({ executables, installed }: CmakeProject): string[] => {
  const meant = executables.filter((name) => installed.includes(name));
  return meant.length > 0 ? meant : executables;
};

const mesonRecipe = (context: PlanContext): Recipe => {
  const project = readMeson(context.app);
  const installed = project.executables.filter((program) => program.installed);
  const programs = installed.length > 0 ? installed : project.executables;
  const name = chooseProgram(
    context,
    programs.map((program) => program.name),
    {
      where: 'this Meson project',
      what: 'executable',
      own: { name: project.name, reason: 'it has the name of the project' },
      none: none('a Meson project', 'executable() in meson.build and its subdirs', 'add an executable()'),
    },
  );
  const path = programs.find((program) => program.name === name)?.path ?? name;
  return {
    tools: ['ccache', 'cmake', 'meson', 'ninja-build'],
    caches: [CCACHE, WRAPS],
    env: { MESON_PACKAGE_CACHE_DIR: WRAPS.target },
    packages: project.packages,
    files: [],
    commands: [
      `meson setup --buildtype=release ${BUILD_DIR}`,
      `meson compile -C ${BUILD_DIR}`,
      `install -Ds ${BUILD_DIR}/${path} /out/app`,
    ],
  };
};

const makeRecipe = (context: PlanContext): Recipe => {
  const project = readMakefile(context.app);
  const paths = project?.executables ?? [];
  const name = chooseProgram(
    context,
    paths.map((path) => path.replace(/^.*\//, '')),
    {
      where: 'this Makefile',
      what: 'program',
      none: none('a Makefile', 'a rule that links a program from C or C++', 'add one, or set build and start'),
    },
  );
  const path = paths.find((one) => one.replace(/^.*\//, '') === name) ?? name;
  return {
    tools: [],
    caches: [],
    env: {},
    packages: project?.packages ?? [],
    files: [],
    commands: [`make -j"$(nproc)" ${path}`, `install -Ds ${path} /out/app`],
  };
};
