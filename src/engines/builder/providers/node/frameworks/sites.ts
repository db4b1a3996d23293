import type { Dir } from '../../../source-tree.ts';
import { literalOf } from '../../support/tokens.ts';
import { type Manifest, hasDependency, script } from '../manifest.ts';
import { type Rule, config, framework, plainFolder, site } from './framework.ts';

/** Start scripts that serve a development copy of a site: such an app has no server of its own. */
const DEVELOPMENT_SERVER =
  /^(npx )?(vite|react-scripts|ng|serve|http-server|live-server|gatsby|docusaurus|vue-cli-service|parcel|webpack|webpack-dev-server|eleventy|expo|vitepress|vuepress|rsbuild|rspack|hexo|ember|quasar|slidev|(npm|yarn|pnpm|bun) (run )?(dev|develop|preview|serve))\b/;

interface SiteTool {
  dependency: string;
  name: string;
  build: string;
  output: string;
  /** Single-page apps get their page for unknown paths. */
  spa?: true;
}

const SITES: SiteTool[] = [
  { dependency: 'gatsby', name: 'Gatsby', build: 'gatsby build', output: 'public' },
  { dependency: '@docusaurus/core', name: 'Docusaurus', build: 'docusaurus build', output: 'build' },
  { dependency: '@11ty/eleventy', name: 'Eleventy', build: 'eleventy', output: '_site' },
  { dependency: 'hexo', name: 'Hexo', build: 'hexo generate', output: 'public' },
  { dependency: 'react-scripts', name: 'Create React App', build: 'react-scripts build', output: 'build', spa: true },
  { dependency: '@vue/cli-service', name: 'Vue CLI', build: 'vue-cli-service build', output: 'dist', spa: true },
  { dependency: 'expo', name: 'Expo (web)', build: 'expo export --platform web', output: 'dist', spa: true },
  { dependency: '@quasar/app-vite', name: 'Quasar', build: 'quasar build', output: 'dist/spa', spa: true },
  { dependency: '@slidev/cli', name: 'Slidev', build: 'slidev build', output: 'dist', spa: true },
  { dependency: 'ember-cli', name: 'Ember', build: 'ember build --environment=production', output: 'dist', spa: true },
  { dependency: '@rsbuild/core', name: 'Rsbuild', build: 'rsbuild build', output: 'dist', spa: true },
  { dependency: 'vitepress', name: 'VitePress', build: 'vitepress build', output: '.vitepress/dist' },
  { dependency: 'vuepress', name: 'VuePress', build: 'vuepress build', output: '.vuepress/dist' },
  { dependency: 'vite', name: 'Vite', build: 'vite build', output: 'dist', spa: true },
];

export const sites: Rule = ({ app, manifest }) => {
  const start = script(manifest, 'start');
  const found = SITES.find(({ dependency }) => hasDependency(manifest, dependency));
  if (!found || (start !== undefined && !DEVELOPMENT_SERVER.test(start))) return null;
  // Tools that bundle a server use Vite too: only an entry page makes it a site.
  if (found.dependency === 'vite' && !isViteSite(app, manifest)) return null;
  const output = outputOf(app, manifest, found);
  return framework(found.name, found.build, site(output, found.spa ? 'index.html' : null), {
    // With CI set, Create React App takes each warning for an error.
    buildEnv: found.dependency === 'react-scripts' ? { CI: 'false' } : {},
  });
};

const outputOf = (app: Dir, manifest: Manifest, { dependency, output }: SiteTool): string => {
  if (dependency === 'vite') return plainFolder(literalOf(config(app, 'vite'), 'outDir')) ?? output;
  if (!/^v(ite|ue)press$/.test(dependency)) return output;
  const written = script(manifest, 'build') ?? script(manifest, 'docs:build') ?? '';
  const docs = plainFolder(/^v(?:ite|ue)press build ([^\s-]\S*)/.exec(written)?.[1]);
  return docs === undefined ? output : `${docs}/${output}`;
};

const isViteSite = (app: Dir, manifest: Manifest): boolean =>
  (app.has('index.html') || app.has('src/index.html') || literalOf(config(app, 'vite'), 'root') !== undefined) &&
  /\bvite\b/.test(script(manifest, 'build') ?? 'vite build');
