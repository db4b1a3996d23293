import { APP_DIR, APP_UID, type Stage, type Step } from '../../plan.ts';
import { aptSteps, noStartCommand, userSteps } from '../provider.ts';

/** Where the compiled program of an app lies in its image. */
export const BINARY = '/usr/local/bin/app';
export const COMPILED_BASE = 'debian:trixie-slim';

/** The image of a compiled program: Debian, roots to trust, the program, and what it reads. */
export const compiledRuntime = (apt: string[], outputs: Step[], env: Record<string, string>): Stage => ({
  name: 'runtime',
  from: COMPILED_BASE,
  steps: [
    ...userSteps(),
    ...aptSteps(apt),
    // The slim image has no roots to trust: without them every outgoing HTTPS request would fail.
    { kind: 'copy', from: 'build', sources: [ROOTS], target: ROOTS },
    { kind: 'workdir', path: APP_DIR },
    ...outputs,
    { kind: 'env', values: env },
    { kind: 'user', name: 'app' },
  ],
});

/** For programs that need nothing beside themselves. */
export const BARE_BASE = 'scratch';
/** Not at the root: to see whether a copied path changed, BuildKit reads the whole folder that the path lies in. */
const BARE_ROOT = '/berth/bare';

/**
 * In the build stage of a program that gets an image of its own: what every program may expect of a system. A user's
 * entry, so that the home is found; roots to trust; places to write to.
 */
export const bareSystem = (): Step => ({
  kind: 'run',
  command: [
    `mkdir -p ${BARE_ROOT}/etc/ssl/certs ${BARE_ROOT}/tmp ${BARE_ROOT}/home/app ${BARE_ROOT}${APP_DIR}`,
    `cp ${ROOTS} ${BARE_ROOT}/etc/ssl/certs/`,
    `echo root:x:0:0:root:/root:/sbin/nologin > ${BARE_ROOT}/etc/passwd`,
    `echo app:x:${APP_UID}:${APP_UID}::/home/app:/sbin/nologin >> ${BARE_ROOT}/etc/passwd`,
    `echo root:x:0: > ${BARE_ROOT}/etc/group`,
    `echo app:x:${APP_UID}: >> ${BARE_ROOT}/etc/group`,
    `chmod 1777 ${BARE_ROOT}/tmp`,
    `chown ${APP_UID}:${APP_UID} ${BARE_ROOT}/home/app ${BARE_ROOT}${APP_DIR}`,
  ].join(' && '),
});

/** The image of a program that needs nothing beside itself, once `bareSystem` ran in the build stage. */
export const bareRuntime = (outputs: Step[], env: Record<string, string>): Stage => ({
  name: 'runtime',
  from: BARE_BASE,
  steps: [
    { kind: 'copy', from: 'build', sources: [`${BARE_ROOT}/`], target: '/' },
    { kind: 'workdir', path: APP_DIR },
    ...outputs,
    { kind: 'env', values: env },
    { kind: 'user', name: 'app' },
  ],
});

const ROOTS = '/etc/ssl/certs/ca-certificates.crt';

/** The program alone, or the whole folder when the user's own build command leaves it somewhere unknown. */
export const compiledOutputs = (ownBuild: boolean, assets: Step[]): Step[] =>
  ownBuild
    ? [{ kind: 'copy', from: 'build', sources: [`${APP_DIR}/`], target: './', owned: true }]
    : [{ kind: 'copy', from: 'build', sources: ['/out/app'], target: BINARY }, ...assets];

/** Nobody knows what a build command of the user's own leaves. */
export const ownBuildNeedsStart = (what: string): Error =>
  noStartCommand(
    `${what} with a build command of its own`,
    '[build] start',
    'set start to the program that the build command leaves',
  );
