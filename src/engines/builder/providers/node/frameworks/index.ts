import type { Dir } from '../../../source-tree.ts';
import type { Manifest } from '../manifest.ts';
import { angular } from './angular.ts';
import { astro } from './astro.ts';
import type { Framework, Rule } from './framework.ts';
import { nest, nitro, nuxt, reactRouter, remix, svelteKit } from './kits.ts';
import { next } from './next.ts';
import { sites } from './sites.ts';

export type { Framework, Output } from './framework.ts';

/** The rarer a dependency is in apps of another kind, the earlier its rule. */
const RULES: Rule[] = [next, nuxt, nitro, reactRouter, remix, svelteKit, astro, angular, nest, sites];

/** The first framework that the app is made with, or null. */
export const recogniseFramework = (app: Dir, manifest: Manifest, whole = false): Framework | null => {
  for (const rule of RULES) {
    const framework = rule({ app, manifest, whole });
    if (framework) return framework;
  }
  return null;
};
