import { type Manifest, script } from './manifest.ts';

/** Scripts that package managers run when they install. */
const LIFECYCLE = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare'];

/** Hooks of git, and types for editors: nothing that an image or a build needs. */
const USELESS =
  /^((npx )?(husky( install)?|is-ci( \|\| husky( install)?)?|lefthook install|simple-git-hooks|nux[ti] prepare|svelte-kit sync|astro sync|react-router typegen|wxt prepare))( \|\| .*)?$/;

/** Look at nothing but node_modules, and at folders that are copied before the install. */
const HARMLESS = /^(npx )?(patch-package|prisma generate|playwright install.*)$/;

const CALL = /^(?:npm|pnpm|yarn|bun)(?: run)? ([\w:.-]+)$/;
const BUILDER =
  /^(?:npx )?(?:tsc|tsup|tsdown|unbuild|esbuild|swc|babel|webpack|rollup|parcel build|vite build|next build|nuxt build|nest build|ng build|astro build|react-router build|remix vite:build|rspack build|rsbuild build|rimraf|rm -rf)(?=\s|$)/;

/** Whether a command of a script only builds, by a tool's name or as a script called build or compile. */
export const isBuild = (command: string): boolean => {
  const called = CALL.exec(command)?.[1];
  return called === undefined ? BUILDER.test(command) : /(^|[:.-])(build|compile|transpile|tsc)($|[:.-])/.test(called);
};

/** The text of a lifecycle script when an install runs it for a reason. */
const running = (manifest: Manifest): [name: string, text: string][] =>
  LIFECYCLE.flatMap((name): [string, string][] => {
    const text = script(manifest, name);
    return text === undefined || USELESS.test(text) ? [] : [[name, text]];
  });

/** The scripts that an install need not run: useless ones, and those that build, which is done later. */
export const dispensable = (manifest: Manifest): string[] =>
  LIFECYCLE.filter((name) => {
    const text = script(manifest, name);
    return text !== undefined && (USELESS.test(text) || isBuild(text));
  });

/** The build that an install would run, for an app without a build script of its own. */
export const installBuild = (manifest: Manifest): string | undefined =>
  running(manifest).find(([, text]) => isBuild(text))?.[0];

/** The first script that may read the source, apart from those that are not run. */
export const readsSource = (manifest: Manifest, dropped: readonly string[]): string | undefined =>
  running(manifest).find(([name, text]) => !dropped.includes(name) && !HARMLESS.test(text))?.[0];

/** Whether anything runs in an install that leaves its traces in node_modules. */
export const leavesTraces = (manifest: Manifest, dropped: readonly string[]): boolean =>
  running(manifest).some(([name]) => !dropped.includes(name));

/** Whether a script that runs calls a development tool. */
export const needsTools = (manifest: Manifest, dropped: readonly string[]): boolean =>
  running(manifest).some(
    ([name, text]) =>
      !dropped.includes(name) && text.split(/[\s&|;]+/).some((word) => Object.hasOwn(manifest.devDependencies, word)),
  );
