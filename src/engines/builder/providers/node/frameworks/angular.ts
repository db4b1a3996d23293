import { fieldsAt, readJson, textAt, textsOf } from '../../support/fields.ts';
import { hasDependency } from '../manifest.ts';
import { type Rule, bundled, framework, plainFolder, server, site } from './framework.ts';

export const angular: Rule = ({ app, manifest }) => {
  if (!hasDependency(manifest, '@angular/core') || !app.has('angular.json')) return null;
  const workspace = readJson(app, 'angular.json');
  const projects = fieldsAt(workspace, 'projects');
  const name =
    textAt(workspace, 'defaultProject') ??
    Object.keys(projects).find((key) => textAt(projects, key, 'projectType') !== 'library') ??
    'app';
  const target =
    ['architect', 'targets']
      .map((key) => fieldsAt(projects, name, key, 'build'))
      .find((candidate) => Object.keys(candidate).length > 0) ?? {};
  const options = fieldsAt(target, 'options');
  const output =
    plainFolder(textAt(options, 'outputPath') ?? textAt(options, 'outputPath', 'base')) ??
    `dist/${plainFolder(name) ?? 'app'}`;
  // Angular keeps no cache where CI is set, unless it is asked to.
  const buildEnv = { NG_CLI_ANALYTICS: 'false', NG_PERSISTENT_BUILD_CACHE: '1' };
  const more = { buildEnv, caches: ['.angular/cache'] };
  const rendered = options['ssr'] !== undefined && options['ssr'] !== false && options['outputMode'] !== 'static';
  if (hasDependency(manifest, '@angular/ssr') && rendered) {
    const hosts = textsOf(fieldsAt(options, 'security')['allowedHosts']);
    // Packages are part of what is built, but for those that the config leaves out.
    const external = textsOf(options['externalDependencies']).length > 0;
    const outcome = bundled(output, 'server/server.mjs');
    return framework('Angular (server)', 'ng build', external ? server(outcome.start) : outcome, {
      ...more,
      // The proxy lets only the app's own host names through; without a list, Angular answers none of them.
      runEnv: hosts.length > 0 ? {} : { NG_ALLOWED_HOSTS: '*' },
    });
  }
  const modern = /application"?$|:application$/.test(textAt(target, 'builder') ?? '');
  return framework('Angular', 'ng build', site(modern ? `${output}/browser` : output, 'index.html'), more);
};
