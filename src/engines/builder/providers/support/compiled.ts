import { APP_DIR, type Stage, type Step } from '../../plan.ts';
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
