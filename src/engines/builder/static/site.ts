import type { ContextFile, Stage, Step } from '../plan.ts';
import { APP_UID } from '../plan.ts';
import { SITE_DIR } from './paths.ts';
import { type SiteOptions, renderCaddyConfig } from './caddy.ts';

export { SITE_DIR } from './paths.ts';
export const SITE_CONFIG = '/etc/caddy/berth.json';
export const SITE_START = ['caddy', 'run', '--config', SITE_CONFIG];
export const SITE_USER = 'app';
export const SITE_BASE = 'debian:trixie-slim';

/** The stages that serve files with Caddy; `copy` brings the files to `/srv`. */
export const siteStages = (copy: Step, env: Record<string, string>): Stage[] => [
  {
    name: 'server',
    from: 'caddy:2',
    // A plain copy has no file capability: with one, the kernel refuses to start it in a container without capabilities.
    steps: [{ kind: 'run', command: 'mkdir /out && cp /usr/bin/caddy /out/caddy' }],
  },
  {
    name: 'runtime',
    from: SITE_BASE,
    steps: [
      { kind: 'run', command: `useradd --uid ${APP_UID} --create-home --shell /usr/sbin/nologin app` },
      { kind: 'copy', from: 'server', sources: ['/out/caddy'], target: '/usr/local/bin/caddy' },
      { kind: 'copy', sources: ['berth/caddy.json'], target: SITE_CONFIG },
      copy,
      { kind: 'workdir', path: SITE_DIR },
      { kind: 'env', values: env },
      { kind: 'user', name: SITE_USER },
    ],
  },
];

export const siteFiles = (options: SiteOptions): ContextFile[] => [
  { path: 'berth/caddy.json', content: renderCaddyConfig(options) },
];
