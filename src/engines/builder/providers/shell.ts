import type { Plan } from '../plan.ts';
import {
  type PlanContext,
  type Provider,
  aptSteps,
  chosenStart,
  emptyPlan,
  noStartCommand,
  runtimeOf,
  userSteps,
} from './provider.ts';
import { sourceOf } from './support/source.ts';

const BASE = 'debian:trixie-slim';

/** A script, or nothing but a Procfile: the source on Debian, with the packages that berth.toml names. */
export const shell: Provider = {
  name: 'shell',
  markers: ['start.sh', 'Procfile'],
  doc: {
    title: 'Shell script, Procfile',
    detects: '`start.sh`, or a `Procfile` with a `web` process',
    notes: 'the source on Debian; name what it needs with `apt`',
  },
  detect: (app) => (app.has('start.sh') || app.has('Procfile') ? 'strong' : null),
  plan: planShell,
};

function planShell(context: PlanContext): Plan {
  const { app, overrides, notes } = context;
  const plan = emptyPlan(context, 'shell');
  const start = chosenStart(context) ?? (app.has('start.sh') ? scriptStart(app.read('start.sh') ?? '') : undefined);
  if (start === undefined) throw noStartCommand('a Procfile', 'a web process in it', 'add a line "web: <command>"');
  const apt = [...new Set([...plan.apt.build, ...plan.apt.run])].sort();
  const build = [...(overrides.install ?? []), ...(overrides.build ?? [])];
  // Scripts seldom exec what they start: docker's init then tells the whole group to stop, not the shell alone.
  const runtime = runtimeOf(BASE, 'app', { TINI_KILL_PROCESS_GROUP: '1' });
  notes.decisions.push(`shell: the source on ${BASE}, started with ${start.join(' ')}`);
  return {
    ...plan,
    build,
    start,
    runtime,
    installEnv: [],
    apt: { build: [], run: apt },
    stages: [
      {
        name: 'runtime',
        from: BASE,
        steps: [
          ...userSteps(),
          ...aptSteps(apt),
          { kind: 'workdir', path: '/app' },
          { kind: 'copy', sources: [`${sourceOf(app)}/`], target: './', owned: true },
          ...build.map((command) => ({ kind: 'run', command, env: 'build' }) as const),
          { kind: 'env', values: runtime.env },
          { kind: 'user', name: 'app' },
        ],
      },
    ],
  };
}

/** Uploads may lose the executable bit: the interpreter of the first line is named. */
const scriptStart = (text: string): string[] => {
  const line = /^#!\s*(?:\/usr\/bin\/env\s+(?:-S\s+)?)?(\S.*)/.exec(text)?.[1] ?? '/bin/sh';
  const [program = '/bin/sh', ...flags] = line.trim().split(/\s+/);
  // /bin/sh is dash: what was written for another shell gets that one.
  return [program === 'bash' ? '/bin/bash' : program === 'sh' ? '/bin/sh' : program, ...flags, 'start.sh'];
};
