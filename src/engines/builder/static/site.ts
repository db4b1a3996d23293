import type { ContextFile, Stage, Step } from '../plan.ts';
import { APP_UID } from '../plan.ts';
import { SITE_DIR } from './paths.ts';
import { type SiteOptions, renderCaddyConfig } from './caddy.ts';

export { SITE_DIR } from './paths.ts';
export const SITE_CONFIG = '/etc/caddy/berth.json';
export const SITE_START = ['caddy', 'run', '--config', SITE_CONFIG];
/** By number: the image has no list of users. */
export const SITE_USER = `${APP_UID}:${APP_UID}`;
/** Nothing but the server, which is one static program: no shell, no packages. */
export const SITE_BASE = 'scratch';

/** The stages that serve files with Caddy; `copy` brings the files to `/srv`. */
export const siteStages = (copy: Step, env: Record<string, string>): Stage[] => [
  { name: 'server', from: 'caddy:2', steps: [{ kind: 'run', command: SERVER_FILES }] },
  {
    name: 'runtime',
    from: SITE_BASE,
    steps: [
      { kind: 'copy', from: 'server', sources: ['/out/'], target: '/' },
      { kind: 'copy', sources: ['berth/caddy.json'], target: SITE_CONFIG },
      copy,
      { kind: 'workdir', path: SITE_DIR },
      { kind: 'env', values: { ...env, XDG_CONFIG_HOME: '/tmp', XDG_DATA_HOME: '/tmp' } },
      { kind: 'user', name: SITE_USER },
    ],
  },
];

/**
 * A plain copy of the program has no file capability: with one, the kernel refuses to start it in a container without
 * capabilities. The types are what Caddy knows endings such as .woff2 and .ico by.
 */
const SERVER_FILES =
  'install -d /out/etc /out/usr/local/bin && install -d -m 1777 /out/tmp && cp /usr/bin/caddy /out/usr/local/bin/ && cp /etc/mime.types /out/etc/';

export const siteFiles = (options: SiteOptions): ContextFile[] => [
  { path: 'berth/caddy.json', content: renderCaddyConfig(options) },
];
