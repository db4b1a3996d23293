import { APP_DIR, APP_UID, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import { aptSteps } from '../provider.ts';
import { sourceOf } from '../support/source.ts';
import { APACHE_SITE, APP_SETTINGS, PHP_SETTINGS, SERVE } from './apache.ts';
import type { PhpApp } from './app.ts';

/** The libraries that compiled extensions are linked with, as Debian packages. */
const LIBRARIES = '/usr/local/lib/php/libraries';

/** What the image says about itself, which a copy of its files does not bring. */
export const imageEnv = (apache: boolean): Record<string, string> => ({
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  PHP_INI_DIR: '/usr/local/etc/php',
  ...(apache ? { APACHE_CONFDIR: '/etc/apache2', APACHE_ENVVARS: '/etc/apache2/envvars' } : {}),
});

/**
 * The official image without the compilers that it carries. Nothing in it depends on the app, so that all apps on one
 * version share it.
 */
export const slimStage = (image: string): Stage => ({
  name: 'slim',
  from: image,
  steps: [
    {
      kind: 'run',
      command: [
        'apt-get purge -y -qq --auto-remove -o APT::AutoRemove::RecommendsImportant=false $PHPIZE_DEPS libc6-dev',
        'rm -rf /usr/src/php* /usr/local/include/php /usr/local/lib/php/build /usr/local/lib/php/test /usr/local/php/man',
        `useradd --uid ${APP_UID} --create-home --shell /usr/sbin/nologin app`,
        `install -d -o app -g app ${APP_DIR}`,
        ...(image.endsWith('-apache')
          ? [
              'a2dismod -q -f autoindex status',
              'a2enmod -q expires headers remoteip rewrite',
              'a2disconf -q other-vhosts-access-log',
              'rm /etc/apache2/sites-enabled/*',
              // berth's own site says where to listen.
              ': > /etc/apache2/ports.conf',
            ]
          : []),
        'php --version',
      ].join(' && '),
    },
  ],
});

export const extensionStage = ({ extensions, version }: PhpApp, image: string, apt: string[]): Stage => {
  const commands = [
    ...extensions.commands,
    // Since 8.5 it is part of PHP itself.
    ...(hasOpcacheExtension(version) ? ['docker-php-ext-enable opcache'] : []),
    ...(extensions.libraries ? [listLibraries] : []),
  ];
  const steps: Step[] = commands.length === 0 ? [] : [{ kind: 'run', command: commands.join(' && ') }];
  return { name: 'php', from: image, steps: [...aptSteps(apt), ...steps] };
};

const hasOpcacheExtension = (version: string): boolean => /^(7|8\.[0-4])(\.|$)/.test(version);

/** Read off the extensions themselves, because the packages' names differ from one Debian to the next. */
const listLibraries = `find /usr/local/lib/php/extensions -name '*.so' -exec ldd {} + | awk '$3 ~ "^/(usr/)?lib" { sub("^/(usr/)?", "*", $3); print $3 }' | sort -u | xargs -r dpkg-query --search | cut -d : -f 1 | sort -u > ${LIBRARIES}`;

interface RuntimeInput {
  apt: string[];
  /** The app comes from the stage that built it. */
  built: boolean;
  env: Record<string, string>;
}

/** The files of the slim image in one layer, and the app on top: no earlier layer holds what was removed. */
export const runtimeStage = (app: PhpApp, { apt, built, env }: RuntimeInput): Stage => {
  const { context, extensions, server } = app;
  const from = (path: string): Step => ({ kind: 'copy', from: 'php', sources: [path], target: path });
  const site: Step[] =
    server.kind === 'apache'
      ? [
          { kind: 'copy', sources: ['berth/apache.conf'], target: APACHE_SITE },
          { kind: 'copy', sources: ['berth/serve-php'], target: SERVE },
        ]
      : [];
  const settings: Step[] = context.app.has('php.ini')
    ? [{ kind: 'copy', sources: [safePath(sourceOf(context.app, 'php.ini'))], target: APP_SETTINGS }]
    : [];
  return {
    name: 'runtime',
    from: 'scratch',
    steps: [
      { kind: 'copy', from: 'slim', sources: ['/'], target: '/' },
      { kind: 'env', values: env },
      ...['/usr/local/lib/php/extensions/', '/usr/local/etc/php/conf.d/'].map(from),
      ...(extensions.libraries ? [from(LIBRARIES)] : []),
      ...aptSteps([...(extensions.libraries ? [`$(cat ${LIBRARIES})`] : []), ...apt]),
      { kind: 'copy', sources: ['berth/php.ini'], target: PHP_SETTINGS },
      ...settings,
      ...site,
      { kind: 'workdir', path: APP_DIR },
      built
        ? { kind: 'copy', from: 'build', sources: [`${APP_DIR}/`], target: './', owned: true }
        : { kind: 'copy', sources: [`${safePath(sourceOf(context.app))}/`], target: './', owned: true },
      { kind: 'user', name: 'app' },
    ],
  };
};
